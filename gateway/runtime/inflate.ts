/** The decompression that the engine is handed for status lists: zlib data (RFC 1950), bounded before it is expanded. */
import { inflateSync } from 'node:zlib'

/** Null: it is not zlib data, or longer than `limit` bytes. */
export function inflateZlib(compressed: Uint8Array, limit: number): Uint8Array | null {
  try {
    return inflateSync(compressed, { maxOutputLength: limit })
  } catch {
    // Foreseen: the data comes from outside. The caller authorizes nothing then.
    return null
  }
}
