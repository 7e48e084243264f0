/**
 * Requests to switch a connection to another protocol (RFC 9110 §7.8), such as WebSocket and SPDY. Detects them, keeps
 * the client's connection open until both sides have switched, and joins the two. The pipeline decides whether a
 * request may switch.
 */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ServerResponse } from '../runtime/node-http.ts'
import type { Tunnels } from './tunnel.ts'

/** A request to switch, and the connection that it was received on. */
export interface Upgrade {
  /** As written in the request: `websocket`, `SPDY/3.1`. */
  readonly protocol: string
  /** The client's connection, which no HTTP server uses from here on. */
  readonly client: Socket
  /** For any other answer than the switch. */
  readonly response: ServerResponse
  /** The upstream has switched: what the client sends waits in the socket, which stays open after the answer. */
  readonly release: () => void
}

const ONE_PROTOCOL = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/
/**
 * HTTP itself in another version or under TLS: nobody would judge the requests that follow. Browsers and servers no
 * longer support either (RFC 9113 §3.1).
 */
const HTTP_AGAIN: ReadonlySet<string> = new Set(['h2', 'h2c', 'http', 'https', 'tls'])

/**
 * True for a request that is handled as an upgrade. Any other is answered as if it had asked for none, which servers
 * may do (RFC 9110 §7.8): one with several protocols, with a body, or in HTTP/1.0.
 */
export function isUpgrade({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const [, name] = ONE_PROTOCOL.exec(headers.upgrade ?? '') ?? []
  const hasBody = (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
  return name !== undefined && !HTTP_AGAIN.has(name.toLowerCase()) && !hasBody && httpVersion === '1.1'
}

/**
 * What a request that another proxy forwards may switch to; null: nothing. Proxies and servers take forms that are no
 * upgrade here: a list of protocols, a request with a body, CONNECT of HTTP/2 (RFC 8441).
 */
export function possibleSwitch(method: string, { upgrade = '' }: IncomingMessage['headers']): string | null {
  if (method === 'CONNECT') return 'a tunnel'
  return upgrade === '' ? null : upgrade
}

/** True for a switch to HTTP, alone or in a list: it would carry requests for every route. */
export function namesHttpAgain({ upgrade = '' }: IncomingMessage['headers']): boolean {
  return upgrade.split(',').some((one) => HTTP_AGAIN.has((one.split('/', 1)[0] ?? '').trim().toLowerCase()))
}

/** Clients wait for the answer before they use the new protocol; earlier bytes are kept up to this number. */
const MAX_EARLY_BYTES = 64 * 1024

/**
 * Takes the connection over from the HTTP server. If the client disconnects meanwhile, the answer is closed with it.
 */
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
  // The HTTP server reports it only for connections that it has kept.
  const onDrain = (): void => void (response.writableNeedDrain && response.emit('drain'))
  client.on('drain', onDrain)
  const release = (): void => {
    client.off('end', gone).off('data', onData).off('drain', onDrain)
    response.off('finish', closeAfterAnswer)
    client.pause()
    if (early.length > 0) client.unshift(Buffer.concat(early))
  }
  return { protocol: request.headers.upgrade ?? '', client, response, release }
}

/** True when the upstream switched to the requested protocol. */
export function isAsked({ protocol }: Upgrade, answered: string | undefined): boolean {
  return answered?.toLowerCase() === protocol.toLowerCase()
}

/** Silence is no reason to close such a connection; TCP detects a peer that is gone. */
const KEEP_ALIVE_MS = 60_000

interface SwitchedUpstream {
  readonly connection: Duplex
  /** Fields of its answer: name, value, name, value …, without those of the connection. */
  readonly fields: readonly string[]
  /** Called with the bytes that it has sent since. */
  readonly onEnd: (received: number) => void
}

/** Answers the client that the upstream has switched, and joins both. */
export function joinUpgrade(
  { protocol, client, response, release }: Upgrade,
  { connection: upstream, fields, onEnd }: SwitchedUpstream,
  tunnels: Pick<Tunnels, 'open'>,
): void {
  if (!(upstream instanceof Socket)) throw new TypeError('the upstream switched on something that is not a connection')
  response.writeHead(101, [...fields, 'Connection', 'Upgrade', 'Upgrade', protocol])
  release()
  // Not flushHeaders(): it would write the head as UTF-8, and header values are Latin-1 (RFC 9110 §5.5).
  response.end()
  response.detachSocket(client)
  for (const socket of [client, upstream]) socket.setKeepAlive(true, KEEP_ALIVE_MS)
  tunnels.open(client, upstream, { idleMs: 0, ask: () => null, onEnd })
}
