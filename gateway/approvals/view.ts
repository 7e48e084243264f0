/** A request for approval in its wire form, for the API and the command line. */
import type { Approvers } from '../../engine/internal.ts'
import type { ApprovalRow, ApprovalState, ApprovalStep } from '../store/approvals.ts'
import { approvalState, isGrantInForce } from './request.ts'
import { grantsNeeded, requiredFor } from './decide.ts'
import type { ApprovalsConfig } from './settings.ts'
import { isoInstant, isoInstantOrNull } from '../runtime/iso-instant.ts'

/** Instants are ISO 8601 in UTC. */
export interface ApprovalView {
  readonly id: string
  readonly state: ApprovalState
  readonly in_force: boolean
  readonly decision_id: string
  readonly route: string | null
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly branch: string | null
  readonly pull_request: string | null
  readonly target_id: string | null
  readonly input_fingerprint: string
  readonly policy_hash: string
  readonly summary: string
  readonly risk_score: number
  /** As in the envelope. */
  readonly blocking_reasons: readonly { readonly code: string; readonly message: string }[]
  readonly approver_groups: readonly (readonly string[])[]
  readonly required_approvals: Approvers
  readonly requesters: readonly string[]
  readonly opened_at: string
  readonly expires_at: string
  readonly approver: string | null
  readonly comment: string | null
  readonly settled_at: string | null
  readonly valid_until: string | null
}

/** @param now milliseconds since the epoch */
export function approvalView(row: ApprovalRow, now: number): ApprovalView {
  const { result } = row
  const blockingReasons: ApprovalView['blocking_reasons'] = JSON.parse(row.reasons)
  return {
    id: row.approvalId,
    state: approvalState(row, now),
    in_force: isGrantInForce(row, now),
    decision_id: row.decisionId,
    route: row.route,
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    branch: row.branch,
    pull_request: row.pullRequest,
    target_id: row.targetId,
    input_fingerprint: row.inputFingerprint,
    policy_hash: row.policyHash,
    summary: row.summary,
    risk_score: row.riskScore,
    blocking_reasons: blockingReasons,
    approver_groups: row.approvers.flatMap(({ groups }) => (groups.length === 0 ? [] : [groups])),
    required_approvals: row.approvers,
    requesters: row.requesters,
    opened_at: isoInstant(row.openedAt),
    expires_at: isoInstant(row.expiresAt),
    approver: result?.by ?? null,
    comment: result?.comment ?? null,
    settled_at: isoInstantOrNull(result?.at),
    valid_until: isoInstantOrNull(result?.validUntil),
  }
}

function stepView({ kind, by, groups, text, at }: ApprovalStep) {
  return { kind, by, groups, text, at: isoInstant(at) }
}

/** A request with its grants and comments. @param now milliseconds since the epoch */
export function approvalWithSteps(
  row: ApprovalRow,
  steps: readonly ApprovalStep[],
  { approvals }: Pick<ApprovalsConfig, 'approvals'>,
  now: number,
) {
  return {
    approval: approvalView(row, now),
    grants_needed: grantsNeeded(requiredFor(row.approvers, approvals)),
    steps: steps.map(stepView),
  }
}
