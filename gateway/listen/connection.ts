/**
 * How the connection of a request came to the gateway, and the destination of the request: read with one meaning, or
 * refused.
 */
import type { IncomingMessage } from 'node:http'
import { authorityText, DEFAULT_PORTS, readAuthority, type Authority, type Scheme } from '../network/authority.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { KeyHolder } from '../callers/proxy-auth.ts'
import { targetProblem, type NamedDestination } from '../routing/target.ts'

export type InboundConnection =
  /** At the proxy listener, plaintext. */
  | { readonly kind: 'listener' }
  /** Inside a CONNECT: every request on it is for that authority. */
  | {
      readonly kind: 'connect'
      readonly scheme: Scheme
      readonly authority: Authority
      readonly holder: KeyHolder
    }
  /** Redirected by the network. `port` is the original port, from the configuration; `serverName` comes from TLS. */
  | {
      readonly kind: 'redirect'
      readonly scheme: Scheme
      readonly port: number
      readonly serverName: string | null
    }

type Destination =
  | { readonly kind: 'gateway'; readonly host: string; readonly target: string }
  | ({ readonly kind: 'named' } & NamedDestination)
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }

/** The head has been checked: there is one Host field, or none in HTTP/2 and HTTP/1.0. */
export function destinationOf(
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  inbound: InboundConnection,
): Destination {
  const target = request.url ?? ''
  const host = request.headers.host ?? ''
  const isAbsolute = ABSOLUTE.test(target)
  if (isAbsolute && inbound.kind === 'listener') return absoluteDestination(target, host)
  const problem = targetProblem(target)
  if (problem !== null) return refusedDestination('INVALID_INPUT', problem)
  if (inbound.kind === 'listener') return { kind: 'gateway', host, target }
  return inbound.kind === 'connect'
    ? connectDestination(inbound, host, target)
    : redirectDestination(inbound, host, target)
}

const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//
const HTTP_TARGET = /^http:\/\/([^/?#]*)(.*)$/is

function absoluteDestination(absolute: string, host: string): Destination {
  const parts = HTTP_TARGET.exec(absolute)
  if (parts === null)
    return refusedDestination(
      'INVALID_INPUT',
      'Only http:// addresses can be requested this way. For https:// send CONNECT HOST:443 and use TLS inside it, as clients with HTTPS_PROXY do.',
    )
  const [, authorityPart = '', rest = ''] = parts
  const target = rest.startsWith('/') ? rest : `/${rest}`
  const problem = targetProblem(target)
  if (problem !== null) return refusedDestination('INVALID_INPUT', problem)
  const read = readAuthority(authorityPart, DEFAULT_PORTS.http)
  if (!read.ok) return refusedDestination('INVALID_INPUT', `The address in the request is not usable: ${read.problem}.`)
  const named = readAuthority(host, DEFAULT_PORTS.http)
  if (!named.ok || !isSameAuthority(named.authority, read.authority))
    return refusedDestination('INVALID_INPUT', 'The Host header and the address in the request differ.')
  return { kind: 'named', trafficPath: 'forward', scheme: 'http', authority: read.authority, target }
}

/**
 * A connection that was opened to one host carries requests for that host only, not for others behind the same address.
 */
function connectDestination(
  { scheme, authority }: Extract<InboundConnection, { readonly kind: 'connect' }>,
  host: string,
  target: string,
): Destination {
  const named = readAuthority(host, DEFAULT_PORTS[scheme])
  if (!named.ok || !isSameAuthority(named.authority, authority))
    return refusedDestination(
      'MISDIRECTED',
      `The request is for ${host}, but its connection was opened to ${authorityText(authority)}.`,
    )
  return { kind: 'named', trafficPath: 'connect', scheme, authority, target }
}

function redirectDestination(
  { scheme, port, serverName }: Extract<InboundConnection, { readonly kind: 'redirect' }>,
  host: string,
  target: string,
): Destination {
  const named = readAuthority(host, port)
  if (!named.ok) return refusedDestination('INVALID_INPUT', `The Host header is not usable: ${named.problem}.`)
  if (serverName !== null && named.authority.host !== serverName)
    return refusedDestination(
      'MISDIRECTED',
      `The request is for ${host}, but its connection was opened to ${serverName}.`,
    )
  return { kind: 'named', trafficPath: 'redirect', scheme, authority: named.authority, target }
}

export function isSameAuthority(a: Authority, b: Authority): boolean {
  return a.host === b.host && a.port === b.port
}

function refusedDestination(code: ErrorCode, message: string): Destination {
  return { kind: 'refused', code, message }
}
