/**
 * The traces that an approval joins: of the call that waits for it, and of its grant. Kept in memory, since links are hints for
 * people: after a restart, and on another gateway, they are absent.
 */
import { LRUCache } from 'lru-cache'
import type { LinkedSpan, Observation } from './observation.ts'
import type { TraceContext } from './trace-context.ts'

export interface ApprovalTraces {
  /** A call waits for the approval, or a person decides it, in this trace. */
  note(approvalId: string, relation: LinkedSpan['relation'], trace: TraceContext | null): void
  /** Links the request to what is known of the approval. */
  link(approvalId: string, observation: Observation): void
}

const MAX_APPROVALS = 1000

export function createApprovalTraces(): ApprovalTraces {
  const known = new LRUCache<string, readonly LinkedSpan[]>({ max: MAX_APPROVALS })
  return {
    note(approvalId, relation, trace) {
      if (trace === null) return
      const others = (known.get(approvalId) ?? []).filter((span) => span.relation !== relation)
      known.set(approvalId, [...others, { traceId: trace.traceId, spanId: trace.spanId, relation }])
    },
    link(approvalId, observation) {
      const { trace } = observation
      for (const span of known.get(approvalId) ?? [])
        if (span.traceId !== trace?.traceId || span.spanId !== trace.spanId) observation.link(span)
    },
  }
}
