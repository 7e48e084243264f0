/** Canonical JSON (RFC 8785) and digests. The hash function is passed in, because the engine has no cryptography. */
import { FUNCTION, requireArgument, TEXT } from './argument.ts'
import canonicalizeJson from 'canonicalize'

/** SHA-256 of the UTF-8 bytes of a text, as 64 lowercase hex digits. */
export type Sha256 = (text: string) => string

/** `sha256:` and 64 lowercase hex digits (docs/reference/hashes.md#common-forms). */
export type Digest = `sha256:${string}`

export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }

/** RFC 8785 text of a JSON value; throws on what the RFC refuses (lone surrogates, NaN, infinities). */
export function canonicalJson(value: unknown): string {
  const text = canonicalizeJson(value)
  if (text === undefined) throw new TypeError('canonicalJson: the value has no JSON form')
  return text
}

/** `sha256:` and the lower-case hexadecimal hash of the UTF-8 bytes. */
export function digestText(text: string, sha256: Sha256): Digest {
  requireArgument('digestText', 'text', text, TEXT)
  requireArgument('digestText', 'sha256', sha256, FUNCTION)
  return `sha256:${sha256(text)}`
}

/** The digest of the RFC 8785 text; throws as `canonicalJson` does. */
export function digestJson(value: unknown, sha256: Sha256): Digest {
  return digestText(canonicalJson(value), sha256)
}

/** Canonical JSON with everything outside ASCII escaped: one spelling, in characters that are bytes. */
export function asciiJson(value: object): string {
  return canonicalJson(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
