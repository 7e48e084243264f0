/** The answers of a preflight (docs/reference/api.md#post-apiv1preflight), made from the result of the flow. */
import { countFindings, expandFindings, verifyReceipt } from '../../engine/base.ts'
import {
  controlEnvelope,
  type ControlEnvelope,
  type Enforcement,
  type Envelope,
  type ReceiptStanding,
  type Verdict,
} from '../../engine/internal.ts'
import type { Assessment, Authorization } from '../flow/flow.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { ApiSettings } from './settings.ts'

interface AnswerFacts {
  readonly settings: ApiSettings
  readonly correlationId: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The published keys: the receipt is verified with them, not with the key that signed it. */
  readonly keys: Pick<KeyRing, 'keySet'>
}

/** Risk only: without any member that a consumer could take for permission. */
export function analyzeAnswer({ verdict }: Assessment, facts: Omit<AnswerFacts, 'keys'>): object {
  const outcome = outcomeOf(verdict)
  return {
    preflight_mode: 'analyze',
    analysis_outcome: outcome,
    authorization_effect: 'NONE',
    may_execute: false,
    receipt_kind: 'NONE',
    decision_spec_version: '2.0',
    ...sharedMembers(verdict, facts),
    human_report: { ...verdict.human_report, next_steps: [AFTER_ANALYSIS[outcome]] },
    artifacts: verdict.artifacts.map(({ decision: _decision, ...row }) => row),
  }
}

export function authorizeAnswer(authorization: Authorization, version: '1.0' | '2.0', facts: AnswerFacts): object {
  const { verdict, envelope, token } = authorization
  return {
    preflight_mode: 'authorize',
    decision: envelope.decision,
    execution_action: envelope.execution_action,
    safe_for_agent: envelope.safe_for_agent,
    receipt_kind: 'operation_authorization',
    chain_receipt: token,
    decision_result: envelope,
    control_envelope: controlFor(envelope, 'current', facts),
    decision_spec_version: version,
    ...sharedMembers(verdict, facts),
    artifacts: verdict.artifacts,
  }
}

/** The control envelope with the present state: a receipt that was revoked meanwhile no longer authorizes. */
export function controlFor(
  envelope: Envelope,
  state: ReceiptStanding,
  { settings, now, keys }: Pick<AnswerFacts, 'settings' | 'now' | 'keys'>,
): ControlEnvelope {
  const seconds = Math.floor(now / 1000)
  return controlEnvelope(envelope, {
    verified: isVerified(envelope, keys, seconds),
    state,
    now: seconds,
    enforcement: enforcementOf(settings),
  })
}

/** A listener for redirected connections is open only where the network redirects them (docs/injector.md). */
function enforcementOf({ policy, config }: ApiSettings): Enforcement {
  const traffic = config.listen.transparent === undefined ? 'explicit' : 'transparent'
  return { mode: policy.mode, tier: config.tier, traffic }
}

/**
 * A real verification of the token and of the body that it covers. It fails when the key was revoked meanwhile or does not
 * match.
 */
function isVerified(envelope: Envelope, keys: Pick<KeyRing, 'keySet'>, now: number): boolean {
  const { token } = envelope.receipt
  return verifyReceipt({ token, envelope, keys: keys.keySet(), now, state: 'unchecked', sha256: sha256Hex }).valid
}

type AnalysisOutcome = 'ANALYSIS_FAILED' | 'BREAKS_DETECTED' | 'NO_BREAK_DETECTED'

/** The next step of the caller. The steps of a decision name members that an analysis does not have. */
const AFTER_ANALYSIS: Readonly<Record<AnalysisOutcome, string>> = {
  ANALYSIS_FAILED: 'Make every contract readable and complete, then analyze the change again.',
  BREAKS_DETECTED: 'Fix or revert each breaking change, then request an authorize preflight.',
  NO_BREAK_DETECTED: 'Request an authorize preflight before the operation; an analysis permits nothing.',
}

function outcomeOf(verdict: Verdict): AnalysisOutcome {
  if (!verdict.analysis_complete) return 'ANALYSIS_FAILED'
  return verdict.severity_summary.breaking > 0 ? 'BREAKS_DETECTED' : 'NO_BREAK_DETECTED'
}

function sharedMembers(verdict: Verdict, { settings, correlationId, now }: Omit<AnswerFacts, 'keys'>): object {
  const breaking = verdict.groups.filter(({ level }) => level === 'breaking')
  const details = expandFindings(breaking, settings.config.diff.findings)
  return {
    risk_score: verdict.risk_score,
    risk_factors: verdict.risk_factors,
    breaking_changes: verdict.breaking_changes,
    breaking_changes_details: details,
    breaking_changes_truncated: countFindings(breaking) - details.length,
    patterns: verdict.patterns,
    pattern_sources: verdict.pattern_sources,
    detected_patterns: verdict.detected_patterns,
    evidence: verdict.evidence,
    evidence_quality: verdict.evidence_quality,
    analysis_complete: verdict.analysis_complete,
    requires_migration: verdict.requires_migration,
    input_fingerprint: verdict.input_fingerprint,
    blast_radius: verdict.blast_radius,
    severity_summary: verdict.severity_summary,
    human_report: verdict.human_report,
    correlation_id: correlationId,
    timestamp: new Date(now).toISOString(),
    scorer_version: verdict.scorer_version,
  }
}
