/**
 * The tools in the body of a call to a model, in the form of any provider, as one contract. The same tools in another
 * order, or with other secrets, are the same table. Members that look like tools and have no single reading are
 * reported.
 */
import type { OfferedContract } from '../../baselines/baselines.ts'
import { contractDigest } from '../../baselines/baselines.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { canonicalText, hasMembers } from '../../json/written-numbers.ts'
import { countedFields } from './headers.ts'
import { LISTS, SERVERS, SWITCHES, type BodyPart } from './body-parts.ts'

export type LlmTools =
  | { readonly kind: 'none' }
  | { readonly kind: 'tools'; readonly offered: OfferedContract }
  | { readonly kind: 'unreadable'; readonly why: string }

/** Credentials of the caller for the server behind a tool. They are not stored. */
const SECRETS: ReadonlySet<string> = new Set(['authorization', 'authorization_token'])
/** Header fields for the server behind a tool: credentials, and fields by which it chooses what it offers. */
const FIELDS: ReadonlySet<string> = new Set(['headers', 'extra_headers', 'http_headers', 'custom_headers'])
/** The same within data that the provider connects to. */
const SECRETS_OF_DATA: ReadonlySet<string> = new Set(
  'authentication key api_key apiKey access_token accessToken connection_string connectionString'.split(' '),
)
/** Members that control caching and change no tool. */
const SILENT: ReadonlySet<string> = new Set(['cache_control', 'cachePoint'])

/** @param parts of the body of one call, in which long numbers may keep their digits */
export function toolTableOf(parts: readonly BodyPart[]): LlmTools {
  const found: unknown[] = []
  for (const part of parts) {
    const problem = collectTools(part, found)
    if (problem !== null) return { kind: 'unreadable', why: problem }
  }
  const namedTools = found.filter((tool) => !isMark(tool))
  const tools = [...new Set(namedTools.map((tool) => canonicalText(plainTool(tool))))].toSorted()
  if (tools.length === 0) return { kind: 'none' }
  const content = `{"tools":[${tools.join(',')}]}`
  return { kind: 'tools', offered: { type: 'agent_tools', content, digest: contractDigest(content) } }
}

/** Models that run tools although a call names none. One that only searches in this way is no row. */
const MODELS_WITH_TOOLS = [
  // OpenRouter: a variant of a model that always searches.
  { model: /:online$/, tool: { type: 'online' } },
  // Groq: it runs code and visits pages, at the provider.
  { model: /(?:^|\/)compound(?:-[\w.-]+)?$/i, tool: { type: 'compound' } },
] as const

/** Null if all was found, else the name of a member that is not a list. */
function collectTools(part: BodyPart, found: unknown[]): string | null {
  for (const name of LISTS) {
    const held = part[name]
    if (held === undefined || held === null) continue
    if (!Array.isArray(held)) return `"${name}" is not a list of tools`
    found.push(...held)
  }
  const models = [part['model'], part['models']].flat().filter((model) => typeof model === 'string')
  for (const { model, tool } of MODELS_WITH_TOOLS) if (models.some((name) => model.test(name))) found.push(tool)
  for (const name of SWITCHES) found.push(...switchedTools(name, part[name]))
  const servers = part[SERVERS]
  if (servers === undefined || servers === null) return null
  if (!Array.isArray(servers)) return `"${SERVERS}" is not a list`
  found.push(...servers.map(serverTool))
  return null
}

/** A tool that the provider has itself, as others write it in the list of tools; none where it is switched off. */
function switchedTools(name: string, value: unknown): readonly object[] {
  if (value === undefined || value === null || value === false || value === '' || value === 'off') return []
  if (Array.isArray(value)) return value.length === 0 ? [] : [{ type: name, entries: withoutSecrets(value) }]
  if (isJsonObject(value) && OFF.some(([member, off]) => value[member] === off)) return []
  return [{ type: name, value: withoutSecrets(value) }]
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!hasMembers(value)) return value
  const kept = Object.entries(value).filter(
    ([name]) => !SECRETS.has(name) && !FIELDS.has(name) && !SECRETS_OF_DATA.has(name),
  )
  return Object.fromEntries(kept.map(([name, held]) => [name, withoutSecrets(held)]))
}

const OFF = [
  ['mode', 'off'],
  ['enable', false],
  ['enabled', false],
] as const

/** A server whose tools the provider calls itself, as the other provider writes it in the list of tools. */
function serverTool(server: unknown): unknown {
  if (!isJsonObject(server)) return server
  const { name, url, type: _type, ...rest } = server
  return { type: 'mcp', server_label: `mcp_servers/${String(name)}`, server_url: url, ...rest }
}

/** An item that only marks how far a provider caches its input. */
function isMark(tool: unknown): boolean {
  const names = isJsonObject(tool) ? Object.keys(tool) : []
  return names.length > 0 && names.every((name) => SILENT.has(name))
}

/** Bedrock wraps a tool once more; its parts are those of the others. */
function plainTool(tool: unknown): unknown {
  if (!isJsonObject(tool)) return tool
  const spec = tool['toolSpec']
  if (isJsonObject(spec)) {
    const { inputSchema, ...rest } = spec
    return plainTool({ ...rest, input_schema: isJsonObject(inputSchema) ? inputSchema['json'] : inputSchema })
  }
  const chosen = Object.entries(tool).flatMap(([name, held]) => {
    const counted = FIELDS.has(name) ? countedFields(held) : null
    return counted === null ? [] : [[`chosen_by_${name}`, counted] as const]
  })
  const kept = Object.entries(tool).filter(([name]) => !SECRETS.has(name) && !FIELDS.has(name) && !SILENT.has(name))
  return Object.fromEntries([...kept, ...chosen])
}
