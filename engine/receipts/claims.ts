/** The claims of a receipt and how they come from an envelope (wire.md §6). Claim names are pinned in test/pins/claims.tsv. */
import type { ExecutionAction } from '../decide/decision.ts'

export const RECEIPT_FORMAT_VERSION = 'preflight-receipt.v1'
export const RECEIPT_TYPE = 'preflight-receipt+jwt'

/** Times are seconds since the epoch. */
export interface ReceiptClaims {
  readonly iss: string
  /** decision_id */
  readonly jti: string
  readonly iat: number
  readonly nbf: number
  /** expires_at */
  readonly exp: number
  /** fingerprint */
  readonly fp: string
  /** input_fingerprint */
  readonly ifp: string
  /** decision_body_hash */
  readonly bh: string
  /** execution_action */
  readonly act: ExecutionAction
  readonly op: string | null
  readonly env: string | null
  /** target_id */
  readonly tgt: string | null
  readonly repo: string | null
  readonly br: string | null
  readonly pr: string | null
  readonly base: string | null
  readonly head: string | null
  readonly srcmode: string
  /** artifact_digest */
  readonly ad: string | null
  /** audience */
  readonly sub: string | null
  /** SHA-256 of the token before this one in its chain. */
  readonly prev: string | null
  /** policy_hash */
  readonly ph: string | null
}
