/**
 * Distinguishes HTTP/2 by prior knowledge from HTTP/1 on a plaintext connection, and puts back what it read (RFC 9113
 * §3.3, §3.4).
 */
import type { Socket } from 'node:net'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/**
 * Resolves with the first byte that decides it; null when the connection ended, or no byte was received in time.
 * @param timeoutMs milliseconds
 */
export function readPreface(socket: Socket, timeoutMs: number): Promise<'http1' | 'http2' | null> {
  return new Promise((resolve) => {
    let read = Buffer.alloc(0)
    const finish = (version: 'http1' | 'http2' | null): void => {
      clearTimeout(timer)
      socket.off('data', onData).off('end', onGone).off('close', onGone).off('error', onGone)
      if (version !== null) {
        socket.pause()
        socket.unshift(read)
      }
      resolve(version)
    }
    const onData = (bytes: Buffer): void => {
      read = Buffer.concat([read, bytes])
      const length = Math.min(read.length, PREFACE.length)
      if (read.compare(PREFACE, 0, length, 0, length) !== 0) finish('http1')
      else if (length === PREFACE.length) finish('http2')
    }
    const onGone = (): void => finish(null)
    const timer = setTimeout(onGone, timeoutMs)
    socket.on('data', onData).on('end', onGone).on('close', onGone).on('error', onGone)
    socket.resume()
  })
}
