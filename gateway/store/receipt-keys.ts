/** Public receipt keys of all gateways that share a store, so that each verifies the receipts of the others. */

export interface ReceiptKeyRow {
  readonly kid: string
  /** Public key, base64url (RFC 8037 §2). */
  readonly x: string
  /** Times are seconds since the epoch. */
  readonly validFrom: number
  readonly retiredAt: number | null
  readonly revokedAt: number | null
}

export interface ReceiptKeys {
  list(): Promise<readonly ReceiptKeyRow[]>
  /** Adds keys, and the ends of those that are there. A revocation stays. */
  publish(rows: readonly ReceiptKeyRow[]): Promise<void>
  /** False when no gateway has such a key. The time of the first revocation stays. */
  revoke(kid: string, at: number): Promise<boolean>
}
