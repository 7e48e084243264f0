/** What expressions may see of a request: each part with one reading, or a reason why it has none. Credentials are no part of it. */
import type { Json, RequestFacts } from '../../../engine/internal.ts'
import { isOddField, meantField } from '../../routing/field-name.ts'
import { ok, fail } from '../../../engine/base.ts'
import type { Result } from '../../../engine/internal.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { collidingNames, otherSpelling, type CountingNames } from '../../json/folded-names.ts'
import { fold, readPath, withoutFormats, type PathReading } from '../../routing/path-reading.ts'
import { canonicalName, hiddenName, queryOf } from '../../routing/query-names.ts'
import { asClause, isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { pathOf } from '../common/request-line.ts'
import { connectMessage } from './connect-message.ts'

/** What authenticates the caller must not get into a target, a message or the ledger. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-scm-token',
])

/** Members of requests that the rules of a route read. */
export interface ReadNames {
  readonly names: CountingNames
  /** Canonical forms of the same, as lenient readers of queries have them. */
  readonly canonical: ReadonlySet<string>
  /** Rules go over members in loops: any name counts. */
  readonly isAny: boolean
  /** Some expression reads the query: then it must have one reading. */
  readonly isQueryRead: boolean
  readonly areHeadersRead: boolean
}

export interface HeadFacts {
  readonly facts: RequestFacts
  readonly path: PathReading
  /** With the path as it is sent, where it writes a letter as an escape: some servers compare it so. Null: it does not. */
  readonly undecoded: RequestFacts | null
}

const ESCAPED_LETTER = /%(?:3[0-9]|[46][1-9a-f]|[57][0-9a])/i

/** The facts of the head; the body is null. */
export function headFacts(call: CallHead, read: ReadNames): Result<HeadFacts, string> {
  const { method, upstreamPath, headers, rawHeaders, trafficPath } = call
  const path = pathOf(call)
  const reading = readPath(path)
  if (reading === null) return fail('its path holds escapes of control characters or of bytes that are no text')
  const query = uniqueParameters(read.isQueryRead ? queryOf(upstreamPath) : '', read)
  if (!query.ok) return query
  const twofold = read.areHeadersRead ? twofoldField(rawHeaders, read, trafficPath === 'ext_authz') : null
  if (twofold !== null) return fail(twofold)
  // Decoded, so that no form of the path bypasses a rule; the listener refused an encoded slash.
  const { written: segments } = reading
  const facts = {
    method,
    path: `/${segments.join('/')}`,
    segments,
    query: query.value,
    headers: headersForRules(headers),
    body: null,
  }
  const undecoded = ESCAPED_LETTER.test(path) ? { ...facts, path, segments: path.slice(1).split('/') } : null
  return ok({ facts, path: reading, undecoded })
}

/** The same with the body, which is JSON or absent. */
export function wholeFacts(call: Call, read: ReadNames): Result<HeadFacts, string> {
  const head = headFacts(call, read)
  if (!head.ok) return head
  const bytes = jsonBytes(call)
  if (!bytes.ok) return bytes
  if (bytes.value === null) return head
  const json = readStrictJson(bytes.value)
  if (!json.ok) return fail(`its body has no single reading: ${asClause(json.message)}`)
  if (!isJsonValue(json.value)) return head
  const other = read.isAny ? collidingNames(json.value) : otherSpellingWithin(json.value, read.names)
  if (other !== null) return fail(`some servers take the member ${JSON.stringify(other)} of its body for another one`)
  const { facts, path, undecoded } = head.value
  const body = json.value
  return ok({ facts: { ...facts, body }, path, undecoded: undecoded === null ? null : { ...undecoded, body } })
}

/** What servers read as the body; null: there is none. */
function jsonBytes(call: Call): Result<Buffer | null, string> {
  const body = call.body === null || call.body.length === 0 ? null : call.body
  const message = connectMessage(call)
  if (message !== null)
    return body === null ? message : fail('its query holds a message, in place of which some servers read its body')
  if (body === null) return ok(null)
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = call.headers
  if (encoding !== 'identity') return fail(`its body is ${encoding}-encoded`)
  if (!/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type))
    return fail(`its body is ${type === '' ? 'of no stated type' : type} and not JSON`)
  return isUtf8Type(type) ? ok(body) : fail(`its body has the type ${type}, in another charset than UTF-8`)
}

/** The path that some servers read, and how its rules are asked. */
export interface LooseFacts {
  readonly facts: RequestFacts
  /** Letters are folded: conditions are asked as a server would mean them that ignores case. */
  readonly isFolded: boolean
  /** Plain paths may be read so too, so that only a rule that is stricter counts. */
  readonly isCommon: boolean
}

/**
 * The same request without empty segments, parameters behind a semicolon and a slash at the end. Null when that is the path as it
 * stands.
 */
export function looseFacts({ facts, path: { loose } }: HeadFacts): RequestFacts | null {
  const segments = loose.map(({ text }) => text)
  const path = `/${segments.join('/')}`
  return path === facts.path ? null : { ...facts, path, segments }
}

/** Further readings: letters of any case, a format behind the last name, a slash at the end. */
export function furtherFacts(
  { facts, path: { loose, earlier }, undecoded }: HeadFacts,
  { isCaseSensitive, countsEnd }: { readonly isCaseSensitive: boolean; readonly countsEnd: boolean },
): LooseFacts[] {
  const segments = loose.map(({ folded }) => folded)
  const of = (parts: readonly string[], end = ''): RequestFacts => ({
    ...facts,
    path: `/${parts.join('/')}${end}`,
    segments: parts,
  })
  const last = segments.at(-1)
  if (last === undefined) return []
  const further: LooseFacts[] = []
  if (earlier !== null) further.push({ facts: of(earlier), isFolded: true, isCommon: false })
  const isOther = isCaseSensitive || loose.some(({ text, folded }) => text !== folded)
  if (isOther) further.push({ facts: of(segments), isFolded: true, isCommon: false })
  for (const name of withoutFormats(last).slice(1))
    further.push({ facts: of([...segments.slice(0, -1), name]), isFolded: true, isCommon: true })
  if (countsEnd)
    further.push({ facts: { ...of(segments, '/'), segments: [...segments, ''] }, isFolded: true, isCommon: true })
  if (undecoded !== null) further.push({ facts: undecoded, isFolded: false, isCommon: false })
  return further
}

/** Whatever a JSON reader gives is JSON; the compiler cannot know. */
function isJsonValue(value: unknown): value is Json {
  return value !== undefined
}

/**
 * Of a parameter that comes twice, servers take the first, the last or both; to some `;` begins another one, and `Name`, `name[]` or
 * `name.x` are `name` as well.
 */
function uniqueParameters(text: string, read: ReadNames): Result<Readonly<Record<string, string>>, string> {
  const query = new Map<string, string>()
  const canonical = new Set<string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name)) return fail(`its query has the parameter ${JSON.stringify(name)} more than once`)
    query.set(name, value)
    const plain = canonicalName(name)
    const counts = read.isAny || read.canonical.has(plain)
    const isOther = read.isAny ? plain !== fold(name) || canonical.has(plain) : !read.names.exact.has(name)
    if (counts && isOther)
      return fail(`some servers take the parameter ${JSON.stringify(name)} of its query for another one`)
    canonical.add(plain)
  }
  const piece = hiddenName(text, (name) => read.isAny || read.canonical.has(name))
  return piece === null
    ? ok(Object.fromEntries(query))
    : fail(`some servers end a parameter of its query at the ";" before or behind ${JSON.stringify(piece)}`)
}

/**
 * A field that a rule reads and that has several values, of which servers take the first, the last or all; or one that CGI takes
 * for such a field.
 * @param isJoined another proxy asks: some write the values of such a field into one, with a comma between them
 */
function twofoldField(rawHeaders: readonly string[], { isAny, names }: ReadNames, isJoined: boolean): string | null {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const lower = name.toLowerCase()
    const isOwn = names.exact.has(lower)
    if (isOddField(name) && !isOwn && (isAny || names.folded.has(meantField(lower))))
      return `some servers take its field ${name} for another one`
    const counts = isOwn || (isAny && !CREDENTIALS.has(lower))
    if (counts && seen.has(lower)) return `it has the field ${name} more than once`
    if (isJoined && isOwn && JOINED.test(rawHeaders[index + 1] ?? ''))
      return `the other proxy may have joined several fields ${name} at the comma`
    seen.add(lower)
  }
  return null
}

/** Clients write a blank behind the comma of a list, Envoy does not. */
const JOINED = /,(?! )/

function otherSpellingWithin(value: unknown, names: CountingNames): string | null {
  if (typeof value !== 'object' || value === null) return null
  const own = isJsonObject(value) ? otherSpelling(value, names) : null
  if (own !== null) return own
  for (const member of Object.values(value)) {
    const inside = otherSpellingWithin(member, names)
    if (inside !== null) return inside
  }
  return null
}

function headersForRules(fields: CallHead['headers']): Readonly<Record<string, string>> {
  const headers: [string, string][] = []
  for (const name in fields) if (!CREDENTIALS.has(name)) headers.push([name, String(fields[name])])
  return Object.fromEntries(headers)
}
