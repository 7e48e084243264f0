/** Is this token one of ours, and does it authorize this very attempt? (wire.md §6) Pure: keys, clock and state are handed in. */
import type { Sha256 } from '../hash.ts'
import type { ReceiptClaims } from './claims.ts'
import type { KeySet } from './signer.ts'

export type ReceiptState = 'current' | 'superseded' | 'revoked' | 'consumed'

/**
 * What is known of the receipt beyond the token. `unchecked`: nobody was asked (offline); `unknown`: the store has no such
 * receipt; `undecidable`: the store or the keys could not be reached. The last two never authorize.
 */
export type ReceiptStanding = ReceiptState | 'unchecked' | 'unknown' | 'undecidable'

/** The attempt that the holder is about to make. Null and absent members are left out. */
export interface IntendedContext {
  readonly operation?: string | null
  readonly environment?: string | null
  readonly target_id?: string | null
  readonly repository?: string | null
  readonly branch?: string | null
  readonly pull_request?: string | null
  readonly base?: string | null
  readonly head?: string | null
  readonly fingerprint?: string | null
  readonly input_fingerprint?: string | null
  readonly artifact_digest?: string | null
  readonly audience?: string | null
}

export interface VerifyInput {
  readonly token: string
  readonly keys: KeySet
  /** Seconds since the epoch. */
  readonly now: number
  /** The `decision_result` that travels with the token, when one is held. */
  readonly envelope?: unknown
  /** Absent: authenticity only. */
  readonly context?: IntendedContext
  readonly state: ReceiptStanding
  readonly sha256: Sha256
}

export type ReceiptStatus =
  | 'VERIFIED_CURRENT'
  | 'VERIFIED_EXPIRED'
  | 'VERIFIED_WRONG_AUDIENCE'
  | 'VERIFIED_WRONG_ENVIRONMENT'
  | 'VERIFIED_SCOPE_MISMATCH'
  | 'VERIFIED_SUPERSEDED'
  | 'VERIFIED_REVOKED'
  | 'VERIFIED_CONSUMED'
  | 'RETIRED_KEY_VALID_AT_ISSUE'
  | 'UNKNOWN_KEY'
  | 'REVOKED_KEY'
  | 'INVALID_SIGNATURE'
  | 'MALFORMED'
  | 'UNSUPPORTED_VERSION'
  | 'UNDECIDABLE'

export type ReceiptReason =
  | 'malformed_structure'
  | 'bad_json'
  | 'unsupported_version'
  | 'unknown_kid'
  | 'revoked_key'
  | 'signature_mismatch'
  | 'body_hash_mismatch'
  | 'retired_key_after_issue'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'
  | 'superseded'
  | 'consumed'
  | 'state_unknown'
  | 'audience_mismatch'
  | 'operation_mismatch'
  | 'environment_mismatch'
  | 'target_mismatch'
  | 'place_mismatch'
  | 'source_mismatch'
  | 'fingerprint_mismatch'
  | 'context_incomplete'
  | 'decision_not_allow'

/** A member of the intended context that is not what was signed. */
export interface ReceiptMismatch {
  readonly member: keyof IntendedContext
  readonly expected: string | null
  readonly stated: string | null
}

export interface ReceiptVerification {
  /** The token is authentic: ours, signed by a trusted key, and covering the envelope given. Says nothing of time, state or scope. */
  readonly valid: boolean
  readonly status: ReceiptStatus
  /** First that applies in the order of wire.md §6; null when nothing is wrong. */
  readonly reason: ReceiptReason | null
  /** The claims, once the signature holds. */
  readonly payload: ReceiptClaims | null
  /** Null without a context; act only on true. */
  readonly currently_authorized: boolean | null
  readonly authz_status: 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'NOT_EVALUATED'
  readonly authz_reason: ReceiptReason | null
  readonly authz_note: string
  readonly mismatches: readonly ReceiptMismatch[]
}

export declare function verifyReceipt(input: VerifyInput): ReceiptVerification
