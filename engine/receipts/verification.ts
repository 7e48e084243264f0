/** The answer of a receipt verification and its vocabulary (docs/reference/receipts.md#reasons-and-statuses). Pinned in test/pins/receipt-reasons.tsv. */
import type { ReceiptClaims } from './claims.ts'
import type { ReceiptState } from './status-list.ts'

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
  readonly tenant?: string | null
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

interface ReasonRow {
  /** Status of a receipt that fails for this reason. */
  readonly status: ReceiptStatus
  /** The token is ours and covers the envelope given: the reason is about time, state or scope. */
  readonly isAuthentic: boolean
  readonly note: string
}

const NOT_OURS = { isAuthentic: false } as const
const OURS = { isAuthentic: true } as const

/** Reasons in their order of precedence (docs/reference/receipts.md#reasons-and-statuses); `state_unknown` is ours, for a receipt whose state nobody can tell. */
export const RECEIPT_REASONS = {
  malformed_structure: { ...NOT_OURS, status: 'MALFORMED', note: 'This is not a receipt: its structure is wrong.' },
  bad_json: { ...NOT_OURS, status: 'MALFORMED', note: 'This is not a receipt: its header or claims are not JSON.' },
  unsupported_version: {
    ...NOT_OURS,
    status: 'UNSUPPORTED_VERSION',
    note: 'The type or algorithm of the token is not supported.',
  },
  unknown_kid: { ...NOT_OURS, status: 'UNKNOWN_KEY', note: 'No published key has this key id.' },
  revoked_key: { ...NOT_OURS, status: 'REVOKED_KEY', note: 'The key that signed is revoked.' },
  signature_mismatch: {
    ...NOT_OURS,
    status: 'INVALID_SIGNATURE',
    note: 'The signature does not belong to this token.',
  },
  body_hash_mismatch: {
    ...NOT_OURS,
    status: 'INVALID_SIGNATURE',
    note: 'The decision result is not the one that was signed.',
  },
  retired_key_after_issue: {
    ...NOT_OURS,
    status: 'INVALID_SIGNATURE',
    note: 'The key had been retired when the token was issued.',
  },
  not_yet_valid: { ...OURS, status: 'VERIFIED_EXPIRED', note: 'The receipt is not valid yet: check the clocks.' },
  expired: { ...OURS, status: 'VERIFIED_EXPIRED', note: 'The receipt has expired: run a new authorize preflight.' },
  state_unknown: {
    ...NOT_OURS,
    status: 'UNDECIDABLE',
    note: 'It cannot be determined now whether the receipt is still valid.',
  },
  revoked: { ...OURS, status: 'VERIFIED_REVOKED', note: 'The receipt was revoked.' },
  superseded: { ...OURS, status: 'VERIFIED_SUPERSEDED', note: 'A newer decision takes its place.' },
  consumed: { ...OURS, status: 'VERIFIED_CONSUMED', note: 'The receipt was for one use and has been used.' },
  tenant_mismatch: { ...OURS, status: 'VERIFIED_SCOPE_MISMATCH', note: 'The receipt is of another tenant.' },
  audience_mismatch: {
    ...OURS,
    status: 'VERIFIED_WRONG_AUDIENCE',
    note: 'The receipt was issued to another requester.',
  },
  operation_mismatch: { ...OURS, status: 'VERIFIED_SCOPE_MISMATCH', note: 'The receipt is for another operation.' },
  environment_mismatch: {
    ...OURS,
    status: 'VERIFIED_WRONG_ENVIRONMENT',
    note: 'The receipt is for another environment.',
  },
  target_mismatch: { ...OURS, status: 'VERIFIED_SCOPE_MISMATCH', note: 'The receipt is for another target.' },
  place_mismatch: {
    ...OURS,
    status: 'VERIFIED_SCOPE_MISMATCH',
    note: 'The receipt is for another repository, branch or pull request.',
  },
  source_mismatch: { ...OURS, status: 'VERIFIED_SCOPE_MISMATCH', note: 'The receipt is for another base or head.' },
  fingerprint_mismatch: { ...OURS, status: 'VERIFIED_SCOPE_MISMATCH', note: 'The receipt is for another change set.' },
  context_incomplete: {
    ...OURS,
    status: 'VERIFIED_SCOPE_MISMATCH',
    note: 'State the operation and every environment, target and place that the receipt is bound to.',
  },
  decision_not_allow: { ...OURS, status: 'VERIFIED_CURRENT', note: 'The decision does not permit the operation.' },
} as const satisfies Readonly<Record<string, ReasonRow>>

export type ReceiptReason = keyof typeof RECEIPT_REASONS

/** A member of the intended context that is not what was signed. */
export interface ReceiptMismatch {
  readonly member: keyof IntendedContext
  /** As signed. */
  readonly expected: string | null
  /** Null: left out. */
  readonly stated: string | null
}

export interface ReceiptVerification {
  /** The token is authentic: ours, signed by a trusted key, and covering the envelope given. Says nothing of time, state or scope. */
  readonly valid: boolean
  readonly status: ReceiptStatus
  /** First that applies in the order of docs/reference/receipts.md#reasons-and-statuses; null when nothing is wrong. */
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
