/**
 * The schema that a GraphQL server reports by introspection: requested with the caller's credentials, and printed in
 * one form, so that the same schema is the same text.
 */
import { byCodeUnit, canonicalJson } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { UpstreamRefusal } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { askAsCaller, lookupFault, type CallerAnswer } from '../common/caller-request.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { readNames } from '../../routing/query-names.ts'
import { NAMES } from './bodies.ts'

interface IntrospectionDeps {
  readonly upstreams: Upstreams
  readonly flow: Pick<Flow, 'readJson'>
}

type IntrospectedSchema = Readonly<Record<string, unknown>>

/** The largest real schemas have some megabytes. */
const MAX_BYTES = 32 * 1024 * 1024
/** Statuses for the caller: its credentials are refused, or it has no permission. */
const FOR_THE_CALLER: ReadonlySet<number> = new Set([401, 403])

/** Rejects with PREFLIGHT_UNDECIDED, or with an UpstreamRefusal for the caller. */
export async function introspect(call: Call, deps: IntrospectionDeps): Promise<string> {
  const { getIntrospectionQuery } = await import('graphql/utilities')
  const all = {
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
  }
  // Servers of older editions refuse options that they do not know.
  for (const options of [{ ...all, oneOf: true }, all, {}]) {
    const schema = await ask(call, getIntrospectionQuery(options), deps)
    if (schema !== null) return canonicalJson({ __schema: ordered(schema) })
  }
  throw unreadSchema(call, 'it refuses introspection. Configure the schema in contract.current instead')
}

/** Null: the server answers with errors. */
async function ask(
  call: Call,
  query: string,
  { upstreams, flow }: IntrospectionDeps,
): Promise<IntrospectedSchema | null> {
  const path = introspectionPath(call.upstreamPath)
  let answer: CallerAnswer
  try {
    const body = Buffer.from(JSON.stringify({ query }))
    const type = 'application/json'
    answer = await askAsCaller(call, { method: 'POST', path, body, type, accept: type, maxBytes: MAX_BYTES }, upstreams)
  } catch (error) {
    throw unreadSchema(call, lookupFault(error), error)
  }
  if (FOR_THE_CALLER.has(answer.status)) throw new UpstreamRefusal(answer.status, {})
  if (answer.status >= 500) throw unreadSchema(call, `it answered ${answer.status}`)
  const read = await flow.readJson(Uint8Array.from(answer.body), 'answer')
  const value = recordIn(read.ok ? read.value : null)
  const data = isJsonObject(value['data']) ? value['data']['__schema'] : null
  return isIntrospectedSchema(data) && value['errors'] === undefined ? data : null
}

/**
 * The endpoint, with the query parameters that do not belong to the operation: a server may choose a schema by them.
 */
export function introspectionPath(upstreamPath: string): string {
  const [path = '/', ...query] = upstreamPath.split('?')
  const others = query
    .join('?')
    .split('&')
    .filter((parameter) => parameter !== '' && !readNames(parameter).some((name) => NAMES.folded.has(name)))
  return others.length === 0 ? path : `${path}?${others.join('&')}`
}

function isIntrospectedSchema(value: unknown): value is IntrospectedSchema {
  return isJsonObject(value) && Array.isArray(value['types'])
}

/**
 * Instances of one server may report the same schema in another order; the order of types and directives means nothing.
 */
function ordered(schema: IntrospectedSchema): IntrospectedSchema {
  return { ...schema, ...withMemberSorted(schema, 'types'), ...withMemberSorted(schema, 'directives') }
}

function withMemberSorted(schema: IntrospectedSchema, member: string): IntrospectedSchema {
  const list: unknown = schema[member]
  if (!Array.isArray(list)) return {}
  return { [member]: [...list].sort((a, b) => byCodeUnit(typeNameOf(a), typeNameOf(b))) }
}

function typeNameOf(value: unknown): string {
  return isJsonObject(value) ? String(value['name']) : ''
}

function unreadSchema(call: Call, why: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The schema of "${call.route.name}" could not be read from the upstream, so the call could not be judged: ${why}.`,
    { cause },
  )
}
