/**
 * The header fields on which a server's offer to a caller may depend. A listing that was read with some of them is
 * known only for requests with the same ones: without one of them it may be another listing.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Route } from '../../routing/route.ts'
import { sha256Hex } from '../../runtime/hash.ts'

/** Header fields that identify callers. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'x-api-key', 'api-key'])

/**
 * Fields of the message, of the connection or of one request; the gateway's own requests have others, or the same by
 * chance.
 */
const NEUTRAL: ReadonlySet<string> = new Set(
  [
    'accept accept-encoding content-length content-type content-encoding content-digest digest transfer-encoding te trailer',
    'connection keep-alive upgrade expect last-event-id range if-match if-none-match if-modified-since if-unmodified-since',
    'mcp-method mcp-name mcp-session-id date idempotency-key npm-otp',
    // Proofs of possession are created for each request.
    'dpop signature signature-input x-amz-date x-amz-content-sha256',
    'traceparent tracestate baggage b3 sentry-trace uber-trace-id x-amzn-trace-id x-cloud-trace-context elastic-apm-traceparent',
    'x-request-id x-correlation-id request-id correlation-id x-trace-id x-request-start',
  ].flatMap((line) => line.split(' ')),
)
const NEUTRAL_PREFIX = /^(?:mcp-param-|x-b3-|x-datadog-|ot-tracer-|preflight-)/

/** Fields without credentials: the gateway itself writes most of them. */
const PLAIN: ReadonlySet<string> = new Set([
  'host',
  'user-agent',
  'accept-language',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])
const LONGEST_PLAIN = 512

/**
 * The identity of the caller, and its choice of the offer (`X-MCP-Toolsets`, `X-MCP-Readonly`): what a session is bound
 * to. `''` for none.
 */
export function callerKey(headers: IncomingHttpHeaders): string {
  return fieldsKey(headers, (name) => CREDENTIALS.has(name) || name.startsWith('x-mcp-'))
}

/**
 * All that a listing may depend on: `contract.listing_headers` in addition to credentials, or every field that is not
 * neutral. `''` for none.
 */
export function offerKey(headers: IncomingHttpHeaders, route: Pick<Route, 'contract'>): string {
  const named = namedFields(route)
  return fieldsKey(headers, (name) =>
    named === null
      ? !NEUTRAL.has(name) && !NEUTRAL_PREFIX.test(name)
      : CREDENTIALS.has(name) || name.startsWith('x-mcp-') || named.has(name),
  )
}

/** A field by which a server may choose what it offers, beside who calls. @param name in lower case */
export function mayChooseOffer(name: string): boolean {
  return !CREDENTIALS.has(name) && !NEUTRAL.has(name) && !NEUTRAL_PREFIX.test(name) && !PLAIN.has(name)
}

/** Hashed, so that credentials stay out of keys, unless no field holds one. */
function fieldsKey(headers: IncomingHttpHeaders, isPart: (name: string) => boolean): string {
  let fields = ''
  let isPlain = true
  for (const name in headers) {
    if (!isPart(name)) continue
    isPlain &&= PLAIN.has(name)
    fields += `\n${name}: ${String(headers[name])}`
  }
  return fields === '' || (isPlain && fields.length <= LONGEST_PLAIN) ? fields : sha256Hex(fields)
}

const fieldsByRoute = new WeakMap<Pick<Route, 'contract'>, ReadonlySet<string> | null>()

/** Null: the route names none. */
function namedFields(route: Pick<Route, 'contract'>): ReadonlySet<string> | null {
  const known = fieldsByRoute.get(route)
  if (known !== undefined) return known
  const fields = route.contract?.listing_headers?.map((name) => name.toLowerCase())
  const set = fields === undefined ? null : new Set(fields)
  fieldsByRoute.set(route, set)
  return set
}
