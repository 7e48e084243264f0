/** The answers of the preflight (wire.md §4), made from what the flow came to. */
import { countFindings, expandFindings } from '../../engine/base.ts'
import {
  controlEnvelope,
  type ControlEnvelope,
  type Envelope,
  type ReceiptStanding,
  type Verdict,
} from '../../engine/index.ts'
import type { Assessment, Authorization } from '../flow/flow.ts'
import type { Settings } from '../settings.ts'

export interface AnswerFacts {
  readonly settings: Settings
  readonly correlationId: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Risk only: none of the members that a consumer could take for permission. */
export function analyzeAnswer({ verdict }: Assessment, facts: AnswerFacts): object {
  return {
    preflight_mode: 'analyze',
    analysis_outcome: outcomeOf(verdict),
    authorization_effect: 'NONE',
    may_execute: false,
    receipt_kind: 'NONE',
    decision_spec_version: '2.0',
    ...sharedMembers(verdict, facts),
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

/** The control envelope as things stand: a receipt that was revoked since no longer authorizes. */
export function controlFor(
  envelope: Envelope,
  state: ReceiptStanding,
  { settings, now }: Pick<AnswerFacts, 'settings' | 'now'>,
): ControlEnvelope {
  return controlEnvelope(envelope, {
    // The token was signed here, and what the store holds is what was signed.
    verified: true,
    state,
    now: Math.floor(now / 1000),
    enforcement: { mode: settings.policy.mode, tier: settings.config.tier },
  })
}

function outcomeOf(verdict: Verdict): string {
  if (!verdict.analysis_complete) return 'ANALYSIS_FAILED'
  return verdict.severity_summary.breaking > 0 ? 'BREAKS_DETECTED' : 'NO_BREAK_DETECTED'
}

function sharedMembers(verdict: Verdict, { settings, correlationId, now }: AnswerFacts): object {
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
