/**
 * One request to an upstream and its answer back to the client, streamed: headers first, back-pressure both ways,
 * trailers. When either side disconnects the other is closed. Decides nothing.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { PassThrough, type Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import { hasLeft } from '../network/client-left.ts'
import { discardRest } from '../network/discard-body.ts'
import type { AnswerWatcher } from '../calls/answer.ts'
import type { ExecutionResult } from '../telemetry/events.ts'
import { flushHead } from './flush-head.ts'
import { STATUS_CODES } from '../runtime/node-http.ts'
import { readGrpcStatus, type GrpcStatusReader } from '../network/grpc-status.ts'
import { clientHeaders, mayTrail, withoutField } from './headers.ts'
import { passInformational, type Informational } from './informational.ts'
import { brokenOutcome, faultOf, lostTry, repeatableAfter, type ExchangeFault } from './outcome.ts'
import type { Tunnels } from './tunnel.ts'
import { isAsked, joinUpgrade, type Upgrade } from './upgrade.ts'
import { replaceOwnAddresses, type ServedRoute } from './own-address.ts'
import type { RequestDispatcher } from './sent-request.ts'
import type { AnswerStream } from './answer-stream.ts'

export interface ExchangeEnd extends ExecutionResult {
  readonly fault: ExchangeFault
  /** The head of an answer has been sent to the client; when false the caller still has to answer. */
  readonly isAnswered: boolean
  /** For the log; null unless there is a fault. */
  readonly cause: Error | null
  /** Body bytes of the request. */
  readonly sentBytes: number
}

interface ExchangeOptions {
  readonly dispatcher: RequestDispatcher
  readonly path: string
  readonly request: IncomingMessage
  readonly response: AnswerStream
  /** Name, value, name, value … for the upstream. */
  readonly headers: string[]
  /** The body that was judged, or null: then the body streams from the client. */
  readonly body: Buffer | null
  /** Added to the answer: name, value, name, value … */
  readonly ownHeaders: readonly string[]
  /** The route of the call: the answer must not lead to its upstream directly. */
  readonly route: ServedRoute
  readonly watcher: AnswerWatcher | null
  /**
   * Asked when a connection takes the request, which may have waited for one. Not synchronous: the request waits for the
   * answer, without a byte sent. Never rejects.
   */
  readonly maySend: () => boolean | Promise<boolean>
  /** Called when the request is sent on a connection. */
  readonly onSending: () => void
  /** Called with the head of the answer; informational ones do not count. */
  readonly onAnswer: () => void
  /** The switch to another protocol that the request asks for. */
  readonly upgrade: Upgrade | null
  readonly tunnels: Pick<Tunnels, 'open'>
}

export interface UpstreamExchange {
  /** Null: the request may not be sent any more, and nothing was. Never rejects. */
  readonly done: Promise<ExchangeEnd | null>
  /** Closes both sides. */
  abort(): void
}

export function startExchange(options: ExchangeOptions): UpstreamExchange {
  const relay = new Relay(options)
  relay.start()
  return relay
}

class ClientAbort extends Error {}

/** Takes the request back from a connection, which stays open for the next one: an abort would close it. */
class NotSentYet extends Error {}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

class Relay implements UpstreamExchange, Dispatcher.DispatchHandler {
  readonly done: Promise<ExchangeEnd | null>
  readonly #options: ExchangeOptions
  readonly #startedAt = performance.now()
  #resolve: (end: ExchangeEnd | null) => void = () => {}
  #controller: Dispatcher.DispatchController | null = null
  #upload: PassThrough | null = null
  #isClientGone = false
  #isEnded = false
  #isWaitingForDrain = false
  #hasAnswerBegun = false
  /** Of the first try, where there is a second one. */
  #firstError: Error | null = null
  #status: number | null = null
  #grpc: GrpcStatusReader | null = null
  #informational: Informational | null = null
  #bytes = 0
  #sentBytes = 0
  /** Length of the answer from its head; -1 when it states none. */
  #length = -1
  /** The bytes that complete an answer of known length: they are sent together with its end. */
  #last: Buffer | undefined = undefined

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  start(): void {
    const { request, response } = this.#options
    response.on('close', this.#onClientClose)
    // The client disconnected while the call was judged: nothing is sent.
    if (response.destroyed || hasLeft(request)) return this.abort()
    this.#send()
  }

  #send(): void {
    const { request, dispatcher, path, headers, upgrade } = this.#options
    const { method = 'GET' } = request
    const body = upgrade === null ? this.#requestBody() : null
    const sent = { path, method, headers, body }
    dispatcher.dispatch(upgrade === null ? sent : { ...sent, upgrade: upgrade.protocol }, this)
  }

  abort(): void {
    if (this.#isEnded) return
    this.#options.response.destroy()
    this.#onClientClose()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (hasLeft(this.#options.request)) {
      this.#isClientGone = true
      this.#options.response.destroy()
    }
    if (this.#isClientGone) return controller.abort(new ClientAbort('The client disconnected.'))
    const allowed = this.#options.maySend()
    if (allowed === true) {
      this.#startUpload()
      return this.#options.onSending()
    }
    void this.#sendIf(allowed)
    throw new NotSentYet()
  }

  /** The client may disconnect meanwhile. */
  async #sendIf(allowed: false | Promise<boolean>): Promise<void> {
    this.#controller = null
    const isAllowed = await allowed
    if (this.#isEnded) return
    if (isAllowed) return this.#send()
    // Sent before: it is not admitted again as a request that nobody received.
    const lost = lostTry(this.#firstError)
    if (lost !== null) return this.#end(faultOf(lost, false), lost)
    this.#isEnded = true
    this.#options.response.off('close', this.#onClientClose)
    this.#resolve(null)
  }

  /** From here on the connection belongs to a tunnel, and this exchange ends with it. */
  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    upstream: Duplex,
  ): void {
    const { response, watcher, upgrade, tunnels } = this.#options
    if (upgrade === null || this.#isClientGone || !isAsked(upgrade, headers.upgrade)) {
      upstream.on('error', () => {}).destroy()
      const error = new Error(`The upstream switched to ${headers.upgrade ?? 'an unnamed protocol'}.`)
      return this.onResponseError(controller, error)
    }
    this.#status = status
    this.#options.onAnswer()
    watcher?.head(status, headers)
    response.off('close', this.#onClientClose)
    const fields = this.#clientFields(answerFields(controller.rawHeaders, headers), headers)
    const onEnd = (received: number): void => {
      this.#bytes = received
      watcher?.end()
      this.#end(null, null)
    }
    joinUpgrade(upgrade, { connection: upstream, fields, onEnd }, tunnels)
  }

  /** The first byte of an answer, of HTTP/1.1 only. */
  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    const { request, response, watcher } = this.#options
    if (this.#isClientGone) return
    const raw = answerFields(controller.rawHeaders, headers)
    if (status < 200) {
      this.#informational ??= passInformational(request, response)
      return this.#informational.pass(status, this.#clientFields(raw, headers, []))
    }
    this.#status = status
    this.#options.onAnswer()
    this.#grpc = readGrpcStatus(headers)
    watcher?.head(status, headers)
    const fields = this.#clientFields(raw, headers)
    const isInVain = headers.trailer !== undefined && !mayEndInTrailers(request, status, headers)
    response.writeHead(status, plainReason(status, statusMessage), isInVain ? withoutField(fields, 'trailer') : fields)
    this.#length = Number(headers['content-length'] ?? -1)
    flushLater(this)
  }

  #clientFields(
    raw: readonly (Buffer | string)[],
    { connection }: IncomingHttpHeaders,
    own: readonly string[] = this.#options.ownHeaders,
  ): string[] {
    const fields = clientHeaders(raw, connection, own)
    replaceOwnAddresses(fields, this.#options.route, this.#options.request)
    return fields
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response, watcher } = this.#options
    this.#bytes += chunk.length
    watcher?.chunk(chunk)
    this.#grpc?.chunk(chunk)
    if (this.#bytes === this.#length) {
      this.#last = chunk
      return
    }
    if (response.write(chunk) || this.#isWaitingForDrain || this.#isClientGone) return
    this.#isWaitingForDrain = true
    controller.pause()
    response.once('drain', () => {
      this.#isWaitingForDrain = false
      controller.resume()
    })
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    const { response, watcher } = this.#options
    this.#grpc?.trailers(trailers)
    watcher?.end()
    addTrailers(response, trailers)
    response.end(this.#last)
    this.#end(null, null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof NotSentYet) return
    if (this.#isClientGone) this.#end('CLIENT_ABORT', error)
    else if (this.#mayTryAgain(error)) {
      this.#firstError = error
      this.#controller = null
      this.#send()
    } else if (this.#status === null) this.#end(faultOf(error, false), error)
    else {
      this.#options.watcher?.end()
      this.#end(faultOf(error, true), error)
      // The head is sent: only a broken connection shows the client that the answer is incomplete.
      this.#options.response.destroy()
    }
  }

  /** Retries once, before the upstream has begun to answer. A streamed body is consumed and cannot be sent again. */
  #mayTryAgain(error: Error): boolean {
    const { request, upgrade, body } = this.#options
    const hasBegun = this.#hasAnswerBegun || this.#status !== null || this.#informational !== null
    if (this.#firstError !== null || hasBegun || upgrade !== null || this.#upload !== null) return false
    const allowed = repeatableAfter(error)
    return allowed === 'any' || (allowed === 'reads' && body === null && SAFE_METHODS.has(request.method ?? ''))
  }

  /** Sends the head alone if no body bytes have followed it yet. */
  flushHead(): void {
    const { response } = this.#options
    if (this.#bytes === 0 && !response.writableEnded && !response.destroyed) flushHead(response)
  }

  readonly #onClientClose = (): void => {
    if (this.#isEnded || this.#isClientGone) return
    this.#isClientGone = true
    const reason = new ClientAbort('The client disconnected.')
    this.#upload?.destroy()
    if (this.#controller === null) this.#end('CLIENT_ABORT', reason)
    else this.#controller.abort(reason)
  }

  /**
   * Streams through a copy: undici destroys a body that it no longer needs, and must not destroy the client's socket. The
   * copy is empty until the request is sent: one that is not sent keeps its body.
   */
  #requestBody(): Buffer | PassThrough | null {
    const { body, request } = this.#options
    if (body !== null) {
      this.#sentBytes = body.length
      return body
    }
    if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined)
      return null
    this.#upload = new PassThrough()
    this.#upload.on('error', () => {})
    return this.#upload
  }

  #startUpload(): void {
    const { request } = this.#options
    const upload = this.#upload
    if (upload === null) return
    upload.on('error', () => request.unpipe())
    upload.on('close', () => request.unpipe().resume())
    request.on('data', (chunk: Buffer) => {
      this.#sentBytes += chunk.length
    })
    request.pipe(upload)
  }

  #end(fault: ExchangeFault, cause: Error | null): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#options.response.off('close', this.#onClientClose)
    this.#upload?.destroy()
    if (this.#upload !== null) discardRest(this.#options.request)
    const wasSent = this.#controller !== null
    if (fault !== null && fault !== 'CLIENT_ABORT' && fault !== 'EGRESS_DENIED') this.#options.watcher?.broken?.()
    this.#resolve({
      fault,
      cause,
      isAnswered: this.#status !== null,
      outcome: fault === null ? this.#answerOutcome() : brokenOutcome(fault, cause, wasSent, this.#firstError),
      status: this.#status,
      durationMs: performance.now() - this.#startedAt,
      bytes: this.#bytes,
      sentBytes: this.#sentBytes,
    })
  }

  #answerOutcome(): ExecutionResult['outcome'] {
    const { watcher } = this.#options
    if (watcher?.hasFailed === true || (this.#status ?? 0) >= 400) return 'FAILED'
    // The bytes of a tunnel are not read.
    if (this.#status === 101 || watcher?.isUntold === true) return 'UNKNOWN'
    if (this.#grpc === null) return 'SUCCEEDED'
    // Every answer of gRPC is a 200, and so is every stream of Connect; without its status it is incomplete.
    if (this.#grpc.status === null) return 'UNKNOWN'
    return this.#grpc.status === '0' ? 'SUCCEEDED' : 'FAILED'
  }
}

/** Heads since the last flush. The body of a short answer follows its head immediately, and both are sent together. */
const heads: Relay[] = []

function flushLater(relay: Relay): void {
  if (heads.push(relay) === 1) setImmediate(flushHeads)
}

function flushHeads(): void {
  for (const relay of heads.splice(0)) relay.flushHead()
}

/** A reason with characters beyond ASCII has already been decoded twice, and no client reads it. */
function plainReason(status: number, reason = ''): string {
  return reason === STATUS_CODES[status] || /^[\t -~]*$/.test(reason) ? reason : ''
}

/** Trailers follow the chunks of a body: where the client gets no chunks, they cannot be announced. */
function mayEndInTrailers(
  { method, httpVersion }: IncomingMessage,
  status: number,
  headers: IncomingHttpHeaders,
): boolean {
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304
  return hasBody && httpVersion !== '1.0' && headers['content-length'] === undefined
}

function answerFields(
  raw: Dispatcher.DispatchController['rawHeaders'],
  parsed: IncomingHttpHeaders,
): readonly (Buffer | string)[] {
  if (Array.isArray(raw)) return raw
  return Object.entries(parsed).flatMap(([name, value]) =>
    value === undefined ? [] : (Array.isArray(value) ? value : [value]).flatMap((one) => [name, one]),
  )
}

function addTrailers(response: AnswerStream, trailers: IncomingHttpHeaders): void {
  // Few answers have any.
  const fields = Object.entries(trailers).filter(([name]) => mayTrail(name))
  if (fields.length > 0) response.addTrailers(Object.fromEntries(fields))
}
