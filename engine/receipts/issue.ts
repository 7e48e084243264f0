/** Envelope draft → envelope with receipt: the body hash, the claims and the compact JWS (wire.md §6). Every decision class gets one; only two authorize. */
import { assertProducerForm, type Envelope, type EnvelopeDraft } from '../decide/envelope.ts'
import type { Sha256 } from '../hash.ts'
import { decisionBodyHash } from './body-hash.ts'
import { RECEIPT_FORMAT_VERSION, receiptClaims, type ReceiptIssue } from './claims.ts'
import type { Signer } from './signer.ts'
import { composeToken } from './token.ts'

export interface IssuedReceipt {
  readonly envelope: Envelope
  readonly token: string
}

/** @throws EnvelopeInvariantError when the result does not meet the producer schema; and whatever the signer throws. */
export function issueReceipt(draft: EnvelopeDraft, signer: Signer, sha256: Sha256, issue: ReceiptIssue): IssuedReceipt {
  const bodyHash = decisionBodyHash(draft, sha256)
  const token = composeToken(receiptClaims(draft, bodyHash, issue), signer)
  const receipt = {
    token,
    format_version: RECEIPT_FORMAT_VERSION,
    key_id: signer.keyId,
    issued_at: draft.evaluated_at,
  }
  const envelope: Envelope = { ...draft, decision_body_hash: bodyHash, receipt }
  assertProducerForm(envelope)
  return { envelope, token }
}
