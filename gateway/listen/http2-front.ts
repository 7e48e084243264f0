/**
 * HTTP/2 on intercepted connections: each stream becomes one HTTP/1.1 exchange with the proxy's own server, in memory.
 * So every request passes the same parser, the same checks and the same pipeline. Frames and flow control stay here.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type {
  Http2Session,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import { duplexPair, type Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { request as http1Request } from '../runtime/node-http.ts'
import { flushHead } from '../upstream/flush-head.ts'
import { http2Fields } from '../upstream/http2-fields.ts'
import { MAX_FIELDS } from '../routing/target.ts'
import { http2, tls } from '../runtime/node-tls.ts'

export interface Http2Front {
  /** Serves HTTP/2 on the connection, plaintext or with TLS established, until it closes. */
  take(connection: Socket, serve: (exchange: Duplex) => void): void
  /** No new streams; those in flight may finish. */
  drain(): void
  /** Closes all sessions. */
  close(): void
}

/** As for connections of HTTP/1.1. */
const IDLE_MS = 75_000
const MAX_STREAMS = 100
/** Time for a client to notice that its session is closed. */
const CLOSE_MS = 1000
/** More than HTTP/1.1 allows, so that the refusal is made there, in the same form. */
const MAX_FIELD_LINES = 2 * MAX_FIELDS

/** @param headTimeoutMs maximum time until the head of the first request */
export function createHttp2Front(headTimeoutMs: number): Http2Front {
  const sessions = new Set<Http2Session>()
  return {
    take(connection, serve) {
      const session = http2().performServerHandshake(connection, {
        maxHeaderListPairs: MAX_FIELD_LINES,
        // Some servers repeat fields that should occur once; the answer is used nevertheless.
        strictSingleValueFields: false,
        settings: { maxConcurrentStreams: MAX_STREAMS },
      })
      sessions.add(session)
      // A client that violates the protocol or disconnects ends its own session only.
      session.on('error', () => session.destroy())
      session.on('close', () => sessions.delete(session))
      const idle = watchIdle(session, headTimeoutMs)
      // HTTP/2 has no half-closed connections: a client that ends its side has disconnected, and its calls end.
      connection.on('end', () => session.destroy())
      session.on('stream', (stream, headers, _flags, raw) => {
        idle.begin(stream)
        const forwarding = { connection, serve }
        takeStream(stream, headers, rawFields(raw), forwarding)
      })
      // A session waits for the event by which client sockets report that TLS is established; server sockets use
      // another event.
      if (connection instanceof tls().TLSSocket) connection.emit('secureConnect')
    },
    drain() {
      for (const session of sessions) session.close()
    },
    close() {
      for (const session of sessions) session.destroy()
    },
  }
}

/**
 * Closes a session without requests. The time counts from the last request, whatever else is received: pings, or the
 * frames of a head that never ends, must not keep a connection open.
 */
function watchIdle(session: ServerHttp2Session, firstMs: number): { begin(stream: ServerHttp2Stream): void } {
  let open = 0
  let timer: NodeJS.Timeout
  const end = (): void => {
    session.close()
    timer = setTimeout(() => session.destroy(), CLOSE_MS).unref()
  }
  timer = setTimeout(end, firstMs).unref()
  session.once('close', () => clearTimeout(timer))
  return {
    begin(stream) {
      open += 1
      clearTimeout(timer)
      stream.once('close', () => {
        open -= 1
        if (open === 0 && !session.closed) timer = setTimeout(end, IDLE_MS).unref()
      })
    },
  }
}

/** `raw` is name, value, name, value …, including the pseudo-header fields. */
function rawFields(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.map(String) : []
}

function takeStream(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
  { connection, serve }: { readonly connection: Socket; readonly serve: (exchange: Duplex) => void },
): void {
  stream.on('error', () => stream.destroy())
  const fields = isCarried(headers) ? http1Fields(headers, raw, stream.endAfterHeaders) : null
  if (fields === null) return stream.close(http2().constants.NGHTTP2_PROTOCOL_ERROR)
  const [near, far] = duplexPair()
  // The address of the peer, and whether TLS protects the connection, as a socket has them.
  Object.defineProperty(far, 'remoteAddress', { value: connection.remoteAddress })
  Object.defineProperty(far, 'encrypted', { value: connection instanceof tls().TLSSocket })
  serve(far)
  let exchange: ClientRequest
  try {
    exchange = http1Request({
      method: headers[':method'] ?? 'GET',
      path: headers[':path'] ?? '/',
      headers: [...fields],
      setHost: false,
      createConnection: () => near,
    })
  } catch {
    // A field or a path that HTTP/1.1 cannot carry.
    near.destroy()
    return stream.close(http2().constants.NGHTTP2_PROTOCOL_ERROR)
  }
  exchange.on('information', ({ statusCode, rawHeaders }) => passInformation(statusCode, rawHeaders, stream))
  // A short answer is received together with its end: on the next tick it is known to be complete.
  exchange.on('response', (answer) => process.nextTick(passAnswer, answer, stream))
  exchange.on('error', () => stream.close(http2().constants.NGHTTP2_INTERNAL_ERROR))
  exchange.on('close', () => letGo(stream, exchange))
  const leave = (): void => {
    stream.unpipe(exchange)
    exchange.destroy()
    far.destroy()
  }
  // A client that resets a stream has disconnected from it. After a reset with NO_ERROR, Node.js reports the end of the
  // body as well, and the upstream would take half an upload for whole. The stream closes only once that end is read.
  stream.on('aborted', leave)
  stream.on('close', leave)
  if (stream.endAfterHeaders) exchange.end()
  else {
    stream.pipe(exchange)
    // A client that streams both ways may wait for the answer before it sends.
    flushHead(exchange)
  }
}

const METHOD = /^[A-Z][A-Z-]*$/
const SCHEMES: ReadonlySet<unknown> = new Set(['http', 'https'])

/**
 * False for requests that HTTP/1.1 cannot carry with the same meaning. A method in small letters would become another
 * one, a scheme would be lost, and CONNECT is supported over HTTP/1.1 only.
 */
function isCarried({ ':method': method = '', ':scheme': scheme }: IncomingHttpHeaders): boolean {
  return METHOD.test(method) && method !== 'CONNECT' && SCHEMES.has(scheme)
}

/**
 * The fields as HTTP/1.1 has them, byte for byte except for the framing (RFC 9113 §8.2.2, §8.3.1). Null when
 * `:authority` and `host` name two hosts.
 */
function http1Fields(
  headers: IncomingHttpHeaders,
  raw: readonly string[],
  isBodiless: boolean,
): readonly string[] | null {
  const authority = headers[':authority']
  const fields: string[] = []
  const crumbs: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]]
    // HTTP/1.1 has one such field (RFC 9113 §8.2.3). Trailers of a request end here.
    if (name === 'cookie') crumbs.push(value)
    else if (name !== 'trailer' && !name.startsWith(':')) fields.push(name, value)
  }
  if (crumbs.length > 0) fields.push('cookie', crumbs.join('; '))
  if (authority !== undefined && headers.host !== undefined && headers.host !== authority) return null
  if (authority !== undefined && headers.host === undefined) fields.unshift('host', authority)
  // Without a length the body must be framed, whatever the method: otherwise it would be read as the next request.
  if (!isBodiless && headers['content-length'] === undefined) fields.push('transfer-encoding', 'chunked')
  return fields
}

/** Informational answers: 100 (Continue), early hints. */
function passInformation(status: number, raw: readonly string[], stream: ServerHttp2Stream): void {
  if (takesHead(stream)) stream.additionalHeaders({ ...http2Fields(raw), ':status': status })
}

/** False also for a stream that was reset and still has unread bytes: Node.js throws when it is answered. */
function takesHead({ destroyed, closed, headersSent }: ServerHttp2Stream): boolean {
  return !destroyed && !closed && !headersSent
}

const NO_CONTENT = 204

function passAnswer(answer: IncomingMessage, stream: ServerHttp2Stream): void {
  if (!takesHead(stream)) return
  const status = answer.statusCode ?? 0
  // HTTP/2 has no others (RFC 9113 §8.3.2), and the meaning of this one is unknown.
  if (status < 200 || status > 599) return stream.close(http2().constants.NGHTTP2_INTERNAL_ERROR)
  const head: OutgoingHttpHeaders = { ...http2Fields(answer.rawHeaders), ':status': status }
  // It has no body, and an HTTP/2 client checks the stated length (RFC 9113 §8.1.1).
  if (status === NO_CONTENT) delete head['content-length']
  // An answer of a head alone stays one: gRPC clients read their outcome from there.
  if (answer.complete && answer.readableLength === 0 && Object.keys(answer.trailers).length === 0) {
    stream.respond(head, { endStream: true })
    answer.resume()
    return
  }
  stream.respond(head, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(answer.trailers))
  answer.on('error', () => stream.close(http2().constants.NGHTTP2_INTERNAL_ERROR))
  answer.pipe(stream)
}

/** Time for an answer to be received before the frame that ends its stream. */
const LINGER_MS = 1000

/**
 * If the client is still sending when its answer is complete, it is asked to stop, which is no error (RFC 9113 §8.1).
 */
function letGo(stream: ServerHttp2Stream, exchange: ClientRequest): void {
  if (stream.destroyed || stream.readableEnded) return
  stream.unpipe(exchange)
  stream.resume()
  const end = setTimeout(() => stream.close(http2().constants.NGHTTP2_NO_ERROR), LINGER_MS)
  stream.on('close', () => clearTimeout(end))
}
