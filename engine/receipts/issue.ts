/** Envelope draft → envelope with receipt: the body hash, the claims and the compact JWS (docs/reference/receipts.md#claims). Every decision class gets one; only two authorize. */
import { assertProducerForm } from '../decide/envelope.ts'
import type { Envelope, EnvelopeDraft } from '../decide/envelope-schema.ts'
import type { Sha256 } from '../common/hash.ts'
import { decisionBodyHash } from './body-hash.ts'
import { RECEIPT_FORMAT_VERSION, receiptClaims, type ReceiptIssue } from './claims.ts'
import type { Signer } from './signer.ts'
import { signingInputOf } from './token.ts'

export interface IssuedReceipt {
  readonly envelope: Envelope
  readonly token: string
}

/** A receipt that lacks only its signature: whoever holds the key may be elsewhere. */
export interface PreparedReceipt {
  readonly signingInput: string
  /**
   * @param signature Ed25519 over the signing input, base64url without padding
   * @throws EnvelopeInvariantError when the result does not meet the producer schema
   */
  finish(signature: string): IssuedReceipt
}

/**
 * The first half of issuing: claims over the hash of the body, ready to be signed wherever the key is.
 * @param draft the envelope without receipt and body hash
 */
export function prepareReceipt(
  draft: EnvelopeDraft,
  keyId: string,
  sha256: Sha256,
  issue: ReceiptIssue,
): PreparedReceipt {
  const bodyHash = decisionBodyHash(draft, sha256)
  const signingInput = signingInputOf(receiptClaims(draft, bodyHash, issue), keyId)
  return {
    signingInput,
    finish(signature) {
      const token = `${signingInput}.${signature}`
      const receipt = {
        token,
        format_version: RECEIPT_FORMAT_VERSION,
        key_id: keyId,
        issued_at: draft.evaluated_at,
      }
      const envelope: Envelope = { ...draft, decision_body_hash: bodyHash, receipt }
      assertProducerForm(envelope)
      return { envelope, token }
    },
  }
}

/** With a key at hand. @throws EnvelopeInvariantError when the result does not meet the producer schema; and whatever the signer throws. */
export function issueReceipt(draft: EnvelopeDraft, signer: Signer, sha256: Sha256, issue: ReceiptIssue): IssuedReceipt {
  const prepared = prepareReceipt(draft, signer.keyId, sha256, issue)
  return prepared.finish(signer.sign(prepared.signingInput))
}
