/**
 * Which agent a call belongs to. Only agents that the configuration names have their own tools: a baseline for a name
 * that a caller invents would be unreviewed.
 */
import type { LlmRoute } from './settings.ts'
import type { Call } from '../../calls/call.ts'
import { isJsonObject } from '../../json/strict-json.ts'

/** `name` null: the route itself. */
type CallingAgent = { readonly ok: true; readonly name: string | null } | { readonly ok: false; readonly why: string }

export function agentOf(
  { route, headers, rawHeaders }: Pick<Call<LlmRoute>, 'route' | 'headers' | 'rawHeaders'>,
  body: unknown,
): CallingAgent {
  const { agents, agent_header: header, agent_field: field } = route.llm
  const times =
    header === undefined
      ? 0
      : rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === header.toLowerCase()).length
  if (times > 1) return { ok: false, why: `it names its agent ${times} times (${header})` }
  const named = [
    header === undefined ? undefined : headers[header.toLowerCase()],
    field === undefined ? undefined : memberAtPointer(body, field),
  ]
  const [name, ...others] = [...new Set(named.filter((value) => value !== undefined && value !== null))]
  if (name === undefined) return { ok: true, name: null }
  if (others.length > 0) return { ok: false, why: 'its header and its body name different agents' }
  if (typeof name === 'string' && agents.includes(name)) return { ok: true, name }
  return { ok: false, why: `${JSON.stringify(name)} is not an agent of the route "${route.name}" (llm.agents)` }
}

/** RFC 6901. */
function memberAtPointer(body: unknown, pointer: string): unknown {
  let value = body
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}
