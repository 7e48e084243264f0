/**
 * Requests to switch a connection to another protocol (RFC 9110 §7.8), as WebSocket and SPDY do: which are taken for one, how
 * their client is kept until both sides have switched, and the joining. Whether one may go on is the road's to say.
 */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ServerResponse } from '../runtime/node-http.ts'
import type { Tunnels } from './tunnel.ts'

/** A request that asks for a switch, and the connection that it came on. */
export interface Upgrade {
  /** As the request spells it: `websocket`, `SPDY/3.1`. */
  readonly protocol: string
  /** The client's connection, from here on no HTTP server's. */
  readonly client: Socket
  /** For any other answer than the switch. */
  readonly response: ServerResponse
  /** The upstream has switched: what the client sends waits in the socket, which stays open after the answer. */
  readonly release: () => void
}

const ONE_PROTOCOL = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/
/** HTTP itself in another version or under TLS: requests would follow that nobody judges. Browsers and servers gave both up (RFC 9113 §3.1). */
const HTTP_AGAIN: ReadonlySet<string> = new Set(['h2', 'h2c', 'http', 'https', 'tls'])

/**
 * True for a request that is taken for an upgrade. Any other is answered as if it had asked for none, which servers may do:
 * with several protocols to choose from, with a body, or in HTTP/1.0 (RFC 9110 §7.8).
 */
export function isUpgrade({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const [, name] = ONE_PROTOCOL.exec(headers.upgrade ?? '') ?? []
  const hasBody = (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
  return name !== undefined && !HTTP_AGAIN.has(name.toLowerCase()) && !hasBody && httpVersion === '1.1'
}

/** Clients wait for the answer before they speak the new protocol; what comes sooner is kept up to here. */
const MAX_EARLY_BYTES = 64 * 1024

/** Takes the connection over from the HTTP server. A client that goes away meanwhile takes the answer with it. */
export function takeUpgrade(request: IncomingMessage, client: Socket, head: Buffer): Upgrade {
  const early: Buffer[] = head.length === 0 ? [] : [head]
  let size = head.length
  const gone = (): void => void client.destroy()
  const onData = (bytes: Buffer): void => {
    early.push(bytes)
    size += bytes.length
    if (size > MAX_EARLY_BYTES) client.destroy()
  }
  client.on('error', gone).on('end', gone).on('data', onData)
  client.resume()
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(client)
  const closeAfterAnswer = (): void => void client.end(() => client.destroySoon())
  response.on('finish', closeAfterAnswer)
  const release = (): void => {
    client.off('end', gone).off('data', onData)
    response.off('finish', closeAfterAnswer)
    client.pause()
    if (early.length > 0) client.unshift(Buffer.concat(early))
  }
  return { protocol: request.headers.upgrade ?? '', client, response, release }
}

/** True when the upstream switched to what it was asked for. */
export function isAsked({ protocol }: Upgrade, answered: string | undefined): boolean {
  return answered?.toLowerCase() === protocol.toLowerCase()
}

/** Silence is no reason to close such a connection; a peer that vanished is found by TCP. */
const KEEP_ALIVE_MS = 60_000

/**
 * Tells the client that the upstream has switched, and joins both.
 * @param fields of the answer: name, value, name, value …, without those of the connection
 * @param onEnd with the bytes that the upstream sent since
 */
export function joinUpgrade(
  { protocol, client, response, release }: Upgrade,
  fields: readonly string[],
  upstream: Duplex,
  tunnels: Pick<Tunnels, 'open'>,
  onEnd: (received: number) => void,
): void {
  if (!(upstream instanceof Socket)) throw new TypeError('the upstream switched on something that is no connection')
  response.writeHead(101, [...fields, 'Connection', 'Upgrade', 'Upgrade', protocol])
  release()
  // Not flushHeaders(): it would write the head as UTF-8, and header values are Latin-1 (RFC 9110 §5.5).
  response.end()
  response.detachSocket(client)
  for (const socket of [client, upstream]) socket.setKeepAlive(true, KEEP_ALIVE_MS)
  tunnels.open(client, upstream, 0, () => null, onEnd)
}
