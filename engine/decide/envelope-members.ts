/** The objects inside an envelope, one schema each, and the types that come from them (docs/reference/envelope.md). */
import type { Static } from 'typebox'
import { anyText, closed, count, digest, nullable, text } from './envelope-types.ts'
import {
  AGENT_STEPS,
  ENVELOPE_BOUNDS,
  NEXT_ACTION_TYPES,
  PRECONDITIONS,
  REQUIRED_ACTION_CHOICES,
  REQUIRED_ACTION_TYPES,
  SEVERITIES,
} from './envelope-vocabulary.ts'
import { Type } from '../common/type-builder.ts'

export const Reason = closed({
  code: Type.String({ pattern: '^[A-Z][A-Z0-9_]{2,63}$' }),
  message: text(ENVELOPE_BOUNDS.message),
})
export type Reason = Static<typeof Reason>

export const NextAction = closed({
  type: Type.Enum(NEXT_ACTION_TYPES),
  instruction: text(ENVELOPE_BOUNDS.instruction),
  target: nullable(text(ENVELOPE_BOUNDS.target, 0)),
  required: Type.Boolean(),
  precondition: nullable(Type.Enum(PRECONDITIONS)),
})
export type NextAction = Static<typeof NextAction>

export const Receipt = closed({
  token: text(8192, 20),
  format_version: text(50),
  key_id: text(100),
  issued_at: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z$' }),
})
export type Receipt = Static<typeof Receipt>

export const Evidence = closed({
  type: text(100),
  source: text(ENVELOPE_BOUNDS.source),
  finding: text(ENVELOPE_BOUNDS.finding),
  severity: Type.Enum(SEVERITIES),
})
export type Evidence = Static<typeof Evidence>

export const PatternSourceRow = closed({
  name: anyText(),
  source: Type.Enum(['contract_diff', 'agent_heuristic', 'artifact_signal']),
  evidence_kind: Type.Enum(['measured', 'derived']),
  detected_pattern_indices: Type.Optional(Type.Array(count())),
  basis_codes: Type.Optional(Type.Array(anyText())),
  basis_code_labels: Type.Optional(Type.Array(nullable(anyText()))),
  basis_rule_id: Type.Optional(anyText()),
  rule_id: Type.Optional(anyText()),
})

export const DetectedPatternRow = closed({
  name: anyText(),
  severity: Type.Enum(['CRITICAL', 'HIGH', 'MEDIUM']),
  description: anyText(),
  consequence: anyText(),
  affected_path: anyText(),
  affected_field: anyText(),
  side: Type.Optional(Type.Enum(['request', 'response'])),
})

export const Binding = closed({ proven: Type.Boolean(), proven_at: nullable(anyText()) })
export const Authority = closed({
  audience: nullable(anyText()),
  tenant_scope: Type.Enum(['bound', 'unbound']),
  binding_proven_at: Type.Optional(anyText()),
})
export const Derivation = closed({
  source: Type.Enum(['scm_a_compare', 'scm_b_compare', 'scm_c_compare']),
  platform: Type.Optional(Type.Enum(['scm_a', 'scm_b', 'scm_c'])),
  base_sha: anyText(),
  head_sha: anyText(),
})

export const RequiredActionCore = closed({
  type: Type.Enum(REQUIRED_ACTION_TYPES),
  reason_code: anyText(),
  recheck_required: Type.Boolean(),
  choices: Type.Optional(Type.Array(Type.Enum(REQUIRED_ACTION_CHOICES))),
})
export type RequiredActionCore = Static<typeof RequiredActionCore>

export const NextAgentStep = closed({
  action: Type.Enum(AGENT_STEPS),
  reason: anyText(),
  resume_condition: anyText(),
  then_call: nullable(anyText()),
})
export type NextAgentStep = Static<typeof NextAgentStep>

/** One row of a remediation: what to do about one change (docs/reference/envelope.md#required-change). */
export const RequiredChange = closed({
  change_type: anyText(),
  label: anyText(),
  target: anyText(),
  target_ref: anyText(),
  recommended_transform: Type.Enum(['restore', 'make_optional', 'widen', 'narrow', 'revise', 'fix_input']),
  effort: Type.Enum(['low', 'medium', 'high']),
  instruction: anyText(),
  evidence: closed({ rule: anyText(), fingerprint: nullable(anyText()) }),
})
export type RequiredChange = Static<typeof RequiredChange>

export const RemediationTransaction = closed({
  required_changes: Type.Array(RequiredChange),
  resubmission: closed({
    unchanged_input: Type.Literal('deterministic_block'),
    modified_input: Type.Literal('preflight_required'),
    reference_fingerprint: digest(),
    fingerprint_profile: anyText(),
    modified_is_not_permission: Type.Optional(Type.Literal(true)),
  }),
  next_preflight_required: Type.Literal(true),
  recheck_scope: Type.Object({
    artifacts: Type.Array(anyText()),
    targets: Type.Array(anyText()),
    omitted_changes: count(),
    omitted_targets: count(),
  }),
  escalation: closed({
    path: Type.Literal('human_review'),
    when: Type.Literal('changes_infeasible_or_disputed'),
  }),
})
export type RemediationTransaction = Static<typeof RemediationTransaction>

export const PolicyPinStatus = closed({
  pinned: nullable(anyText()),
  current: anyText(),
  match: nullable(Type.Boolean()),
  note: anyText(),
  scope: anyText(),
})
export type PolicyPinStatus = Static<typeof PolicyPinStatus>

export const BlastRadius = closed({
  endpoints: count(),
  fields: count(),
  params: count(),
  consumers_declared: count(),
  consumers_observed: count(),
  graph_source: Type.Enum(['none', 'declared', 'observed', 'declared+observed']),
})
export type BlastRadius = Static<typeof BlastRadius>
