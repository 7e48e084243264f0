/**
 * Reads an MCP answer while it is streamed: pages of lists, the start of a session, notices of changes, failed
 * executions.
 */
import { createParser } from 'eventsource-parser'
import { recordIn, textIn } from '../../json/unchecked-json.ts'
import { BytePieces } from '../../runtime/byte-pieces.ts'
import type { AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import { isMessageId, type Message, type MessageId, type Params, type RpcRequest } from './json-rpc.ts'
import { isEventStream } from './event-stream.ts'
import { protocolMembers, type McpAsker } from './gateway-requests.ts'
import { readPage, readSession } from './listing.ts'
import { isModern } from './judged-requests.ts'
import { LIST_NAMES, LISTS, type ManifestListName } from './manifest-text.ts'
import { isFinal } from './results.ts'
import type { Asked, McpManifests } from './manifests.ts'
import { isJsonObject, readStrictJsonText } from '../../json/strict-json.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'

/** What is read from the answer to one request. */
export type Wanted =
  /** @property cursor that was asked for; null: the first page */
  | { readonly kind: 'page'; readonly list: ManifestListName; readonly cursor: string | null }
  | { readonly kind: 'session' }

interface AnswerWatcherOptions {
  /** Whose request is answered. */
  readonly asker: McpAsker
  readonly manifests: Pick<
    McpManifests,
    'momentOf' | 'observe' | 'awaitSession' | 'observeSession' | 'invalidate' | 'lost'
  >
  /** The stream on which the server announces changes: it ends where the server does. */
  readonly isStanding?: boolean
  readonly wanted: ReadonlyMap<MessageId, Wanted>
  /** Set where outcomes are wanted: results and errors are read too, and reported for each resource by the message that asked for it. */
  readonly asked?: ReadonlyMap<JudgedResource, MessageId> | undefined
  /** Receives each result that answers a request. */
  readonly onResult?: ((id: MessageId, result: unknown) => void) | undefined
}

/** An answer longer than this is passed on unread; a manifest in it then counts as not seen. */
const MAX_READ_BYTES = 8 * 1024 * 1024
const NO_BYTES = Buffer.alloc(0)
/** Part of `notifications/…/list_changed` that no JSON writer escapes. */
const CHANGE_NOTICE = Buffer.from('list_changed')
/** What each notice puts out of date. */
const NOTICES: ReadonlyMap<unknown, readonly ManifestListName[]> = new Map(
  LIST_NAMES.map((list) => {
    const { capability } = LISTS[list]
    return [
      `notifications/${capability}/list_changed`,
      LIST_NAMES.filter((name) => LISTS[name].capability === capability),
    ]
  }),
)

export const SESSION: Wanted = { kind: 'session' }

/** What can be read from the answers to these messages. */
export function wantedOf(messages: readonly Message[]): ReadonlyMap<MessageId, Wanted> {
  // Most messages call a tool, and tell nothing of this.
  let wanted: Map<MessageId, Wanted> | null = null
  for (const message of messages) {
    const one = message.kind === 'request' ? wantedBy(message) : null
    if (message.kind !== 'request' || one === null) continue
    wanted ??= new Map()
    wanted.set(message.id, one)
  }
  return wanted ?? NOTHING
}

const NOTHING: ReadonlyMap<MessageId, Wanted> = new Map()
const LIST_ASKED_BY: ReadonlyMap<string, ManifestListName> = new Map(
  LIST_NAMES.map((list) => [LISTS[list].method, list]),
)

function wantedBy({ method, params }: RpcRequest): Wanted | null {
  const list = LIST_ASKED_BY.get(method)
  if (list !== undefined) {
    const cursor = cursorOf(params)
    return cursor === undefined ? null : { kind: 'page', list, cursor }
  }
  // Only 2026-07-28 begins with a discovery: it does not stand for the start of a session.
  return method === 'initialize' || (method === 'server/discover' && isModern(params)) ? SESSION : null
}

/** What a listing may say beside what the gateway's own listings say, without being another one. */
const NEUTRAL_META: ReadonlySet<string> = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage'])

/**
 * The cursor of a request for a list; null: the first page. Undefined: the request says something that the gateway's own listings do
 * not say, so the answer may be another listing than the one that calls are judged by.
 */
function cursorOf(params: Params): string | null | undefined {
  const { cursor = null, _meta = {}, ...others } = params
  if ((cursor !== null && typeof cursor !== 'string') || !isJsonObject(_meta) || Object.keys(others).length > 0)
    return undefined
  const asked = isModern(params) ? protocolMembers(_meta) : {}
  return Object.keys(_meta).every((name) => NEUTRAL_META.has(name) || Object.hasOwn(asked, name)) ? cursor : undefined
}

export function createAnswerWatcher(options: AnswerWatcherOptions): AnswerWatcher {
  const isRead = options.wanted.size > 0 || options.asked !== undefined || options.onResult !== undefined
  return isRead ? new ReadingWatcher(options) : new NoticeWatcher(options)
}

type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The gateway asks for no coding. Where there is one all the same, the client reads what is not read here. */
function isCoded({ 'content-encoding': coding }: AnswerHeaders): boolean {
  return coding !== undefined && coding !== 'identity'
}

/**
 * The cheap one: only looks for the notice, in event streams and in bodies, which clients read alike. What cannot be read
 * may be one. A false alarm costs one listing.
 */
class NoticeWatcher implements AnswerWatcher {
  readonly hasFailed = false
  readonly #options: AnswerWatcherOptions
  #isStream = false
  #isCoded = false
  #tail: Buffer = NO_BYTES

  constructor(options: AnswerWatcherOptions) {
    this.#options = options
  }

  head(_status: number, headers: AnswerHeaders): void {
    this.#isStream = isEventStream(headers)
    this.#isCoded = isCoded(headers)
  }

  chunk(bytes: Buffer): void {
    if (this.#isCoded) {
      this.#options.manifests.invalidate(this.#options.asker.call.route.name)
      return
    }
    // The notice may be cut by a chunk border.
    const text = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes])
    if (text.includes(CHANGE_NOTICE)) {
      this.#options.manifests.invalidate(this.#options.asker.call.route.name)
      this.#tail = NO_BYTES
      return
    }
    this.#tail = Buffer.from(text.subarray(Math.max(0, text.length - CHANGE_NOTICE.length + 1)))
  }

  end(): void {
    this.#tail = NO_BYTES
    if (this.#isStream) noteEnd(this.#options)
  }

  broken(): void {
    noteLoss(this.#options)
  }
}

/** What the server announced after the end of the stream was not seen. */
function noteEnd({ isStanding, asker, manifests }: AnswerWatcherOptions): void {
  if (isStanding === true) manifests.lost(asker.call.route.name)
}

function noteLoss({ asker, manifests }: AnswerWatcherOptions): void {
  manifests.lost(asker.call.route.name)
}

/** Reads every message of the answer, JSON or event stream. */
class ReadingWatcher implements AnswerWatcher {
  hasFailed = false
  readonly #outcomes = new Map<MessageId, 'SUCCEEDED' | 'FAILED'>()
  readonly #askedIds: ReadonlySet<MessageId>
  readonly #options: AnswerWatcherOptions
  readonly #unanswered: Map<MessageId, Wanted>
  /** A part could not be read, and may have been the answer to a client that reads it. */
  #isMisread = false
  /** Taken before the request is sent. */
  readonly #asked: Asked
  #format: 'json' | 'stream' | 'unreadable' = 'unreadable'
  /** Begun by this answer. */
  #session: string | null = null
  /** The status is that of an answer, not of an error. */
  #isTaken = false
  #pieces = new BytePieces()
  #size = 0
  readonly #decoder = new TextDecoder()
  readonly #parser = createParser({
    onEvent: (event) => this.#read(event.data),
    maxBufferSize: MAX_READ_BYTES,
    // One event beyond the bound ends the reading, not the answer.
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') this.#stopReading()
    },
  })

  constructor(options: AnswerWatcherOptions) {
    this.#options = options
    this.#unanswered = new Map(options.wanted)
    this.#asked = options.manifests.momentOf(options.asker.call.route.name)
    this.#askedIds = new Set(options.asked?.values())
  }

  /** No answer to the judged requests was seen: the stream ended early, or could not be read. */
  get isUntold(): boolean {
    return this.#options.asked !== undefined && this.#outcomes.size === 0
  }

  outcomeOf(resource: JudgedResource): 'SUCCEEDED' | 'FAILED' | null {
    const id = this.#options.asked?.get(resource)
    return id === undefined ? null : (this.#outcomes.get(id) ?? null)
  }

  head(status: number, headers: AnswerHeaders): void {
    const session = headers['mcp-session-id']
    this.#session = textIn(session)
    // The transport of 2024-11-05 answers on another stream, and has no sessions; its calls are refused as such.
    this.#isTaken = status < 300 && (status !== 202 || this.#session !== null)
    if (this.#session !== null) this.#awaitSessions()
    if (isCoded(headers)) {
      this.#misread()
      return
    }
    this.#format = isEventStream(headers) ? 'stream' : 'json'
    if (status >= 400) this.hasFailed = true
  }

  chunk(bytes: Buffer): void {
    if (this.#format === 'unreadable') {
      this.#noteUnread()
      return
    }
    if (this.#format === 'stream') {
      this.#parser.feed(this.#decoder.decode(bytes, { stream: true }))
      return
    }
    this.#size += bytes.length
    if (this.#size > MAX_READ_BYTES) this.#stopReading()
    else this.#pieces.add(bytes)
  }

  end(): void {
    if (this.#format === 'json' && this.#size > 0) this.#read(this.#pieces.whole().toString('utf8'))
    this.#pieces = new BytePieces()
    // A list whose answer was not understood may have told the agent of other things than the ones noted.
    const unread = [...this.#unanswered.values()].flatMap((wanted) => (wanted.kind === 'page' ? [wanted.list] : []))
    if (unread.length > 0) this.#options.manifests.invalidate(this.#options.asker.call.route.name, unread)
    this.#awaitSessions()
    if (this.#format !== 'json') noteEnd(this.#options)
  }

  broken(): void {
    noteLoss(this.#options)
  }

  /** Until their start is read, nothing is known of what the server says there. */
  #awaitSessions(): void {
    if (!this.#isTaken) return
    const { asker, manifests } = this.#options
    for (const [id, { kind }] of this.#unanswered)
      if (kind === 'session') manifests.awaitSession(asker, this.#isMisread ? null : id, this.#session)
  }

  /** It may have been the notice of a change. */
  #noteUnread(): void {
    this.#options.manifests.invalidate(this.#options.asker.call.route.name)
  }

  /** The client may have taken what was not understood, so nothing that follows answers what was asked. */
  #misread(): void {
    this.#isMisread = true
    this.#noteUnread()
    this.#awaitSessions()
  }

  /** Nothing is read any more. */
  #stopReading(): void {
    this.#format = 'unreadable'
    this.#pieces = new BytePieces()
    this.#misread()
  }

  #read(text: string): void {
    // MCP 2025-11-25, Streamable HTTP: a server may prime a stream with an event that has an id and no data.
    if (text === '') return
    const json = readStrictJsonText(text)
    if (!json.ok) {
      // Signs of life are no messages to anybody.
      if (/^\s*[[{]/.test(text)) this.#misread()
      return
    }
    // Read again only for what becomes part of a contract: it takes several times as long.
    let written: readonly unknown[] | null = null
    const writtenResult = (index: number): unknown => {
      written ??= messagesIn(withWrittenNumbers(text, json.value))
      return recordIn(written[index])['result']
    }
    for (const [index, message] of messagesIn(json.value).entries())
      if (isJsonObject(message)) this.#note(message, () => writtenResult(index))
  }

  /** @param written the result, in which long numbers keep their digits when they are written again */
  #note(message: Readonly<Record<string, unknown>>, written: () => unknown): void {
    const { asker, manifests } = this.#options
    const { id, method, result, error } = message
    const changed = NOTICES.get(method)
    if (changed !== undefined) manifests.invalidate(asker.call.route.name, changed)
    if (method !== undefined || !isMessageId(id)) return
    const hasFailed = error !== undefined || (isJsonObject(result) && result['isError'] === true)
    // What comes in place of the result says nothing of the outcome.
    const isReported = hasFailed || !isJsonObject(result) || isFinal(result)
    if (isReported && this.#askedIds.has(id)) this.#outcomes.set(id, hasFailed ? 'FAILED' : 'SUCCEEDED')
    if (hasFailed) this.hasFailed = true
    if (result !== undefined) this.#options.onResult?.(id, result)
    const wanted = this.#options.wanted.get(id)
    if (this.#isMisread) return
    if (wanted !== undefined) this.#take(id, wanted, { isError: error !== undefined, written })
    // Some clients read the id as a number, or take it whatever the id is.
    else if (readSession(result) !== null || this.#isAskedAs(id)) this.#misread()
  }

  #isAskedAs(id: MessageId): boolean {
    return [...this.#options.wanted.keys()].some((asked) => Number(asked) === Number(id))
  }

  #take(id: MessageId, wanted: Wanted, { isError, written }: WantedAnswer): void {
    const { asker, manifests } = this.#options
    // Clients differ in which of two answers they take.
    if (!this.#unanswered.delete(id)) {
      if (wanted.kind === 'page') manifests.invalidate(asker.call.route.name, [wanted.list])
      return this.#leave(id, wanted)
    }
    if (isError) return
    if (wanted.kind === 'session') {
      const facts = readSession(written())
      if (facts === null) this.#leave(id, wanted)
      else manifests.observeSession(asker, facts, this.#session)
      return
    }
    const page = readPage(wanted.list, wanted.cursor, written())
    if (page === null) this.#leave(id, wanted)
    else manifests.observe(asker, page, this.#asked)
  }

  /** Its answer is not what the protocol has there. */
  #leave(id: MessageId, wanted: Wanted): void {
    this.#unanswered.set(id, wanted)
    this.#misread()
  }
}

interface WantedAnswer {
  readonly isError: boolean
  readonly written: () => unknown
}

function messagesIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
