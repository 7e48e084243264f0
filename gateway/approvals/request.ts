/** From a decision that needs a person's word to the request for it, and from what the store knows of it to what the decision may be told (docs/reference/api.md#approvals). */
import { digestJson } from '../../engine/base.ts'
import type { ApprovalFacts, Approvers, DecisionContext, Verdict } from '../../engine/internal.ts'
import type { ApprovalsConfig } from './settings.ts'
import type { Caller } from '../callers/caller.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { mayGrant } from '../store/approvers.ts'
import type { ApprovalOpening, ApprovalRow, ApprovalState } from '../store/store.ts'

interface ApprovalOccasion {
  readonly approvalId: string
  readonly decisionId: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** What a person is asked to approve, and for whom. */
interface ApprovalSubject {
  readonly caller: Caller
  readonly context: DecisionContext
  /** Route name of an intercepted call; null for direct callers. */
  readonly route: string | null
}

/** The request that a REQUIRE_APPROVAL verdict opens, or joins when there is one of the same key. */
export function approvalOpening(
  { caller, context, route }: ApprovalSubject,
  verdict: Verdict,
  { approvals }: Pick<ApprovalsConfig, 'approvals'>,
  { approvalId, decisionId, now }: ApprovalOccasion,
): ApprovalOpening {
  const { operation, environment, repository, branch, pull_request: pullRequest, target_id: targetId } = context
  const { input_fingerprint: inputFingerprint, policy_hash: policyHash } = verdict
  const { tenant, audience } = caller
  return {
    approvalId,
    // The members of docs/reference/hashes.md#approval-key and no other: whoever asks the same question gets the same answer.
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
    approvers: verdict.approver_groups,
  }
}

export function approvalState({ result, expiresAt, endedAt }: ApprovalRow, now: number): ApprovalState {
  return result?.state ?? (endedAt === null && now < expiresAt ? 'pending' : 'expired')
}

/** True while the next decision of the same key may rest on it. */
export function isGrantInForce({ result, endedAt }: ApprovalRow, now: number): boolean {
  if (endedAt !== null) return false
  return result?.state === 'granted' && result.validUntil !== null && now < result.validUntil
}

/**
 * What the decision is told. A grant counts only when its giver may grant what the decision asks for now: a policy that looks at
 * time or history may ask for others than it did when the request was opened.
 */
export function approvalFacts(
  row: ApprovalRow,
  asked: Approvers,
  config: Pick<ApprovalsConfig, 'public_url'>,
  now: number,
): ApprovalFacts {
  const { approvalId: id, result } = row
  if (result?.validUntil && isGrantInForce(row, now) && mayGrant(asked, result.groups))
    return {
      state: 'granted',
      id,
      approver: result.by,
      until: result.validUntil / 1000,
      comment: result.comment,
    }
  return { state: 'requested', id, address: approvalAddress(id, config) }
}

/** Where the request can be seen: a whole address when the configuration says under which the API is reached, else its path. */
export function approvalAddress(id: string, { public_url: publicUrl }: Pick<ApprovalsConfig, 'public_url'>): string {
  const path = `api/v1/approvals/${encodeURIComponent(id)}`
  return publicUrl === undefined
    ? `/${path}`
    : new URL(path, publicUrl.endsWith('/') ? publicUrl : `${publicUrl}/`).href
}
