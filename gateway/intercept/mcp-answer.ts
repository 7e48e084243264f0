/** Reads what an MCP answer says while it streams by: pages of `tools/list`, notices that the tools changed, failed executions. */
import { createParser } from 'eventsource-parser'
import type { AnswerWatcher, Call } from './action.ts'
import { isMessageId, type MessageId } from './json-rpc.ts'
import type { McpManifests } from './mcp-manifests.ts'
import { isJsonObject, readStrictJsonText } from './strict-json.ts'

export interface AnswerWatcherOptions {
  readonly call: Call
  readonly manifests: Pick<McpManifests, 'observe' | 'invalidate'>
  /** `tools/list` requests that this answers: id → cursor asked for (null: the first page). */
  readonly lists: ReadonlyMap<MessageId, string | null>
  /** Whether results and errors are read too, to tell a failed execution. */
  readonly wantsOutcome: boolean
}

/** An answer longer than this is passed on unread; a manifest in it then counts as not seen. */
const MAX_READ_BYTES = 8 * 1024 * 1024
/** Part of `notifications/tools/list_changed` that no JSON writer escapes. */
const CHANGE_NOTICE = Buffer.from('list_changed')

export function createAnswerWatcher(options: AnswerWatcherOptions): AnswerWatcher {
  return options.lists.size > 0 || options.wantsOutcome ? new ReadingWatcher(options) : new NoticeWatcher(options)
}

/** The cheap one: only looks for the notice in event streams. A false alarm costs one `tools/list`. */
class NoticeWatcher implements AnswerWatcher {
  readonly hasFailed = false
  readonly #options: AnswerWatcherOptions
  #isStream = false
  #tail: Buffer = Buffer.alloc(0)

  constructor(options: AnswerWatcherOptions) {
    this.#options = options
  }

  head(_status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void {
    this.#isStream = isEventStream(headers)
  }

  chunk(bytes: Buffer): void {
    if (!this.#isStream) return
    // The notice may be cut by a chunk border.
    const text = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes])
    if (text.includes(CHANGE_NOTICE)) {
      this.#options.manifests.invalidate(this.#options.call.route.name)
      this.#tail = Buffer.alloc(0)
      return
    }
    this.#tail = Buffer.from(text.subarray(Math.max(0, text.length - CHANGE_NOTICE.length + 1)))
  }

  end(): void {
    this.#tail = Buffer.alloc(0)
  }
}

/** Reads every message of the answer, JSON or event stream. */
class ReadingWatcher implements AnswerWatcher {
  hasFailed = false
  readonly #options: AnswerWatcherOptions
  readonly #unanswered: Set<MessageId>
  #format: 'json' | 'stream' | 'unreadable' = 'unreadable'
  #chunks: Buffer[] = []
  #size = 0
  readonly #decoder = new TextDecoder()
  readonly #parser = createParser({
    onEvent: (event) => this.#read(event.data),
    maxBufferSize: MAX_READ_BYTES,
    // One event beyond the bound ends the reading, not the answer.
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') this.#format = 'unreadable'
    },
  })

  constructor(options: AnswerWatcherOptions) {
    this.#options = options
    this.#unanswered = new Set(options.lists.keys())
  }

  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void {
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') return
    this.#format = isEventStream(headers) ? 'stream' : 'json'
    if (status >= 400) this.hasFailed = true
  }

  chunk(bytes: Buffer): void {
    if (this.#format === 'unreadable') return
    if (this.#format === 'stream') {
      this.#parser.feed(this.#decoder.decode(bytes, { stream: true }))
      return
    }
    this.#size += bytes.length
    if (this.#size > MAX_READ_BYTES) {
      this.#format = 'unreadable'
      this.#chunks = []
    } else this.#chunks.push(bytes)
  }

  end(): void {
    if (this.#format === 'json' && this.#size > 0) this.#read(Buffer.concat(this.#chunks).toString('utf8'))
    this.#chunks = []
    // A list whose answer was not understood may have told the agent of other tools than the ones noted.
    if (this.#unanswered.size > 0) this.#options.manifests.invalidate(this.#options.call.route.name)
  }

  #read(text: string): void {
    const json = readStrictJsonText(text)
    if (!json.ok) return
    for (const message of Array.isArray(json.value) ? json.value : [json.value])
      if (isJsonObject(message)) this.#note(message)
  }

  #note(message: Readonly<Record<string, unknown>>): void {
    const { id, method, result, error } = message
    if (method === 'notifications/tools/list_changed') this.#options.manifests.invalidate(this.#options.call.route.name)
    if (method !== undefined || !isMessageId(id)) return
    if (error !== undefined || (isJsonObject(result) && result['isError'] === true)) this.hasFailed = true
    const cursor = this.#options.lists.get(id)
    if (cursor === undefined) return
    this.#unanswered.delete(id)
    const page = readToolPage(cursor, result)
    if (page !== null) this.#options.manifests.observe(this.#options.call, page)
  }
}

/** A `tools/list` result; null when it is none. */
export function readToolPage(
  cursor: string | null,
  result: unknown,
): { readonly cursor: string | null; readonly tools: readonly unknown[]; readonly nextCursor: string | null } | null {
  if (!isJsonObject(result) || !Array.isArray(result['tools'])) return null
  const nextCursor = result['nextCursor']
  return {
    cursor,
    tools: result['tools'],
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : null,
  }
}

export function isEventStream(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  return String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')
}
