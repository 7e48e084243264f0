/** A call record with every column filled; tests name only what they are about. */
import type { InterceptionRow } from '../../gateway/store/calls.ts'

export function interception(correlationId: string, overrides: Partial<InterceptionRow> = {}): InterceptionRow {
  return {
    correlationId,
    traceId: null,
    isTraceSampled: false,
    tenant: 'local',
    decisionId: null,
    route: 'shop',
    protocol: 'mcp',
    action: 'tools/call search',
    executionAction: 'CONTINUE',
    enforced: true,
    effect: 'forwarded',
    breakGlassId: null,
    violations: null,
    at: 1,
    ...overrides,
  }
}
