/** The cross-field rules of interface.md (States) as JSON Schema conditions, for whoever validates without our code; envelope-rules.ts holds the same and more. */
import { DECISION_CLASSES, DECISIONS } from './decision.ts'

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
export const CLASS_RULES = DECISIONS.map((decision) => {
  const { action, safeForAgent } = DECISION_CLASSES[decision]
  return when(
    { decision: { const: decision } },
    holds({ execution_action: { const: action }, safe_for_agent: { const: safeForAgent } }),
  )
})

export const CONFIDENCE_RULE = {
  if: holds({ confidence: { type: 'number' } }),
  then: holds({ calibration_version: { type: 'string', minLength: 1 } }),
  else: { properties: { calibration_version: { type: 'null' } } },
}

export const COMPLETENESS_RULES = [
  when(
    { analysis_complete: { const: false } },
    holds({ degraded_reasons: SOME, decision: { enum: DECISIONS.filter((decision) => decision !== 'ALLOW') } }),
  ),
  when({ analysis_complete: { const: true } }, { properties: { degraded_reasons: NONE } }),
]

export const PRODUCER_RULES = [
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
