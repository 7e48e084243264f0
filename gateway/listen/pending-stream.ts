/**
 * The answer to a pending call where the protocol has signs of life. It is an event stream that begins before the call
 * is decided, and then carries the real answer, whatever form that has.
 */
import type { ServerResponse } from 'node:http'
import { BytePieces } from '../runtime/byte-pieces.ts'
import type { PendingAnswer } from '../protocols/common/action.ts'
import type { AnswerStream } from '../upstream/answer-stream.ts'
import { flushHead } from '../upstream/flush-head.ts'

/** A complete answer longer than this is reported as a failure: it would have to be kept in memory. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024

type Form =
  | { readonly kind: 'stream' }
  | { readonly kind: 'whole'; readonly status: number; readonly pieces: BytePieces }

export class PendingStream implements AnswerStream {
  readonly #response: ServerResponse
  readonly #answer: PendingAnswer
  #form: Form | null = null
  #size = 0

  /** Begins the answer. @param headers of the gateway: name, value, name, value … */
  constructor(response: ServerResponse, answer: PendingAnswer, headers: readonly string[]) {
    this.#response = response
    this.#answer = answer
    const fields: string[] = Object.entries(answer.headers).flat()
    response.writeHead(200, 'OK', [...fields, ...headers])
    flushHead(response)
  }

  /** Does not wait for a client that reads slowly: it still has signs to read. */
  sign(): void {
    if (this.#response.writable && !this.#response.writableNeedDrain) this.#response.write(this.#answer.sign())
  }

  get destroyed(): boolean {
    return this.#response.destroyed
  }

  /** Refers to the real answer: the head of the stream itself is already sent. */
  get headersSent(): boolean {
    return this.#form !== null
  }

  get writableEnded(): boolean {
    return this.#response.writableEnded
  }

  on(event: 'close', listener: () => void): unknown {
    return this.#response.on(event, listener)
  }

  off(event: 'close', listener: () => void): unknown {
    return this.#response.off(event, listener)
  }

  once(event: 'drain', listener: () => void): unknown {
    return this.#response.once(event, listener)
  }

  writeInformation(): void {
    // The head of the stream is already sent: nothing can precede it.
  }

  writeHead(status: number, _statusMessage: string, headers: readonly string[]): void {
    const index = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-type')
    const type = index === -1 ? '' : (headers[index + 1] ?? '')
    const isStream = status === 200 && type.trimStart().toLowerCase().startsWith('text/event-stream')
    this.#form = isStream ? { kind: 'stream' } : { kind: 'whole', status, pieces: new BytePieces() }
  }

  write(chunk: Buffer | string): boolean {
    if (this.#form?.kind !== 'whole') return this.#response.write(chunk)
    this.#size += chunk.length
    if (this.#size <= MAX_WHOLE_BYTES) this.#form.pieces.add(Buffer.from(chunk))
    return true
  }

  end(body?: Buffer | string): void {
    if (body !== undefined && body.length > 0) this.write(body)
    if (this.#form?.kind === 'whole') {
      const isWhole = this.#size <= MAX_WHOLE_BYTES
      const text = this.#form.pieces.whole().toString('utf8')
      this.#response.write(this.#answer.embed(this.#form.status, isWhole ? text : ''))
    }
    this.#response.end()
  }

  addTrailers(): void {
    // The head of the stream announced no trailers.
  }

  destroy(): unknown {
    return this.#response.destroy()
  }
}
