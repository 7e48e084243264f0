/**
 * Verdict + issuance → envelope (docs/reference/envelope.md). Ids, clock and identity are passed in as values. An
 * envelope that violates a cross-field rule is never built. The producer schema checks the rules again when the
 * receipt is made.
 */
import { completenessMembers, type CompletenessFacts } from './completeness.ts'
import type { DecisionContext } from '../model/decision.ts'
import { checkProducerForm } from './envelope-check.generated.js'
import { envelopeViolations } from './envelope-rules.ts'
import type { Envelope, EnvelopeDraft } from './envelope-schema.ts'
import { instantText } from './text.ts'
import type { Verdict } from './verdict.ts'

const SPEC_VERSION = 'decision-result.v1'

/** What the issuing path knows and the verdict must not know: ids, time, identity. */
export interface Issuance {
  readonly decisionId: string
  readonly correlationId: string
  /** Seconds since the epoch. `expires_at` is this plus the TTL of the verdict. */
  readonly evaluatedAt: number
  /** `v:` and 12 hex digits; null if the envelope has no key. */
  readonly audience: string | null
  /** Commit that a platform reported by webhook; absent: none did. */
  readonly commitSha?: string
  readonly decisionSpecVersion: '1.0' | '2.0'
  /** `https://` address of a page about the decision; null when there is none. */
  readonly reportUrl: string | null
  /** Absent: the artifacts were submitted, and nothing attests that they are the whole change. */
  readonly completeness?: CompletenessFacts
}

/** A broken invariant: the envelope violates docs/reference/envelope.md#rules-between-members, so it is not issued. */
export class EnvelopeInvariantError extends Error {
  readonly violations: readonly string[]

  constructor(violations: readonly string[]) {
    super(`The envelope breaks its own rules and is not issued: ${violations.join('; ')}`)
    this.name = 'EnvelopeInvariantError'
    this.violations = violations
  }
}

/** @throws EnvelopeInvariantError when a cross-field rule does not hold. */
export function buildEnvelope(verdict: Verdict, issuance: Issuance): EnvelopeDraft {
  const draft: EnvelopeDraft = {
    ...identityMembers(issuance, verdict),
    ...verdictMembers(verdict),
    ...contextMembers(verdict.context),
    ...completenessMembers(issuance.completeness, {
      context: verdict.context,
      audience: issuance.audience,
      submitted: verdict.submitted_set_digest,
    }),
    ...WITHOUT_PRODUCER,
  }
  const violations = envelopeViolations(draft)
  if (violations.length > 0) throw new EnvelopeInvariantError(violations)
  return draft
}

/** @throws EnvelopeInvariantError when the envelope does not meet the producer schema. */
export function assertProducerForm(envelope: Envelope): void {
  const checked = checkProducerForm(envelope)
  if (checked.ok) return
  throw new EnvelopeInvariantError(
    checked.problem.map(({ instancePath, message }) => `${instancePath === '' ? '/' : instancePath} ${message}`),
  )
}

/** Members of docs/reference/envelope.md that nothing produces yet: null, never invented. */
const WITHOUT_PRODUCER = {
  confidence: null,
  calibration_version: null,
  authorization_scope_hash: null,
  engine_build_id: null,
  deployment_id: null,
} as const

function identityMembers(issuance: Issuance, verdict: Verdict) {
  const { decisionId, correlationId, evaluatedAt, audience, decisionSpecVersion, reportUrl } = issuance
  return {
    spec_version: SPEC_VERSION,
    decision_id: decisionId,
    correlation_id: correlationId,
    evaluated_at: instantText(evaluatedAt),
    expires_at: instantText(evaluatedAt + verdict.ttl_seconds),
    audience,
    commit_sha: issuance.commitSha ?? null,
    decision_spec_version: decisionSpecVersion,
    report_url: reportUrl,
    receipt_type: 'bundle_preflight',
    preflight_mode: 'authorize',
  } as const
}

/** Bounds and order were made with the verdict; here its members only take their places. */
function verdictMembers(verdict: Verdict) {
  return {
    decision: verdict.decision,
    safe_for_agent: verdict.safe_for_agent,
    execution_action: verdict.execution_action,
    summary: verdict.summary,
    blocking_reasons: [...verdict.blocking_reasons],
    warnings: [...verdict.warnings],
    degraded_reasons: [...verdict.degraded_reasons],
    analysis_complete: verdict.analysis_complete,
    required_action: verdict.required_action,
    required_action_core: verdict.required_action_core,
    next_actions: [...verdict.next_actions],
    next_agent_step: verdict.next_agent_step,
    remediation_transaction: verdict.remediation_transaction,
    fingerprint: verdict.fingerprint,
    input_fingerprint: verdict.input_fingerprint,
    artifact_digest: verdict.artifact_digest,
    policy_hash: verdict.policy_hash,
    ruleset_hash: verdict.ruleset_hash,
    scorer_version: verdict.scorer_version,
    policy_pin_status: verdict.policy_pin_status,
    evidence_quality: verdict.evidence_quality,
    evidence: [...verdict.evidence],
    risk_score: verdict.risk_score,
    breaking_changes: verdict.breaking_changes,
    patterns: [...verdict.patterns],
    pattern_sources: verdict.pattern_sources.map(patternSourceMember),
    detected_patterns: [...verdict.detected_patterns],
    blast_radius: verdict.blast_radius,
    fingerprint_binding_expected: verdict.fingerprint_binding_expected,
  }
}

function patternSourceMember(source: Verdict['pattern_sources'][number]) {
  const { detected_pattern_indices: indices, basis_codes: codes, basis_code_labels: labels, ...rest } = source
  return {
    ...rest,
    ...(indices && { detected_pattern_indices: [...indices] }),
    ...(codes && { basis_codes: [...codes] }),
    ...(labels && { basis_code_labels: [...labels] }),
  }
}

/** Under `unbound` every source slot is null, by construction. */
function contextMembers(context: DecisionContext) {
  const { repository, branch, pull_request, base, head } = context
  const isDeclared = [repository, branch, pull_request, base, head].some((slot) => slot !== null)
  return { ...context, srcmode: isDeclared ? ('declared' as const) : ('unbound' as const) }
}
