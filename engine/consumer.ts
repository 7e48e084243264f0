/**
 * The consumer's side of a decision (interface.md, Rules for consumers): read it, and say whether this attempt may go on.
 * Branches on `execution_action` only; whatever is unknown, inconsistent or late is STOP.
 */
import type { ExecutionAction } from './decide/decision.ts'
import type { Reason } from './decide/envelope-schema.ts'

/** The members that a consumer may act on or log; unknown members are tolerated and not carried. */
export interface ReadDecision {
  readonly decision_id: string
  readonly correlation_id: string
  readonly execution_action: ExecutionAction
  readonly expires_at: string
  readonly input_fingerprint: string
  readonly token: string
}

export type DecisionReading =
  | { readonly ok: true; readonly decision: ReadDecision }
  | { readonly ok: false; readonly reason: Reason }

/** What holds at the moment of acting. */
export interface AttemptFacts {
  /** Seconds since the epoch. */
  readonly now: number
  /** Of the request that the consumer holds; the decision must be about the same input. */
  readonly inputFingerprint: string
  /** `currently_authorized` of a verification with this attempt's context; null or absent is a stop. */
  readonly currentlyAuthorized: boolean | null
  /** Somebody takes the execution telemetry. */
  readonly isMonitoringWired: boolean
}

/** `proceed` is the only permission. */
export type Permission =
  | { readonly proceed: true; readonly monitor: boolean; readonly correlationId: string }
  | { readonly proceed: false; readonly directive: 'STOP' | 'REQUEST_APPROVAL'; readonly reason: Reason }

export declare function readDecision(value: unknown): DecisionReading
export declare function mayProceed(reading: DecisionReading, attempt: AttemptFacts): Permission
