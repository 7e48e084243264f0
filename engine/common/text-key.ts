/** The key of a text that may be long, for a Map or Set. */
import { digestText, type Sha256 } from './hash.ts'

/**
 * V8 hashes a text of more than 16,383 characters by its length alone. One long name in thousands of keys would make
 * each look-up a search through all of them.
 */
const MAX_HASHED = 16_000

/** The text itself, or its digest if it is long. */
export function textKey(text: string, sha256: Sha256): string {
  return text.length > MAX_HASHED ? digestText(text, sha256) : text
}
