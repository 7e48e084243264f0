/** What expressions may see of a request: each part with one reading, or a reason why it has none. Credentials are no part of it. */
import type { Json, RequestFacts } from '../../../engine/index.ts'
import { ok } from '../../../engine/base.ts'
import type { Result } from '../../../engine/index.ts'
import type { Call, CallHead } from '../action.ts'
import { readStrictJson } from '../strict-json.ts'

/** What authenticates the caller must not get into a target, a message or the ledger. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-scm-token',
])

/**
 * The facts of the head; the body is null.
 * @param isQueryRead some expression reads the query: then it must have one reading
 */
export function headFacts(
  { method, upstreamPath, rawHeaders }: CallHead,
  isQueryRead: boolean,
): Result<RequestFacts, string> {
  const question = upstreamPath.indexOf('?')
  const path = question === -1 ? upstreamPath : upstreamPath.slice(0, question)
  const query = queryOf(question === -1 || !isQueryRead ? '' : upstreamPath.slice(question + 1))
  if (!query.ok) return query
  const segments = path.split('/').slice(1).map(decodedSegment)
  // Decoded, so that no spelling of a path goes around a rule; an encoded slash was refused at the door.
  return ok({
    method,
    path: `/${segments.join('/')}`,
    segments,
    query: query.value,
    headers: headersOf(rawHeaders),
    body: null,
  })
}

/** The same with the body, which is JSON or absent. */
export function wholeFacts(call: Call, isQueryRead: boolean): Result<RequestFacts, string> {
  const head = headFacts(call, isQueryRead)
  if (!head.ok || call.body === null || call.body.length === 0) return head
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = head.value.headers
  if (encoding !== 'identity') return refuse(`its body is ${encoding}-encoded`)
  if (!/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type))
    return refuse(`its body is ${type === '' ? 'of no stated type' : type} and not JSON`)
  const json = readStrictJson(call.body)
  if (!json.ok) return refuse(`its body has no single reading: ${json.message}`)
  return isJson(json.value) ? ok({ ...head.value, body: json.value }) : head
}

/**
 * The same request as many servers read its path: without empty segments, parameters behind a semicolon and a slash at the end. Null
 * when that is the path as it stands.
 */
export function looseFacts(facts: RequestFacts): RequestFacts | null {
  const segments = facts.segments.map((segment) => segment.split(';', 1)[0] ?? '').filter((segment) => segment !== '')
  const path = `/${segments.join('/')}`
  return path === facts.path ? null : { ...facts, path, segments }
}

function refuse(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem }
}

/** Whatever a JSON reader gives is JSON; the compiler cannot know. */
function isJson(value: unknown): value is Json {
  return value !== undefined
}

/** Of a parameter that comes twice, servers take the first, the last or both. */
function queryOf(text: string): Result<Readonly<Record<string, string>>, string> {
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name)) return refuse(`its query has the parameter ${JSON.stringify(name)} more than once`)
    query.set(name, value)
  }
  return ok(Object.fromEntries(query))
}

/** Fields that come more than once are one list (RFC 9110 §5.3). */
function headersOf(raw: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    const value = raw[index + 1] ?? ''
    const before = headers.get(name)
    if (!CREDENTIALS.has(name)) headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not UTF-8: as it stands it equals nothing that an operator would write.
    return segment
  }
}
