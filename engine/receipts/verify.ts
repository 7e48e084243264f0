/** Is this token one of ours, and does it authorize this very attempt? (docs/reference/receipts.md#verification-steps) Pure: keys, clock and state are handed in. */
import { FUNCTION, OBJECT, requireArgument, requireMembers } from '../common/argument.ts'
import { DECISION_CLASSES } from '../model/decision.ts'
import type { Sha256 } from '../common/hash.ts'
import { decisionBodyHash } from './body-hash.ts'
import type { ReceiptClaims } from './claims.ts'
import { compareScope, type ScopeTerms, type ScopeVerdict } from './scope.ts'
import { type KeySet, type VerificationKey, keyFault } from './signer.ts'
import { stateInList, type StatusListInput } from './status-list.ts'
import { parseToken, type ParsedToken } from './token.ts'
import {
  RECEIPT_REASONS,
  type IntendedContext,
  type ReceiptReason,
  type ReceiptStanding,
  type ReceiptVerification,
} from './verification.ts'

/** Seconds that clocks may differ on `nbf` and `iat`; none on `exp` (docs/reference/receipts.md#verification-steps). */
const LEEWAY = 30

export interface VerifyInput extends ScopeTerms {
  readonly token: string
  readonly keys: KeySet
  /** Seconds since the epoch. */
  readonly now: number
  /** The `decision_result` that belongs to the token, if available. */
  readonly envelope?: unknown
  /** Absent: authenticity only. */
  readonly context?: IntendedContext
  readonly state: ReceiptStanding
  /**
   * With the state `unchecked`: the status list that the receipt names, which gives its state. A list that is unreadable,
   * expired or another one authorizes nothing. Absent: the state stays unchecked.
   */
  readonly statusList?: StatusListInput
  readonly sha256: Sha256
}

/** Never throws for what the token, the envelope or the context say. */
export function verifyReceipt(input: VerifyInput): ReceiptVerification {
  requireArgument('verifyReceipt', 'input', input, OBJECT)
  const parsed = parseToken(input.token)
  if (!parsed.ok) return invalidReceipt(parsed.problem, input.context)
  requireMembers('verifyReceipt', 'input', input, { keys: OBJECT, sha256: FUNCTION })
  const { claims, keyId } = parsed.value
  const key = input.keys.get(keyId)
  const forgery = authenticityFault(parsed.value, key, input)
  if (forgery !== null) return invalidReceipt(forgery, input.context)
  const scope = input.context ? compareScope(claims, input.context, input) : null
  const { state, note } = standingOf(claims, input)
  const reason = standingFault(claims, input.now, state) ?? scope?.reason ?? decisionFault(claims)
  const answer = verified(claims, reason, scope, key?.status === 'retired')
  const isNoted = note !== null && (answer.currently_authorized === true || reason === 'state_unknown')
  return isNoted ? { ...answer, authz_note: note } : answer
}

interface Standing {
  readonly state: ReceiptStanding
  /** What the state is based on, where that is less than the store of the issuer. */
  readonly note: string | null
}

function standingOf({ status }: ReceiptClaims, { state, statusList, keys, now }: VerifyInput): Standing {
  if (state !== 'unchecked') return { state, note: null }
  if (statusList === undefined) return { state, note: OFFLINE_NOTE }
  const found = stateInList(statusList, status?.status_list ?? null, keys, now)
  return found.ok
    ? { state: found.value, note: STATUS_LIST_NOTE }
    : { state: 'undecidable', note: `The state of the receipt is unknown: ${found.problem}.` }
}

const STATUS_LIST_NOTE =
  'The receipt authorizes exactly this operation; its state is that of the status list, when the list was signed.'

const OFFLINE_NOTE =
  'The receipt authorizes exactly this operation; revocation, supersession and use were not checked (offline).'

/** In the order of precedence; null when the token is ours and covers the envelope. */
function authenticityFault(
  { claims, signingInput, signature }: ParsedToken,
  key: VerificationKey | undefined,
  { envelope, sha256, now }: VerifyInput,
): ReceiptReason | null {
  if (!key) return 'unknown_kid'
  const fault = keyFault(key, claims.iat, now)
  if (fault === 'unknown_kid' || fault === 'revoked_key') return fault
  if (!key.verify(signingInput, signature)) return 'signature_mismatch'
  if (envelope !== undefined && !coversEnvelope(envelope, claims, sha256)) return 'body_hash_mismatch'
  return fault
}

function coversEnvelope(envelope: unknown, claims: ReceiptClaims, sha256: Sha256): boolean {
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope)) return false
  try {
    return decisionBodyHash(envelope, sha256) === claims.bh
  } catch {
    // No canonical form (RFC 8785), or nested past the stack: not what was signed.
    return false
  }
}

const STATE_FAULTS: Readonly<Record<ReceiptStanding, ReceiptReason | null>> = {
  current: null,
  unchecked: null,
  revoked: 'revoked',
  superseded: 'superseded',
  consumed: 'consumed',
  unknown: 'state_unknown',
  undecidable: 'state_unknown',
}

/** Time, then state. */
function standingFault(claims: ReceiptClaims, now: number, state: ReceiptStanding): ReceiptReason | null {
  if (now + LEEWAY < claims.nbf || now + LEEWAY < claims.iat) return 'not_yet_valid'
  // Written so that a `now` that is not a number has expired too.
  if (!(now < claims.exp)) return 'expired'
  return Object.hasOwn(STATE_FAULTS, state) ? STATE_FAULTS[state] : 'state_unknown'
}

function decisionFault({ act }: ReceiptClaims): ReceiptReason | null {
  const permits = Object.values(DECISION_CLASSES).some(({ action, safeForAgent }) => action === act && safeForAgent)
  return permits ? null : 'decision_not_allow'
}

function invalidReceipt(reason: ReceiptReason, context: IntendedContext | undefined): ReceiptVerification {
  return {
    valid: false,
    status: RECEIPT_REASONS[reason].status,
    reason,
    payload: null,
    ...authorization(reason, context !== undefined),
    mismatches: [],
  }
}

function verified(
  claims: ReceiptClaims,
  reason: ReceiptReason | null,
  scope: ScopeVerdict | null,
  isRetiredKey: boolean,
): ReceiptVerification {
  const standing = isRetiredKey ? 'RETIRED_KEY_VALID_AT_ISSUE' : 'VERIFIED_CURRENT'
  const row = reason === null ? null : RECEIPT_REASONS[reason]
  return {
    valid: row?.isAuthentic ?? true,
    status: row === null || row.status === 'VERIFIED_CURRENT' ? standing : row.status,
    reason,
    payload: claims,
    ...authorization(reason, scope !== null),
    mismatches: scope?.mismatches ?? [],
  }
}

function authorization(reason: ReceiptReason | null, isAsked: boolean) {
  if (!isAsked) {
    const authz_note = 'Authenticity only: state the context of the attempt to learn whether it is authorized.'
    return { currently_authorized: null, authz_status: 'NOT_EVALUATED', authz_reason: null, authz_note } as const
  }
  if (reason !== null)
    return {
      currently_authorized: false,
      authz_status: 'NOT_AUTHORIZED',
      authz_reason: reason,
      authz_note: RECEIPT_REASONS[reason].note,
    } as const
  const authz_note = 'The receipt authorizes exactly this operation, until it expires.'
  return { currently_authorized: true, authz_status: 'AUTHORIZED', authz_reason: null, authz_note } as const
}
