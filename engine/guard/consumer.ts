/**
 * The consumer's side of a decision (docs/reference/envelope.md#rules-for-consumers): reads it, and decides whether
 * this attempt may proceed. It branches on `execution_action` only. Everything unknown, inconsistent or late is STOP.
 */
import { OBJECT, requireArgument } from '../common/argument.ts'
import { directiveOf, type ExecutionAction } from '../model/decision.ts'
import { checkConsumerForm } from '../decide/envelope-check.generated.js'
import type { Reason } from '../decide/envelope-members.ts'
import type { ConsumedEnvelope } from '../decide/envelope-schema.ts'
import { instantSeconds } from '../decide/text.ts'
import { reason } from '../decide/reasons.ts'
import { RECEIPT_FORMAT_VERSION } from '../receipts/claims.ts'

/** The members that a consumer may act on, and the summary to display. The other members of an envelope are for audit. */
export interface ReadDecision {
  readonly decision_id: string
  readonly correlation_id: string
  readonly execution_action: ExecutionAction
  readonly expires_at: string
  readonly input_fingerprint: string
  /** What was decided and why, in one sentence for people. No program branches on it. */
  readonly summary: string
  readonly token: string
}

export type DecisionReading =
  | { readonly ok: true; readonly decision: ReadDecision }
  | { readonly ok: false; readonly reason: Reason }

/** The facts at the moment of acting. */
export interface AttemptFacts {
  /** Seconds since the epoch. */
  readonly now: number
  /** Of the request that the consumer holds. The decision must be about the same input. */
  readonly inputFingerprint: string
  /** `currently_authorized` of a verification with the context of this attempt. Null means stop. */
  readonly currentlyAuthorized: boolean | null
  /** A receiver of the execution telemetry is configured. */
  readonly isMonitoringWired: boolean
}

/** `proceed` is the only permission. */
export type Permission =
  | { readonly proceed: true; readonly monitor: boolean; readonly correlationId: string }
  | { readonly proceed: false; readonly directive: 'STOP' | 'REQUEST_APPROVAL'; readonly reason: Reason }

/**
 * Reads a received envelope. A mismatch among decision, safe_for_agent and execution_action, an unknown directive or
 * an unknown receipt format is refused. Unknown members are tolerated.
 */
export function readDecision(value: unknown): DecisionReading {
  const checked = checkConsumerForm(value)
  if (!checked.ok) {
    const [violation] = checked.problem
    const where = violation ? `${violation.instancePath || 'the root'} ${violation.message}` : 'it has another form'
    return { ok: false, reason: reason('DECISION_MALFORMED', `Not a decision result of version 1: ${where}`) }
  }
  const {
    receipt,
    decision_id,
    correlation_id,
    execution_action,
    evaluated_at,
    expires_at,
    input_fingerprint,
    summary,
  } = checked.value
  if (receipt.format_version !== RECEIPT_FORMAT_VERSION)
    return {
      ok: false,
      reason: reason('RECEIPT_FORMAT_UNKNOWN', `Receipt format ${receipt.format_version} is not known here.`),
    }
  if (!(instantSeconds(expires_at) > instantSeconds(evaluated_at)))
    return { ok: false, reason: reason('DECISION_MALFORMED', 'expires_at is not later than evaluated_at.') }
  const broken = AGREEMENTS.find(({ holds }) => !holds(checked.value))
  if (broken) return { ok: false, reason: reason('DECISION_MALFORMED', broken.problem) }
  const { token } = receipt
  const decision = { decision_id, correlation_id, execution_action, expires_at, input_fingerprint, summary, token }
  return { ok: true, decision }
}

/** Rules between members that a JSON Schema cannot express, for an envelope that contains both. */
const AGREEMENTS: readonly { readonly problem: string; readonly holds: (envelope: ConsumedEnvelope) => boolean }[] = [
  {
    problem: 'pattern_sources names a pattern that patterns does not carry.',
    holds: ({ patterns, pattern_sources: sources }) =>
      !patterns || !sources || sources.every(({ name }) => patterns.includes(name)),
  },
  {
    problem: 'pattern_sources points to a row that detected_patterns does not carry.',
    holds: ({ detected_patterns: rows, pattern_sources: sources }) =>
      !rows || !sources || sources.every(({ detected_pattern_indices: at = [] }) => at.every((i) => i < rows.length)),
  },
  {
    problem: 'basis_code_labels of pattern_sources is not parallel to basis_codes.',
    holds: ({ pattern_sources: sources }) =>
      (sources ?? []).every(
        ({ basis_codes: codes = [], basis_code_labels: labels }) => !labels || labels.length === codes.length,
      ),
  },
  {
    problem: 'authority names another audience than the envelope.',
    holds: ({ audience, authority }) => !authority || authority.audience === (audience ?? null),
  },
]

/**
 * Whether this attempt may proceed now. Only the two permitting directives proceed, and only if all their conditions
 * are met.
 */
export function mayProceed(reading: DecisionReading, attempt: AttemptFacts): Permission {
  requireArgument('mayProceed', 'reading', reading, OBJECT)
  requireArgument('mayProceed', 'attempt', attempt, OBJECT)
  if (!reading.ok) return stop(reading.reason)
  const { decision } = reading
  const { proceeds, isMonitored: monitor, isHeld } = directiveOf(decision.execution_action)
  if (isHeld) {
    const approvalRequired = reason(
      'APPROVAL_REQUIRED',
      `A person has to approve; then a new preflight is needed. ${decision.summary}`,
    )
    return { proceed: false, directive: 'REQUEST_APPROVAL', reason: approvalRequired }
  }
  if (!proceeds) return stop(reason('STOPPED', `Do not retry the same change. ${decision.summary}`))
  const obstacle = OBSTACLES.find(({ stands }) => stands(decision, attempt))
  if (obstacle) return stop(obstacle.reason)
  return { proceed: true, monitor, correlationId: decision.correlation_id }
}

interface Obstacle {
  readonly stands: (decision: ReadDecision, attempt: AttemptFacts) => boolean
  readonly reason: Reason
}

/** The conditions of a permitting directive. They are written so that an absent value blocks. */
const OBSTACLES: readonly Obstacle[] = [
  {
    stands: ({ expires_at: until }, { now }) => !(now < instantSeconds(until)),
    reason: reason('DECISION_EXPIRED', 'The decision has expired: run a new authorize preflight.'),
  },
  {
    stands: (decision, { inputFingerprint }) => decision.input_fingerprint !== inputFingerprint,
    reason: reason('INPUT_FINGERPRINT_MISMATCH', 'The decision is about another input than the one that is held.'),
  },
  {
    stands: (_, { currentlyAuthorized }) => currentlyAuthorized !== true,
    reason: reason('RECEIPT_NOT_AUTHORIZED', 'The receipt was not verified as authorizing this attempt.'),
  },
  {
    stands: ({ execution_action: action }, { isMonitoringWired }) =>
      directiveOf(action).isMonitored && !isMonitoringWired,
    reason: reason('MONITORING_UNWIRED', 'The decision asks for monitoring and nothing takes the telemetry.'),
  },
]

function stop(why: Reason): Permission {
  return { proceed: false, directive: 'STOP', reason: why }
}
