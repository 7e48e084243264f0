/**
 * Header fields between client and upstream: hop-by-hop fields are removed (RFC 9110 §7.6.1), the gateway's are added,
 * forged ones are dropped.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { OTHER_PATH_FIELDS } from '../routing/field-name.ts'
import type { TrafficPath } from '../routing/traffic-path.ts'
import type { Call, CallHead, ReceivedHead } from '../calls/call.ts'
import { traceParentOf, type TraceContext } from '../telemetry/trace-context.ts'

/**
 * Fields of one connection, whatever `Connection` names; `te` and `trailer` too. Trailers of a request are not forwarded:
 * some servers merge them into the head, which was judged without them.
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Fields that an agent may not set. The gateway sets or answers them (`Expect`), or the upstream's own address replaces
 * them. Some state another path than the judged one, and some frameworks use that path.
 */
const REPLACED_IN_REQUESTS: ReadonlySet<string> = new Set([
  ...OTHER_PATH_FIELDS,
  'host',
  'expect',
  'forwarded',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

/** Fields that only the gateway sets, in either direction. */
const OWN_PREFIX = 'preflight-'

/**
 * Also `Alt-Svc`: it names another address for all further requests to this host (RFC 7838), and at that address nobody
 * would judge them.
 */
const HOP_BY_HOP_IN_ANSWERS: ReadonlySet<string> = new Set([
  'alt-svc',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'transfer-encoding',
  'upgrade',
  'x-correlation-id',
])

/**
 * Fields that frame or route a message, or say how its body is read, have to be known before it (RFC 9110 §6.5.1). HTTP/2
 * cannot send some of them after it.
 */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'alt-svc',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'host',
  'http2-settings',
  'proxy-authenticate',
  'x-correlation-id',
])

/** True for a trailer of an answer that is passed on. @param name in lower case */
export function mayTrail(name: string): boolean {
  return !NOT_IN_TRAILERS.has(name) && !name.startsWith(OWN_PREFIX)
}

interface ForwardedFor {
  /** Address of the peer on the proxy's socket. */
  readonly peer: string
  readonly proto: 'http' | 'https'
}

/** The gateway keeps what a client states about itself to another server, and adds nothing. */
const KEPT_ON_NAMED_LISTENERS: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

/**
 * Request fields that are not forwarded: of the connection, for a proxy (`Proxy` itself is not, but CGI servers read it
 * as such), or reserved to the gateway.
 */
function endsHere(name: string): boolean {
  return HOP_BY_HOP.has(name) || name === 'proxy' || name.startsWith('proxy-') || name.startsWith(OWN_PREFIX)
}

/** A name as it was received, and the treatment of such a field. */
interface FieldName {
  readonly field: string
  /** In lower case. */
  readonly name: string
  /** In a request. */
  readonly fate: 'sent' | 'dropped' | 'dropped_on_routes'
  readonly endsInAnswers: boolean
}

/** Clients and servers send the same few names with every message. Bounded, since they choose them. */
const FIELD_NAMES = new Map<string, FieldName>()
const MOST_FIELD_NAMES = 1000
const LONGEST_KEPT_NAME = 64

/**
 * Always the same two strings for a name: as keys of objects, they are then found by identity, here, in Node.js and in undici.
 * The strings of a parser are new ones for each message.
 */
function fieldName(received: string): FieldName {
  const known = FIELD_NAMES.get(received)
  if (known !== undefined) return known
  const name = interned(received.toLowerCase())
  const endsInAnswers = HOP_BY_HOP_IN_ANSWERS.has(name) || name.startsWith(OWN_PREFIX)
  const made: FieldName = { field: interned(received), name, fate: fateOf(name), endsInAnswers }
  if (received.length > LONGEST_KEPT_NAME) return made
  if (FIELD_NAMES.size >= MOST_FIELD_NAMES) FIELD_NAMES.clear()
  FIELD_NAMES.set(made.field, made)
  return made
}

function fateOf(name: string): FieldName['fate'] {
  if (endsHere(name)) return 'dropped'
  if (KEPT_ON_NAMED_LISTENERS.has(name)) return 'dropped_on_routes'
  return REPLACED_IN_REQUESTS.has(name) ? 'dropped' : 'sent'
}

/** The text as the keys of objects have it: V8 keeps one string for all keys of the same text. */
function interned(text: string): string {
  return Object.keys({ [text]: null })[0] ?? text
}

/** Determines how the fields of a request change. */
export interface Sending extends ForwardedFor {
  readonly trafficPath: TrafficPath
  readonly correlationId: string
  /** Null: the request belongs to no trace. */
  readonly trace: TraceContext | null
  /** Scheme, host and port of the upstream. */
  readonly origin: string
  /** The protocol that the request switches to; null: none. */
  readonly upgrade: string | null
  /** Set where the gateway reads the answer, so that it must not be compressed. */
  readonly readsAnswer: boolean
  /** The request is sent over HTTP/2, or is a gRPC request. */
  readonly carriesTrailers: boolean
}

/**
 * Header fields by name that inherit nothing, as of `Object.create(null)`. V8 keeps the members of that in a table, and
 * those of an instance in slots: reading them at every call takes a third of the time.
 */
class Fields implements IncomingHttpHeaders {
  [name: string]: string | undefined
}
Reflect.setPrototypeOf(Fields.prototype, null)
Reflect.deleteProperty(Fields.prototype, 'constructor')

export type SentHead = Pick<CallHead, 'headers' | 'rawHeaders'>

/**
 * The header fields as they are sent, once in order and once by name. Computed before the request is recognised: rules
 * and recognisers see what the upstream will see. Only the operator's own upstreams learn who called.
 */
export function sentHead({ headers: received, rawHeaders }: ReceivedHead, sending: Sending): SentHead {
  const { trafficPath, origin } = sending
  const named = connectionTokens(received.connection)
  const sent: string[] = []
  const fields: IncomingHttpHeaders = new Fields()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const { field, name, fate } = fieldName(rawHeaders[index] ?? '')
    if (fate === 'dropped' || (fate === 'dropped_on_routes' && trafficPath === 'reverse')) continue
    if (isReplacedTrace(name, sending.trace)) continue
    if (named?.has(name) === true || (sending.readsAnswer && name === 'accept-encoding')) continue
    const value = rawHeaders[index + 1] ?? ''
    sent.push(field, value)
    const before = fields[name]
    fields[name] = before === undefined ? value : `${String(before)}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  addOwnFields(sent, fields, received, sending)
  // Each sender writes its own Host and Upgrade.
  fields.host = origin.slice(origin.indexOf('//') + 2)
  if (sending.upgrade !== null) fields.upgrade = sending.upgrade
  return { headers: fields, rawHeaders: sent }
}

/**
 * The upstream's parent is this gateway's span (W3C Trace Context §3.2). A state without a trace that could be read belongs
 * to none (§3.3).
 */
function isReplacedTrace(name: string, trace: TraceContext | null): boolean {
  if (trace?.isReplaced !== true) return false
  return name === 'traceparent' || (name === 'tracestate' && trace.state === null)
}

/** Written out field by field: every call uses this. */
function addOwnFields(
  sent: string[],
  fields: IncomingHttpHeaders,
  received: IncomingHttpHeaders,
  { trafficPath, correlationId, trace, peer, proto, readsAnswer, carriesTrailers }: Sending,
): void {
  sent.push('X-Correlation-ID', correlationId)
  fields['x-correlation-id'] = correlationId
  if (trace?.isReplaced === true) {
    fields['traceparent'] = traceParentOf(trace)
    sent.push('traceparent', fields['traceparent'])
  }
  if (trafficPath === 'reverse') {
    const before = received['x-forwarded-for']
    const peers = before === undefined ? peer : `${String(before)}, ${peer}`
    sent.push('X-Forwarded-For', peers, 'X-Forwarded-Proto', proto)
    fields['x-forwarded-for'] = peers
    fields['x-forwarded-proto'] = proto
    if (received.host !== undefined) {
      sent.push('X-Forwarded-Host', received.host)
      fields['x-forwarded-host'] = received.host
    }
  }
  if (readsAnswer) {
    sent.push('Accept-Encoding', 'identity')
    fields['accept-encoding'] = 'identity'
  }
  if (carriesTrailers) {
    sent.push('TE', 'trailers')
    fields.te = 'trailers'
  }
}

/** True for a client that accepts trailers; on HTTP/1.1 the field concerns its own connection only. */
export function takesTrailers({ te }: IncomingHttpHeaders): boolean {
  return te !== undefined && /(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(te))
}

function isLeft(name: string): boolean {
  return name !== 'upgrade' && (endsHere(name) || OTHER_PATH_FIELDS.has(name))
}

/**
 * The fields of a request that another proxy sends. That proxy may drop the fields of its connection, so no rule may
 * read them: they are absent here too. `Upgrade` stays, since it may switch protocols.
 */
export function headOfProxy({ headers, rawHeaders }: ReceivedHead): SentHead {
  const left = rawHeaders.filter((_, index) => !isLeft((rawHeaders[index - (index % 2)] ?? '').toLowerCase()))
  const fields: IncomingHttpHeaders = new Fields()
  for (const name in headers) if (!isLeft(name)) fields[name] = headers[name]
  return { headers: fields, rawHeaders: left }
}

/**
 * A field that `Connection` names in addition to the connection's own fields: some proxies drop it and some send it.
 * Null: there is none.
 */
export function namedAway({ headers }: ReceivedHead): string | null {
  const named = connectionTokens(headers.connection) ?? []
  for (const name of named) {
    const isOwn = name === '' || name === 'close' || endsHere(name)
    if (!isOwn && headers[name] !== undefined) return name
  }
  return null
}

/**
 * Fields for the gateway's own request, with the credentials of the call's caller.
 * @param isDropped fields that belong to the message of the call alone
 */
export function ownRequestHeaders(
  { rawHeaders }: Pick<Call, 'rawHeaders'>,
  isDropped: (name: string) => boolean,
): string[] {
  return rawHeaders.filter((_, index) => {
    const name = (rawHeaders[index - (index % 2)] ?? '').toLowerCase()
    return name !== 'te' && !isDropped(name)
  })
}

/**
 * The upstream's header fields, in their order and case, followed by the gateway's.
 * @param raw name, value, name, value …
 * @param connection value of the `Connection` field, or its values when it was sent more than once
 */
export function clientHeaders(
  raw: readonly (Buffer | string)[],
  connection: string | readonly string[] | undefined,
  own: readonly string[],
): string[] {
  const named = connectionTokens(typeof connection === 'object' ? connection.join(',') : connection)
  const headers: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const { field, name, endsInAnswers } = fieldName(latin1(raw[index] ?? ''))
    if (endsInAnswers || named?.has(name) === true) continue
    // Header bytes are Latin-1 on the wire (RFC 9110 §5.5); reading them as UTF-8 would change them.
    headers.push(field, latin1(raw[index + 1] ?? ''))
  }
  for (const text of own) headers.push(text)
  return headers
}

/** Servers accept heads of 16 KiB, and most of that belongs to the caller. */
const MAX_ATTACHED = 8 * 1024

/**
 * Receipts that are sent with a call: each once, however many parts of a batch it covers, and as many as fit into a
 * head. A server that requires a receipt left out here refuses the call.
 */
export function attachedTokens(verdicts: readonly { readonly token: string }[]): readonly string[] {
  const tokens = verdicts.map(({ token }) => token)
  if (tokens.length <= 1) return tokens
  let length = 0
  return [...new Set(tokens)].filter((token) => {
    length += token.length
    return length <= MAX_ATTACHED
  })
}

/** @param fields name, value, name, value … @param name in lower case */
export function withoutField(fields: readonly string[], name: string): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)]?.toLowerCase() !== name)
}

function latin1(value: Buffer | string): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}

/** Fields that `Connection` declares to be hop-by-hop; null in the common case of none, keep-alive or close. */
function connectionTokens(value: string | undefined): ReadonlySet<string> | null {
  if (value === undefined || value === 'keep-alive' || value === 'close') return null
  return new Set(value.split(',').map((token) => token.trim().toLowerCase()))
}
