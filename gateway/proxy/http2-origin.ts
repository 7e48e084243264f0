/**
 * Requests to one origin over HTTP/2: where both directions stream at once and trailers carry the outcome, as gRPC has it. Takes
 * the same dispatch as the pools of HTTP/1.1, so an exchange need not know by which of them it goes.
 */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { http2 } from '../node-tls.ts'
import type { SentRequest } from './upstream.ts'

export interface Http2OriginOptions {
  readonly connectMs: number
  /** From the end of the request to the head of the answer. */
  readonly headersMs: number
  /** Longest silence within an answer; 0: none. */
  readonly idleMs: number
  /** PEM of the authorities to trust instead of the public ones. */
  readonly ca?: string
  readonly lookup?: LookupFunction
}

export interface Http2Origin {
  dispatch(request: SentRequest, handler: Dispatcher.DispatchHandler): void
  /** Takes no more; what is under way comes to its end. */
  close(): void
  /** Breaks off what is under way. */
  destroy(): void
}

/** Connections without a stream are closed. */
const IDLE_MS = 60_000
/** One stream may be this far ahead of its reader. */
const WINDOW_BYTES = 1024 * 1024

export function createHttp2Origin(origin: string, options: Http2OriginOptions): Http2Origin {
  let session: ClientHttp2Session | null = null
  return {
    dispatch(request, handler) {
      if (session === null || session.closed || session.destroyed) {
        const opened = openSession(origin, options)
        // Told to go away, it finishes what it has, and the next request opens another one.
        const forget = (): void => {
          if (session === opened) session = null
        }
        opened.on('goaway', forget).on('close', forget)
        session = opened
      }
      new Exchange(session, request, handler).start(options)
    },
    close: () => session?.close(),
    destroy: () => session?.destroy(),
  }
}

function openSession(origin: string, { connectMs, ca, lookup }: Http2OriginOptions): ClientHttp2Session {
  const session = http2().connect(origin, {
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    ...(ca === undefined ? {} : { ca }),
    ...(lookup === undefined ? {} : { lookup }),
  })
  const timer = setTimeout(() => session.destroy(coded('ETIMEDOUT', 'no connection in time')), connectMs)
  session.on('connect', () => {
    clearTimeout(timer)
    if (session.alpnProtocol !== 'h2' && session.alpnProtocol !== 'h2c')
      session.destroy(coded('ERR_HTTP2_ERROR', `${origin} does not speak HTTP/2, which this request needs`))
  })
  // Its streams are told, each for itself.
  session.on('error', () => clearTimeout(timer))
  session.on('close', () => clearTimeout(timer))
  session.setTimeout(IDLE_MS, () => session.close())
  return session
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** One request and its answer: both ends of a stream, told to a handler as undici tells it. */
class Exchange implements Dispatcher.DispatchController {
  rawHeaders: string[] | null = null
  rawTrailers: string[] | null = null
  readonly #session: ClientHttp2Session
  readonly #request: SentRequest
  readonly #handler: Dispatcher.DispatchHandler
  #stream: ClientHttp2Stream | null = null
  #trailers: NodeJS.Dict<string | string[]> = {}
  #reason: Error | null = null
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor(session: ClientHttp2Session, request: SentRequest, handler: Dispatcher.DispatchHandler) {
    this.#session = session
    this.#request = request
    this.#handler = handler
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

  start({ headersMs, idleMs }: Pick<Http2OriginOptions, 'headersMs' | 'idleMs'>): void {
    this.#handler.onRequestStart?.(this, null)
    if (this.aborted) return
    const { body } = this.#request
    const isStreamed = body !== null && !Buffer.isBuffer(body)
    try {
      this.#stream = this.#session.request(this.#fields(), { endStream: body === null, waitForTrailers: isStreamed })
    } catch (error) {
      // A field that HTTP/2 cannot carry, or a connection that was closed a moment ago.
      return this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
    this.#listen(this.#stream, headersMs)
    this.#stream.once('response', () =>
      this.#stream?.setTimeout(idleMs, () =>
        this.abort(coded('UND_ERR_BODY_TIMEOUT', 'the answer has stopped moving')),
      ),
    )
    if (isStreamed) this.#upload(body, this.#stream)
    else if (body !== null) this.#stream.end(body)
  }

  #listen(stream: ClientHttp2Stream, headersMs: number): void {
    const wait = (): void => {
      this.#timer ??= setTimeout(() => {
        stream.close(http2().constants.NGHTTP2_CANCEL)
        this.#fail(coded('UND_ERR_HEADERS_TIMEOUT', 'no head of an answer in time'))
      }, headersMs)
    }
    if (stream.writableFinished || this.#request.body === null) wait()
    else stream.on('finish', wait)
    stream.on('response', (headers, flags) => this.#begin(headers, flags))
    stream.on('trailers', (trailers) => {
      this.#trailers = plainFields(trailers)
    })
    stream.on('data', (bytes: Buffer) => {
      if (!this.#isOver) this.#handler.onResponseData?.(this, bytes)
    })
    stream.on('end', () => this.#finish())
    stream.on('error', (error) => this.#fail(error))
    stream.on('close', () => this.#fail(coded('ECONNRESET', `the stream was reset (${stream.rstCode ?? 0})`)))
  }

  #begin(headers: IncomingHttpHeaders, flags: number): void {
    clearTimeout(this.#timer)
    if (this.#isOver) return
    const fields = plainFields(headers)
    this.#handler.onResponseStart?.(this, Number(headers[':status'] ?? 0), fields)
    // Told in the same breath, so that an answer of a head alone stays one.
    if ((flags & http2().constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#finish()
  }

  #upload(body: Readable, stream: ClientHttp2Stream): void {
    stream.on('wantTrailers', () => stream.sendTrailers(this.#request.trailers?.() ?? {}))
    body.on('close', () => {
      if (!body.readableEnded) stream.close(http2().constants.NGHTTP2_CANCEL)
    })
    body.on('error', () => stream.close(http2().constants.NGHTTP2_CANCEL))
    // An upload that nobody wants any more is let go.
    stream.on('close', () => void body.destroy())
    body.pipe(stream)
  }

  #fields(): Record<string, string | string[]> {
    const { path, method, headers } = this.#request
    const fields: Record<string, string | string[]> = { ':method': method, ':path': path }
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const [name, value] = [(headers[index] ?? '').toLowerCase(), headers[index + 1] ?? '']
      const before = fields[name]
      fields[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
    }
    return fields
  }

  #finish(): void {
    if (this.#isOver) return
    this.#settle()
    this.#handler.onResponseEnd?.(this, this.#trailers)
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#settle()
    this.#handler.onResponseError?.(this, error)
  }

  #settle(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }
}

function plainFields(headers: IncomingHttpHeaders): NodeJS.Dict<string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
}
