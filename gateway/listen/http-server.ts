/**
 * HTTP on the connections of the proxy: detects the version, records how each connection came, and passes all requests
 * on in one form. Knows neither routes nor calls.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createBoundedServer } from './http-listener.ts'
import { plainEntry, type EntryOf } from '../network/listen.ts'
import type { Logger } from '../telemetry/log.ts'
import { refuseUnreadable, type ParserError } from './unreadable-request.ts'
import { watchUnusedConnections } from './unused-connections.ts'
import type { InboundConnection } from './connection.ts'
import { createHttp2Front } from './http2-front.ts'
import { readPreface } from './http2-preface.ts'
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
  const server = createBoundedServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headTimeoutMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
    shouldUpgradeCallback: isUpgrade,
  })
  // One more than allowed, so that an excess is detected: Node.js silently drops further fields.
  server.maxHeadersCount = MAX_FIELDS + 1
  const http2 = createHttp2Front(headTimeoutMs)
  /** Connections reach the HTTP/1 server once they are known to carry HTTP/1. */
  const takers = server.rawListeners('connection')
  server.removeAllListeners('connection')
  const serveHttp1 = (connection: Duplex): void => {
    for (const take of takers) Reflect.apply(take, server, [connection])
  }
  const entry = entryOf(server)
  const unused = watchUnusedConnections(server)
  const inboundByConnection = new WeakMap<Duplex, InboundConnection>()
  const inboundOf = (connection: Duplex): InboundConnection => inboundByConnection.get(connection) ?? PLAINTEXT
  const serveHttp2 = (socket: Socket): void => {
    unused.use({ socket })
    http2.take(socket, (exchange) => {
      inboundByConnection.set(exchange, inboundOf(socket))
      serveHttp1(exchange)
    })
  }
  const takeConnection = async (socket: Socket): Promise<void> => {
    const broken = (): void => void socket.destroy()
    socket.on('error', broken)
    const version = await readPreface(socket, headTimeoutMs)
    socket.off('error', broken)
    if (version === null || socket.destroyed) return broken()
    if (version === 'http2') return serveHttp2(socket)
    serveHttp1(socket)
    // The bytes that were read to detect the version were put back.
    socket.resume()
  }
  server.on('connection', (socket: Socket) => void takeConnection(socket))
  /** The last answer on each connection. */
  const answers = new WeakMap<Duplex, ServerResponse>()
  const take = (request: IncomingMessage, response: ServerResponse, asks: Asks): void => {
    answers.set(request.socket, response)
    taker.request(request, response, inboundOf(request.socket), asks)
  }
  server.on('request', (request, response) => take(request, response, PLAIN))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    unused.use(request)
    take(request, response, { ...PLAIN, expectsContinue: true })
  })
  // Admission refuses it, in the form of every other refusal.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    unused.use(request)
    take(request, response, PLAIN)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    unused.use(request)
    const upgrade = takeUpgrade(request, socket, head)
    take(request, upgrade.response, { ...PLAIN, upgrade })
  })
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    unused.use(request)
    taker.connect(request, socket, head, inboundByConnection.has(socket))
  })
  server.on('clientError', (error: ParserError, connection) => {
    const fault = refuseUnreadable(error, connection, MAX_HEAD_BYTES, isUnderWay(answers.get(connection)))
    if (fault !== null)
      logger.debug({ event: 'listener.bad_request', err: error, code: fault.code }, 'request could not be parsed')
  })
  server.on('error', (error) => logger.error({ event: 'listener.failed', err: error }, 'proxy listener failed'))

  return {
    listen: (host, port) => entry.listen(host, port),
    serve(socket, inbound) {
      inboundByConnection.set(socket, inbound)
      if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') serveHttp2(socket)
      else server.emit('connection', socket)
    },
    closeIdle: () => server.closeIdleConnections(),
    drain() {
      const closed = entry.close()
      server.closeIdleConnections()
      unused.close()
      http2.drain()
      return closed
    },
    close() {
      server.closeAllConnections()
      http2.close()
    },
  }
}

/**
 * True while a complete request is being answered, or an answer has begun: an error in its place would be taken for it.
 */
function isUnderWay(answer: ServerResponse | undefined): boolean {
  return answer !== undefined && !answer.writableFinished && (answer.req.complete || answer.headersSent)
}
