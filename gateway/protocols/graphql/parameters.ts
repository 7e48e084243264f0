/**
 * What an HTTP request asks of a GraphQL server: documents with names and variables, in the forms that servers accept.
 * A request that two servers could execute differently cannot be judged, and is refused.
 */
import type { Call } from '../../calls/call.ts'
import { overridesMethod } from '../common/method-override.ts'
import { meantField } from '../../routing/field-name.ts'
import { basePath, pathOf } from '../common/request-line.ts'
import { literalReadings } from '../../routing/path-reading.ts'
import { queryOf } from '../../routing/query-names.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject, readStrictJsonText, type JsonObject } from '../../json/strict-json.ts'
import {
  readGraphqlBody,
  DOCUMENT_NAMES,
  graphqlFormMembers,
  NAMES,
  OPERATION_LIST,
  otherReading,
  PERSISTED_BESIDE,
  unreadableBody,
  type BodyDeps,
  type ReadMembers,
  type Unreadable,
} from './bodies.ts'

/** One requested operation (GraphQL over HTTP, "Request Parameters"). */
export interface GraphqlParameters {
  /** Null: the server knows the document by `hash` or `document`. */
  readonly query: string | null
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
  /** Of an automatically persisted query: the SHA-256 of the document, in hexadecimal. */
  readonly hash: string | null
  /** Id of a document that the server already has. */
  readonly document: string | null
  /** Names an operation of an event stream, too: it requests a document only if there is one of this id. */
  readonly mayBeUnknown: boolean
}

type GraphqlReading =
  /** Requests no operation. */
  | { readonly kind: 'none' }
  | { readonly kind: 'asked'; readonly requests: readonly GraphqlParameters[]; readonly isBatch: boolean }
  | Unreadable

/** Parameters of GraphQL over server-sent events that request nothing: of a stream, and of an operation that it ends. */
const OF_STREAMS: ReadonlySet<string> = new Set(['token', 'operationId'])
/** Maximum number of operations in one request. */
const MAX_BATCH = 50

export async function readParameters(call: Call, deps: BodyDeps): Promise<GraphqlReading> {
  const reading = await readRequests(call, deps)
  if (reading.kind !== 'asked') return reading
  const further = idsInFields(call).flatMap((id) =>
    reading.requests
      .filter((request) => !isNamedBy(request, id))
      .map((request) => ({ ...request, query: null, hash: null, document: id, mayBeUnknown: false })),
  )
  return { ...reading, requests: [...reading.requests, ...further] }
}

const STREAM_FIELD = 'x-graphql-event-stream-token'
/** An id as clients of graphql-sse generate it (UUID version 4). Ids of stored documents are names or hashes. */
const RANDOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Clients of Apollo name the document in it, and some servers run the stored one of that name (graphql-ruby). */
const ID_FIELD = 'x-apollo-operation-id'

function idsInFields({ headers }: Call): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    meantField(name) === ID_FIELD ? [value ?? []].flat().filter((id) => id !== '') : [],
  )
}

/** True where the id is that of the stated document: clients send its hash. */
function isNamedBy({ query, hash, document }: GraphqlParameters, id: string): boolean {
  return id === hash || id === document || (query !== null && sha256Hex(query) === id.toLowerCase())
}

async function readRequests(call: Call, deps: BodyDeps): Promise<GraphqlReading> {
  const inAddress = addressMembers(call)
  if (!inAddress.ok) return unreadableBody(inAddress.why)
  const { body } = call
  if (body === null || body.length === 0) return ofAddress(call, inAddress.members)
  if (executedNames(inAddress.members).length > 0)
    return unreadableBody(
      'it states an operation in its address and has a body, and servers differ in which one counts',
    )
  const read = await readGraphqlBody(call, body, deps)
  if (read.kind !== 'members') return read
  const { value } = read
  // graphql-sse takes no batch and no empty token: there the member is that of another server.
  const isStreamed = call.method === 'POST' && (call.headers[STREAM_FIELD] ?? '') !== ''
  if (!Array.isArray(value)) return asked([value], { isBatch: false, isStreamed })
  if (value.length === 0 || value.length > MAX_BATCH)
    return unreadableBody(`it holds ${value.length} operations; 1 to ${MAX_BATCH} are allowed`)
  return asked(value, { isBatch: true, isStreamed: false })
}

function addressMembers({ upstreamPath }: Call): ReadMembers {
  return graphqlFormMembers(queryOf(upstreamPath))
}

/** Names that determine what is executed. */
function executedNames(members: JsonObject): readonly string[] {
  return Object.keys(members).filter((name) => NAMES.exact.has(name))
}

/** A page, or a stream that is opened or reserved: requests to the endpoint itself that request no operation. */
function ofAddress(call: Call, members: JsonObject): GraphqlReading {
  const { upstreamPath, route } = call
  // To other servers, and in other methods, `operationId` is a stored document.
  const isEnd = call.method === 'DELETE' && !overridesMethod(call)
  if (executedNames(members).some((name) => !(isEnd && OF_STREAMS.has(name))))
    return asked([members], { isBatch: false, isStreamed: false })
  const isOwn = pathBehind({ upstreamPath, route }) === ''
  const strange = Object.keys(members).find((name) => !OF_STREAMS.has(name))
  if (isOwn && strange === undefined) return { kind: 'none' }
  return unreadableBody(
    isOwn
      ? `it has the unknown parameter "${strange?.slice(0, 40)}"`
      : `it states no operation, and its path is not that of the endpoint (${basePath(route)}/)`,
  )
}

/** Path behind that of the upstream, without a slash at its end. */
function pathBehind(call: Pick<Call, 'upstreamPath' | 'route'>): string {
  const path = pathOf(call)
  const base = basePath(call.route)
  return (path.startsWith(base) ? path.slice(base.length) : path).replace(/\/$/, '')
}

/** Last names of the paths at which servers have their endpoints. */
const ENDPOINTS: ReadonlySet<string> = new Set([
  'graphql',
  'gql',
  'graphiql',
  'query',
  'stream',
  'subscriptions',
  'relay',
])

/** False for a path at which a server may run a stored document instead of the stated one, or no GraphQL at all. */
export function isEndpoint(call: Pick<Call, 'upstreamPath' | 'route'>): boolean {
  const behind = pathBehind(call)
  return behind === '' || literalReadings(behind.split('/').at(-1) ?? '').some((name) => ENDPOINTS.has(name))
}

interface RequestForm {
  readonly isBatch: boolean
  /** The results go to a stream that is open, in which `extensions.operationId` names them (GraphQL over SSE). */
  readonly isStreamed: boolean
}

function asked(values: readonly unknown[], { isBatch, isStreamed }: RequestForm): GraphqlReading {
  const requests: GraphqlParameters[] = []
  for (const value of values) {
    const read = isJsonObject(value) ? graphqlParameters(value, isStreamed) : 'it holds something else than objects'
    if (typeof read === 'string') return unreadableBody(read)
    requests.push(...read)
  }
  return { kind: 'asked', requests, isBatch }
}

/**
 * The problem as text, where it has no single reading. In a stream, `extensions.operationId` names the operation to graphql-sse and
 * a stored document to others: both are requested.
 */
function graphqlParameters(members: JsonObject, isStreamed: boolean): readonly GraphqlParameters[] | string {
  const other = otherSpelling(members, NAMES)
  if (other !== null) return otherReading(other)
  if (Object.hasOwn(members, OPERATION_LIST)) return 'it asks for several operations of one document'
  if (Object.hasOwn(members, PERSISTED_BESIDE)) return `"${PERSISTED_BESIDE}" is not in its extensions`
  const query = textParameter(members, 'query')
  const operationName = textParameter(members, 'operationName')
  const variables = objectMember(members, 'variables')
  const extensions = objectMember(members, 'extensions')
  if (variables === undefined || extensions === undefined) return 'a parameter that is an object holds something else'
  const { operationId, ...ofDocument } = extensions
  const inStream = isStreamed && typeof operationId === 'string' && RANDOM_ID.test(operationId) ? operationId : null
  const ids = [members, inStream === null ? extensions : ofDocument]
    .flatMap((holder) => DOCUMENT_NAMES.map((name) => textParameter(holder, name)))
    .filter((id) => id !== null)
  if (query === undefined || operationName === undefined || ids.includes(undefined))
    return 'a parameter that is a text holds something else'
  const hash = hashIn(extensions)
  if (hash === undefined)
    return 'its extensions name a document in another way than a persistedQuery of version 1 with a SHA-256 in hexadecimal'
  const [document = null, ...others] = ids.filter((id) => id !== undefined)
  if (others.length > 0 || (document !== null && (query !== null || hash !== null)))
    return 'it names the document in more than one way'
  if (query === null && hash === null && document === null) return 'it names no document'
  const stated = { query, operationName, variables, hash, document, mayBeUnknown: false }
  if (inStream === null) return [stated]
  return [stated, { ...stated, query: null, hash: null, document: inStream, mayBeUnknown: true }]
}

/** Null: absent; undefined: another type. To servers an empty text is the same as none. */
function textParameter(members: JsonObject, name: string): string | null | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : null
  if (value === null || value === undefined || value === '') return null
  return typeof value === 'string' ? value : undefined
}

/** Some clients write JSON into a text where an object is expected; an address or a form allows no other way. */
function objectMember(members: JsonObject, name: string): JsonObject | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : null
  if (value === null || value === undefined || value === '') return {}
  if (typeof value !== 'string') return isJsonObject(value) ? value : undefined
  const read = readStrictJsonText(value)
  if (!read.ok) return undefined
  if (read.value === null) return {}
  return isJsonObject(read.value) ? read.value : undefined
}

/** Links of Apollo put the id of a stored document there, too (graphql-ruby). */
const EXTENSIONS = countingNames(['persistedQuery', ...DOCUMENT_NAMES])
/** By another hash a server takes the document that it keeps for that one (Hot Chocolate: `md5Hash`). */
const PERSISTED: ReadonlySet<string> = new Set(['version', 'sha256Hash'])

/** Null: there is none; undefined: it has an unknown form (Apollo's "Automatic persisted queries"). */
function hashIn(extensions: JsonObject): string | null | undefined {
  if (otherSpelling(extensions, EXTENSIONS) !== null) return undefined
  const persisted = Object.hasOwn(extensions, 'persistedQuery') ? extensions['persistedQuery'] : null
  if (persisted === null || persisted === undefined) return null
  if (!isJsonObject(persisted) || persisted['version'] !== 1) return undefined
  if (!Object.keys(persisted).every((name) => PERSISTED.has(name))) return undefined
  const hash = persisted['sha256Hash']
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined
}
