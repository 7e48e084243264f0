/**
 * Keeps web pages away from the API. With DNS rebinding, a foreign page resolves its own name to 127.0.0.1 and is then
 * same-origin with a loopback listener. It could sign up for a key there; its Host header reveals it.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from './listen-address.ts'
import { GatewayError } from '../errors/errors.ts'

/** @throws GatewayError FORBIDDEN for a Host that a loopback listener cannot have, and for a page of another origin. */
export function refuseForeignPages(request: IncomingMessage, publicUrl: string | undefined): void {
  const host = hostnameOf(`http://${request.headers.host ?? ''}`)
  if (host === null) throw new GatewayError('INVALID_INPUT', 'The Host header is missing or not valid.')
  const own = publicUrl === undefined ? null : hostnameOf(publicUrl)
  if (isLoopback((request.socket.localAddress ?? '').replace(/^::ffff:/, '')) && !isLocalName(host) && host !== own) {
    throw new GatewayError(
      'FORBIDDEN',
      `This listener is on loopback and does not answer for the host "${host}" (see public_url).`,
    )
  }
  const { origin } = request.headers
  if (origin === undefined) return
  const page = hostnameOf(origin)
  if (page === null || (page !== host && page !== own)) {
    throw new GatewayError('FORBIDDEN', 'Pages of other origins may not use this API.')
  }
}

/** Without the brackets of an IPv6 address; null: the text is no URL. */
export function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : null
}

/** A name that DNS rebinding cannot use: an address, or a name of this machine. */
export function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isIP(host) !== 0
}
