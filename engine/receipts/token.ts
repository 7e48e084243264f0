/**
 * The compact JWS of a receipt (RFC 7515, docs/reference/receipts.md#form), with exactly one valid encoding. Header
 * and claims are canonical JSON with everything outside ASCII escaped, and any other form is refused. That excludes
 * duplicate members, unknown header parameters (`crit`, `jwk`, `x5u` …) and a second encoding of the same claims.
 */
import { ok, type Result, fail } from '../common/result.ts'
import { asciiJson } from '../common/hash.ts'
import { decodeAscii, encodeAscii } from './base64url.ts'
import { RECEIPT_TYPE, type ReceiptClaims } from './claims.ts'
import { checkReceiptClaims } from './claims-check.generated.js'

/** Bounds of `receipt.token` (docs/reference/receipts.md#form). */
const TOKEN_LENGTH = { min: 20, max: 8192 } as const

type TokenFault = 'malformed_structure' | 'bad_json' | 'unsupported_version'

export interface ParsedToken {
  readonly keyId: string
  readonly claims: ReceiptClaims
  readonly signingInput: string
  readonly signature: string
}

/** Header and claims, as they are signed; the signature follows after one more dot. */
export function signingInputOf(claims: ReceiptClaims, keyId: string): string {
  const header = { alg: 'EdDSA', kid: keyId, typ: RECEIPT_TYPE }
  return `${encodeAscii(asciiJson(header))}.${encodeAscii(asciiJson(claims))}`
}

/**
 * Structure only: nothing of it is to be believed before the signature holds.
 * @param token what the caller holds; a header that is absent, or there twice, is no text
 */
export function parseToken(token: unknown): Result<ParsedToken, TokenFault> {
  if (typeof token !== 'string') return fail('malformed_structure')
  const segments = token.split('.')
  const [header = '', payload = '', signature = ''] = segments
  if (segments.length !== 3 || token.length < TOKEN_LENGTH.min || token.length > TOKEN_LENGTH.max)
    return fail('malformed_structure')
  const texts = { header: decodeAscii(header), payload: decodeAscii(payload) }
  if (texts.header === null || texts.payload === null) return fail('malformed_structure')
  const values = { header: parsedObject(texts.header), payload: parsedObject(texts.payload) }
  if (values.header === null || values.payload === null) return fail('bad_json')
  if (!isOurHeader(values.header)) return fail('unsupported_version')
  const claims = checkReceiptClaims(values.payload)
  const isOurSpelling = isSpelledAs(texts.header, values.header) && isSpelledAs(texts.payload, values.payload)
  if (!claims.ok || !isOurSpelling || !SIGNATURE.test(signature)) return fail('malformed_structure')
  return ok({ keyId: values.header.kid, claims: claims.value, signingInput: `${header}.${payload}`, signature })
}

/** 64 bytes in 86 characters; the four bits that the last one has over are zero, or two spellings would verify. */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/

interface ReceiptHeader {
  readonly alg: 'EdDSA'
  readonly typ: typeof RECEIPT_TYPE
  readonly kid: string
}

/** Only these three: an unknown parameter may change the meaning of the signature (RFC 7515 §4.1.11). */
function isOurHeader(header: object): header is ReceiptHeader {
  const { alg, typ, kid } = header as Partial<Record<string, unknown>>
  const isKeyId = typeof kid === 'string' && kid.length > 0 && kid.length <= 100
  return alg === 'EdDSA' && typ === RECEIPT_TYPE && isKeyId && Object.keys(header).length === 3
}

function parsedObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    // Not JSON: the caller names the fault.
    return null
  }
}

/** Is `text` the one spelling of `value`? Duplicate members, white space and other escapes are not. */
function isSpelledAs(text: string, value: object): boolean {
  try {
    return asciiJson(value) === text
  } catch {
    // No canonical form (a lone surrogate, or nesting that no receipt has).
    return false
  }
}
