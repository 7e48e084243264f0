/**
 * The client of one wrapped server, as the gateway sees it. Each line becomes a request of Streamable HTTP to the route of
 * the server, and the answers become lines again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { recordIn } from '../json/unchecked-json.ts'
import type { UndiciPoolType } from '../network/undici.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { isEventStream, newPlace, readEvents, type StreamPlace } from '../protocols/mcp/event-stream.ts'
import { encodedName } from '../protocols/mcp/name-header.ts'
import { isSeveralLines } from './lines.ts'
import { failureOf, INTERNAL, ownText, readReceived, readSent, type IdText, type SentMessage } from './messages.ts'
import { messageOf, notReached } from '../errors/startup-error.ts'
import { CLIENT_FIELD, WRAPPER_FIELD } from './server-bridge.ts'

interface ClientSessionOptions {
  readonly id: string
  /** Connections to the gateway. */
  readonly pool: UndiciPoolType
  /** Path of the route. */
  readonly path: string
  /** Fields of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** The server keeps a stream for messages of its own, also before the session. */
  readonly isProgram: boolean
  /** Its session began at another daemon. */
  readonly isResumed: boolean
  /** Address of the server, else its name. */
  readonly server: string
  /** Why the server was not reached, by the correlation id of the call; null: it is not known. */
  readonly faultOf: (correlationId: string) => string | null
  /** To the client. @param answers the request that it answers; null: it answers none */
  readonly send: (text: string, answers: IdText | null) => Promise<void> | undefined
}

/** A POST that is not answered yet. */
interface RunningPost {
  readonly taking: AbortController
  /** Its requests whose answers the client waits for. */
  readonly waiting: Set<IdText>
}

const VERSION_CLAIM = 'io.modelcontextprotocol/protocolVersion'
const ACCEPTED = 'application/json, text/event-stream'
const RETRY_MS = 250
/** Codes of the gateway. */
const UNREACHED: ReadonlySet<string> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT'])
const MAX_RETRY_MS = 5000
/** A server that closes its stream this often without a new event does not answer. */
const MAX_RESUMPTIONS = 20

export class ClientSession {
  readonly #options: ClientSessionOptions
  readonly #underWay = new Map<IdText, RunningPost>()
  readonly #closing = new AbortController()
  /** Notifications and answers arrive before what the client sent after them. */
  #order: Promise<void> = Promise.resolve()
  #open = 0
  #session: string | null = null
  #version: string | null = null
  #isStanding = false
  #sentCount = 0
  #onIdle: (() => void) | null = null

  constructor(options: ClientSessionOptions) {
    this.#options = options
    // The bridge calls the session of a program by the id of its wrapper.
    if (options.isResumed && options.isProgram) this.#session = options.id
    if (options.isProgram) this.#stand()
  }

  /** A line of the client. */
  receive(line: Buffer): void {
    const message = readSent(line.toString('utf8'))
    const before = this.#order
    const sent = before.then(() => this.#sendLine(line, message))
    if (message.requests.length === 0) this.#order = sent
    else void sent
  }

  /** Resolves when all that the client has sent is answered. */
  async idle(): Promise<void> {
    await this.#order
    if (this.#open === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  close(): void {
    this.#closing.abort(new Error('the client disconnected'))
  }

  async #sendLine(line: Buffer, message: SentMessage): Promise<void> {
    this.#open += 1
    try {
      if (isSeveralLines(line)) return await this.#fail(message, 'a message must be one line, without carriage returns')
      // Before the server is notified: what has not reached it by then does not.
      for (const id of message.cancelled) this.#takeBack(id)
      await this.#post(line, message)
    } finally {
      this.#open -= 1
      if (this.#open === 0) this.#onIdle?.()
    }
  }

  /** Its client waits for no answer. The others of its batch get theirs. */
  #takeBack(id: IdText): void {
    const post = this.#underWay.get(id)
    this.#underWay.delete(id)
    post?.waiting.delete(id)
    if (post?.waiting.size === 0) post.taking.abort(new Error('the client cancelled the request'))
  }

  async #post(line: Buffer, message: SentMessage): Promise<void> {
    const taking = new AbortController()
    const waiting = new Set(message.requests.map(({ id }) => id))
    const post = { taking, waiting }
    for (const id of waiting) this.#underWay.set(id, post)
    const signal = AbortSignal.any([taking.signal, this.#closing.signal])
    try {
      const { pool, path } = this.#options
      const headers = this.#headersOf(message)
      const answer = await pool.request({ path, method: 'POST', headers, body: line, signal })
      await this.#read(answer, post, message)
      const reason = `the server ended its answer without a reply (HTTP ${answer.statusCode})`
      for (const id of waiting) await this.#deliver(failureOf(id, reason), waiting)
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      for (const id of waiting) await this.#deliver(failureOf(id, `the gateway did not answer: ${reason}`), waiting)
    } finally {
      for (const { id } of message.requests) if (this.#underWay.get(id) === post) this.#underWay.delete(id)
    }
  }

  async #read(answer: Dispatcher.ResponseData, post: RunningPost, message: SentMessage): Promise<void> {
    const { waiting } = post
    const begun = answer.headers['mcp-session-id']
    if (typeof begun === 'string' && message.requests.some(({ method }) => method === 'initialize'))
      this.#session = begun
    if (isEventStream(answer.headers)) {
      await this.#readStream(answer.body, post)
    } else {
      const text = await answer.body.text()
      if (text !== '' && answer.statusCode !== 202) await this.#deliverBody(text, answer.statusCode, waiting)
    }
    if (this.#session !== null && !this.#options.isProgram) this.#stand()
  }

  /** A server may close the stream before the answer. It goes on with it where it is asked for the last event. */
  async #readStream(body: AsyncIterable<Buffer>, { waiting, taking }: RunningPost): Promise<void> {
    const place = newPlace()
    const take = (text: string): Promise<void> => this.#deliver(text, waiting)
    await readEvents(body, { place, take })
    const signal = AbortSignal.any([taking.signal, this.#closing.signal])
    for (let count = 0, last: string | null = null; waiting.size > 0 && count < MAX_RESUMPTIONS; count += 1) {
      if (place.lastEvent === null) return
      if (place.lastEvent !== last) count = 0
      last = place.lastEvent
      await sleep(Math.max(place.pauseMs, RETRY_MS), undefined, { signal })
      const answer = await this.#events(place, signal)
      if (answer.statusCode !== 200) return await answer.body.dump()
      await readEvents(answer.body, { place, take })
    }
  }

  /** Events that belong to no request, or those after the last one of a stream. */
  #events({ lastEvent }: StreamPlace, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { pool, path } = this.#options
    const headers = { ...this.#common(this.#version), ...(lastEvent !== null && { 'last-event-id': lastEvent }) }
    return pool.request({ path, method: 'GET', headers, signal })
  }

  /** A refusal may come without the id of its request: a client that gets no answer waits for ever. */
  async #deliverBody(text: string, status: number, waiting: Set<IdText>): Promise<void> {
    const unreached = this.#unreachedIn(text)
    if (unreached !== null) {
      const { message, data } = unreached
      for (const id of waiting) await this.#deliver(failureOf(id, message, INTERNAL, data), waiting)
      return
    }
    const messages = readReceived(text)
    const isMessage = messages?.every(({ value }) => value['jsonrpc'] === '2.0') === true
    if (isMessage && messages.every(({ answers }) => answers !== null)) return await this.#deliver(text, waiting)
    const isWaitedFor = waiting.size > 0
    const [first] = messages ?? []
    const error = first?.value['error']
    const reason = isJsonObject(error) ? error['message'] : first?.value['message']
    const reported = typeof reason === 'string' ? reason : `the server answered HTTP ${status}`
    for (const id of waiting) await this.#deliver(failureOf(id, reported), waiting)
    if (!isWaitedFor && isMessage) await this.#options.send(text, null)
  }

  /** The gateway does not tell its callers why an upstream is not reached; the user of this server may know. */
  #unreachedIn(text: string): { readonly message: string; readonly data: object } | null {
    const [only, ...others] = readReceived(text) ?? []
    const data = recordIn(recordIn(only?.value['error'])['data'])
    const { error, correlation_id: id } = data
    if (others.length > 0 || typeof error !== 'string' || typeof id !== 'string' || !UNREACHED.has(error)) return null
    const fault = this.#options.faultOf(id)
    if (fault === null) return null
    return { message: `${error}: ${notReached('the server', this.#options.server, fault).message}`, data }
  }

  async #deliver(text: string, waiting: Set<IdText>): Promise<void> {
    const messages = readReceived(text)
    if (messages === null) return
    for (const message of messages) {
      const { answers, value } = message
      if (answers !== null) waiting.delete(answers)
      this.#noteVersion(value)
      await this.#options.send(withoutLineBreaks(ownText(text, message, messages)), answers)
    }
  }

  /** The version that a session agreed on is repeated in each of its requests. */
  #noteVersion({ result }: Readonly<Record<string, unknown>>): void {
    if (this.#version !== null || !isJsonObject(result) || !isJsonObject(result['serverInfo'])) return
    const { protocolVersion } = result
    if (typeof protocolVersion === 'string') this.#version = protocolVersion
  }

  async #fail({ requests }: SentMessage, reason: string): Promise<void> {
    for (const { id } of requests) await this.#options.send(failureOf(id, reason), id)
  }

  #headersOf({ requests }: SentMessage): Record<string, string> {
    const [first] = requests
    const params = isJsonObject(first?.params) ? first.params : {}
    const meta = recordIn(params['_meta'])
    const claimed = meta[VERSION_CLAIM]
    const version = typeof claimed === 'string' ? claimed : this.#version
    return {
      ...this.#common(version),
      'content-type': 'application/json',
      ...(this.#options.isProgram ? { [CLIENT_FIELD]: String((this.#sentCount += 1)) } : {}),
      ...(typeof claimed === 'string' && first !== undefined && requests.length === 1
        ? repeatedHeaders(first, params)
        : {}),
    }
  }

  #common(version: string | null): Record<string, string> {
    return {
      ...this.#options.headers,
      accept: ACCEPTED,
      ...(this.#options.isProgram ? { [WRAPPER_FIELD]: this.#options.id } : {}),
      ...(this.#session === null ? {} : { 'mcp-session-id': this.#session }),
      ...(version === null || !/^[!-~]+$/.test(version) ? {} : { 'mcp-protocol-version': version }),
    }
  }

  /** Keeps the stream open on which the server sends what belongs to no request. */
  #stand(): void {
    if (this.#isStanding) return
    this.#isStanding = true
    void this.#standing()
  }

  async #standing(): Promise<void> {
    const { signal } = this.#closing
    const place = newPlace()
    for (let pause = RETRY_MS; !signal.aborted; pause = Math.min(pause * 2, MAX_RETRY_MS)) {
      try {
        const answer = await this.#events(place, signal)
        if (answer.statusCode === 405 || answer.statusCode === 404) return await answer.body.dump()
        if (answer.statusCode === 200) pause = RETRY_MS
        else place.lastEvent = null
        await readEvents(answer.body, { place, take: (text) => this.#deliver(text, new Set()) })
      } catch {
        // The gateway reloads, or the client disconnected.
      }
      await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
}

/** Fields that repeat what a 2026-07-28 request says in its body. */
function repeatedHeaders(
  { method }: SentMessage['requests'][number],
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const name = params['name'] ?? params['uri']
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method)
  return { 'mcp-method': method, ...(isNamed && typeof name === 'string' ? { 'mcp-name': encodedName(name) } : {}) }
}

/** Line breaks of JSON stand between tokens only. */
function withoutLineBreaks(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}
