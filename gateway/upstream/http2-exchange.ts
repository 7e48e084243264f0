/** One request over HTTP/2 and its answer: reports the events of a stream to a handler as undici does. */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { http2 } from '../runtime/node-tls.ts'
import { http2Fields, type Http2Fields } from './http2-fields.ts'
import { codedError, LostRequest } from './outcome.ts'
import type { SentRequest } from './sent-request.ts'

export interface Http2Timeouts {
  /** Maximum silence before the head of the answer, while no part of the request is sent either. */
  readonly headersMs: number
  /** Maximum silence within an answer; 0: no limit. */
  readonly idleMs: number
}

interface Http2ExchangeOptions extends Http2Timeouts {
  /** The connection has carried answers before. */
  readonly hasServed: boolean
  /** Called when the head of the answer is received. */
  readonly onServed: () => void
  /** Called with the stream of the request. */
  readonly onStream: (stream: ClientHttp2Stream) => void
}

/** Always calls `handler`, whatever happens. @param session connected, or the reason why it is not */
export function startHttp2Exchange(
  session: ClientHttp2Session | Error,
  request: SentRequest,
  handler: Dispatcher.DispatchHandler,
  options: Http2ExchangeOptions,
): void {
  new Http2Exchange(request, handler, options).start(session)
}

class Http2Exchange implements Dispatcher.DispatchController {
  rawHeaders: string[] | null = null
  rawTrailers: string[] | null = null
  readonly #request: SentRequest
  readonly #handler: Dispatcher.DispatchHandler
  readonly #options: Http2ExchangeOptions
  #stream: ClientHttp2Stream | null = null
  #trailers: NodeJS.Dict<string | string[]> = {}
  #reason: Error | null = null
  #hasBegun = false
  /** The upstream has ended the answer, and not only the stream. */
  #isWhole = false
  #isOver = false

  constructor(request: SentRequest, handler: Dispatcher.DispatchHandler, options: Http2ExchangeOptions) {
    this.#request = request
    this.#handler = handler
    this.#options = options
  }

  get aborted(): boolean {
    return this.#reason !== null
  }

  get reason(): Error | null {
    return this.#reason
  }

  get paused(): boolean {
    return this.#stream?.isPaused() ?? false
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  abort(reason: Error): void {
    this.#reason ??= reason
    this.#stream?.close(http2().constants.NGHTTP2_CANCEL)
    this.#fail(reason)
  }

  start(session: ClientHttp2Session | Error): void {
    if (session instanceof Error) return this.#fail(session)
    const { body } = this.#request
    try {
      // What it throws ends the exchange, as with undici.
      this.#handler.onRequestStart?.(this, null)
      if (this.aborted) return
      this.#stream = session.request(this.#fields(), { endStream: body === null })
    } catch (error) {
      // A field that HTTP/2 cannot carry, or a connection that has just been closed.
      return this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
    this.#options.onStream(this.#stream)
    this.#listen(this.#stream)
    if (Buffer.isBuffer(body)) this.#stream.end(body)
    else if (body !== null) this.#upload(body, this.#stream)
  }

  #listen(stream: ClientHttp2Stream): void {
    const { headersMs, idleMs, onServed } = this.#options
    const push = stream.push.bind(stream)
    // Node.js ends the body at a reset with NO_ERROR too, but only after it has closed the stream.
    stream.push = (bytes: unknown, encoding?: BufferEncoding): boolean => {
      this.#isWhole ||= bytes === null && !stream.closed
      return push(bytes, encoding)
    }
    stream.setTimeout(headersMs)
    stream.on('timeout', () => this.#onSilence(stream))
    stream.on('headers', (headers) => this.#tellHead(headers))
    stream.on('response', (headers, flags) => {
      this.#hasBegun = true
      onServed()
      stream.setTimeout(idleMs)
      this.#tellHead(headers)
      // Reported in the same tick, so that an answer of a head alone stays one.
      if ((flags & http2().constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#finish()
    })
    stream.on('trailers', (trailers) => {
      this.#trailers = plainFields(trailers)
    })
    stream.on('data', (bytes: Buffer) => this.#tell(() => this.#handler.onResponseData?.(this, bytes)))
    // A stream that was reset, or lost with its connection, emits this event too.
    stream.on('end', () => (this.#hasBegun && this.#isWhole ? this.#finish() : this.#onReset(stream)))
    stream.on('error', (error) => this.#fail(this.#lossOf(stream, causeOf(error))))
    stream.on('close', () => this.#onReset(stream))
  }

  #onReset(stream: ClientHttp2Stream): void {
    const error = codedError('ECONNRESET', `the stream was reset (${stream.rstCode ?? 0})`)
    this.#fail(this.#lossOf(stream, error))
  }

  #onSilence(stream: ClientHttp2Stream): void {
    // The reader is slow, not the upstream: the timer starts again.
    if (this.paused) stream.setTimeout(this.#options.idleMs)
    else
      this.abort(
        this.#hasBegun
          ? codedError('UND_ERR_BODY_TIMEOUT', 'no more bytes of the answer in time')
          : codedError('UND_ERR_HEADERS_TIMEOUT', 'no head of an answer in time'),
      )
  }

  /**
   * The server has not processed a stream that it refused, or that is beyond the last stream of a closing connection
   * (RFC 9113 §8.7).
   */
  #lossOf(stream: ClientHttp2Stream, error: Error): Error {
    if (this.#hasBegun) return error
    if (stream.rstCode === http2().constants.NGHTTP2_REFUSED_STREAM) return new LostRequest('any', error)
    const isLostWithConnection = stream.session === undefined || stream.session.destroyed
    return isLostWithConnection && this.#options.hasServed ? new LostRequest('reads', error) : error
  }

  #tellHead(headers: IncomingHttpHeaders): void {
    this.#tell(() => {
      this.#handler.onResponseStart?.(this, Number(headers[':status'] ?? 0), plainFields(headers))
    })
  }

  /** An error that the handler throws ends this exchange only, as with undici. */
  #tell(report: () => void): void {
    if (this.#isOver) return
    try {
      report()
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #upload(body: Readable, stream: ClientHttp2Stream): void {
    body.on('close', () => {
      if (!body.readableEnded) stream.close(http2().constants.NGHTTP2_CANCEL)
    })
    body.on('error', () => stream.close(http2().constants.NGHTTP2_CANCEL))
    // Closes an upload that is no longer needed.
    stream.on('close', () => void body.destroy())
    body.pipe(stream)
  }

  #fields(): Http2Fields {
    const { path, method, headers } = this.#request
    return { ':method': method, ':path': path, ...http2Fields(headers) }
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onResponseEnd?.(this, this.#trailers)
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onResponseError?.(this, error)
  }
}

/** Streams that wait for a connection end as cancelled; the cause of the error has the reason. */
function causeOf(error: Error): Error {
  return 'code' in error && error.code === 'ERR_HTTP2_STREAM_CANCEL' && error.cause instanceof Error
    ? error.cause
    : error
}

function plainFields(headers: IncomingHttpHeaders): NodeJS.Dict<string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
}
