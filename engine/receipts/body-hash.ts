/** decision_body_hash: what makes an envelope tamper-evident (docs/reference/hashes.md#decision_body_hash; RFC 8785 over everything but the receipt and the hash itself). */
import { digestJson, type Digest, type Sha256 } from '../common/hash.ts'

/** @throws TypeError when the value has no canonical form. */
export function decisionBodyHash(envelope: object, sha256: Sha256): Digest {
  const covered = Object.entries(envelope).filter(([member]) => member !== 'receipt' && member !== 'decision_body_hash')
  return digestJson(Object.fromEntries(covered), sha256)
}
