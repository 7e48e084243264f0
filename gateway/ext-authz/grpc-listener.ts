/**
 * Unary gRPC over HTTP/2, without a gRPC library: each stream becomes one HTTP/1.1 exchange in memory, as on the
 * proxy's listener. So heads, bodies, idle sessions and memory have the same bounds here. One message in, one message
 * out.
 */
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
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
  readonly onFailure: (error: unknown) => void
  readonly entry?: EntryOf
}

/** Null: the client has disconnected. @param response closes when it does */
export type UnaryMethod = (message: Buffer, response: ServerResponse) => Promise<Buffer | null>

/** The part of google.rpc.Code that is used here. */
const STATUS = { ok: 0, deadline: 4, exhausted: 8, unimplemented: 12, internal: 13, unavailable: 14 } as const

interface CheckResponse {
  readonly status: number
  readonly message: string
}

const FAULTS: Readonly<Record<Exclude<BodyFault, 'aborted'>, CheckResponse>> = {
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
): Promise<Buffer | CheckResponse | null> {
  const method = methods.get(request.url ?? '')
  if (request.method !== 'POST' || !GRPC.test(request.headers['content-type'] ?? ''))
    return { status: STATUS.internal, message: 'This listener accepts unary gRPC calls only.' }
  if (method === undefined) return { status: STATUS.unimplemented, message: 'There is no such method.' }
  const read = await bodies.read(request, maxBytes() + PREFIX_BYTES)
  if (!read.ok) return read.why === 'aborted' ? null : FAULTS[read.why]
  const { body } = read
  if (body.length > SHORT_BODY) response.once('close', () => bodies.release(body))
  const message = messageIn(body)
  return Buffer.isBuffer(message) ? method(message, response) : message
}

function messageIn(body: Buffer): Buffer | CheckResponse {
  if (body.length < PREFIX_BYTES || body.readUInt32BE(1) !== body.length - PREFIX_BYTES)
    return { status: STATUS.internal, message: 'The call does not contain exactly one message.' }
  return body[0] === 0
    ? body.subarray(PREFIX_BYTES)
    : { status: STATUS.unimplemented, message: 'Compressed messages are not supported.' }
}

const HEAD = { 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity' }

function sendMessage(message: Buffer, response: ServerResponse): void {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  response.writeHead(200, { ...HEAD, trailer: 'grpc-status' })
  response.addTrailers({ 'grpc-status': String(STATUS.ok) })
  response.end(Buffer.concat([prefix, message]))
}

/** An answer of a head alone (Trailers-Only). */
function sendStatus({ status, message }: CheckResponse, response: ServerResponse): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(200, { ...HEAD, 'grpc-status': String(status), 'grpc-message': message }).end()
}
