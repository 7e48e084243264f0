/**
 * Execution telemetry in its wire form (docs/reference/telemetry.md#monitoring-windows): CloudEvents 1.0, made and read only
 * here.
 */
import { randomUUID } from 'node:crypto'

export const OUTCOMES = ['SUCCEEDED', 'FAILED', 'NOT_SENT', 'UNKNOWN'] as const
/** The outcome of an execution. NOT_SENT: nothing reached the upstream. UNKNOWN: it may or may not have happened. */
export type Outcome = (typeof OUTCOMES)[number]

export const EVENT_TYPES = [
  'preflight.execution.started',
  'preflight.execution.finished',
  'preflight.monitoring.closed',
] as const
/** A call or answer departs from the pinned contract. Only the gateway reports it, with or without a window. */
export const VIOLATION_EVENT = 'preflight.contract.violated'
/** An upstream offers another contract than the baseline of its route, seen for the first time. */
export const CANDIDATE_EVENT = 'preflight.baseline.candidate'
type EventType = (typeof EVENT_TYPES)[number] | typeof VIOLATION_EVENT | typeof CANDIDATE_EVENT

/** The result of an execution, as observed on the wire or reported by a direct caller. */
export interface ExecutionResult {
  readonly outcome: Outcome
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null
  readonly durationMs: number
  /** Body bytes of the answer. */
  readonly bytes: number
  /** Code of the interruption (`UPSTREAM_SILENT`, `CLIENT_ABORT` …); absent or null: there was none, or nobody reported one. */
  readonly fault?: string | null
}

export interface TelemetryEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: EventType
  /** The correlation id. */
  readonly subject: string
  /** RFC 3339, UTC. */
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: Readonly<Record<string, string | number | null>>
}

/** The place of an execution, repeated in each of its events so that a sink needs no join. */
export interface ExecutionSubject {
  readonly correlationId: string
  readonly decisionId: string
  readonly route: string | null
}

/** The decision and call of an event; without a decision when the call did not reach one. */
type EventSubject = Omit<ExecutionSubject, 'decisionId'> & { readonly decisionId: string | null }

interface EventOptions {
  /** Members beside those of the subject. */
  readonly members?: Readonly<Record<string, string | number | null>>
  /** The same for an event that may be sent twice: receivers drop repeats by it. */
  readonly id?: string
}

/** @param at milliseconds since the epoch */
export function telemetryEvent(
  type: EventType,
  subject: EventSubject,
  at: number,
  { members, id = randomUUID() }: EventOptions = {},
): TelemetryEvent {
  return {
    specversion: '1.0',
    id,
    source: subject.route === null ? '/preflight/api' : `/preflight/routes/${subject.route}`,
    type,
    subject: subject.correlationId,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: { correlation_id: subject.correlationId, decision_id: subject.decisionId, route: subject.route, ...members },
  }
}

/** A departure from the pinned contract, and what was done about it. */
export interface ContractViolation extends EventSubject {
  /** `tools/call search`, `GET /pets/{petId}`. */
  readonly call: string
  readonly effect: 'refused' | 'observed' | 'drifted'
  /** The name of the field for it; null for what is wrong with a request. */
  readonly pattern: string | null
  /** In one text. */
  readonly violations: string
  /** Number of occurrences since the last report, this one included. */
  readonly occurrences: number
}

/** @param at milliseconds since the epoch */
export function violationEvent(violation: ContractViolation, at: number): TelemetryEvent {
  const { call, effect, pattern, violations, occurrences } = violation
  return telemetryEvent(VIOLATION_EVENT, violation, at, { members: { call, effect, pattern, violations, occurrences } })
}

/** The members of `preflight.execution.finished` on the wire. */
export function resultMembers(result: ExecutionResult): Readonly<Record<string, string | number | null>> {
  return {
    outcome: result.outcome,
    status: result.status,
    duration_ms: Math.round(result.durationMs),
    bytes: result.bytes,
    ...(typeof result.fault === 'string' && { fault: result.fault }),
  }
}

/** A changed contract of an upstream, as it is announced. */
export interface CandidateAnnouncement {
  /** The baseline: a route, or `ROUTE/NAME`. */
  readonly route: string
  readonly digest: string
  /** Digest of the baseline that it differs from. */
  readonly baseline: string
  /** Kind of contract. */
  readonly type: string
}

/** @param at milliseconds since the epoch */
export function candidateEvent({ route, digest, baseline, type }: CandidateAnnouncement, at: number): TelemetryEvent {
  const subject = { correlationId: `candidate:${digest}`, decisionId: null, route }
  // Receivers drop repeats by the id.
  const members = { digest, baseline, contract_type: type }
  return telemetryEvent(CANDIDATE_EVENT, subject, at, { members, id: `${route} ${digest}` })
}
