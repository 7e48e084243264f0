/** What the engine needs of a key: it composes and judges compact JWS, the gateway signs and holds the keys (docs/reference/receipts.md#form). */

/** Signs the ASCII signing input of a compact JWS with Ed25519; answers base64url without padding. */
export interface Signer {
  readonly keyId: string
  sign(signingInput: string): string
}

export type KeyStatus = 'active' | 'retired' | 'revoked'

/** A published receipt key. Times are seconds since the epoch; null where the event has not happened. */
export interface VerificationKey {
  readonly keyId: string
  readonly status: KeyStatus
  readonly validFrom: number
  readonly retiredAt: number | null
  readonly revokedAt: number | null
  /** True when `signature` (base64url) is this key's Ed25519 signature of the ASCII signing input. Never throws. */
  verify(signingInput: string, signature: string): boolean
}

export type KeySet = ReadonlyMap<string, VerificationKey>

/** Seconds that clocks may differ between the key and what it signed. */
const LEEWAY = 30

/**
 * The reason why the key does not count, in the order of docs/reference/receipts.md#reasons-and-statuses; null: it counts.
 * @param issuedAt issue time of the signed token, seconds since the epoch
 */
export function keyFault(
  key: Omit<VerificationKey, 'verify'>,
  issuedAt: number,
  now: number,
): 'unknown_kid' | 'revoked_key' | 'retired_key_after_issue' | null {
  // A key that did not exist when it is said to have signed is no key of that token.
  if (issuedAt + LEEWAY < key.validFrom) return 'unknown_kid'
  // A set of keys that was kept says by their times what its words do not say yet.
  if (key.status === 'revoked' || (key.revokedAt !== null && !(now < key.revokedAt))) return 'revoked_key'
  const isRetiredBefore = key.retiredAt === null ? key.status === 'retired' : issuedAt > key.retiredAt
  return isRetiredBefore ? 'retired_key_after_issue' : null
}
