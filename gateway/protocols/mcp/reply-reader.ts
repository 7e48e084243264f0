/**
 * The reply to one of the gateway's own requests, out of a JSON body or an event stream, which is left as soon as it has come. Long
 * numbers in it keep their digits when they are written again.
 */
import { createParser } from 'eventsource-parser'
import type { Dispatcher } from 'undici'
import { errors } from '../../network/undici.ts'
import { isJsonObject, readStrictJsonText, type JsonObject } from '../../json/strict-json.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'
import { isEventStream } from './event-stream.ts'

/** Of all parts of the answer. */
const MAX_BYTES = 16 * 1024 * 1024
/** Before a stream is resumed, unless the server names another time. */
const RESUME_AFTER_MS = 1000
/** No listing waits that long, and a timer of Node.js cannot wait for any time that a server may name. */
const LONGEST_PAUSE_MS = 3_600_000

export class ReplyReader {
  readonly #id: string
  #reply: JsonObject | null = null
  #lastEvent: string | null = null
  #size = 0
  /** Milliseconds before the stream is resumed. */
  pauseMs = RESUME_AFTER_MS

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
    return this.#reply === null ? this.#lastEvent : null
  }

  /** Rejects when the answer has no single reading, is too long, or breaks off and cannot be resumed. */
  async read(answer: Dispatcher.ResponseData): Promise<void> {
    if (!isEventStream(answer.headers)) return this.#readBody(answer.body)
    const parser = createParser({
      onEvent: ({ id, data }) => {
        if (id !== undefined) this.#lastEvent = id === '' ? null : id
        // MCP 2025-11-25, Streamable HTTP: a server may prime a stream with an event that has an id and no data.
        if (data !== '') this.#take(data)
      },
      onRetry: (pauseMs) => {
        this.pauseMs = Math.min(pauseMs, LONGEST_PAUSE_MS)
      },
    })
    try {
      for await (const part of this.#parts(answer.body)) {
        parser.feed(part)
        if (this.#reply !== null) return
      }
    } catch (error) {
      // The connection broke: what follows is asked for.
      if (!(error instanceof errors.UndiciError) || this.lastEvent === null) throw error
    }
  }

  async #readBody(body: Dispatcher.ResponseData['body']): Promise<void> {
    let text = ''
    for await (const part of this.#parts(body)) text += part
    this.#take(text)
  }

  async *#parts(body: Dispatcher.ResponseData['body']): AsyncGenerator<string, void> {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const chunk of body as AsyncIterable<Buffer>) {
      this.#size += chunk.length
      if (this.#size > MAX_BYTES) throw new Error('its answer is too long')
      yield decoder.decode(chunk, { stream: true })
    }
  }

  #take(text: string): void {
    const json = readStrictJsonText(text)
    if (!json.ok) throw new Error(`its answer has no single reading (${json.message})`)
    const message = withWrittenNumbers(text, json.value)
    if (isJsonObject(message) && message['id'] === this.#id) this.#reply = message
  }
}
