/**
 * Checks a TLS client after its first ClientHello. A server may ask for a second one (RFC 8446 §4.1.4). TLS 1.2 may
 * start a new handshake within a connection (RFC 5746). Either could name another server than the one that was checked.
 */
import { Transform, type TransformCallback } from 'node:stream'

const HEAD = 5
const RECORD = { first: 0x14, handshake: 0x16, application: 0x17, last: 0x18 } as const
const CLIENT_HELLO = 1
const TLS_MAJOR = 3
const LONGEST = 64 * 1024
const SERVER_NAME = 0

/**
 * Forwards its input; ends with an error at a ClientHello that names another server, and at a handshake that cannot be
 * read.
 */
export class LaterHellos extends Transform {
  readonly #name: string | null
  #pending: Buffer = Buffer.alloc(0)
  /** Bytes left of a record that is not a handshake. */
  #skip = 0
  /** A ClientHello that is not complete yet. */
  #message: Buffer | null = null
  #isBehindFirst = false
  #hasData = false

  /** @param name that every ClientHello has to state; null: none may state one */
  constructor(name: string | null) {
    super()
    this.#name = name
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
      const passed = this.#walk(bytes)
      this.#pending = bytes.subarray(passed)
      done(null, bytes.subarray(0, passed))
    } catch (error) {
      // Reading past the end of a ClientHello is a RangeError: it cannot be read then.
      done(error instanceof Error ? error : new Error('unreadable'))
    }
  }

  /** @returns how many bytes may be forwarded: all before an incomplete record or later ClientHello */
  #walk(bytes: Buffer): number {
    let at = Math.min(this.#skip, bytes.length)
    this.#skip -= at
    let passed = at
    this.#message = this.#isBehindFirst ? null : this.#message
    while (bytes.length - at >= HEAD) {
      const type = bytes.readUInt8(at)
      const end = at + HEAD + bytes.readUInt16BE(at + 3)
      if (type < RECORD.first || type > RECORD.last) throw new Error('not a TLS record')
      if (type === RECORD.handshake) {
        if (end > bytes.length) break
        this.#take(bytes.subarray(at + HEAD, end))
      } else if (this.#message !== null) throw new Error('an incomplete ClientHello')
      this.#hasData ||= type === RECORD.application
      this.#skip = Math.max(0, end - bytes.length)
      at = Math.min(end, bytes.length)
      if (this.#message === null || !this.#isBehindFirst) passed = at
    }
    if (bytes.length - passed > LONGEST) throw new Error('a ClientHello that is too long')
    return passed
  }

  #take(body: Buffer): void {
    if (this.#message === null) {
      const isHello = body[0] === CLIENT_HELLO && (body.length < 6 || body[4] === TLS_MAJOR)
      if (!isHello && (this.#hasData || body.length === 0)) throw new Error('a handshake after application data')
      if (!isHello) return
    }
    const message = this.#message === null ? body : Buffer.concat([this.#message, body])
    this.#message = message
    const length = message.length < 4 ? LONGEST : 4 + message.readUIntBE(1, 3)
    if (message.length < length) return
    if (message.length > length) throw new Error('bytes after a ClientHello')
    if (this.#isBehindFirst && serverNameIn(message) !== this.#name) throw new Error('a ClientHello for another server')
    this.#isBehindFirst = true
    this.#message = null
  }
}

/** Null: it names none. Throws where it has no single reading. */
function serverNameIn(hello: Buffer): string | null {
  let at = 4 + 2 + 32
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  if (at === hello.length) return null
  const end = at + 2 + hello.readUInt16BE(at)
  if (end !== hello.length) throw new Error('extensions of the wrong length')
  let name: string | null = null
  for (at += 2; at < end;) {
    const type = hello.readUInt16BE(at)
    const length = hello.readUInt16BE(at + 2)
    if (type === SERVER_NAME) {
      if (name !== null) throw new Error('two names')
      name = singleServerName(hello.subarray(at + 4, at + 4 + length))
    }
    at += 4 + length
  }
  return name
}

/** A list of exactly one host name (RFC 6066 §3). */
function singleServerName(extension: Buffer): string {
  const name = extension.subarray(5)
  const isOne =
    extension.readUInt16BE(0) === extension.length - 2 &&
    extension.readUInt8(2) === 0 &&
    extension.readUInt16BE(3) === name.length
  if (!isOne) throw new Error('not a list of one server name')
  return name.toString('latin1').toLowerCase()
}
