/**
 * What a request over HTTP asks of a GraphQL server: documents with names and variables, in the ways that servers take them. Read in one
 * way or not at all: a request that two servers could execute differently is none that could be judged.
 */
import { isUtf8 } from 'node:buffer'
import type { Config } from '../../config/schema.ts'
import type { Flow } from '../../flow/flow.ts'
import type { Call } from '../action.ts'
import { basePath } from '../base-path.ts'
import { unpacked } from '../encoded-body.ts'
import { countingNames, otherSpelling } from '../folded-names.ts'
import { isJsonObject, readStrictJsonText } from '../strict-json.ts'

/** One operation as it is asked for (GraphQL over HTTP, "Request Parameters"). */
export interface GraphqlParameters {
  /** Null: the server is to know the document by `hash` or `document`. */
  readonly query: string | null
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
  /** Of an automatically persisted query: the SHA-256 of the document, in hexadecimal. */
  readonly hash: string | null
  /** Id of a document that was given to the server beforehand. */
  readonly document: string | null
}

export type GraphqlReading =
  /** Asks for no operation. */
  | { readonly kind: 'none' }
  | { readonly kind: 'asked'; readonly requests: readonly GraphqlParameters[]; readonly isBatch: boolean }
  | { readonly kind: 'unreadable'; readonly code: 'INVALID_INPUT' | 'UNSUPPORTED_MEDIA_TYPE'; readonly why: string }

export interface ParameterDeps {
  readonly flow: Pick<Flow, 'readJson'>
  readonly config: () => Pick<Config, 'limits'>
}

/** Under which a document that the server keeps is asked for: that of the specification, and those of others. */
const DOCUMENT_NAMES = ['documentId', 'id', 'doc_id', 'docId', 'queryId', 'query_id'] as const
const NAMES = countingNames(['query', 'operationName', 'variables', 'extensions', ...DOCUMENT_NAMES])
/** Parameters of GraphQL over server-sent events, which say where a stream belongs and ask for nothing. */
const OF_STREAMS: ReadonlySet<string> = new Set(['token', 'operationId'])
/** Operations in one request. */
const MAX_BATCH = 50

type Members = Readonly<Record<string, unknown>>

export async function readParameters(call: Call, deps: ParameterDeps): Promise<GraphqlReading> {
  const inAddress = addressMembers(call)
  if (!inAddress.ok) return unreadable(inAddress.why)
  const { body } = call
  if (body === null || body.length === 0) return ofAddress(call, inAddress.members)
  if (namesIn(inAddress.members).length > 0)
    return unreadable('it states an operation in its address and has a body, and servers differ in which one counts')
  const read = await bodyOf(call, body, deps)
  if (read.kind !== 'members') return read
  const { value } = read
  if (!Array.isArray(value)) return asked([value], false)
  if (value.length === 0 || value.length > MAX_BATCH)
    return unreadable(`it holds ${value.length} operations, where 1 to ${MAX_BATCH} may stand`)
  return asked(value, true)
}

type ReadMembers = { readonly ok: true; readonly members: Members } | { readonly ok: false; readonly why: string }

function addressMembers({ upstreamPath }: Call): ReadMembers {
  const start = upstreamPath.indexOf('?')
  return formMembers(start === -1 ? '' : upstreamPath.slice(start + 1))
}

/** Servers differ in which of two counts. */
function formMembers(text: string): ReadMembers {
  const members: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in members) return { ok: false, why: `"${name.slice(0, 40)}" is stated more than once` }
    members[name] = value
  }
  return { ok: true, members }
}

/** Names that say what is to be executed. */
function namesIn(members: Members): readonly string[] {
  return Object.keys(members).filter((name) => NAMES.exact.has(name))
}

/** A page, a stream that is opened or reserved: requests to the endpoint itself that ask for nothing. */
function ofAddress({ upstreamPath, route }: Call, members: Members): GraphqlReading {
  if (namesIn(members).length > 0) return asked([members], false)
  const [path = ''] = upstreamPath.split('?', 1)
  const isEndpoint = path === basePath(route) || path === `${basePath(route)}/`
  const strange = Object.keys(members).find((name) => !OF_STREAMS.has(name))
  if (isEndpoint && strange === undefined) return { kind: 'none' }
  return unreadable(
    isEndpoint
      ? `nothing is known of its parameter "${strange?.slice(0, 40)}"`
      : `it states no operation, and its path is not that of the endpoint (${basePath(route)}/)`,
  )
}

function asked(values: readonly unknown[], isBatch: boolean): GraphqlReading {
  const requests: GraphqlParameters[] = []
  for (const value of values) {
    const read = isJsonObject(value) ? parametersIn(value) : 'it holds something else than objects'
    if (typeof read === 'string') return unreadable(read)
    requests.push(read)
  }
  return { kind: 'asked', requests, isBatch }
}

/** In words what is wrong with it, where it has no single reading. */
function parametersIn(members: Members): GraphqlParameters | string {
  const other = otherSpelling(members, NAMES)
  if (other !== null) return `"${other}" stands for a parameter to some servers and for nothing to others`
  const query = textIn(members, 'query')
  const operationName = textIn(members, 'operationName')
  const variables = objectIn(members, 'variables')
  const extensions = objectIn(members, 'extensions')
  const ids = DOCUMENT_NAMES.map((name) => textIn(members, name)).filter((id) => id !== null)
  if (query === undefined || operationName === undefined || ids.includes(undefined))
    return 'a parameter that is a text holds something else'
  if (variables === undefined || extensions === undefined) return 'a parameter that is an object holds something else'
  const hash = hashIn(extensions)
  if (hash === undefined) return 'its persistedQuery is not of version 1 with a SHA-256 in hexadecimal'
  const [document = null, ...others] = ids.filter((id) => id !== undefined)
  if (others.length > 0 || (document !== null && (query !== null || hash !== null)))
    return 'it names the document in more than one way'
  if (query === null && hash === null && document === null) return 'it names no document'
  return { query, operationName, variables, hash, document }
}

/** Null: absent; undefined: something else. An empty text is to servers as good as none. */
function textIn(members: Members, name: string): string | null | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : null
  if (value === null || value === undefined || value === '') return null
  return typeof value === 'string' ? value : undefined
}

/** Some clients write JSON into a text where an object is meant; in an address and in forms there is no other way. */
function objectIn(members: Members, name: string): Members | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : null
  if (value === null || value === undefined || value === '') return {}
  if (typeof value !== 'string') return isJsonObject(value) ? value : undefined
  const read = readStrictJsonText(value)
  if (!read.ok) return undefined
  if (read.value === null) return {}
  return isJsonObject(read.value) ? read.value : undefined
}

/** Null: there is none; undefined: it is not of the known form (Apollo's "Automatic persisted queries"). */
function hashIn(extensions: Members): string | null | undefined {
  const persisted = Object.hasOwn(extensions, 'persistedQuery') ? extensions['persistedQuery'] : null
  if (persisted === null || persisted === undefined) return null
  if (!isJsonObject(persisted) || persisted['version'] !== 1) return undefined
  const hash = persisted['sha256Hash']
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined
}

type ReadBody =
  | { readonly kind: 'members'; readonly value: unknown }
  | Extract<GraphqlReading, { readonly kind: 'unreadable' }>

async function bodyOf({ headers }: Call, bytes: Buffer, deps: ParameterDeps): Promise<ReadBody> {
  const type = headers['content-type'] ?? ''
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const form = FORMS.find((one) => one.media.test(media))
  if (form === undefined)
    return unreadable(
      `a body of the type ${media === '' ? 'that it does not state' : `"${media}"`} is not read here`,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]
  // Letters of another coding can be other JSON, and servers read those that their library knows.
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
    return unreadable(`a body in "${charset}" is not read here`, 'UNSUPPORTED_MEDIA_TYPE')
  const plain = await unpacked(bytes, headers['content-encoding'], deps.config().limits.proxied_body)
  if (!plain.ok) return unreadable(plain.why)
  return form.read(plain.bytes, type, deps)
}

interface BodyForm {
  readonly media: RegExp
  readonly read: (bytes: Buffer, type: string, deps: ParameterDeps) => Promise<ReadBody> | ReadBody
}

const FORMS: readonly BodyForm[] = [
  { media: /^application\/(?:[\w.-]+\+)?json$/, read: (bytes, _type, deps) => jsonOf(bytes, deps) },
  { media: /^application\/graphql$/, read: (bytes) => withText(bytes, (query) => members({ query })) },
  {
    media: /^application\/x-www-form-urlencoded$/,
    read: (bytes) =>
      withText(bytes, (text) => {
        const form = formMembers(text)
        return form.ok ? members(form.members) : unreadable(form.why)
      }),
  },
  { media: /^multipart\/form-data$/, read: uploadOf },
]

async function jsonOf(bytes: Buffer, { flow }: ParameterDeps): Promise<ReadBody> {
  // A large body is handed over to a worker, and this one still has to be sent.
  const read = await flow.readJson(Uint8Array.from(bytes))
  return read.ok ? members(read.value) : unreadable(`its body has no single reading: ${read.problem.message}`)
}

function withText(bytes: Buffer, read: (text: string) => ReadBody): ReadBody {
  return isUtf8(bytes) ? read(bytes.toString('utf8')) : unreadable('its body is not UTF-8 text')
}

/**
 * Files beside the operation (GraphQL multipart request specification): the part `operations` is the request, in which files
 * stand as null. Heads of parts in any but the common form are read by some parsers and not by others.
 */
async function uploadOf(bytes: Buffer, type: string, deps: ParameterDeps): Promise<ReadBody> {
  const heads = bytes.toString('latin1').match(/^content-disposition[^\r\n]*/gim) ?? []
  if (!heads.every((head) => PART_HEAD.test(head)))
    return unreadable('a part of its form is not named in the common way')
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
    const operations = form.getAll('operations')
    const [text] = operations
    if (operations.length !== 1 || typeof text !== 'string')
      return unreadable('its form has not exactly one text "operations"')
    // Servers without that specification take the other names for the request.
    const other = [...form.keys()].find((name) => name !== 'operations' && UPLOAD_NAMES.has(name.toLowerCase()))
    return other === undefined
      ? await jsonOf(Buffer.from(text), deps)
      : unreadable(`its form states "${other}" beside "operations"`)
  } catch {
    return unreadable('its form cannot be read')
  }
}

const PART_HEAD =
  /^content-disposition:[ \t]*form-data;[ \t]*name="[\w.-]*"(?:;[ \t]*filename="[^"]*")?(?:;[ \t]*filename\*=[^\s;]*)?[ \t]*$/i

const UPLOAD_NAMES: ReadonlySet<string> = new Set(['operations', 'query', 'operationname', 'variables', 'extensions'])

function members(value: unknown): ReadBody {
  return { kind: 'members', value }
}

function unreadable(
  why: string,
  code: 'INVALID_INPUT' | 'UNSUPPORTED_MEDIA_TYPE' = 'INVALID_INPUT',
): Extract<GraphqlReading, { readonly kind: 'unreadable' }> {
  return { kind: 'unreadable', code, why }
}
