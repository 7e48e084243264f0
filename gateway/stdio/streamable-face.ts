/**
 * Streamable HTTP on one side, lines of MCP on the other: requests become lines, and each line of the server goes back to the
 * request that it belongs to.
 */
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { isJsonObject } from '../json/strict-json.ts'
import type { ServerResponse } from '../runtime/node-http.ts'
import { drained } from './drained.ts'
import { MAX_MESSAGE } from './frames.ts'
import { isSeveralLines } from './lines.ts'
import {
  failureOf,
  otherTypeOf,
  ownText,
  readReceived,
  readSent,
  reusedIds,
  reuseFailures,
  tokensOf,
  type IdText,
  type ReceivedMessage,
  type SentMessage,
} from './messages.ts'
import { UnnamedAnswers, type OrphanedRequests } from './unnamed-answers.ts'

/** The other side: what speaks lines. */
export interface LineServer {
  /** Resolves when more may be written. */
  write(line: Buffer): Promise<void> | undefined
  note(text: string): void
}

/** A POST whose requests are not all answered yet. */
interface PendingPost {
  readonly response: ServerResponse
  readonly waiting: Set<IdText>
  readonly tokens: ReadonlySet<IdText>
  /** Position among the messages of the client; null: the gateway itself sent it. */
  readonly order: number | null
  readonly opening: NodeJS.Timeout
}

/** The head of an answer is sent after this time, so that a long call is not taken for a dead server. */
const OPEN_AFTER_MS = 5000
/** A request that gets no answer of its own any more waits so long all the same: the server may have meant another message. */
const ORPHANED_AFTER_MS = 30_000
/** Messages of the server that wait for a stream. */
const MAX_QUEUED = 1000
/** Cancellations that are remembered: their requests come within moments, or not at all. */
const MAX_CANCELLED = 1000
const BYTE_ORDER_MARK = '\uFEFF'
const MARKED = 'the server wrote a line that begins with a byte order mark; it was not forwarded'
const UNKNOWN_OUTCOME = 'whether the request was carried out is unknown; report this to the author of the server'

export class StreamableFace {
  readonly #id: string
  readonly #server: LineServer
  readonly #orderOf: (request: IncomingMessage) => number | null
  readonly #pending = new Map<IdText, PendingPost>()
  /** Requests that the client took back, by the position of its last cancellation. */
  readonly #cancelled = new LRUCache<IdText, number>({ max: MAX_CANCELLED })
  readonly #unnamed = new UnnamedAnswers()
  readonly #orphanedAfterMs: number
  #standing: ServerResponse | null = null
  #queued: string[] = []
  /** Why the server answers nothing any more. */
  #failure: string | null = null

  /**
   * @param id of its session
   * @param orderOf position of a request among the messages of the client; null: the gateway itself sent it, so messages of the server do not belong into its answer
   */
  constructor(
    id: string,
    server: LineServer,
    orderOf: (request: IncomingMessage) => number | null,
    orphanedAfterMs = ORPHANED_AFTER_MS,
  ) {
    this.#orphanedAfterMs = orphanedAfterMs
    this.#id = id
    this.#server = server
    this.#orderOf = orderOf
  }

  /** A request is under way, or the client listens. */
  isInUse(): boolean {
    return this.#standing !== null || this.#pending.size > 0
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#open(response)
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    const body = await bodyOfPost(request)
    if (body === null || response.destroyed) return void response.destroy()
    await this.take(body, request, response)
  }

  /** A POST whose body was read. */
  async take(body: Buffer, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isSeveralLines(body)) return void response.writeHead(400).end()
    const message = readSent(body.toString('utf8'))
    const order = this.#orderOf(request)
    if (order !== null) for (const id of message.cancelled) this.#takeBack(id, order)
    const reused = reusedIds(message, (id) => this.#pending.get(id)?.response.destroyed === false)
    if (reused.length > 0) return refuse(response, reuseFailures(message, reused), body)
    this.#post(message, order, response)
    if (this.#isTakenBack(message, order)) this.#fail(message, 'the client cancelled the request before it came here')
    else if (this.#failure === null) await this.#server.write(body)
    else this.fail(this.#failure)
  }

  /** Its cancellation was faster: the server would not know what to do with that, and do what nobody waits for. */
  #isTakenBack({ requests }: SentMessage, order: number | null): boolean {
    return order !== null && requests.some(({ id }) => order < (this.#cancelled.get(id) ?? 0))
  }

  /** Its client waits for no answer, and may use the id again. */
  #takeBack(id: IdText, order: number): void {
    this.#cancelled.set(id, order)
    const post = this.#pending.get(id)
    if (post === undefined || post.order === null || post.order > order) return
    this.#pending.delete(id)
    post.waiting.delete(id)
    if (post.waiting.size > 0) return
    openStream(post.response)
    finish(post)
  }

  #fail({ requests }: SentMessage, reason: string): void {
    for (const { id } of requests) this.#answer(id, failureOf(id, reason))
  }

  receive(line: Buffer): Promise<void> | undefined {
    const text = line.toString('utf8')
    if (text.startsWith(BYTE_ORDER_MARK)) return this.#marked(text)
    const messages = readReceived(text)
    if (messages === null) {
      this.#server.note(`the server wrote a line that is not a message; it was not forwarded: ${text.slice(0, 200)}`)
      return undefined
    }
    let isBusy: ServerResponse | null = null
    for (const message of messages) {
      const own = ownText(text, message, messages)
      const written = message.isAnswer ? this.#answered(message, own) : this.#announce(own, message.belongsTo)
      isBusy = written ?? isBusy
    }
    return isBusy?.writableNeedDrain === true && !isBusy.destroyed ? drained(isBusy) : undefined
  }

  /** JSON has no byte order mark at its start, so most clients cannot read the line. */
  #marked(text: string): undefined {
    this.#server.note(`${MARKED}: ${text.slice(1, 201)}`)
    const reason = `${MARKED}; ${UNKNOWN_OUTCOME}`
    for (const message of readReceived(text.slice(BYTE_ORDER_MARK.length)) ?? [])
      if (message.isAnswer) this.#answered(message, failureOf(message.answers ?? 'null', reason))
    return undefined
  }

  #answered(message: ReceivedMessage, text: string): ServerResponse | null {
    const { answers } = message
    if (answers === null) return this.#answeredNone(message)
    const meant = this.#pending.has(answers) || this.#cancelled.has(answers) ? null : otherTypeOf(answers)
    this.#expectNone(this.#unnamed.answered(meant ?? answers))
    if (meant === null || !this.#pending.has(meant)) return this.#answer(answers, text)
    const reason = `the server answered the id ${answers}, and the id of the request is ${meant}`
    this.#server.note(`${reason}; the answer was not forwarded`)
    return this.#answer(meant, failureOf(meant, `${reason}; ${UNKNOWN_OUTCOME}`))
  }

  /**
   * An answer without the id of its request. It can only be for the one under way, where there is just one. Of several, it is
   * for the one that gets no other answer.
   */
  #answeredNone({ value: { error } }: ReceivedMessage): ServerResponse | null {
    const stated = isJsonObject(error) ? `: ${String(error['message']).slice(0, 500)}` : ''
    const reason = `the server sent an answer that does not name its request${stated}`
    this.#server.note(`${reason}; it was not forwarded`)
    const [only, ...others] = this.#pending.keys()
    if (only === undefined) return null
    if (others.length === 0) return this.#answer(only, failureOf(only, `${reason}; ${UNKNOWN_OUTCOME}`))
    this.#expectNone(this.#unnamed.note({ reason, among: new Set(this.#pending.keys()) }))
    return null
  }

  #expectNone(orphaned: OrphanedRequests | null): void {
    if (orphaned === null) return
    const posts = orphaned.ids.map((id) => [id, this.#pending.get(id)] as const)
    setTimeout(() => {
      for (const [id, post] of posts)
        if (post !== undefined && this.#pending.get(id) === post)
          this.#answer(id, failureOf(id, `${orphaned.reason}; ${UNKNOWN_OUTCOME}`))
    }, this.#orphanedAfterMs).unref()
  }

  /** Requests under way, and those that still come, get this as their error. */
  fail(message: string): void {
    this.#failure ??= message
    for (const [id, post] of this.#pending) {
      writeEvent(post, failureOf(id, message))
      finish(post)
    }
    this.#pending.clear()
    this.#standing?.end()
    this.#standing = null
  }

  #open(response: ServerResponse): void {
    this.#standing?.end()
    this.#standing = response
    response.writeHead(200, STREAM_HEAD).write(FIRST_BYTES)
    response.on('close', () => {
      if (this.#standing === response) this.#standing = null
    })
    for (const text of this.#queued) response.write(sentEvent(text))
    this.#queued = []
  }

  #post({ requests }: SentMessage, order: number | null, response: ServerResponse): void {
    if (requests.length === 0) return void response.writeHead(202).end()
    if (requests.some(({ method }) => method === 'initialize')) response.setHeader('mcp-session-id', this.#id)
    const post: PendingPost = {
      response,
      waiting: new Set(requests.map(({ id }) => id)),
      tokens: new Set(requests.flatMap(({ id, params }) => tokensOf(id, params))),
      order,
      opening: setTimeout(() => openStream(response), OPEN_AFTER_MS),
    }
    for (const { id } of requests) this.#pending.set(id, post)
    response.on('close', () => {
      clearTimeout(post.opening)
      for (const id of post.waiting) if (this.#pending.get(id) === post) this.#pending.delete(id)
    })
  }

  /** Returns the stream that is full; null: none is. */
  #answer(id: IdText, text: string): ServerResponse | null {
    const post = this.#pending.get(id)
    // Taken back, or never asked for.
    if (post === undefined) return null
    this.#pending.delete(id)
    post.waiting.delete(id)
    if (post.waiting.size === 0 && !post.response.headersSent) {
      clearTimeout(post.opening)
      post.response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      post.response.end(text)
      return null
    }
    const isFree = writeEvent(post, text)
    if (post.waiting.size === 0) finish(post)
    return isFree ? null : post.response
  }

  /** A request or notification of the server: in the answer that it belongs to, so that their order stays. */
  #announce(text: string, belongsTo: IdText | null): ServerResponse | null {
    const posts = [...new Set(this.#pending.values())].filter(({ order }) => order !== null)
    const post = posts.find(({ tokens }) => belongsTo !== null && tokens.has(belongsTo)) ?? posts.at(-1)
    if (post !== undefined) return writeEvent(post, text) ? null : post.response
    if (this.#standing !== null) return this.#standing.write(sentEvent(text)) ? null : this.#standing
    if (this.#queued.length >= MAX_QUEUED) this.#queued.shift()
    this.#queued.push(text)
    return null
  }
}

const STREAM_HEAD = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
/** A comment: the head is sent with it. */
const FIRST_BYTES = ': open\n\n'

function openStream(response: ServerResponse): void {
  if (!response.headersSent && !response.destroyed) response.writeHead(200, STREAM_HEAD).write(FIRST_BYTES)
}

function writeEvent({ response, opening }: PendingPost, text: string): boolean {
  clearTimeout(opening)
  if (!response.headersSent) response.writeHead(200, STREAM_HEAD)
  return response.write(sentEvent(text))
}

/** In the form of the message: an array for a batch. */
function refuse(response: ServerResponse, failures: readonly string[], body: Buffer): void {
  const isBatch = /^\s*\[/.test(body.toString('utf8', 0, 64))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(isBatch ? `[${failures.join(',')}]` : failures[0])
}

function finish({ response, opening }: PendingPost): void {
  clearTimeout(opening)
  response.end()
}

/** A line break of JSON stands between tokens, so that it may be another one in an event. */
function sentEvent(text: string): string {
  return `event: message\ndata: ${text.replaceAll('\r', '\ndata: ')}\n\n`
}

/** Null: the sender went away, or its message is too long. */
export async function bodyOfPost(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
      size += bytes.length
      if (size > MAX_MESSAGE) return null
      chunks.push(bytes)
    }
  } catch {
    return null
  }
  return Buffer.concat(chunks)
}
