/** Envelope draft → envelope with receipt: the body hash, the claims and the compact JWS (wire.md §6). */
import type { Envelope, EnvelopeDraft } from '../decide/envelope.ts'
import type { Digest, Sha256 } from '../hash.ts'
import type { Signer } from './signer.ts'

export interface ReceiptIssue {
  /** `iss` claim: who signs, e.g. the public address of the gateway. */
  readonly issuer: string
  /** SHA-256 of the token that this one follows; null for the first. `digestText(token, sha256)`. */
  readonly previous: Digest | null
}

export interface IssuedReceipt {
  readonly envelope: Envelope
  readonly token: string
}

/** @throws EnvelopeInvariantError when the result does not meet the producer schema; whatever the signer throws. */
export declare function issueReceipt(
  draft: EnvelopeDraft,
  signer: Signer,
  sha256: Sha256,
  issue: ReceiptIssue,
): IssuedReceipt
