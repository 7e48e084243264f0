/** A request for approval in the spelling of the wire, for the API and the command line alike. */
import type { ApprovalRow } from '../store/store.ts'
import { approvalState, isGrantInForce } from './request.ts'

/** @param now milliseconds since the epoch */
export function approvalView(row: ApprovalRow, now: number) {
  const { settlement } = row
  const blockingReasons: unknown = JSON.parse(row.reasons)
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
    approver_groups: row.approvers,
    requesters: row.requesters,
    opened_at: iso(row.openedAt),
    expires_at: iso(row.expiresAt),
    approver: settlement?.by ?? null,
    comment: settlement?.comment ?? null,
    settled_at: isoOrNull(settlement?.at),
    valid_until: isoOrNull(settlement?.validUntil),
  }
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function isoOrNull(milliseconds: number | null | undefined): string | null {
  return milliseconds === null || milliseconds === undefined ? null : iso(milliseconds)
}
