/** Whether a key was in force for something that it signed: receipts and status lists follow the same rules. */
import type { VerificationKey } from './signer.ts'

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
