/**
 * Reads the state of one receipt from a status list token (IETF Token Status List, draft-ietf-oauth-status-list;
 * docs/reference/receipts.md#status-list). Pure: the token, the keys, the clock and the decompression are passed in. Every
 * fault is a value, and none of them is the state `current`.
 */
import { ok, type Result, fail } from '../common/result.ts'
import { asciiJson } from '../common/hash.ts'
import { decodeAscii, decodeBytes, encodeAscii } from './base64url.ts'
import { type KeySet, keyFault } from './signer.ts'

const STATUS_LIST_TYPE = 'statuslist+jwt'

/** Bits of one entry. Four bits are the smallest size that has application-specific values for two states. */
const STATUS_BITS = 4

/** VALID and INVALID are registered by the draft; 0x0C to 0x0F are application-specific. */
export const STATUS_VALUES = {
  current: 0x00,
  revoked: 0x01,
  superseded: 0x0c,
  consumed: 0x0d,
} as const satisfies Readonly<Record<ReceiptState, number>>

/** Bounds of what a verifier reads: a list is small, and a hostile one must not fill the memory. */
const MAX_STATUS_TOKEN = 2_000_000
const MAX_LIST_BYTES = 1_048_576

/** Decompresses zlib data (RFC 1950). Null: it is not zlib data, or longer than `limit` bytes. */
export type Inflate = (compressed: Uint8Array, limit: number) => Uint8Array | null

export type ReceiptState = 'current' | 'superseded' | 'revoked' | 'consumed'

/** The place of a receipt in a list: its claim `status.status_list`. */
export interface StatusReference {
  readonly idx: number
  readonly uri: string
}

/** A status list token and what reads it. */
export interface StatusListInput {
  readonly token: string
  readonly inflate: Inflate
}

interface StatusListClaims {
  readonly sub: string
  readonly iat: number
  readonly exp: number | null
  readonly bits: number
  readonly lst: string
}

/** Header and claims of a status list token, as they are signed; the signature follows after one more dot. */
export function statusListSigningInput(
  list: {
    readonly uri: string
    /** Seconds since the epoch. */
    readonly issuedAt: number
    readonly expiresAt: number
    /** Seconds that a verifier may cache the token. */
    readonly ttl: number
    /** Base64url of the compressed entries. */
    readonly compressed: string
  },
  keyId: string,
): string {
  const header = { alg: 'EdDSA', kid: keyId, typ: STATUS_LIST_TYPE }
  const claims = {
    sub: list.uri,
    iat: list.issuedAt,
    exp: list.expiresAt,
    ttl: list.ttl,
    status_list: { bits: STATUS_BITS, lst: list.compressed },
  }
  return `${encodeAscii(asciiJson(header))}.${encodeAscii(asciiJson(claims))}`
}

/** The entries of a list of `size` receipts before compression. Every receipt that is not named is current. */
export function packStatuses(
  size: number,
  states: Iterable<readonly [index: number, state: ReceiptState]>,
): Uint8Array {
  const perByte = 8 / STATUS_BITS
  const packed = new Uint8Array(Math.ceil(size / perByte))
  for (const [index, state] of states) {
    const at = Math.floor(index / perByte)
    packed[at] = (packed[at] ?? 0) | (STATUS_VALUES[state] << (STATUS_BITS * (index % perByte)))
  }
  return packed
}

/**
 * The state that a list gives a receipt. The problem is part of a sentence for people.
 * @param reference the claim of a receipt whose signature holds; null: it has none
 * @param now seconds since the epoch
 */
export function stateInList(
  { token, inflate }: StatusListInput,
  reference: StatusReference | null,
  keys: KeySet,
  now: number,
): Result<ReceiptState, string> {
  if (reference === null) return fail('the receipt names no status list')
  const list = readStatusList(token, keys, now)
  if (!list.ok) return list
  const { sub, bits, lst } = list.value
  if (sub !== reference.uri) return fail('the status list is another one than the receipt names')
  const compressed = decodeBytes(lst)
  const entries = compressed === null ? null : inflate(compressed, MAX_LIST_BYTES)
  if (entries === null) return fail('the entries of the status list cannot be decompressed')
  const byte = entries[Math.floor((reference.idx * bits) / 8)]
  if (byte === undefined) return fail('the status list has no entry for the receipt')
  const value = (byte >> ((reference.idx * bits) % 8)) & ((1 << bits) - 1)
  const state = STATES.find((name) => STATUS_VALUES[name] === value)
  return state === undefined ? fail(`the status list has the unknown value ${value}`) : ok(state)
}

const STATES = ['current', 'revoked', 'superseded', 'consumed'] as const satisfies readonly ReceiptState[]

function readStatusList(token: unknown, keys: KeySet, now: number): Result<StatusListClaims, string> {
  if (typeof token !== 'string') return fail('the status list is not a compact JWS')
  const [header = '', payload = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0 || token.length > MAX_STATUS_TOKEN) return fail('the status list is not a compact JWS')
  const { alg, typ, kid } = decodedSegment(header)
  if (alg !== 'EdDSA' || typ !== STATUS_LIST_TYPE || typeof kid !== 'string')
    return fail(`the header of the status list is not EdDSA of the type ${STATUS_LIST_TYPE}`)
  const claims = claimsIn(decodedSegment(payload))
  if (claims === null) return fail('the claims of the status list are malformed')
  const key = keys.get(kid)
  if (key === undefined) return fail('no published key has the key id of the status list')
  if (!key.verify(`${header}.${payload}`, signature)) return fail('the signature of the status list is wrong')
  if (keyFault(key, claims.iat, now) !== null)
    return fail('the key that signed the status list is revoked, retired, or newer than the list')
  if (now + LEEWAY < claims.iat) return fail('the status list is of the future: check the clocks')
  if (claims.exp !== null && !(now < claims.exp)) return fail('the status list has expired: fetch it again')
  return ok(claims)
}

/** Seconds that clocks may differ on `iat`, as for receipts. */
const LEEWAY = 30

function claimsIn({ sub, iat, exp, status_list: list }: Partial<Record<string, unknown>>): StatusListClaims | null {
  const { bits, lst } = isJsonRecord(list) ? list : {}
  if (typeof sub !== 'string' || !isSeconds(iat) || (exp !== undefined && !isSeconds(exp))) return null
  if (bits !== 1 && bits !== 2 && bits !== 4 && bits !== 8) return null
  return typeof lst === 'string' ? { sub, iat, exp: exp ?? null, bits, lst } : null
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function decodedSegment(segment: string): Partial<Record<string, unknown>> {
  const text = decodeAscii(segment)
  if (text === null) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isJsonRecord(value) ? value : {}
  } catch {
    // Not JSON: the caller reports what is missing in it.
    return {}
  }
}

function isJsonRecord(value: unknown): value is Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
