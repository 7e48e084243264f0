/** Hashes and secrets by node:crypto: SHA-256 of bytes or of the UTF-8 bytes of a text, which the engine is handed, and comparisons in constant time. */
import { hash, timingSafeEqual, webcrypto } from 'node:crypto'

/** 64 lowercase hex digits. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

/** Whether two secrets are the same. The time depends on their lengths only. */
export function isSameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** The digest of a text with the prefix `sha256:`, off this thread: for texts that may be long where nothing waits for the answer. */
export async function digestInThread(text: string): Promise<string> {
  return `sha256:${Buffer.from(await webcrypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex')}`
}
