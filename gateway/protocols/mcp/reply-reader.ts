/**
 * The reply to one of the gateway's own requests, out of a JSON body or an event stream, which is left as soon as it has come. Long
 * numbers in it keep their digits when they are written again.
 */
import type { Dispatcher } from 'undici'
import { isJsonObject, readStrictJsonText, type JsonObject } from '../../json/strict-json.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'
import { isEventStream, newPlace, readEvents } from './event-stream.ts'

/** Of all parts of the answer. */
const MAX_BYTES = 16 * 1024 * 1024

export class ReplyReader {
  readonly #id: string
  readonly #place = newPlace()
  #reply: JsonObject | null = null
  #size = 0

  constructor(id: string) {
    this.#id = id
  }

  /** Throws when the answer ended without it. */
  get message(): JsonObject {
    if (this.#reply === null) throw new Error('the answer ended without the reply')
    return this.#reply
  }

  /** Id of the event after which the stream goes on; null: the reply is there, or the stream cannot be resumed. */
  get lastEvent(): string | null {
    return this.#reply === null ? this.#place.lastEvent : null
  }

  /** Milliseconds before the stream is resumed. */
  get pauseMs(): number {
    return this.#place.pauseMs
  }

  /** Rejects when the answer has no single reading, is too long, or breaks off and cannot be resumed. */
  async read(answer: Dispatcher.ResponseData): Promise<void> {
    const body = this.#bounded(answer.body)
    if (!isEventStream(answer.headers)) return this.#readBody(body)
    await readEvents(body, {
      place: this.#place,
      take: (data) => this.#take(data),
      isDone: () => this.#reply !== null,
    })
  }

  async #readBody(body: AsyncIterable<Buffer>): Promise<void> {
    let text = ''
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
    this.#take(text)
  }

  async *#bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of body) {
      this.#size += chunk.length
      if (this.#size > MAX_BYTES) throw new Error('its answer is too long')
      yield chunk
    }
  }

  #take(text: string): void {
    const json = readStrictJsonText(text)
    if (!json.ok) throw new Error(`its answer has no single reading (${json.message})`)
    const message = withWrittenNumbers(text, json.value)
    if (isJsonObject(message) && message['id'] === this.#id) this.#reply = message
  }
}
