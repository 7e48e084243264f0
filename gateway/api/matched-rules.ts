/** Which rules of a policy decided which findings, in their wire form. */
import { Type } from '../../engine/base.ts'
import type { JudgedChangeSet, PolicyEffect } from '../../engine/internal.ts'
import { Decision, nullable } from './schemas/shapes.ts'

export const MatchedRule = Type.Object(
  {
    rule: Type.String({ description: 'Id of the policy rule; `none` where no rule matches.' }),
    decision: Decision,
    observed: nullable(
      Type.Object(
        { rule: Type.String(), decision: Decision },
        { description: 'What a rule in observe mode would have decided, when that is stricter.' },
      ),
    ),
    waiver: nullable(Type.Object({ id: Type.String(), standing: Type.String() })),
    findings: Type.Integer({
      minimum: 0,
      description: '0 for a rule or freeze window about the change set as a whole.',
    }),
    comparison_rules: Type.Array(Type.String(), { description: 'Ids of the comparison rules of those findings.' }),
  },
  { title: 'MatchedRule' },
)

interface Ruling {
  readonly rule: string
  readonly decision: string
  readonly observed: { readonly rule: string; readonly decision: string } | null
  readonly waiver: { readonly id: string; readonly standing: string } | null
}

interface RuleTally extends Ruling {
  findings: number
  readonly comparisonRules: Set<string>
}

export interface MatchedRuleRow extends Ruling {
  readonly findings: number
  readonly comparison_rules: readonly string[]
}

/** One row for each effect of a rule; rules about the change set as a whole come first. */
export function matchedRules({ artifacts, rulings }: JudgedChangeSet): readonly MatchedRuleRow[] {
  const tallies = new Map<string, RuleTally>()
  for (const { effect, group, places } of artifacts.flatMap(({ judgements }) => judgements)) {
    const ruling = rulingOf(effect)
    const key = JSON.stringify(ruling)
    const tally = tallies.get(key) ?? { ...ruling, findings: 0, comparisonRules: new Set<string>() }
    tally.findings += places
    tally.comparisonRules.add(group.rule)
    tallies.set(key, tally)
  }
  const whole = rulings.map(({ ruleId: rule, decision, observed }) => ({
    rule,
    decision,
    observed: observed === null ? null : { rule, decision: observed },
    waiver: null,
    findings: 0,
    comparison_rules: [],
  }))
  const found = [...tallies.values()].map(({ comparisonRules, ...tally }) => ({
    ...tally,
    comparison_rules: [...comparisonRules],
  }))
  return [...whole, ...found]
}

function rulingOf({ ruleId, decision, observed, waiver }: PolicyEffect): Ruling {
  return {
    rule: ruleId,
    decision,
    observed: observed === null ? null : { rule: observed.ruleId, decision: observed.decision },
    waiver: waiver === null ? null : { id: waiver.id, standing: waiver.standing },
  }
}
