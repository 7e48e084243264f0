/**
 * Links of a request to what an approval joins: the call that waits for it, and its grant. The store has their spans, so that
 * links lead from one gateway to another, and past a restart.
 */
import type { LinkedSpan, Observation } from './observation.ts'

/** Spans as `TRACE-SPAN`; null: that request had no trace. Absent in rows of hubs of an earlier version. */
interface ApprovalSpans {
  readonly openedIn?: string | null
  readonly decidedIn?: string | null
}

export function approvalLinks({ openedIn, decidedIn }: ApprovalSpans): readonly LinkedSpan[] {
  return [...linkTo('pending_call', openedIn), ...linkTo('approval', decidedIn)]
}

function linkTo(relation: LinkedSpan['relation'], span: string | null | undefined): readonly LinkedSpan[] {
  const [traceId, spanId] = span?.split('-') ?? []
  return traceId === undefined || spanId === undefined ? [] : [{ traceId, spanId, relation }]
}

/** A request has no link to itself. */
export function addLinks(links: readonly LinkedSpan[], observation: Observation): void {
  const { trace } = observation
  for (const span of links) if (span.traceId !== trace?.traceId || span.spanId !== trace.spanId) observation.link(span)
}
