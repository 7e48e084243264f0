/**
 * The first bytes of a client on a connection that may carry anything: TLS or not, and which server name TLS asks for.
 */
import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { tls } from '../runtime/node-tls.ts'

/** First byte of a TLS record that holds a handshake (RFC 8446 §5.1). */
const HANDSHAKE_RECORD = 0x16

/** Content types of all TLS records: change_cipher_spec, alert, handshake, application_data, heartbeat. */
const RECORDS = { first: 0x14, last: 0x18 } as const
const SSL2_HELLO = { first: 0x80, type: 0x01 } as const

/** `not_a_hello`: TLS that does not begin with a readable ClientHello. */
type Greeting = 'tls' | 'not_a_hello' | 'http' | 'other'

/** Mostly by one byte: HTTP/1 begins with a method, which in practice is in upper case letters (RFC 9110 §9.1). */
export function greetingOf(bytes: Buffer): Greeting {
  const first = bytes[0] ?? 0
  if (first === HANDSHAKE_RECORD) return 'tls'
  // Some servers skip such a record, and read the ClientHello behind it.
  if (first >= RECORDS.first && first <= RECORDS.last) return 'not_a_hello'
  // A ClientHello in the form of SSL 2 (RFC 5246 §E.2), which names no server.
  if (first >= SSL2_HELLO.first && (bytes[2] ?? SSL2_HELLO.type) === SSL2_HELLO.type) return 'not_a_hello'
  return first >= 0x41 && first <= 0x5a ? 'http' : 'other'
}

/**
 * Waits for the first bytes and puts them back, so that the next reader of the socket sees them. Null: the client
 * disconnected or sent nothing in time.
 * @param timeoutMs milliseconds
 */
export function firstBytes(socket: Socket, timeoutMs: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const finish = (bytes: Buffer | null): void => {
      clearTimeout(timer)
      socket.off('data', onData).off('close', onGone).off('end', onGone).off('error', onGone)
      resolve(bytes)
    }
    const onData = (bytes: Buffer): void => {
      socket.pause()
      finish(bytes)
      socket.unshift(bytes)
    }
    const onGone = (): void => finish(null)
    const timer = setTimeout(onGone, timeoutMs)
    if (socket.destroyed || socket.readableEnded) return finish(null)
    socket.on('data', onData).on('close', onGone).on('end', onGone).on('error', onGone)
    socket.resume()
  })
}

/** A context without a certificate: it can read a ClientHello, and cannot answer it. */
let blind: SecureContext | null = null

/**
 * Reads the server name (SNI) from the beginning of a TLS connection: Node.js's TLS reads a copy of it, and its answer
 * is dropped. Feed it what the client sends until `serverName` resolves.
 */
interface HelloReader {
  feed(bytes: Buffer): void
  /** Null: the client names none, or this is not readable as TLS. Never rejects. */
  readonly serverName: Promise<string | null>
  close(): void
}

export function readHello(): HelloReader {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const copy = new Duplex({
    read: () => {},
    write: (_answer, _encoding, done) => {
      // TLS is past the ClientHello and found no server name.
      resolve(null)
      done()
    },
  })
  const { createSecureContext, TLSSocket } = tls()
  blind ??= createSecureContext({})
  const reader = new TLSSocket(copy, {
    isServer: true,
    secureContext: blind,
    SNICallback: (name, done) => {
      resolve(name.toLowerCase())
      done(new Error('only the server name is needed'))
    },
  })
  reader.on('error', () => resolve(null))
  reader.on('close', () => resolve(null))
  return {
    feed: (bytes) => void copy.push(bytes),
    serverName: promise,
    close: () => {
      resolve(null)
      reader.destroy()
      copy.destroy()
    },
  }
}
