/** A request for approval that waits, for a decision that the API has made. */
import assert from 'node:assert/strict'
import type { ApprovalRow } from '../../gateway/store/approvals.ts'
import type { Store } from '../../gateway/store/store.ts'
import { textAt } from '../json.ts'

/** @param answer of the API to the call that asked for the decision */
export async function approvalFor(answer: unknown, store: Store): Promise<ApprovalRow> {
  const row = await store.decisions.byId('local', textAt(answer, 'decision_result', 'decision_id'))
  assert.ok(row)
  return store.approvals.open({
    ...row,
    approvalId: 'apr_matrix',
    key: 'matrix',
    requester: textAt(answer, 'decision_result', 'audience'),
    branch: null,
    pullRequest: null,
    targetId: null,
    policyHash: 'p',
    summary: 's',
    riskScore: 1,
    reasons: '[]',
    openedAt: Date.now(),
    expiresAt: Date.now() + 60_000,
    approvers: [],
  })
}
