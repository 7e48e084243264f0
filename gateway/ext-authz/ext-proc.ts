/**
 * Envoy's external processing (ext_proc): one stream for each HTTP request. The request is judged at its head, or at
 * its body where that must be read. The answer is read where Envoy shows it. Ending the stream would forward the
 * request, so only a failure ends it early.
 */
import type { PendingWait } from '../enforce/pending-calls.ts'
import { answerCheck, type AuthzDeps, type CheckedRequest, type CheckVerdict, type ReadAnswer } from './check.ts'
import { BUFFERED, type ProcessingRequest, type ProcessingResponse } from './ext-proc-protocol.ts'
import { mergedFields, options, pairs, type HeaderField, headerField } from './fields.ts'
import type { AskedHeader } from './protocol.ts'
import { correlationIdOf } from '../telemetry/correlation.ts'

/** One HTTP request at the calling proxy. */
interface Processing {
  /** The answer to a message. Null: the calling proxy has disconnected. Rejects when the request cannot be processed. */
  next(message: ProcessingRequest, waiting: PendingWait): Promise<ProcessingResponse | null>
  /** The request was refused, so the calling proxy has nothing more to show. */
  readonly isOver: boolean
  /** The calling proxy shows no more. */
  end(): Promise<void>
}

type Head = Omit<CheckedRequest, 'body'>

export function createProcessing(deps: AuthzDeps): Processing {
  return new RequestProcessing(deps)
}

class RequestProcessing implements Processing {
  isOver = false
  readonly #deps: AuthzDeps
  #isBuffered = false
  /** Waits for its body. */
  #head: Head | null = null
  #isForwarded = false
  #readAnswer: ReadAnswer | null = null
  #answerHead: { readonly status: number; readonly headers: ReturnType<typeof mergedFields> } | null = null

  constructor(deps: AuthzDeps) {
    this.#deps = deps
  }

  async next(message: ProcessingRequest, waiting: PendingWait): Promise<ProcessingResponse | null> {
    if (message.observability_mode) throw new Error('in observability_mode no answer has an effect')
    this.#isBuffered ||= message.protocol_config?.request_body_mode === BUFFERED
    switch (message.request) {
      case 'request_headers':
        return this.#onHead(message.request_headers, waiting)
      case 'request_body':
        return this.#onBody(message.request_body, waiting)
      case 'response_headers':
        return this.#onAnswerHead(message.response_headers)
      case 'response_body':
        return this.#onAnswerBody(message.response_body)
      case 'request_trailers':
        return this.#onTrailers(message.request_trailers)
      case 'response_trailers':
        return { response_trailers: {} }
      default:
        throw new Error('the message has no part of a request or of its answer')
    }
  }

  async end(): Promise<void> {
    if (this.#answerHead !== null) await this.#read(null)
  }

  async #onHead({ headers, end_of_stream: isBodiless }: MessageOf<'request_headers'>, waiting: PendingWait) {
    if (this.#head !== null || this.#isForwarded) throw new Error('the request has two heads')
    const head = processedHead(headers?.headers ?? [])
    if (isBodiless)
      return this.#judge({ ...head, body: { kind: 'whole', bytes: NO_BYTES } }, 'request_headers', waiting)
    // Where the body is not held back, going on here would forward what was not judged.
    if (!this.#isBuffered)
      return this.#judge({ ...head, body: { kind: 'absent', bytes: NO_BYTES } }, 'request_headers', waiting)
    this.#head = head
    return { request_headers: { response: {} } }
  }

  async #onBody({ body, end_of_stream: isWhole }: MessageOf<'request_body'>, waiting: PendingWait) {
    const head = this.#head
    if (head === null) {
      this.#requireForwarded()
      return { request_body: { response: {} } }
    }
    this.#head = null
    return this.#judge({ ...head, body: { kind: isWhole ? 'whole' : 'partial', bytes: body } }, 'request_body', waiting)
  }

  async #judge(
    question: CheckedRequest,
    part: 'request_headers' | 'request_body',
    waiting: PendingWait,
  ): Promise<ProcessingResponse | null> {
    const verdict = await answerCheck(question, waiting, this.#deps)
    this.#deps.pipeline.metrics.count('preflight_authz_checks_total', { transport: 'grpc', result: verdict.kind })
    if (verdict.kind === 'gone') return null
    this.isOver = verdict.kind === 'deny'
    if (verdict.kind === 'deny') return immediate(verdict)
    this.#isForwarded = true
    this.#readAnswer = verdict.readAnswer
    const header_mutation = { set_headers: options(verdict.upstream), remove_headers: verdict.remove }
    return { [part]: { response: { header_mutation } } }
  }

  /** Some servers merge trailers into the head that was judged. As in the proxy, none are forwarded. */
  #onTrailers({ trailers }: MessageOf<'request_trailers'>): ProcessingResponse {
    this.#requireForwarded()
    const names = new Set((trailers?.headers ?? []).map((header) => headerField(header)[0]))
    return { request_trailers: { header_mutation: { set_headers: [], remove_headers: [...names] } } }
  }

  async #onAnswerHead({ headers, end_of_stream: isBodiless }: MessageOf<'response_headers'>) {
    this.#requireForwarded()
    const fields = (headers?.headers ?? []).map(headerField)
    const status = Number(fields.find(([name]) => name === ':status')?.[1] ?? 0)
    this.#answerHead = { status, headers: mergedFields(fields.filter(([name]) => !name.startsWith(':'))) }
    if (isBodiless) await this.#read(NO_BYTES)
    return { response_headers: { response: {} } }
  }

  /** A body in several messages is not read: its outcome is that of its head. */
  async #onAnswerBody({ body, end_of_stream: isWhole }: MessageOf<'response_body'>) {
    await this.#read(isWhole ? body : null)
    return { response_body: { response: {} } }
  }

  async #read(body: Buffer | null): Promise<void> {
    const [read, head] = [this.#readAnswer, this.#answerHead]
    this.#readAnswer = null
    if (read !== null && head !== null) await read({ ...head, body })
  }

  #requireForwarded(): void {
    if (!this.#isForwarded) throw new Error('the request was not judged')
  }
}

type MessageOf<Part extends ProcessingRequest['request']> = Part extends keyof Extract<
  ProcessingRequest,
  { readonly request: Part }
>
  ? Extract<ProcessingRequest, { readonly request: Part }>[Part]
  : never

const NO_BYTES = Buffer.alloc(0)

function processedHead(sent: readonly AskedHeader[]): Head {
  const fields = sent.map(headerField)
  const pseudo = new Map(fields.filter(([name]) => name.startsWith(':')))
  const host = pseudo.get(':authority') ?? fields.find(([name]) => name === 'host')?.[1] ?? ''
  const plain = fields.filter(([name]) => !name.startsWith(':') && name !== 'host')
  const all: readonly HeaderField[] = [['host', host], ...plain]
  const headers = mergedFields(all)
  return {
    correlationId: correlationIdOf(headers),
    scheme: pseudo.get(':scheme') === 'https' ? 'https' : 'http',
    method: pseudo.get(':method') ?? '',
    host,
    target: pseudo.get(':path') ?? '',
    headers,
    rawHeaders: all.flat(),
    needsStatus: false,
    takesFieldsOff: true,
  }
}

function immediate({ answer, headers }: Extract<CheckVerdict, { readonly kind: 'deny' }>): ProcessingResponse {
  return {
    immediate_response: {
      status: { code: answer.status },
      headers: { set_headers: options([...Object.entries(answer.headers), ...pairs(headers)]), remove_headers: [] },
      body: Buffer.from(answer.body),
      details: 'preflight',
    },
  }
}
