/**
 * The status of a gRPC call. The answer carries it in the trailers, or in its head when there is no body. gRPC-Web and streams
 * of Connect carry it in the last frame of the body. The answer is neither held back nor changed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject } from '../json/strict-json.ts'
import { textIn } from '../json/unchecked-json.ts'

export interface GrpcStatusReader {
  chunk(bytes: Buffer): void
  trailers(fields: IncomingHttpHeaders): void
  /** A number in digits; null until it was read. */
  readonly status: string | null
}

/** Null for an answer that is no gRPC and no stream of Connect. @param head fields of the answer */
export function readGrpcStatus(head: IncomingHttpHeaders): GrpcStatusReader | null {
  const type = head['content-type'] ?? ''
  // A body that is compressed as a whole would have to be unpacked to be read: the status stays unknown.
  const isReadable = (head['content-encoding'] ?? 'identity') === 'identity'
  if (CONNECT.test(type)) return new StatusReader(null, isReadable ? new LastFrame(CONNECT_END, false) : null)
  const form = FORMS.exec(type)
  if (form === null) return null
  const [, isWeb, isText] = form
  const isFramed = isWeb !== undefined && isReadable
  return new StatusReader(statusIn(head), isFramed ? new LastFrame(WEB_TRAILERS, isText !== undefined) : null)
}

/** Calls of Connect with one message have the status of HTTP. */
const CONNECT = /^application\/connect\+[^;\s]+\s*(?:;|$)/i
const FORMS = /^application\/grpc(?:(-web)(-text)?)?(?:\+[^;\s]+)?\s*(?:;|$)/i

function statusIn(fields: IncomingHttpHeaders): string | null {
  const status = fields['grpc-status']
  return textIn(status)
}

class StatusReader implements GrpcStatusReader {
  readonly #frames: LastFrame | null
  #reported: string | null

  constructor(reported: string | null, frames: LastFrame | null) {
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
const COMPRESSED_FLAG = 0x01
/** Status fields are few. Longer blocks are skipped, and the status stays unknown. */
const MAX_LAST_BYTES = 16 * 1024

/** The frame that ends the messages. */
interface LastFrameForm {
  readonly flag: number
  /** Null: it has none. */
  readonly statusIn: (payload: Buffer) => string | null
}

const STATUS_FIELD = /^grpc-status:[ \t]*([0-9]{1,3})[ \t]*\r?$/im

/** Trailers as lines of text (gRPC-Web, "HTTP/2 trailers"). */
const WEB_TRAILERS: LastFrameForm = {
  flag: 0x80,
  statusIn: (payload) => STATUS_FIELD.exec(payload.toString('latin1'))?.[1] ?? null,
}

const [GOOD, UNKNOWN] = ['0', '2']

/** A JSON object, with `error` if the call failed (Connect Protocol, "EndStreamResponse"). */
const CONNECT_END: LastFrameForm = { flag: 0x02, statusIn: connectStatus }

function connectStatus(payload: Buffer): string | null {
  try {
    const end: unknown = JSON.parse(payload.toString('utf8'))
    if (!isJsonObject(end)) return null
    return end['error'] === undefined || end['error'] === null ? GOOD : UNKNOWN
  } catch {
    // Nobody can say how the call ended.
    return null
  }
}

/** Finds the last frame among messages that come in pieces. */
class LastFrame {
  readonly #form: LastFrameForm
  readonly #isText: boolean
  #status: string | null = null
  /** Letters that do not make up a whole group yet. */
  #letters = ''
  #prefix = Buffer.alloc(0)
  /** Bytes left of the message at hand. */
  #left = 0
  /** Of the last frame; null within any other one. */
  #held: Buffer[] | null = null

  constructor(form: LastFrameForm, isText: boolean) {
    this.#form = form
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
    const isReadable = (flags & COMPRESSED_FLAG) === 0 && this.#left <= MAX_LAST_BYTES
    this.#held = (flags & this.#form.flag) !== 0 && isReadable ? [] : null
    return bytes.subarray(missing)
  }

  #take(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left)
    this.#held?.push(part)
    this.#left -= part.length
    if (this.#left === 0 && this.#held !== null) {
      this.#status = this.#form.statusIn(Buffer.concat(this.#held))
      this.#held = null
    }
    return bytes.subarray(part.length)
  }
}

const NOTHING = Buffer.alloc(0)
