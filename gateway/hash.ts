/** The hash function that the engine is handed: SHA-256 of the UTF-8 bytes of a text, by node:crypto. */
import { hash } from 'node:crypto'

/** 64 lowercase hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex')
}
