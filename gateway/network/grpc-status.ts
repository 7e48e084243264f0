/**
 * The status of a gRPC call. The answer carries it in the trailers, in its head when there is no body, or (gRPC-Web, which has
 * no HTTP trailers) in the last frame of the body. The answer is neither held back nor changed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { textIn } from '../json/unchecked-json.ts'

export interface GrpcStatusReader {
  chunk(bytes: Buffer): void
  trailers(fields: IncomingHttpHeaders): void
  /** A number in digits; null until it was read. */
  readonly status: string | null
}

/** Null for an answer that is no gRPC. @param head fields of the answer */
export function readGrpcStatus(head: IncomingHttpHeaders): GrpcStatusReader | null {
  const form = FORMS.exec(head['content-type'] ?? '')
  if (form === null) return null
  const [, isWeb, isText] = form
  // A body that is compressed as a whole would have to be unpacked to be read: the status stays unknown.
  const isReadable = isWeb !== undefined && (head['content-encoding'] ?? 'identity') === 'identity'
  return new StatusReader(statusIn(head), isReadable ? new TrailerFrame(isText !== undefined) : null)
}

const FORMS = /^application\/grpc(?:(-web)(-text)?)?(?:\+[^;\s]+)?\s*(?:;|$)/i

function statusIn(fields: IncomingHttpHeaders): string | null {
  const status = fields['grpc-status']
  return textIn(status)
}

class StatusReader implements GrpcStatusReader {
  readonly #frames: TrailerFrame | null
  #reported: string | null

  constructor(reported: string | null, frames: TrailerFrame | null) {
    this.#reported = reported
    this.#frames = frames
  }

  chunk(bytes: Buffer): void {
    this.#frames?.feed(bytes)
  }

  trailers(fields: IncomingHttpHeaders): void {
    this.#reported = statusIn(fields) ?? this.#reported
  }

  get status(): string | null {
    return this.#frames?.status ?? this.#reported
  }
}

/** Flags and length before each message. */
const PREFIX_BYTES = 5
const TRAILER_FLAG = 0x80
const COMPRESSED_FLAG = 0x01
/** Status fields are few. Longer blocks are skipped, and the status stays unknown. */
const MAX_TRAILER_BYTES = 16 * 1024
const STATUS_FIELD = /^grpc-status:[ \t]*([0-9]{1,3})[ \t]*\r?$/im

/** Finds the frame of trailers among messages that come in pieces (gRPC-Web, "HTTP/2 trailers"). */
class TrailerFrame {
  readonly #isText: boolean
  #status: string | null = null
  /** Letters that do not make up a whole group yet. */
  #letters = ''
  #prefix = Buffer.alloc(0)
  /** Bytes left of the message at hand. */
  #left = 0
  /** Of the trailers at hand; null within any other message. */
  #held: Buffer[] | null = null

  constructor(isText: boolean) {
    this.#isText = isText
  }

  get status(): string | null {
    return this.#status
  }

  feed(bytes: Buffer): void {
    let rest = this.#isText ? this.#decode(bytes) : bytes
    while (rest.length > 0) rest = this.#left > 0 ? this.#take(rest) : this.#begin(rest)
  }

  /** Each part of an answer may be padded on its own, so every padded group ends a text. */
  #decode(bytes: Buffer): Buffer {
    const letters = this.#letters + bytes.toString('latin1')
    const whole = letters.length - (letters.length % 4)
    this.#letters = letters.slice(whole)
    const texts = letters.slice(0, whole).split(/(?<==)(?=[^=])/)
    return Buffer.concat(texts.map((text) => Buffer.from(text, 'base64')))
  }

  #begin(bytes: Buffer): Buffer {
    const missing = PREFIX_BYTES - this.#prefix.length
    const prefix = Buffer.concat([this.#prefix, bytes.subarray(0, missing)])
    this.#prefix = prefix
    if (prefix.length < PREFIX_BYTES) return NOTHING
    const flags = prefix.readUInt8(0)
    this.#left = prefix.readUInt32BE(1)
    this.#prefix = NOTHING
    const isReadable = (flags & COMPRESSED_FLAG) === 0 && this.#left <= MAX_TRAILER_BYTES
    this.#held = (flags & TRAILER_FLAG) !== 0 && isReadable ? [] : null
    return bytes.subarray(missing)
  }

  #take(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left)
    this.#held?.push(part)
    this.#left -= part.length
    if (this.#left === 0 && this.#held !== null) {
      const fields = Buffer.concat(this.#held).toString('latin1')
      this.#status = STATUS_FIELD.exec(fields)?.[1] ?? null
      this.#held = null
    }
    return bytes.subarray(part.length)
  }
}

const NOTHING = Buffer.alloc(0)
