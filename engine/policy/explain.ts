/** Every rule of a pack with the trace of its condition on one finding, for people who ask why. It decides nothing. */
import type { FindingGroup, Occurrence } from '../model/finding.ts'
import { compileCondition, conditionFacts } from './condition.ts'
import { traceCondition, type ConditionPart } from './condition-trace.ts'
import { occasionFacts } from './occasion.ts'
import type { CompiledPolicy, PolicyOccasion, RuleAnswer } from './policy.ts'

export interface RuleTrace extends RuleAnswer {
  readonly description: string | null
  readonly environments: readonly string[] | null
  readonly operations: readonly string[] | null
  /** Null: the rule is for other environments or operations, so nobody asks. */
  readonly condition: ConditionPart | null
}

/** The rules about a finding, in the order of the pack. */
export function explainRules(
  policy: Pick<CompiledPolicy, 'document' | 'trace'>,
  occasion: PolicyOccasion,
): (group: FindingGroup, occurrence: Occurrence) => readonly RuleTrace[] {
  const rules = new Map(policy.document.rules.map((rule) => [rule.id, rule]))
  const conditions = [...rules.values()].flatMap(({ when }) => {
    const condition = compileCondition(when)
    return condition.ok ? [condition.value] : []
  })
  const facts = occasionFacts(occasion, conditions)
  const trace = policy.trace(occasion)
  return (group, occurrence) =>
    trace(group, occurrence).map((answer) => {
      const {
        when = 'false',
        description = null,
        environments = null,
        operations = null,
      } = rules.get(answer.ruleId) ?? {}
      const condition =
        answer.answer === 'elsewhere' ? null : traceCondition(when, conditionFacts(facts, group, occurrence))
      return { ...answer, description, environments, operations, condition }
    })
}

/** The same for a rule about the change set as a whole; null: the pack has no such rule. */
export function explainWholeRule(
  { document }: Pick<CompiledPolicy, 'document'>,
  occasion: PolicyOccasion,
  id: string,
): ConditionPart | null {
  const rule = document.rules.find((one) => one.id === id)
  const condition = rule === undefined ? null : compileCondition(rule.when)
  if (rule === undefined || condition === null || !condition.ok) return null
  return traceCondition(rule.when, occasionFacts(occasion, [condition.value]))
}
