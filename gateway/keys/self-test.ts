/** Does what is signed now verify with what is published? Asked at the start, when keys change, and by readiness. */
import type { KeyRing } from './key-ring.ts'
import { receiptSignature } from './receipt-signer.ts'
import { isoInstant } from '../runtime/iso-instant.ts'

/** Seconds that a verifier grants between its clock and ours (docs/reference/receipts.md#verification-steps). */
const LEEWAY = 30

/** No JWS signing input: it has no dot. */
const INPUT = 'preflight signing self-test'

/**
 * A sentence with what to do; null when a receipt that is issued now would verify. Rejects with SIGNER_UNAVAILABLE.
 * @param now seconds since the epoch
 */
export async function signingProblem(keys: Pick<KeyRing, 'signer' | 'keySet'>, now: number): Promise<string | null> {
  const signer = keys.signer()
  const signature = await receiptSignature(signer, INPUT)
  const published = keys.keySet().get(signer.keyId)
  if (published === undefined) return `The key ${signer.keyId} signs and is not in the published key set.`
  if (published.status !== 'active') return `The key ${signer.keyId} signs and is ${published.status}.`
  if (now + LEEWAY < published.validFrom)
    return `The clock of this machine is before the key ${signer.keyId} begins (${isoInstant(published.validFrom * 1000)}): set the clock. If it is right now, restart the gateway.`
  if (published.verify(INPUT, signature)) return null
  return `What the key ${signer.keyId} signs does not verify with its published public key: its private and public part do not fit.`
}
