/** The content of a decision before it is issued: the result of `decide`, without id, clock, audience or signature. */
import type { ArtifactType } from '../model/change-set.ts'
import type { FindingGroup } from '../model/finding.ts'
import type { Digest } from '../common/hash.ts'
import type { DetectedPattern, PatternSource } from '../patterns/pattern.ts'
import type { Approvers } from '../policy/policy.ts'
import type { Decision, DecisionContext, ExecutionAction } from '../model/decision.ts'
import type {
  BlastRadius,
  Evidence,
  NextAction,
  NextAgentStep,
  PolicyPinStatus,
  Reason,
  RemediationTransaction,
  RequiredActionCore,
} from './envelope-members.ts'

/** One factor of the risk score: how much of its weight counts, and why. */
export interface RiskFactor {
  readonly id: string
  /** Maximum points of the factor. The weights of all factors sum to 100. */
  readonly weight: number
  readonly points: number
  readonly because: string
}

/** The verdict on one artifact, as the response contains it (docs/reference/api.md#post-apiv1preflight). */
export interface ArtifactVerdict {
  readonly id: string
  readonly type: ArtifactType
  readonly status: 'analyzed' | 'failed'
  readonly decision: Decision
  readonly risk_score: number
  readonly breaking_changes: number
  readonly patterns: readonly string[]
  readonly error?: { readonly code: string; readonly message: string; readonly line?: number; readonly column?: number }
}

export interface SeveritySummary {
  readonly breaking: number
  readonly dangerous: number
  readonly info: number
}

export interface HumanReport {
  readonly summary: string
  readonly breaking_highlights: readonly string[]
  readonly suggestions: readonly string[]
  readonly next_steps: readonly string[]
}

export interface Verdict {
  readonly context: DecisionContext
  readonly decision: Decision
  readonly execution_action: ExecutionAction
  readonly safe_for_agent: boolean
  /** What would have been decided if the rules in observe mode were enforced; equal to `decision` when none is. */
  readonly observed_decision: Decision
  readonly summary: string
  readonly blocking_reasons: readonly Reason[]
  readonly warnings: readonly Reason[]
  readonly degraded_reasons: readonly Reason[]
  readonly analysis_complete: boolean
  readonly required_action: string | null
  readonly required_action_core: RequiredActionCore
  readonly next_actions: readonly NextAction[]
  readonly next_agent_step: NextAgentStep | null
  readonly remediation_transaction: RemediationTransaction | null
  readonly evidence: readonly Evidence[]
  readonly evidence_quality: 'LOW' | 'MEDIUM' | 'HIGH'
  readonly risk_score: number
  readonly risk_factors: readonly RiskFactor[]
  readonly breaking_changes: number
  readonly requires_migration: boolean
  readonly severity_summary: SeveritySummary
  readonly patterns: readonly string[]
  readonly pattern_sources: readonly PatternSource[]
  readonly detected_patterns: readonly DetectedPattern[]
  readonly blast_radius: BlastRadius
  readonly artifacts: readonly ArtifactVerdict[]
  /** The findings that decided: after level overrides of the policy and the scope. `expandFindings` flattens them. */
  readonly groups: readonly FindingGroup[]
  readonly human_report: HumanReport
  readonly fingerprint: Digest
  readonly input_fingerprint: Digest
  readonly artifact_digest: Digest
  readonly submitted_set_digest: Digest
  readonly policy_hash: Digest
  readonly ruleset_hash: Digest
  readonly scorer_version: string
  readonly policy_pin_status: PolicyPinStatus
  /** The gate must receive the fingerprint of its operation, and compare it. Null: not required. */
  readonly fingerprint_binding_expected: true | null
  /**
   * Who may approve: an approver must be in one group of each. Empty for any approver, and if no approval is required.
   */
  readonly approver_groups: readonly (readonly string[])[]
  /** The same with the number of people. */
  readonly required_approvals: Approvers
  /** Validity by the policy (docs/reference/envelope.md#validity). */
  readonly ttl_seconds: number
}
