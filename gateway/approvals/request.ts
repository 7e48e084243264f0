/**
 * Turns a decision that needs an approval into the request for it, and a stored request into the facts that the decision uses
 * (docs/reference/api.md#approvals).
 */
import { digestJson } from '../../engine/base.ts'
import type { ApprovalFacts, Approvers, DecisionContext, Verdict } from '../../engine/internal.ts'
import type { ApprovalsConfig } from './settings.ts'
import type { Caller } from '../callers/rights.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { pageAddress, publicAddress, type AddressConfig } from '../settings/public-address.ts'
import { isGrantedBy } from '../store/approvers.ts'
import type { ApprovalOpening, ApprovalRow, ApprovalState } from '../store/approvals.ts'
import { currentSpan } from '../telemetry/trace-context.ts'
import type { StorePart } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface ApprovalOccasion {
  readonly approvalId: string
  readonly decisionId: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The change that a person is asked to approve, and the caller. */
interface ChangeToApprove {
  readonly caller: Caller
  readonly context: DecisionContext
  /** Route name of an intercepted call; null for direct callers. */
  readonly route: string | null
}

/** The request that a REQUIRE_APPROVAL verdict opens, or joins when one with the same key exists. */
export function approvalOpening(
  { caller, context, route }: ChangeToApprove,
  verdict: Verdict,
  { approvals }: Pick<ApprovalsConfig, 'approvals'>,
  { approvalId, decisionId, now }: ApprovalOccasion,
): ApprovalOpening {
  const { operation, environment, repository, branch, pull_request: pullRequest, target_id: targetId } = context
  const { input_fingerprint: inputFingerprint, policy_hash: policyHash } = verdict
  const { tenant, audience } = caller
  return {
    approvalId,
    // Exactly the members of docs/reference/hashes.md#approval-key: the same change in the same context gets the same approval.
    key: digestJson(
      {
        profile: 'approval.v1',
        tenant,
        input_fingerprint: inputFingerprint,
        operation,
        environment,
        repository,
        branch,
        pull_request: pullRequest,
        target_id: targetId,
        policy_hash: policyHash,
      },
      sha256Hex,
    ),
    tenant,
    requester: audience,
    decisionId,
    route,
    operation,
    environment,
    repository,
    branch,
    pullRequest,
    targetId,
    inputFingerprint,
    policyHash,
    summary: verdict.summary,
    riskScore: verdict.risk_score,
    reasons: JSON.stringify(verdict.blocking_reasons),
    openedAt: now,
    expiresAt: now + approvals.pending * 1000,
    approvers: verdict.required_approvals,
    openedIn: currentSpan(),
  }
}

export function approvalState({ result, expiresAt, endedAt }: ApprovalRow, now: number): ApprovalState {
  return result?.state ?? (endedAt === null && now < expiresAt ? 'pending' : 'expired')
}

/** True while the next decision of the same key may use it. */
export function isGrantInForce({ result, endedAt }: ApprovalRow, now: number): boolean {
  if (endedAt !== null) return false
  return result?.state === 'granted' && result.validUntil !== null && now < result.validUntil
}

/**
 * The approval facts for the decision. A grant counts only when its approvers are all that the decision requires now. A policy
 * that uses time or history may require other approvers than it did when the request was opened.
 */
export function approvalFacts(
  row: ApprovalRow,
  required: Approvers,
  config: AddressConfig,
  now: number,
): ApprovalFacts {
  const { approvalId: id, result } = row
  if (result?.validUntil && isGrantInForce(row, now) && isGrantedBy(required, row.grants))
    return {
      state: 'granted',
      id,
      approver: result.by,
      until: result.validUntil / 1000,
      comment: result.comment,
    }
  return { state: 'requested', id, address: approvalAddress(id, config) }
}

/** The address of the request: its page when clients know the address of the console, else that of the API. */
export function approvalAddress(id: string, config: AddressConfig): string {
  const name = encodeURIComponent(id)
  return pageAddress(`approvals/${name}`, config) ?? publicAddress(`api/v1/approvals/${name}`, config)
}

interface PendingGaugeDeps {
  readonly store: StorePart<'approvals.waiting'>
  readonly metrics: Metrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** How many requests wait, and since when. Read at a scrape, for the next one: no timer runs for it. */
export function showPendingApprovals({ store, metrics, now }: PendingGaugeDeps): void {
  let isReading = false
  const look = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      const { count, oldestAt } = await store.approvals.waiting(now())
      metrics.set('preflight_approvals_pending', {}, count)
      metrics.set('preflight_approval_oldest_timestamp_seconds', {}, Math.floor((oldestAt ?? 0) / 1000))
    } catch {
      // The store reports its own failures; the gauges keep their values.
    } finally {
      isReading = false
    }
  }
  metrics.beforeRead(() => void look())
}
