/** The hash function that the engine is handed: SHA-256 of the UTF-8 bytes of a text, by node:crypto. */
import { hash, webcrypto } from 'node:crypto'

/** 64 lowercase hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex')
}

/** The same with the prefix `sha256:`, off this thread: for texts that may be long where nothing waits for the answer. */
export async function digestInThread(text: string): Promise<string> {
  return `sha256:${Buffer.from(await webcrypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex')}`
}
