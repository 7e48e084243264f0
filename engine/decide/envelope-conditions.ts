/**
 * The cross-field rules of docs/reference/envelope.md#rules-between-members as JSON Schema conditions, for validators
 * without our code. envelope-rules.ts contains these and more.
 */
import { DECISION_CLASSES, DECISIONS } from '../model/decision.ts'

type SchemaCondition = Readonly<Record<string, unknown>>

/** `properties` that all have to hold, and to be there. */
const holds = (properties: SchemaCondition) => ({ properties, required: Object.keys(properties) })
const when = (condition: SchemaCondition, then: SchemaCondition) => ({ if: holds(condition), then })
const NONE = { maxItems: 0 }
const SOME = { minItems: 1 }
const severe = { contains: { properties: { severity: { enum: ['HIGH', 'CRITICAL'] } }, required: ['severity'] } }
const policyRow = { contains: { properties: { type: { const: 'POLICY_RULE' } }, required: ['type'] } }
const optionalActionsOnly = { items: holds({ required: { const: false } }) }
const requiredAction = (type?: string) => ({
  contains: holds({ required: { const: true }, ...(type && { type: { const: type } }) }),
})

/**
 * Each decision class has one valid triple. Every other triple is rejected
 * (docs/reference/envelope.md#rules-between-members).
 */
const DIRECTIVE_RULES = DECISIONS.map((decision) => {
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

/** What each decision class carries, and what it must not (docs/reference/envelope.md#rules-between-members). */
const CLASS_RULES = [
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
    { decision: { enum: DECISIONS.filter((decision) => decision !== 'ALLOW') } },
    { properties: { required_action_core: { properties: { type: { not: { const: 'none' } } } } } },
  ),
]

const SOURCE_SLOTS = ['repository', 'branch', 'pull_request', 'base', 'head'] as const
const NO_TEXT = { type: 'null' }

/** Null or absent is no source. An envelope with a source is "declared"; it is "unbound" only without any. */
const SOURCE_RULES = [
  when(
    { srcmode: { const: 'unbound' } },
    { properties: Object.fromEntries(SOURCE_SLOTS.map((slot) => [slot, NO_TEXT])) },
  ),
  when(
    { srcmode: { const: 'declared' } },
    { anyOf: SOURCE_SLOTS.map((slot) => holds({ [slot]: { type: 'string' } })) },
  ),
  when(
    { completeness_mode: { const: 'UNBOUND' } },
    { properties: { change_set_commitment: NO_TEXT, change_set_commitment_alg: NO_TEXT } },
  ),
  when(
    { authority: holds({ tenant_scope: { const: 'unbound' } }) },
    { properties: { authority: { properties: { binding_proven_at: NO_TEXT } } } },
  ),
]

const NO_MEMBER = { not: {} }

/** Which members a record of one kind of evidence may have. */
const PATTERN_RULES = [
  {
    kind: 'measured',
    properties: { basis_codes: NO_MEMBER, basis_code_labels: NO_MEMBER, basis_rule_id: NO_MEMBER, rule_id: NO_MEMBER },
  },
  { kind: 'derived', properties: { detected_pattern_indices: NONE } },
].map(({ kind, properties }) => ({
  properties: { pattern_sources: { items: when({ evidence_kind: { const: kind } }, { properties }) } },
}))

/** They bind issuers and readers of an envelope. */
export const CROSS_FIELD_RULES: readonly SchemaCondition[] = [
  ...DIRECTIVE_RULES,
  CONFIDENCE_RULE,
  ...COMPLETENESS_RULES,
  ...CLASS_RULES,
  ...SOURCE_RULES,
  ...PATTERN_RULES,
  {
    properties: {
      detected_patterns: {
        items: { if: { required: ['side'] }, then: { properties: { name: { const: 'ENUM_NARROWING' } } } },
      },
    },
  },
  when(
    { required_action_core: holds({ type: { not: { const: 'none' } } }) },
    { properties: { required_action_core: { properties: { choices: SOME } } } },
  ),
]
