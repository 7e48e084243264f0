/**
 * Request targets and routes. A path is matched and forwarded byte for byte. A target that two servers could read as
 * different paths is refused and never normalised (law 4 of CONTRIBUTING.md).
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Route } from './route.ts'
import { canonicalHost, originOf, type Authority, type HostReading, type Scheme } from '../network/authority.ts'
import { fail } from '../../engine/base.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { TrafficPath } from './traffic-path.ts'
import { isOddField, meantField, METHOD_FIELDS, OTHER_PATH_FIELDS } from './field-name.ts'

/** Null when the target has exactly one reading, else the problem. */
export function targetProblem(target: string): string | null {
  if (!target.startsWith('/')) return 'The request target is neither a path nor an http address.'
  if (target.startsWith('//')) return 'A path that starts with // can be read as another host.'
  if (!VISIBLE_ASCII.test(target) || target.includes('#'))
    return 'The request target holds characters that must be percent-encoded.'
  const queryStart = target.indexOf('?')
  return pathProblem(queryStart === -1 ? target : target.slice(0, queryStart))
}

const VISIBLE_ASCII = /^[\x21-\x7e]*$/
/** `/./` and `/../`, plain or percent-encoded, with or without parameters behind a semicolon. */
const DOT_SEGMENT = /(?:\/|%2f)(?:\.|%2e){1,2}(?=[/;]|%2f|$)/i
/** Encoded backslash and NUL. */
const ENCODED_SEPARATOR = /%(?:5c|00)/i
const ENCODED_SLASH = /^[^?]*%2f/i
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i

function pathProblem(path: string): string | null {
  if (path.includes('\\')) return 'The path holds a backslash.'
  if (!path.includes('%') && !path.includes('/.')) return null
  if (DOT_SEGMENT.test(path)) return 'The path holds a dot segment.'
  if (ENCODED_SEPARATOR.test(path)) return 'The path holds an encoded backslash or NUL.'
  return BROKEN_ESCAPE.test(path) ? 'The path holds a broken percent-escape.' : null
}

/**
 * Some servers read an encoded slash as a slash, others as a letter. @param isLetter the protocol of the route reads it
 * as a letter
 */
export function slashProblem(target: string, isLetter: boolean): string | null {
  if (isLetter || !target.includes('%') || !ENCODED_SLASH.test(target)) return null
  return 'The path holds an encoded slash.'
}

/** Maximum number of header fields of a request. */
export const MAX_FIELDS = 500
/** As long as browsers and servers accept, and longer than any of them guarantees. */
const MAX_TARGET = 16 * 1024

/** The error for a target or header fields over their limits, or null. */
export function sizeProblem(target: string, rawHeaders: readonly string[]): ErrorCode | null {
  if (target.length > MAX_TARGET) return 'URI_TOO_LONG'
  return rawHeaders.length > 2 * MAX_FIELDS ? 'HEADERS_TOO_LARGE' : null
}

/**
 * Null when the head of the request has exactly one reading, else the problem. The parser already refuses conflicting
 * lengths; fields that it silently merges or drops are refused here.
 */
export function headProblem(rawHeaders: readonly string[], headers: IncomingHttpHeaders): string | null {
  let hosts = 0
  let lengths = 0
  let codings = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Only these three lengths can match: most fields cost one comparison.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    else if (name.length === 14 && name.toLowerCase() === 'content-length') lengths += 1
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') codings += 1
    if (isOddField(name) && isTakenForField(name)) return `Some servers read ${name} as another field.`
  }
  if (hosts !== 1) return hosts === 0 ? 'The Host header is missing.' : 'There is more than one Host header.'
  if (lengths > 1) return 'There is more than one Content-Length header.'
  if (lengths === 1 && !DIGITS.test(headers['content-length'] ?? ''))
    return 'The Content-Length header is not a number.'
  if (codings > 1) return 'There is more than one Transfer-Encoding header.'
  if (lengths > 0 && codings > 0) return 'Content-Length and Transfer-Encoding exclude each other.'
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return 'The only supported Transfer-Encoding is chunked.'
  const dropped = connectionFields(headers.connection).find((name) => END_TO_END.test(name.trim()))
  if (dropped !== undefined) return `${dropped.trim()} is not a field of the connection: Connection may not name it.`
  const repeated = repetitionProblem(rawHeaders, headers)
  if (repeated !== null) return repeated
  const host = hostName(headers.host ?? '')
  return host.ok ? null : `The Host header is not a host with an optional port: ${host.problem}.`
}

/** Fields with a single value: given two, some servers read the first and some the last (RFC 9110 §5.3). */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-type',
  'from',
  'if-modified-since',
  'if-unmodified-since',
  'max-forwards',
  'origin',
  'proxy-authorization',
  'range',
  'referer',
  'upgrade',
  'user-agent',
  ...METHOD_FIELDS,
])

/** Null when each field with a single value is there at most once; immediately so if there are as many names as fields. */
export function repetitionProblem(rawHeaders: readonly string[], headers: IncomingHttpHeaders): string | null {
  if (Object.keys(headers).length === rawHeaders.length / 2) return null
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (SINGLE.has(name) && seen.has(name)) return `There is more than one ${name} header.`
    seen.add(name)
  }
  return null
}

/** CGI and similar servers have one name for `X-A`, `X_A` and `X.A`. */
function isTakenForField(name: string): boolean {
  const dashed = meantField(name).toLowerCase()
  return END_TO_END.test(dashed) || OF_A_CONNECTION.test(dashed) || SINGLE.has(dashed) || OTHER_PATH_FIELDS.has(dashed)
}

const OF_A_CONNECTION =
  /^(?:connection|keep-alive|te|trailer|upgrade|proxy(?:-.*)?|http2-settings|impersonate-.*|x-correlation-id)$/i

/**
 * The parser also accepts HTTP/2.0 and HTTP/0.9 as versions, although such messages have another form. Servers of HTTP/1.0 know no
 * chunks: they would read other bytes as the body (RFC 9112 §6.1).
 */
export function versionProblem({
  httpVersion: version,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): string | null {
  if (version === '1.1') return null
  if (version !== '1.0') return `HTTP/${version} is not supported in the form of HTTP/1.1.`
  return headers['transfer-encoding'] === undefined ? null : 'HTTP/1.0 has no Transfer-Encoding: use HTTP/1.1.'
}

/** Empty in the common case, where there is nothing to split. */
function connectionFields(connection: string | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return []
  return connection.split(',')
}

/**
 * Fields that define the request: if `Connection` named one, it would be judged but not forwarded (RFC 9110 §7.6.1).
 */
const END_TO_END =
  /^(?:host|content-.*|transfer-encoding|authorization|cookie|accept(?:-.*)?|expect|range|if-.*|origin|mcp-.*|preflight-.*|x-forwarded-.*)$/i

const DIGITS = /^[0-9]+$/

export interface RouteMatch {
  readonly trafficPath: TrafficPath
  readonly route: Route
  /** Scheme, host and port of the destination. */
  readonly origin: string
  /** Path and query at the upstream. */
  readonly upstreamPath: string
}

/**
 * Matches a request that addresses the gateway as the server. A route that names the host takes precedence over one
 * that does not; then the longest prefix counts. A route without an upstream takes no such request: it names no
 * destination.
 */
export function matchRoute(routes: readonly Route[], host: string, target: string): RouteMatch | null {
  const name = hostName(host)
  const route = name.ok ? closest(routes, target, (one) => takesReverse(one, name.host)) : null
  const url = route === null ? null : upstreamUrl(route)
  if (route === null || url === null) return null
  return { trafficPath: 'reverse', route, origin: url.origin, upstreamPath: upstreamPath(route, url, target) }
}

/** The destination of a route that is named and not matched: its endpoint. Null: no route has this name and protocol. */
export function matchByName(routes: readonly Route[], name: string, protocol: Route['protocol']): RouteMatch | null {
  const route = routes.find((one) => one.name === name && one.protocol === protocol)
  if (route === undefined) return null
  const url = upstreamUrl(route)
  const { host = '', path } = route.match
  return url === null
    ? { trafficPath: 'ext_authz', route, origin: `https://${host}`, upstreamPath: path }
    : { trafficPath: 'ext_authz', route, origin: url.origin, upstreamPath: `${url.pathname}${url.search}` }
}

/** Routes that such a request may match. */
export function reverseRoutes(routes: readonly Route[], host: string): readonly Route[] {
  const name = hostName(host)
  return name.ok ? routes.filter((one) => takesReverse(one, name.host)) : []
}

function takesReverse(route: Route, host: string): boolean {
  return route.upstream !== undefined && (route.match.host === undefined || namesHost(route, host))
}

/** The destination of a request that names it. */
export interface NamedDestination {
  readonly trafficPath: Exclude<TrafficPath, 'reverse'>
  readonly scheme: Scheme
  readonly authority: Authority
  /** Path and query. */
  readonly target: string
}

/** Only routes that name the host take such a request: it is for that host, not for the gateway. */
export function matchNamed(
  routes: readonly Route[],
  { trafficPath, scheme, authority, target }: NamedDestination,
): RouteMatch | null {
  const route = closest(routes, target, (one) => namesHost(one, authority.host))
  if (route === null) return null
  const url = upstreamUrl(route)
  return url === null
    ? { trafficPath, route, origin: originOf(scheme, authority), upstreamPath: target }
    : { trafficPath, route, origin: url.origin, upstreamPath: upstreamPath(route, url, target) }
}

/** Routes that such a request may match. */
export function namedRoutes(routes: readonly Route[], { host }: Authority): readonly Route[] {
  return routes.filter((one) => namesHost(one, host))
}

/** @param host a canonical name or address */
export function namesHost({ match }: Route, host: string): boolean {
  if (match.host === undefined) return false
  const named = match.host.toLowerCase()
  if (named.startsWith('*.')) return host.endsWith(named.slice(1))
  return (named.startsWith('[') ? named.slice(1, -1) : named) === host
}

function closest(routes: readonly Route[], target: string, isCandidate: (route: Route) => boolean): Route | null {
  let best: Route | null = null
  for (const route of routes) {
    if (!hasPrefix(target, route.match.path) || !isCandidate(route)) continue
    if (best === null || isCloser(route, best)) best = route
  }
  return best
}

/** Compares two routes that take the same request. */
export function isCloser(route: Route, best: Route): boolean {
  const closeness = hostCloseness(route) - hostCloseness(best)
  return closeness === 0 ? route.match.path.length > best.match.path.length : closeness > 0
}

/** Without a host 0; the longer the suffix, the closer; a complete name is the closest. */
function hostCloseness({ match: { host } }: Route): number {
  if (host === undefined) return 0
  return host.startsWith('*.') ? host.length : Number.MAX_SAFE_INTEGER
}

const HOST = /^(\[[^\]]*\]|[^:[\]]*)(?::[0-9]{0,5})?$/

/** Clients send the same few values with every request. Bounded, since they choose them. */
const KNOWN_HOSTS = new Map<string, HostReading>()
const MOST_KNOWN_HOSTS = 1000

/** The name or address in a Host header, in its one spelling: `API.example:80` → `api.example`, `[0:0::1]` → `::1`. */
function hostName(header: string): HostReading {
  const known = KNOWN_HOSTS.get(header)
  if (known !== undefined) return known
  const host = HOST.exec(header)?.[1]
  // DNS reads `api.example.` as `api.example`, and some clients write names so to skip their search list.
  const name = host?.replace(/\.$/, '') ?? ''
  const reading = name === '' ? fail('it names no host') : canonicalHost(name)
  if (!reading.ok) return reading
  if (KNOWN_HOSTS.size >= MOST_KNOWN_HOSTS) KNOWN_HOSTS.clear()
  KNOWN_HOSTS.set(header, reading)
  return reading
}

/** `/api` is a prefix of `/api`, `/api/…` and `/api?…`, not of `/apis`. */
export function hasPrefix(target: string, prefix: string): boolean {
  if (!target.startsWith(prefix)) return false
  if (prefix.endsWith('/') || target.length === prefix.length) return true
  const next = target[prefix.length]
  return next === '/' || next === '?'
}

/** The upstream's path replaces the prefix; the rest stays unchanged. */
function upstreamPath(route: Route, { pathname, search }: URL, target: string): string {
  const rest = target.slice(route.match.path.length)
  if (rest === '' || rest.startsWith('?'))
    return `${pathname}${search === '' ? rest : `${search}${rest.replace('?', '&')}`}`
  const base = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  return `${base}${rest.startsWith('/') ? '' : '/'}${rest}`
}

const parsedUpstreams = new WeakMap<Route, URL>()

function upstreamUrl(route: Route): URL | null {
  const known = parsedUpstreams.get(route)
  if (known !== undefined) return known
  if (route.upstream === undefined) return null
  const url = new URL(route.upstream)
  parsedUpstreams.set(route, url)
  return url
}
