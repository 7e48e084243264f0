/**
 * The upstream end of wrapped servers: Streamable HTTP on one side, the lines of a program on the other. The gateway sends
 * its calls and its own questions here, and the server's answers go back to the request that each belongs to.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { createServer, type ServerResponse } from '../runtime/node-http.ts'
import { MAX_MESSAGE } from './frames.ts'
import { isSeveralLines } from './lines.ts'
import { failureOf, readReceived, readSent, tokensOf, type IdText } from './messages.ts'

/** Header field by which a request names the wrapped server that it is for. */
export const WRAPPER_FIELD = 'x-mcp-wrapper'
/** Header field of requests of the client itself; the gateway does not repeat it in its own questions. */
export const CLIENT_FIELD = 'mcp-param-wrapped-client'

/** A wrapped server, as the bridge reaches it. */
export interface WrappedServer {
  /** Resolves when more may be written. */
  write(line: Buffer): Promise<void> | undefined
  note(text: string): void
}

export interface ServerBridge {
  /** Of all wrapped servers; holds a secret. */
  readonly address: string
  attach(id: string, server: WrappedServer): AttachedServer
  close(): Promise<void>
}

export interface AttachedServer {
  /** A line of the server. Resolves when more may come. */
  receive(line: Buffer): Promise<void> | undefined
  /** The server is gone: requests under way get this as their error. */
  fail(message: string): void
}

export async function openServerBridge(): Promise<ServerBridge> {
  const secret = randomBytes(24).toString('hex')
  const attached = new Map<string, Attached>()
  const server = createServer((request, response) => {
    const isOurs = isSecret(request.url ?? '', `/${secret}`)
    const wrapped = attached.get(String(request.headers[WRAPPER_FIELD] ?? ''))
    if (isOurs && wrapped !== undefined) void wrapped.serve(request, response)
    else response.writeHead(isOurs ? 502 : 404).end()
  })
  server.requestTimeout = 0
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  const port = typeof place === 'object' && place !== null ? place.port : 0
  return {
    address: `http://127.0.0.1:${port}/${secret}`,
    attach(id, wrapped) {
      const one = new Attached(id, wrapped)
      attached.set(id, one)
      return {
        receive: (line) => one.receive(line),
        fail(message) {
          if (attached.get(id) === one) attached.delete(id)
          one.fail(message)
        },
      }
    },
    close: () => closed(server),
  }
}

/** Other users of the machine can reach the port, but cannot guess the path. */
function isSecret(path: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(path), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => void server.close(() => resolve()))
}

/** A POST whose requests are not all answered yet. */
interface PendingPost {
  readonly response: ServerResponse
  readonly waiting: Set<IdText>
  readonly tokens: ReadonlySet<IdText>
  /** Sent by the client, not by the gateway itself. */
  readonly isOfClient: boolean
  readonly opening: NodeJS.Timeout
}

/** The head of an answer is sent after this time, so that a long call is not taken for a dead server. */
const OPEN_AFTER_MS = 5000
/** Messages of the server that wait for a stream. */
const MAX_QUEUED = 1000

class Attached {
  readonly #id: string
  readonly #server: WrappedServer
  readonly #pending = new Map<IdText, PendingPost>()
  #standing: ServerResponse | null = null
  #queued: string[] = []

  constructor(id: string, server: WrappedServer) {
    this.#id = id
    this.#server = server
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#open(response)
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    const body = await bodyOf(request)
    if (body === null || response.destroyed) return void response.destroy()
    if (isSeveralLines(body)) return void response.writeHead(400).end()
    this.#post(body, request, response)
    await this.#server.write(body)
  }

  receive(line: Buffer): Promise<void> | undefined {
    const text = line.toString('utf8')
    const messages = readReceived(text)
    if (messages === null) {
      this.#server.note(`the server wrote a line that is no message; it was not forwarded: ${text.slice(0, 200)}`)
      return undefined
    }
    let isBusy: ServerResponse | null = null
    for (const message of messages) {
      const own = messages.length === 1 ? text : JSON.stringify(message.value)
      const written =
        message.answers === null ? this.#announce(own, message.belongsTo) : this.#answer(message.answers, own)
      isBusy = written ?? isBusy
    }
    return isBusy === null ? undefined : drained(isBusy)
  }

  fail(message: string): void {
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
    for (const text of this.#queued) response.write(eventOf(text))
    this.#queued = []
  }

  #post(body: Buffer, request: IncomingMessage, response: ServerResponse): void {
    const { requests } = readSent(body.toString('utf8'))
    if (requests.length === 0) return void response.writeHead(202).end()
    if (requests.some(({ method }) => method === 'initialize')) response.setHeader('mcp-session-id', this.#id)
    const post: PendingPost = {
      response,
      waiting: new Set(requests.map(({ id }) => id)),
      tokens: new Set(requests.flatMap(({ id, params }) => tokensOf(id, params))),
      isOfClient: request.headers[CLIENT_FIELD] !== undefined,
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
    const posts = [...new Set(this.#pending.values())].filter(({ isOfClient }) => isOfClient)
    const post = posts.find(({ tokens }) => belongsTo !== null && tokens.has(belongsTo)) ?? posts.at(-1)
    if (post !== undefined) return writeEvent(post, text) ? null : post.response
    if (this.#standing !== null) return this.#standing.write(eventOf(text)) ? null : this.#standing
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
  return response.write(eventOf(text))
}

function finish({ response, opening }: PendingPost): void {
  clearTimeout(opening)
  response.end()
}

/** A line break of JSON stands between tokens, so that it may be another one in an event. */
function eventOf(text: string): string {
  return `event: message\ndata: ${text.replaceAll('\r', '\ndata: ')}\n\n`
}

async function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return
  await Promise.race([once(response, 'drain'), once(response, 'close')])
}

/** Null: the sender went away, or its message is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
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
