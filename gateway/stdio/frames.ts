/** Messages between `preflight mcp` and its daemon: a length, a kind, and bytes. */
import type { Socket } from 'node:net'

export const FRAME = {
  /** To the daemon: JSON of a Hello. */
  hello: 1,
  /** From the daemon: the server is known, messages may follow. */
  welcome: 2,
  /** From the daemon: a text. The connection ends. */
  refused: 3,
  /** A message of the client, or to the client. */
  client: 4,
  /** A message of the server, or to the server. */
  server: 5,
  /** To the client: the JSON of the id that it answers, a line break, the message. */
  reply: 6,
  /** To the daemon: the client sends nothing more. */
  end: 7,
  /** To the daemon: the server has ended; a text says how. */
  exited: 8,
  /** From the daemon: every message of the client is answered. */
  done: 9,
  /** From the daemon: a text for the log of the client. */
  note: 10,
} as const

export type FrameKind = (typeof FRAME)[keyof typeof FRAME]

/** The first message of a connection. */
export interface Hello {
  readonly protocol: typeof PROTOCOL
  readonly version: string
  /** Of this `preflight mcp`; the same after a reconnection. */
  readonly id: string
  /** Route under which the calls are judged. */
  readonly name: string
  /** Shown in lists. */
  readonly command: string
  /** The session of the client began before this connection. */
  readonly isResumed: boolean
  /** Address of a server over HTTP; absent: the server is a program beside the client. */
  readonly url?: string
  /** Sent to that address. */
  readonly headers?: Readonly<Record<string, string>>
}

export const PROTOCOL = 1

const HEAD = 5
/** Bytes of a message; a longer one is not carried. */
export const MAX_MESSAGE = 64 * 1024 * 1024
/** A reply carries the id of its message beside it. A longer frame ends the connection. */
const MAX_FRAME = 2 * MAX_MESSAGE + 1
const KINDS: ReadonlyMap<number, FrameKind> = new Map(Object.values(FRAME).map((kind) => [kind, kind]))

/** False: the socket asks its writer to wait for `drain`. */
export function writeFrame(socket: Socket, kind: FrameKind, payload: Buffer | string = ''): boolean {
  if (socket.destroyed || !socket.writable) return true
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32BE(bytes.length, 0)
  head.writeUInt8(kind, 4)
  socket.cork()
  socket.write(head)
  const isFree = socket.write(bytes)
  socket.uncork()
  return isFree
}

/** Cuts a stream into frames. Throws at a frame that no writer of this protocol sends. */
export class FrameReader {
  readonly #onFrame: (kind: FrameKind, payload: Buffer) => void
  #pieces: Buffer[] = []
  #size = 0

  constructor(onFrame: (kind: FrameKind, payload: Buffer) => void) {
    this.#onFrame = onFrame
  }

  push(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#size += chunk.length
    for (let frame = this.#next(); frame !== null; frame = this.#next()) this.#onFrame(...frame)
  }

  #next(): [FrameKind, Buffer] | null {
    if (this.#size < HEAD) return null
    const head = this.#joined(HEAD)
    const length = head.readUInt32BE(0)
    const kind = KINDS.get(head.readUInt8(4))
    if (kind === undefined || length > MAX_FRAME) throw new Error('the connection carries something else than messages')
    if (this.#size < HEAD + length) return null
    const all = this.#joined(HEAD + length)
    this.#size -= HEAD + length
    const rest = all.subarray(HEAD + length)
    this.#pieces = rest.length === 0 ? [] : [rest, ...this.#pieces.slice(1)]
    return [kind, all.subarray(HEAD, HEAD + length)]
  }

  /** The first piece, made at least this long. */
  #joined(least: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#pieces
    if (first.length >= least) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}
