/** The findings about a schema in use: each change with its rule and level, then the general findings. */
import type { Level } from '../../model/finding.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import { MAX_WAYS, reachChanges, type Prove, type Reached } from '../../schema/comparison/reachable-changes.ts'
import { differsInNameOnly, otherElement } from '../../schema/xml.ts'
import { ruleOf } from '../catalog/table.ts'
import type { Rule } from '../rule.ts'
import { noteAlarm, type Alarm } from './explanations.ts'
import { OF_THE_WHOLE, uncovered } from './general-findings.ts'
import { provedLevel } from './proved-level.ts'
import { hasTypedText, judgeSchema, type SchemaJudgement, type SchemaUse } from './schema-judge.ts'
import type { SchemaProofs } from './schema-proofs.ts'

/** A change with its rule at a place. */
export interface JudgedUse extends SchemaJudgement {
  readonly reached: Reached
  readonly ruleRow: Rule
  /** Present only if it differs from that of the rule. */
  readonly level?: Level
}

interface UsedSchema {
  readonly pair: SchemaPair
  readonly use: SchemaUse
  readonly proofs: SchemaProofs
  /** Steps shown before those of the schema. */
  readonly lead?: readonly string[]
  readonly maxWays?: number
  readonly skips?: (pair: SchemaPair) => boolean
}

export function judgeUse(
  { pair, use, proofs: all, lead = [], maxWays, skips }: UsedSchema,
  visit: (judged: JudgedUse) => void,
): void {
  const { direction } = use.sites.root
  const element = otherElement(pair, use, all.sources)
  if (element === null && !all.mayDiffer(pair)) return
  const proofs = all.of(direction, hasTypedText(use, use.sites.root))
  const alarms = new Map<SchemaPair, Alarm>()
  const report = (found: Reached, because: string | null = null): void => {
    const reached = lead.length === 0 ? found : { ...found, path: [...lead, ...found.path] }
    const judgement = judgeSchema(reached, use)
    const ruleRow = judgement === null ? undefined : ruleOf(judgement.rule)
    if (judgement === null || ruleRow === undefined) return
    const { level, words } = provedLevel(reached, ruleRow, direction, proofs)
    noteAlarm(alarms, reached, ruleRow, level)
    if (skips?.(reached.pair) === true) return
    const added = because ?? (level === ruleRow.level ? null : words)
    const message = added === null ? judgement.message : `${judgement.message}; ${added}`
    visit({ ...judgement, message, reached, ruleRow, ...(level === ruleRow.level ? {} : { level }) })
  }
  /** The name of the element of a whole text may follow from a component, so it is compared here only. */
  const visitReached = (found: Reached): void => {
    if (found.delta.keyword === 'xml' && found.path.length === 0 && differsInNameOnly(found.pair, all.sources)) return
    report(found)
  }
  if (element !== null) report({ ...OF_THE_WHOLE, delta: element, pair })
  const prove: Prove = (one, above) => (all.isAlarming(one) ? proofs.of(one, above) : above)
  reachChanges(pair, visitReached, maxWays ?? MAX_WAYS, prove, all.required)
  for (const { reached, words } of uncovered(pair, proofs, alarms, direction)) report(reached, words)
}
