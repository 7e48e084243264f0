/** Rows of aggregates with every column filled; tests name only what they are about. */
import type { ApprovalOpening } from '../../gateway/store/approvals.ts'
import type { BreakGlassRow } from '../../gateway/store/break-glass.ts'

export function approvalOpening(overrides: Partial<ApprovalOpening> = {}): ApprovalOpening {
  return {
    approvalId: 'apr_1',
    key: 'sha256:key',
    tenant: 'local',
    requester: null,
    decisionId: 'dec_1',
    route: null,
    operation: 'deploy',
    environment: 'prod',
    repository: 'acme/shop',
    branch: null,
    pullRequest: null,
    targetId: null,
    inputFingerprint: 'sha256:1',
    policyHash: 'sha256:2',
    summary: 'one change',
    riskScore: 40,
    reasons: '[]',
    openedAt: 1,
    expiresAt: 100,
    approvers: [],
    ...overrides,
  }
}

export function breakGlassRow(overrides: Partial<BreakGlassRow> = {}): BreakGlassRow {
  return {
    id: 'bg_1',
    route: 'pets',
    reason: 'the upstream is down',
    openedBy: 'v:1',
    openedAt: 1,
    expiresAt: 100,
    closedBy: null,
    closedAt: null,
    endedAt: null,
    calls: 0,
    ...overrides,
  }
}
