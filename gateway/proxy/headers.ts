/** Header fields on their way through: hop-by-hop fields end here (RFC 9110 §7.6.1), ours are added, forged ones are dropped. */
import type { Call } from '../intercept/action.ts'

/** Fields of one connection, whatever `Connection` says; `te` and `trailer` too, since request trailers are not carried on. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * What an agent may not say itself: the gateway says it, or answers it (`Expect`), or the upstream's own address replaces it; and
 * other paths than the one that was judged, which some frameworks take for the real one.
 */
const REPLACED_IN_REQUESTS: ReadonlySet<string> = new Set([
  'x-original-url',
  'x-rewrite-url',
  'host',
  'expect',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

/** Fields that only the gateway sets, in either direction. */
const OWN_PREFIX = 'preflight-'

const HOP_BY_HOP_IN_ANSWERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'transfer-encoding',
  'upgrade',
  'x-correlation-id',
])

/** What frames or routes a message has to be known before its body (RFC 9110 §6.5.1); HTTP/2 has no way to say it behind. */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'host',
  'http2-settings',
  'proxy-authenticate',
  'x-correlation-id',
])

/** @param name in small letters */
export function mayTrail(name: string): boolean {
  return !NOT_IN_TRAILERS.has(name) && !name.startsWith(OWN_PREFIX)
}

export interface ForwardedFor {
  /** Address of the peer on the proxy's socket. */
  readonly peer: string
  readonly proto: 'http' | 'https'
}

/** What a client on its way to another server says of itself is its own, and the gateway adds nothing to it. */
const KEPT_ON_NAMED_ROADS: ReadonlySet<string> = new Set(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'])

/**
 * The header fields for the upstream; kept apart so that the gateway's own questions carry the same. Who called is told to the
 * upstreams of the operator, and not to strangers: those see the request as if no gateway stood on its way.
 */
export function upstreamHeaders(
  call: Pick<Call, 'rawHeaders' | 'headers' | 'correlationId' | 'entrance'>,
  from: ForwardedFor,
  isDropped: (name: string) => boolean = keepAll,
): string[] {
  const named = connectionTokens(call.headers.connection)
  const { rawHeaders, entrance } = call
  const headers: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? ''
    const name = field.toLowerCase()
    if (HOP_BY_HOP.has(name) || name.startsWith(OWN_PREFIX)) continue
    if (REPLACED_IN_REQUESTS.has(name) && (entrance === 'reverse' || !KEPT_ON_NAMED_ROADS.has(name))) continue
    if (named?.has(name) === true || isDropped(name)) continue
    headers.push(field, rawHeaders[index + 1] ?? '')
  }
  headers.push('X-Correlation-ID', call.correlationId)
  if (entrance !== 'reverse') return headers
  const before = call.headers['x-forwarded-for']
  headers.push('X-Forwarded-For', before === undefined ? from.peer : `${String(before)}, ${from.peer}`)
  headers.push('X-Forwarded-Proto', from.proto)
  if (call.headers.host !== undefined) headers.push('X-Forwarded-Host', call.headers.host)
  return headers
}

/**
 * The upstream's header fields, in their order and spelling, followed by ours.
 * @param raw name, value, name, value …
 * @param connection value of the `Connection` field, or its values when it came more than once
 */
export function clientHeaders(
  raw: readonly (Buffer | string)[],
  connection: string | readonly string[] | undefined,
  own: readonly string[],
): string[] {
  const named = connectionTokens(typeof connection === 'object' ? connection.join(',') : connection)
  const headers: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const field = latin1(raw[index] ?? '')
    const name = field.toLowerCase()
    if (HOP_BY_HOP_IN_ANSWERS.has(name) || name.startsWith(OWN_PREFIX) || named?.has(name) === true) continue
    // Header bytes are Latin-1 on the wire (RFC 9110 §5.5); reading them as UTF-8 would change them.
    headers.push(field, latin1(raw[index + 1] ?? ''))
  }
  headers.push(...own)
  return headers
}

/** Servers take heads of 16 KiB, and most of that is the caller's own. */
const MAX_ATTACHED = 8 * 1024

/**
 * Receipts as they go with a call: each once, however many parts of a batch it stands for, and as many as a head has room for. A
 * server that asks for one that is left out says no.
 */
export function attachedTokens(verdicts: readonly { readonly token: string }[]): readonly string[] {
  const [only, ...others] = verdicts
  if (only === undefined) return []
  if (others.length === 0) return [only.token]
  let length = 0
  return [...new Set(verdicts.map(({ token }) => token))].filter((token) => {
    length += token.length
    return length <= MAX_ATTACHED
  })
}

/** @param fields name, value, name, value … @param name in small letters */
export function withoutField(fields: readonly string[], name: string): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)]?.toLowerCase() !== name)
}

function latin1(value: Buffer | string): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}

/** Fields that `Connection` declares to be hop-by-hop; null in the common case of none but keep-alive or close. */
function connectionTokens(value: string | undefined): ReadonlySet<string> | null {
  if (value === undefined || value === 'keep-alive' || value === 'close') return null
  return new Set(value.split(',').map((token) => token.trim().toLowerCase()))
}

function keepAll(): boolean {
  return false
}
