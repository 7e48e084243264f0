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
