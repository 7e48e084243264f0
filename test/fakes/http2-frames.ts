/** HTTP/2 as frames on a socket: for requests that no client library would send. Header blocks are literals, never compressed. */
import type { Socket } from 'node:net'
import { openSocket } from './raw-http.ts'

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4 } as const

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
const PREFIX_BYTES = 9
/** Of a connection and of a stream (RFC 9113 §6.9.2). */
const FIRST_WINDOW = 65_535

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUIntBE(payload.length, 0, 3)
  prefix.writeUInt8(type, 3)
  prefix.writeUInt8(flags, 4)
  prefix.writeUInt32BE(stream, 5)
  return Buffer.concat([prefix, payload])
}

export type Fields = readonly (readonly [name: string, value: string])[]

/** Literal fields that are not indexed (RFC 7541 §6.2.2), without Huffman code. */
export function block(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]))
}

/** A literal that the other side is to remember (RFC 7541 §6.2.1): from then on one byte stands for it. */
export function remembered([name, value]: Fields[number]): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)])
}

/** Length in a prefix of seven bits (RFC 7541 §5.1), and the letters. */
function text(letters: string): Buffer {
  const bytes = Buffer.from(letters, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

export function headers(fields: Fields, flags: number = FLAG.endHeaders | FLAG.endStream, stream = 1): Buffer {
  return frame(FRAME.headers, flags, stream, block(fields))
}

export function data(letters: string, flags = 0, stream = 1): Buffer {
  return frame(FRAME.data, flags, stream, Buffer.from(letters, 'latin1'))
}

/** What the other side says first of a stream, or instead of anything about it. */
export type Texts = number | 'answered' | 'reset' | 'goaway' | 'closed' | 'silence'

/** Statuses that have a place in the static table (RFC 7541, appendix A); any other is `answered`. */
const STATUSES: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 }

export interface FramesClient {
  readonly socket: Socket
  send(...frames: readonly Buffer[]): void
  /** Statuses and resets by stream, in the order received. */
  readonly text: ReadonlyMap<number, Texts>
  /** Frames of a type that came. */
  count(type: number): number
  /** Bytes that the other side still takes on the stream, after `sent`. */
  windowOf(stream: number, sent: number): number
  /** The first word on the stream, or the end of the connection. */
  wordOn(stream: number, patienceMs: number): Promise<Texts>
}

export function openFrames(url: string): FramesClient {
  const socket = openSocket(url)
  socket.on('error', () => socket.destroy())
  const text = new Map<number, Texts>()
  const counts = new Map<number, number>()
  const granted = new Map<number, number>()
  const listeners = new Set<() => void>()
  let buffered: Buffer = Buffer.alloc(0)
  let end: Texts | null = null
  const note = (type: number, flags: number, stream: number, payload: Buffer): void => {
    counts.set(type, (counts.get(type) ?? 0) + 1)
    if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(frame(FRAME.settings, FLAG.ack, 0))
    if (type === FRAME.windowUpdate) granted.set(stream, (granted.get(stream) ?? 0) + payload.readUInt32BE(0))
    if (type === FRAME.headers && !text.has(stream)) text.set(stream, statusOf(payload))
    if (type === FRAME.rstStream && !text.has(stream)) text.set(stream, 'reset')
    if (type === FRAME.goaway && payload.readUInt32BE(4) !== 0) end ??= 'goaway'
  }
  socket.on('data', (bytes: Buffer) => {
    buffered = Buffer.concat([buffered, bytes])
    while (buffered.length >= PREFIX_BYTES) {
      const length = buffered.readUIntBE(0, 3)
      if (buffered.length < PREFIX_BYTES + length) break
      const payload = buffered.subarray(PREFIX_BYTES, PREFIX_BYTES + length)
      note(buffered.readUInt8(3), buffered.readUInt8(4), buffered.readUInt32BE(5), payload)
      buffered = buffered.subarray(PREFIX_BYTES + length)
    }
    for (const listener of listeners) listener()
  })
  socket.on('close', () => {
    end ??= 'closed'
    for (const listener of listeners) listener()
  })
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]))
  return {
    socket,
    text,
    send: (...frames) => void socket.write(Buffer.concat([...frames])),
    count: (type) => counts.get(type) ?? 0,
    windowOf: (stream, sent) => FIRST_WINDOW - sent + Math.min(granted.get(0) ?? 0, granted.get(stream) ?? 0),
    wordOn: (stream, patienceMs) =>
      new Promise((resolve) => {
        const finish = (word: Texts): void => {
          clearTimeout(timer)
          listeners.delete(look)
          resolve(word)
        }
        const look = (): void => {
          const word = text.get(stream) ?? end
          if (word !== null && word !== undefined) finish(word)
        }
        const timer = setTimeout(() => finish('silence'), patienceMs)
        listeners.add(look)
        look()
      }),
  }
}

function statusOf(payload: Buffer): Texts {
  // A change of the table's size may come first.
  const first = [...payload].find((byte) => (byte & 0xe0) !== 0x20) ?? 0
  return (first & 0x80) === 0 ? 'answered' : (STATUSES[first & 0x7f] ?? 'answered')
}
