/**
 * The bodies in which GraphQL servers accept operations: JSON, a document alone, forms, uploads. Each has one reading
 * or is refused.
 */
import { isUtf8 } from 'node:buffer'
import type { LimitsConfig } from '../../settings/limits.ts'
import type { Flow } from '../../flow/flow.ts'
import type { Call } from '../../calls/call.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { unpacked } from '../../network/content-coding.ts'
import { readUpload } from './uploads.ts'
import { asClause, type JsonObject } from '../../json/strict-json.ts'
import { countingNames } from '../../json/folded-names.ts'
import { canonicalName, hasTooManyFields, MOST_FIELDS, readNames } from '../../routing/query-names.ts'

export interface BodyDeps {
  readonly flow: Pick<Flow, 'readJson'>
  readonly config: () => LimitsConfig
}

export interface Unreadable {
  readonly kind: 'unreadable'
  readonly code: 'INVALID_INPUT' | 'UNSUPPORTED_MEDIA_TYPE'
  readonly why: string
}

export type ReadMembers =
  | { readonly ok: true; readonly members: JsonObject }
  | { readonly ok: false; readonly why: string }

/** Names by which a stored document is requested: that of the specification, and those of other servers. */
export const DOCUMENT_NAMES = [
  'documentId',
  'document_id',
  'id',
  'doc_id',
  'docId',
  'queryId',
  'query_id',
  'operationId',
  'operation_id',
  'namedQuery',
  'hash',
  'documentHash',
  'queryHash',
  'operationHash',
  'sha256Hash',
] as const
/** By it a server executes several operations of a document, whatever `operationName` is (Hot Chocolate). */
export const OPERATION_LIST = 'batchOperations'
/** The member of the extensions, where some servers read it beside them. */
export const PERSISTED_BESIDE = 'persistedQuery'
/** Members that determine what is executed. */
export const NAMES = countingNames([
  'query',
  'operationName',
  OPERATION_LIST,
  PERSISTED_BESIDE,
  'variables',
  'extensions',
  ...DOCUMENT_NAMES,
])

/** Of two values, servers take either. Some take `Query`, `query[]` or `;query=` for `query`. */
export function graphqlFormMembers(text: string): ReadMembers {
  if (hasTooManyFields(text)) return { ok: false, why: `it has more than ${MOST_FIELDS} fields` }
  const members: Record<string, string> = Object.create(null)
  const hidden = readNames(text).filter((name) => NAMES.folded.has(name))
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(members, name)) return { ok: false, why: `"${name.slice(0, 40)}" is stated more than once` }
    if (NAMES.exact.has(name)) hidden.splice(hidden.indexOf(canonicalName(name)), 1)
    members[name] = value
  }
  const [other] = hidden
  return other === undefined ? { ok: true, members } : { ok: false, why: otherReading(other) }
}

export function otherReading(name: string): string {
  return `"${name.slice(0, 40)}" is a parameter to some servers and is ignored by others`
}

type GraphqlBody = { readonly kind: 'members'; readonly value: unknown } | Unreadable

/** The members that a body states, as JSON or in an equivalent form. */
export async function readGraphqlBody(
  { headers, rawHeaders }: Call,
  bytes: Buffer,
  deps: BodyDeps,
): Promise<GraphqlBody> {
  const types = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type')
  if (types.length > 1) return unreadableBody('it states the type of its body more than once')
  const type = headers['content-type'] ?? ''
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const form = FORMS.find((one) => one.media.test(media))
  if (form === undefined)
    return unreadableBody(
      `a body of the type ${media === '' ? 'that it does not state' : `"${media}"`} is not supported here`,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  if (!isUtf8Type(type))
    return unreadableBody('a body in an encoding other than UTF-8 is not supported here', 'UNSUPPORTED_MEDIA_TYPE')
  const plain = await unpacked(bytes, headers['content-encoding'], deps.config().limits.proxied_body)
  if (!plain.ok) return unreadableBody(plain.why)
  return form.read(plain.bytes, type, deps)
}

interface BodyForm {
  readonly media: RegExp
  readonly read: (bytes: Buffer, type: string, deps: BodyDeps) => Promise<GraphqlBody> | GraphqlBody
}

const FORMS: readonly BodyForm[] = [
  { media: /^application\/(?:[\w.-]+\+)?json$/, read: (bytes, _type, deps) => jsonMembers(bytes, deps) },
  { media: /^application\/graphql$/, read: (bytes) => withText(bytes, (query) => members({ query })) },
  {
    media: /^application\/x-www-form-urlencoded$/,
    read: (bytes) =>
      withText(bytes, (text) => {
        const form = graphqlFormMembers(text)
        return form.ok ? members(form.members) : unreadableBody(form.why)
      }),
  },
  { media: /^multipart\/form-data$/, read: uploadOf },
]

async function jsonMembers(bytes: Buffer, { flow }: BodyDeps): Promise<GraphqlBody> {
  // A large body is transferred to a worker, and the original still has to be sent, so it is copied.
  const read = await flow.readJson(Uint8Array.from(bytes))
  return read.ok
    ? members(read.value)
    : unreadableBody(`its body has no single reading: ${asClause(read.problem.message)}`)
}

function withText(bytes: Buffer, read: (text: string) => GraphqlBody): GraphqlBody {
  return isUtf8(bytes) ? read(bytes.toString('utf8')) : unreadableBody('its body is not UTF-8 text')
}

async function uploadOf(bytes: Buffer, type: string, deps: BodyDeps): Promise<GraphqlBody> {
  const upload = readUpload(bytes, type)
  return upload.ok ? jsonMembers(upload.operations, deps) : unreadableBody(upload.why)
}

function members(value: unknown): GraphqlBody {
  return { kind: 'members', value }
}

export function unreadableBody(why: string, code: Unreadable['code'] = 'INVALID_INPUT'): Unreadable {
  return { kind: 'unreadable', code, why }
}
