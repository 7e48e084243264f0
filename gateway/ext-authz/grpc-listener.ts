/**
 * gRPC over HTTP/2, without a gRPC library: each stream becomes one HTTP/1.1 exchange in memory, as on the proxy's
 * listener. So heads, messages, idle sessions and memory have the same bounds here. Methods answer one message with one,
 * once in a call or again and again.
 */
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { SHORT_BODY, type Bodies, type BodyFault } from '../listen/bodies.ts'
import { createHttpListener } from '../listen/http-listener.ts'
import { plainEntry, type EntryOf } from '../network/listen.ts'
import { createHttp2Front } from '../listen/http2-front.ts'

export interface GrpcListener {
  /** Resolves with the bound address. Rejects when it cannot be bound. */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Takes no new call, lets those in flight finish for `drainMs`, then closes their connections. */
  close(drainMs: number): Promise<void>
}

interface GrpcListenerOptions {
  /** Maximum time until the head of the first request of a connection, milliseconds. */
  readonly headTimeoutMs: number
  readonly bodies: Bodies
  /** Maximum length of a message, bytes. Read for each call: the configuration can change. */
  readonly maxBytes: () => number
  /** By path: `/package.Service/Method`. Each answers one message with one; the client gets no details of an error. */
  readonly methods: ReadonlyMap<string, UnaryMethod>
  /** By path, too. Called at the start of each call. */
  readonly conversations?: ReadonlyMap<string, () => Conversation>
  readonly onFailure: (error: unknown) => void
  readonly entry?: EntryOf
}

/** Null: the client has disconnected. @param response closes when it does */
export type UnaryMethod = (message: Buffer, response: ServerResponse) => Promise<Buffer | null>

/** A call in which each message is answered by one, in turn. A failure ends it with an error. */
interface Conversation {
  /** Null: the client has disconnected. @param response closes when it does */
  readonly next: UnaryMethod
  /** The last answer ends the call. */
  readonly isOver: () => boolean
  /** The client sends no more, or has disconnected. */
  readonly end: () => Promise<void>
}

/** The part of google.rpc.Code that is used here. */
const STATUS = { ok: 0, deadline: 4, exhausted: 8, unimplemented: 12, internal: 13, unavailable: 14 } as const

interface GrpcStatus {
  readonly status: number
  readonly message: string
}

const FAULTS: Readonly<Record<Exclude<BodyFault, 'aborted'>, GrpcStatus>> = {
  too_large: { status: STATUS.exhausted, message: 'The message is longer than this listener accepts.' },
  too_slow: { status: STATUS.deadline, message: 'The message did not arrive in time.' },
  overloaded: { status: STATUS.unavailable, message: 'There is no memory for the message now.' },
}

/** A compression flag and a length before each message. */
const PREFIX_BYTES = 5
const GRPC = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i

export function createGrpcListener(options: GrpcListenerOptions): GrpcListener {
  const { headTimeoutMs } = options
  const http = createHttpListener(
    { headTimeoutMs, keepAliveTimeout: 0 },
    (request, response) => void serve(request, response, options),
  )
  const front = createHttp2Front(headTimeoutMs)
  const server = createTcpServer({ noDelay: true }, (socket: Socket) => {
    socket.on('error', () => socket.destroy())
    front.take(socket, (exchange) => void http.emit('connection', exchange))
  })
  const entry = (options.entry ?? plainEntry)(server)
  return {
    listen: (host, port) => entry.listen(host, port),
    async close(drainMs) {
      const force = setTimeout(() => front.close(), drainMs)
      const closed = entry.close()
      front.drain()
      await closed
      clearTimeout(force)
    },
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, options: GrpcListenerOptions): Promise<void> {
  try {
    const conversation = options.conversations?.get(request.url ?? '')
    if (conversation !== undefined && isGrpcRequest(request))
      return await converse(request, response, conversation(), options)
    const found = await call(request, response, options)
    if (found === null) response.destroy()
    else if (Buffer.isBuffer(found)) sendMessage(found, response)
    else sendStatus(found, response)
  } catch (error) {
    // Whatever fails here, the calling proxy must not read it as an approval.
    options.onFailure(error)
    sendStatus({ status: STATUS.internal, message: 'The check could not be answered.' }, response)
  }
}

/** Null: the client has disconnected. */
async function call(
  request: IncomingMessage,
  response: ServerResponse,
  { bodies, maxBytes, methods }: GrpcListenerOptions,
): Promise<Buffer | GrpcStatus | null> {
  const method = methods.get(request.url ?? '')
  if (!isGrpcRequest(request)) return { status: STATUS.internal, message: 'This listener accepts gRPC calls only.' }
  if (method === undefined) return { status: STATUS.unimplemented, message: 'There is no such method.' }
  const read = await bodies.read(request, maxBytes() + PREFIX_BYTES)
  if (!read.ok) return read.why === 'aborted' ? null : FAULTS[read.why]
  const { body } = read
  if (body.length > SHORT_BODY) response.once('close', () => bodies.release(body))
  const message = unframedMessage(body)
  return Buffer.isBuffer(message) ? method(message, response) : message
}

function isGrpcRequest({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && GRPC.test(headers['content-type'] ?? '')
}

/** Answers each message before the next is read. Ends with status 0 only when the client has ended its side. */
async function converse(
  request: IncomingMessage,
  response: ServerResponse,
  conversation: Conversation,
  options: GrpcListenerOptions,
): Promise<void> {
  try {
    for await (const message of messagesOf(request, options)) {
      const answer = await conversation.next(message, response)
      options.bodies.release(message)
      if (answer === null || response.destroyed) return void response.destroy()
      if (!response.headersSent) response.writeHead(200, { ...HEAD, trailer: 'grpc-status' })
      response.write(grpcFrame(answer))
      if (conversation.isOver()) break
    }
    if (!response.headersSent) response.writeHead(200, { ...HEAD, trailer: 'grpc-status' })
    endWith(response, STATUS.ok)
  } catch (error) {
    if (!(error instanceof MessageFault)) options.onFailure(error)
    if (!response.headersSent) response.writeHead(200, { ...HEAD, trailer: 'grpc-status' })
    endWith(response, error instanceof MessageFault ? error.status : STATUS.internal)
  } finally {
    await conversation.end()
  }
}

/** A message that cannot be taken; its reason is the status of the call. */
class MessageFault extends Error {
  readonly status: number

  constructor({ status, message }: GrpcStatus) {
    super(message)
    this.status = status
  }
}

/** Each message is read as a body: with the same bounds of length, time and memory. */
async function* messagesOf(
  request: IncomingMessage,
  { bodies, maxBytes }: GrpcListenerOptions,
): AsyncGenerator<Buffer, void> {
  const pieces = new PieceReader(request)
  for (let prefix = await pieces.exactly(PREFIX_BYTES); prefix !== null; prefix = await pieces.exactly(PREFIX_BYTES)) {
    const length = prefix.readUInt32BE(1)
    if (prefix[0] !== 0) throw new MessageFault(COMPRESSED)
    if (length > maxBytes()) throw new MessageFault(FAULTS.too_large)
    const message = new PassThrough()
    const reading = bodies.read(message, maxBytes())
    const isOver = reading.then((read) => !read.ok)
    let left = length
    while (left > 0) {
      const piece = await Promise.race([pieces.upTo(left), isOver.then(() => null)])
      if (piece === null) break
      left -= piece.length
      message.write(piece)
    }
    if (left === 0) message.end()
    else message.destroy()
    const read = await reading
    if (!read.ok) throw new MessageFault(read.why === 'aborted' ? CUT : FAULTS[read.why])
    yield read.body
  }
}

const CUT: GrpcStatus = { status: STATUS.internal, message: 'The call ends inside a message.' }

/** Takes bytes off a stream as they are needed. */
class PieceReader {
  readonly #source: AsyncIterator<unknown>
  #rest: Buffer = Buffer.alloc(0)

  constructor(request: IncomingMessage) {
    this.#source = request[Symbol.asyncIterator]()
  }

  /** Null: the stream has ended. */
  async upTo(length: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#source.next()
      if (done === true) return null
      if (Buffer.isBuffer(value)) this.#rest = value
    }
    const piece = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }

  /** Null: the stream has ended before. */
  async exactly(length: number): Promise<Buffer | null> {
    const pieces: Buffer[] = []
    for (let left = length; left > 0; left -= pieces.at(-1)?.length ?? 0) {
      const piece = await this.upTo(left)
      if (piece === null && pieces.length > 0) throw new MessageFault(CUT)
      if (piece === null) return null
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }
}

function unframedMessage(body: Buffer): Buffer | GrpcStatus {
  if (body.length < PREFIX_BYTES || body.readUInt32BE(1) !== body.length - PREFIX_BYTES)
    return { status: STATUS.internal, message: 'The call does not contain exactly one message.' }
  return body[0] === 0 ? body.subarray(PREFIX_BYTES) : COMPRESSED
}

const COMPRESSED: GrpcStatus = {
  status: STATUS.unimplemented,
  message: 'Compressed messages are not supported.',
}

const HEAD = { 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity' }

function sendMessage(message: Buffer, response: ServerResponse): void {
  response.writeHead(200, { ...HEAD, trailer: 'grpc-status' })
  response.write(grpcFrame(message))
  endWith(response, STATUS.ok)
}

function endWith(response: ServerResponse, status: number): void {
  response.addTrailers({ 'grpc-status': String(status) })
  response.end()
}

function grpcFrame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** An answer of a head alone (Trailers-Only). */
function sendStatus({ status, message }: GrpcStatus, response: ServerResponse): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(200, { ...HEAD, 'grpc-status': String(status), 'grpc-message': message }).end()
}
