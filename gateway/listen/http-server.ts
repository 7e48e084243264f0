/**
 * HTTP on the connections of the proxy: detects the version, records how each connection came, and passes all requests
 * on in one form. Knows neither routes nor calls.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createBoundedServer } from './http-listener.ts'
import { plainEntry, type ListenerEntry, type EntryOf } from '../network/listen.ts'
import type { Logger } from '../telemetry/log.ts'
import { refuseUnreadable, type ParserError } from './unreadable-request.ts'
import { watchUnusedConnections, type UnusedConnections } from './unused-connections.ts'
import type { InboundConnection } from './connection.ts'
import { createHttp2Front, type Http2Front } from './http2-front.ts'
import { readPreface } from './http2-preface.ts'
import { RequestOrder } from './request-order.ts'
import { MAX_FIELDS } from '../routing/target.ts'
import { isUpgrade, takeUpgrade, type Upgrade } from '../upstream/upgrade.ts'

/** Requirements of a request in addition to its answer. */
export interface Asks {
  /** The client waits for 100 (Continue) before it sends the body (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean
  /** Set when the request asks for a switch to another protocol. */
  readonly upgrade: Upgrade | null
}

interface RequestTaker {
  request(request: IncomingMessage, response: ServerResponse, inbound: InboundConnection, asks: Asks): void
  /**
   * The socket belongs to the taker from here on. @param isNested it came on a connection that was already opened to a
   * destination
   */
  connect(request: IncomingMessage, socket: Socket, head: Buffer, isNested: boolean): void
}

interface HttpServer {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Serves HTTP on a connection that did not come through the listener. */
  serve(socket: Socket, inbound: InboundConnection): void
  /** Closes HTTP/1 connections without a request in flight. */
  closeIdle(): void
  /** Takes no new connection, and lets requests in flight finish. Resolves when no HTTP/1 connection is left. */
  drain(): Promise<void>
  /** Closes the remaining connections. */
  close(): void
}

/** Longer than the usual client's, so that the client is the one to close an idle connection. */
const KEEP_ALIVE_MS = 75_000
/** A receipt and its envelope in header fields take up to 16 KiB together, in addition to the other fields. */
const MAX_HEAD_BYTES = 32 * 1024

const PLAINTEXT: InboundConnection = { kind: 'listener' }
const PLAIN: Asks = { expectsContinue: false, upgrade: null }

/** @param headTimeoutMs longest time for the head of a request */
export function createHttpServer(
  taker: RequestTaker,
  headTimeoutMs: number,
  logger: Logger,
  entryOf: EntryOf = plainEntry,
): HttpServer {
  return new ProxyHttpServer(taker, headTimeoutMs, logger, entryOf)
}

class ProxyHttpServer implements HttpServer {
  readonly #taker: RequestTaker
  readonly #headTimeoutMs: number
  readonly #server: Server
  readonly #http2: Http2Front
  readonly #entry: ListenerEntry
  readonly #unused: UnusedConnections
  /** What Node.js does with a connection. One reaches it once it is known to carry HTTP/1. */
  readonly #http1Takers: ReturnType<Server['rawListeners']>
  readonly #inbound = new WeakMap<Duplex, InboundConnection>()
  readonly #order = new RequestOrder()

  constructor(taker: RequestTaker, headTimeoutMs: number, logger: Logger, entryOf: EntryOf) {
    this.#taker = taker
    this.#headTimeoutMs = headTimeoutMs
    const server = createBoundedServer({
      keepAliveTimeout: KEEP_ALIVE_MS,
      headTimeoutMs,
      maxHeaderSize: MAX_HEAD_BYTES,
      insecureHTTPParser: false,
      shouldUpgradeCallback: isUpgrade,
    })
    // One more than allowed, so that an excess is detected: Node.js silently drops further fields.
    server.maxHeadersCount = MAX_FIELDS + 1
    this.#server = server
    this.#http2 = createHttp2Front(headTimeoutMs)
    this.#http1Takers = server.rawListeners('connection')
    server.removeAllListeners('connection')
    this.#entry = entryOf(server)
    this.#unused = watchUnusedConnections(server)
    this.#register(logger)
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return this.#entry.listen(host, port)
  }

  serve(socket: Socket, inbound: InboundConnection): void {
    this.#inbound.set(socket, inbound)
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') this.#serveHttp2(socket)
    else this.#server.emit('connection', socket)
  }

  closeIdle(): void {
    this.#server.closeIdleConnections()
  }

  drain(): Promise<void> {
    const closed = this.#entry.close()
    this.#server.closeIdleConnections()
    this.#unused.close()
    this.#http2.drain()
    return closed
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#http2.close()
  }

  #register(logger: Logger): void {
    const server = this.#server
    server.on('connection', (socket: Socket) => void this.#takeConnection(socket))
    server.on('request', (request, response) => this.#take(request, response, PLAIN))
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      this.#unused.use(request)
      this.#take(request, response, { ...PLAIN, expectsContinue: true })
    })
    // Admission refuses it, in the form of every other refusal.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      this.#unused.use(request)
      this.#take(request, response, PLAIN)
    })
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#unused.use(request)
      if (this.#order.isAnswering(socket)) {
        socket.destroy()
        return
      }
      const upgrade = takeUpgrade(request, socket, head)
      this.#take(request, upgrade.response, { ...PLAIN, upgrade })
    })
    server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#unused.use(request)
      if (this.#order.isAnswering(socket)) socket.destroy()
      else this.#taker.connect(request, socket, head, this.#inbound.has(socket))
    })
    server.on('clientError', (error: ParserError, connection) => {
      if (error.code !== 'ECONNRESET' && this.#order.endAfterAnswer(connection)) return
      const fault = refuseUnreadable(error, connection, MAX_HEAD_BYTES, this.#order.isUnderWay(connection))
      if (fault !== null)
        logger.debug({ event: 'listener.bad_request', err: error, code: fault.code }, 'request could not be parsed')
    })
    server.on('error', (error) => logger.error({ event: 'listener.failed', err: error }, 'proxy listener failed'))
  }

  async #takeConnection(socket: Socket): Promise<void> {
    const broken = (): void => void socket.destroy()
    socket.on('error', broken)
    const version = await readPreface(socket, this.#headTimeoutMs)
    socket.off('error', broken)
    if (version === null || socket.destroyed) return broken()
    if (version === 'http2') return this.#serveHttp2(socket)
    this.#serveHttp1(socket)
    // The bytes that were read to detect the version were put back.
    socket.resume()
  }

  #serveHttp1(connection: Duplex): void {
    for (const take of this.#http1Takers) Reflect.apply(take, this.#server, [connection])
  }

  #serveHttp2(socket: Socket): void {
    this.#unused.use({ socket })
    this.#http2.take(socket, (exchange) => {
      this.#inbound.set(exchange, this.#inboundOf(socket))
      this.#serveHttp1(exchange)
    })
  }

  #take(request: IncomingMessage, response: ServerResponse, asks: Asks): void {
    this.#order.take(request, response, () =>
      this.#taker.request(request, response, this.#inboundOf(request.socket), asks),
    )
  }

  #inboundOf(connection: Duplex): InboundConnection {
    return this.#inbound.get(connection) ?? PLAINTEXT
  }
}
