/** A decision row with every column filled; tests name only what they are about. */
import type { DecisionRow } from '../../gateway/store/decisions.ts'

export function decisionRow(overrides: Partial<DecisionRow> = {}): DecisionRow {
  return {
    decisionId: 'dec_1',
    tenant: 'local',
    route: null,
    decision: 'ALLOW',
    executionAction: 'CONTINUE',
    operation: 'merge',
    environment: null,
    repository: 'acme/shop',
    fingerprint: `sha256:${'a'.repeat(64)}`,
    inputFingerprint: `sha256:${'b'.repeat(64)}`,
    evaluatedAt: 1_000,
    expiresAt: 2_000,
    supersessionKey: overrides.decisionId ?? 'dec_1',
    envelope: '{"decision":"ALLOW"}',
    response: null,
    idempotency: null,
    statusPlace: null,
    traceId: null,
    ...overrides,
  }
}
