/**
 * The decision result envelope as a schema (interface.md, Resources): one list of members, two JSON Schemas made from it.
 * The producer form is what we hold ourselves to before anything leaves: closed, bounded, with the cross-field rules of
 * "States". The consumer form is what a reader may rely on: open, tolerant of what later versions add.
 */
import { Type, type Static, type TSchema } from 'typebox'
import { DECISION_CLASSES, DECISIONS, EXECUTION_ACTIONS } from './decision.ts'

const DIGEST = '^sha256:[0-9a-f]{64}$'
const INSTANT = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'
const IDENTIFIER = '^[A-Za-z0-9_.:-]{1,200}$'

export const EVIDENCE_QUALITIES = ['LOW', 'MEDIUM', 'HIGH'] as const
export const SEVERITIES = ['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const
export const COMPLETENESS_MODES = [
  'UNBOUND',
  'ATTESTED_UNVERIFIED',
  'BOUND_ATTESTED',
  'SERVER_DERIVED',
  'CROSS_VERIFIED',
  'DIVERGED',
  'UNESTABLISHABLE',
] as const
export const NEXT_ACTION_TYPES = [
  'VERIFY_RECEIPT',
  'MONITOR',
  'REQUEST_APPROVAL',
  'REMEDIATE',
  'FIX_INPUT',
  'REEVALUATE',
] as const
export const PRECONDITIONS = ['INPUT_CHANGED', 'POLICY_CHANGED', 'APPROVAL_GRANTED', 'WAIVER_GRANTED'] as const
export const REQUIRED_ACTION_TYPES = [
  'none',
  'proceed_with_note',
  're_preflight',
  'fix_coverage',
  'remediate_or_revert',
  'revert',
  'request_approval',
] as const
export const REQUIRED_ACTION_CHOICES = [
  'continue_monitor',
  're_preflight',
  'obtain_human_approval',
  'revert',
  'migrate',
  'fix_input',
  'escalate',
  'verify_receipt',
  're_preflight_deploy',
] as const
export const AGENT_STEPS = ['re_preflight', 'revert', 'migrate', 'escalate', 'await_approval'] as const

/** Longest lists and texts of an envelope (interface.md, Limits). Texts are counted in UTF-16 units, which is never the laxer count. */
export const ENVELOPE_BOUNDS = {
  reasons: 50,
  degradedReasons: 20,
  evidence: 100,
  nextActions: 25,
  summary: 500,
  requiredAction: 500,
  instruction: 500,
  target: 500,
  message: 300,
  source: 300,
  finding: 500,
} as const

const closed = <T extends Record<string, TSchema>>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description && { description }) })
/** One schema that admits null too, rather than a union of two: as clear to read, and a third of the code when compiled. */
const nullable = <T extends TSchema & { readonly type?: string; readonly enum?: readonly string[] }>(schema: T) =>
  Type.Unsafe<Static<T> | null>(
    schema.enum ? { ...schema, enum: [...schema.enum, null] } : { ...schema, type: [schema.type, 'null'] },
  )
const optional = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))
const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength })
const count = () => Type.Integer({ minimum: 0 })
const digest = () => Type.String({ pattern: DIGEST })
const instant = () => Type.String({ pattern: INSTANT })
const anyText = () => Type.String()

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

const PatternSourceRow = closed({
  name: anyText(),
  source: Type.Enum(['contract_diff', 'agent_heuristic', 'artifact_signal']),
  evidence_kind: Type.Enum(['measured', 'derived']),
  detected_pattern_indices: Type.Optional(Type.Array(count())),
  basis_codes: Type.Optional(Type.Array(anyText())),
  basis_code_labels: Type.Optional(Type.Array(nullable(anyText()))),
  basis_rule_id: Type.Optional(anyText()),
  rule_id: Type.Optional(anyText()),
})

const DetectedPatternRow = closed({
  name: anyText(),
  severity: Type.Enum(['CRITICAL', 'HIGH', 'MEDIUM']),
  description: anyText(),
  consequence: anyText(),
  affected_path: anyText(),
  affected_field: anyText(),
  side: Type.Optional(Type.Enum(['request', 'response'])),
})

const Binding = closed({ proven: Type.Boolean(), proven_at: nullable(anyText()) })
const Authority = closed({
  audience: nullable(anyText()),
  tenant_scope: Type.Enum(['bound', 'unbound']),
  binding_proven_at: Type.Optional(anyText()),
})
const Derivation = closed({
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

/** One row of a remediation: what to do about one change. Ours to define (interface.md leaves the contents open). */
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

const REQUIRED_MEMBERS = {
  spec_version: Type.String({ pattern: '^decision-result\\.v1(\\.[0-9]+)?$' }),
  decision: Type.Enum(DECISIONS),
  safe_for_agent: Type.Boolean({ description: 'Deprecated for branching: branch on execution_action.' }),
  execution_action: Type.Enum(EXECUTION_ACTIONS, { description: 'The one directive that consumers branch on.' }),
  decision_id: Type.String({ pattern: IDENTIFIER }),
  correlation_id: Type.String({ pattern: IDENTIFIER }),
  evaluated_at: instant(),
  expires_at: instant(),
  summary: text(ENVELOPE_BOUNDS.summary),
  blocking_reasons: Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.reasons }),
  warnings: Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.reasons }),
  required_action: nullable(text(ENVELOPE_BOUNDS.requiredAction, 0)),
  next_actions: Type.Array(NextAction, { maxItems: ENVELOPE_BOUNDS.nextActions }),
  fingerprint: digest(),
  input_fingerprint: digest(),
  decision_body_hash: nullable(digest()),
  receipt: Receipt,
  report_url: nullable(Type.String({ pattern: '^https://', maxLength: 2000 })),
  evidence_quality: Type.Enum(EVIDENCE_QUALITIES),
  confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  evidence: Type.Array(Evidence, { maxItems: ENVELOPE_BOUNDS.evidence }),
  analysis_complete: Type.Boolean(),
}

const OPTIONAL_MEMBERS = {
  calibration_version: optional(text(100)),
  degraded_reasons: Type.Optional(Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.degradedReasons })),
  receipt_type: optional(Type.Enum(['bundle_preflight', 'spec_preflight'])),
  operation: optional(anyText()),
  environment: optional(anyText()),
  repository: optional(anyText()),
  branch: optional(anyText()),
  pull_request: optional(anyText()),
  base: optional(anyText()),
  head: optional(anyText()),
  target_id: optional(anyText()),
  target_uri: optional(anyText()),
  srcmode: optional(Type.Enum(['declared', 'unbound'])),
  preflight_mode: optional(Type.Enum(['analyze', 'authorize'])),
  artifact_digest: optional(digest()),
  policy_hash: optional(digest()),
  ruleset_hash: optional(digest()),
  decision_spec_version: optional(Type.Enum(['1.0', '2.0'])),
  audience: optional(Type.String({ pattern: '^v:[0-9a-f]{12}$' })),
  authorization_scope_hash: optional(anyText()),
  engine_build_id: optional(anyText()),
  deployment_id: optional(anyText()),
  commit_sha: optional(anyText()),
  risk_score: optional(Type.Integer({ minimum: 0, maximum: 100 })),
  breaking_changes: optional(count()),
  patterns: optional(Type.Array(anyText())),
  pattern_sources: optional(Type.Array(PatternSourceRow)),
  detected_patterns: optional(Type.Array(DetectedPatternRow)),
  completeness_mode: optional(Type.Enum(COMPLETENESS_MODES)),
  change_set_commitment: optional(anyText()),
  change_set_commitment_alg: optional(anyText()),
  contract_selector_hash: optional(digest()),
  completeness_count: optional(count()),
  submitted_set_digest: optional(digest()),
  completeness_expected_channel: optional(anyText()),
  binding: optional(Binding),
  authority: optional(Authority),
  derivation: optional(Derivation),
  fingerprint_binding_expected: optional(Type.Boolean()),
  required_action_core: optional(RequiredActionCore),
  next_agent_step: optional(NextAgentStep),
  remediation_transaction: optional(RemediationTransaction),
  scorer_version: optional(text(200)),
  policy_pin_status: optional(PolicyPinStatus),
  blast_radius: Type.Optional(BlastRadius),
}

type Condition = Readonly<Record<string, unknown>>

/** `properties` that all have to hold, and to be there. */
const holds = (properties: Condition) => ({ properties, required: Object.keys(properties) })
const when = (condition: Condition, then: Condition) => ({ if: holds(condition), then })
const NONE = { maxItems: 0 }
const SOME = { minItems: 1 }
const severe = { contains: { properties: { severity: { enum: ['HIGH', 'CRITICAL'] } }, required: ['severity'] } }
const policyRow = { contains: { properties: { type: { const: 'POLICY_RULE' } }, required: ['type'] } }
const optionalActionsOnly = { items: holds({ required: { const: false } }) }
const requiredAction = (type?: string) => ({
  contains: holds({ required: { const: true }, ...(type && { type: { const: type } }) }),
})

/** The triple has one right form a class; everything else is rejected, not resolved (interface.md, States, rule 1). */
const CLASS_RULES = DECISIONS.map((decision) => {
  const { action, safeForAgent } = DECISION_CLASSES[decision]
  return when(
    { decision: { const: decision } },
    holds({ execution_action: { const: action }, safe_for_agent: { const: safeForAgent } }),
  )
})

const CONFIDENCE_RULE = {
  if: holds({ confidence: { type: 'number' } }),
  then: holds({ calibration_version: { type: 'string', minLength: 1 } }),
  else: { properties: { calibration_version: { type: 'null' } } },
}

const COMPLETENESS_RULES = [
  when(
    { analysis_complete: { const: false } },
    holds({ degraded_reasons: SOME, decision: { enum: DECISIONS.filter((decision) => decision !== 'ALLOW') } }),
  ),
  when({ analysis_complete: { const: true } }, { properties: { degraded_reasons: NONE } }),
]

const PRODUCER_RULES = [
  when(
    { decision: { const: 'ALLOW' } },
    {
      properties: {
        blocking_reasons: NONE,
        warnings: NONE,
        required_action: { type: 'null' },
        next_actions: optionalActionsOnly,
      },
    },
  ),
  {
    if: { properties: { decision: { const: 'ALLOW' }, evidence: severe } },
    then: { properties: { evidence: policyRow } },
  },
  when(
    { decision: { const: 'WARN' } },
    { properties: { blocking_reasons: NONE, warnings: SOME, next_actions: optionalActionsOnly } },
  ),
  when(
    { decision: { const: 'REQUIRE_APPROVAL' } },
    { properties: { blocking_reasons: SOME, next_actions: requiredAction('REQUEST_APPROVAL'), evidence: SOME } },
  ),
  when(
    { decision: { const: 'BLOCK' } },
    { properties: { blocking_reasons: SOME, next_actions: requiredAction(), evidence: SOME } },
  ),
  when(
    { decision: { enum: DECISIONS.filter((decision) => decision !== 'BLOCK') } },
    { properties: { remediation_transaction: { type: 'null' } } },
  ),
  when(
    { decision: { enum: DECISIONS.filter((decision) => DECISION_CLASSES[decision].safeForAgent) } },
    { properties: { next_agent_step: { type: 'null' } } },
  ),
  when(
    { srcmode: { const: 'unbound' } },
    {
      properties: Object.fromEntries(
        ['repository', 'branch', 'pull_request', 'base', 'head'].map((slot) => [slot, { type: 'null' }]),
      ),
    },
  ),
]

/** Every member of an envelope that this version issues. */
export const Envelope = Type.Object(
  { ...REQUIRED_MEMBERS, ...OPTIONAL_MEMBERS },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'decision-result.v1.producer.json',
    title: 'Decision result, producer form',
    additionalProperties: false,
    allOf: [...CLASS_RULES, CONFIDENCE_RULE, ...COMPLETENESS_RULES, ...PRODUCER_RULES],
  },
)
export type Envelope = Static<typeof Envelope>

/** JSON Schema that every envelope meets before it leaves (served as `/schemas/decision-result.v1.producer.json`). */
export const decisionResultProducerSchema: TSchema = Envelope

/**
 * What a consumer may rely on. Open at every object that may grow; values of open vocabularies are any text. The enums that
 * are branched on stay closed: an unknown value is not permission.
 */
export const ConsumedEnvelope = Type.Object(
  {
    ...REQUIRED_MEMBERS,
    next_actions: Type.Array(
      open(NextAction, {
        type: anyText(),
        target: optional(text(ENVELOPE_BOUNDS.target, 0)),
        precondition: optional(anyText()),
      }),
      { maxItems: ENVELOPE_BOUNDS.nextActions },
    ),
    receipt: open(Receipt, {}),
    evidence: Type.Array(open(Evidence, { severity: anyText() }), { maxItems: ENVELOPE_BOUNDS.evidence }),
    blocking_reasons: Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.reasons }),
    warnings: Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.reasons }),
    calibration_version: OPTIONAL_MEMBERS.calibration_version,
    degraded_reasons: Type.Optional(Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.degradedReasons })),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'decision-result.v1.consumer.json',
    title: 'Decision result, consumer form',
    allOf: [...CLASS_RULES, CONFIDENCE_RULE, ...COMPLETENESS_RULES],
  },
)
export type ConsumedEnvelope = Static<typeof ConsumedEnvelope>

/** JSON Schema for those who read envelopes (served as `/schemas/decision-result.v1.consumer.json`). */
export const decisionResultConsumerSchema: TSchema = ConsumedEnvelope

function open<T extends Record<string, TSchema>, L extends Record<string, TSchema>>(
  schema: Type.TObject<T>,
  loosened: L,
) {
  return Type.Object({ ...schema.properties, ...loosened })
}
