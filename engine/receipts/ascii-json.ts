/** Canonical JSON (RFC 8785) with everything outside ASCII escaped: one spelling, in characters that are bytes. */
import { canonicalJson } from '../common/hash.ts'

export function asciiJson(value: object): string {
  return canonicalJson(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
