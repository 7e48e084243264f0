/** The findings about a schema in use: each change with its rule and level, then the general findings. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Level } from '../../model/finding.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import { MAX_WAYS, reachChanges, type Prove, type Reached } from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import type { SchemaSources } from '../../schema/examination.ts'
import { KEYWORD_FORMS } from '../../schema/keyword-forms.ts'
import type { ResolvedSchema } from '../../schema/source.ts'
import { differsInNameOnly, otherElement } from '../../schema/xml.ts'
import { ruleOf } from '../catalog/table.ts'
import type { Rule } from '../rule.ts'
import { noteAlarm, type Alarm } from './explanations.ts'
import { OF_THE_WHOLE, uncovered } from './general-findings.ts'
import { provedLevel } from './proved-level.ts'
import { isUnwrittenNull, NULL_WORDS, scalarTexts } from './scalar-texts.ts'
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
    const left = provedLevel(reached, ruleRow, direction, proofs)
    const isUnwritten = left.level === 'breaking' && isUnwrittenNull(reached, use)
    const { level, words } = isUnwritten ? { level: 'dangerous' as const, words: NULL_WORDS } : left
    noteAlarm(alarms, reached, ruleRow, level)
    // Nothing is refused, or new. That a discriminator came or went is reported.
    if (level === 'info' && reached.delta.selected !== undefined) return
    if (skips?.(reached.pair) === true) return
    const added = because ?? (level === ruleRow.level ? null : words)
    const message = [judgement.message, added, effectOfMove(reached, all.sources)]
      .filter((words) => words !== null)
      .join('; ')
    visit({ ...judgement, message, reached, ruleRow, ...(level === ruleRow.level ? {} : { level }) })
  }
  /** The name of the element of a whole text may follow from a component, so it is compared here only. */
  const visitReached = (found: Reached): void => {
    if (found.delta.keyword === 'xml' && found.path.length === 0 && differsInNameOnly(found.pair, all.sources)) return
    report(found)
  }
  if (element !== null) report({ ...OF_THE_WHOLE, delta: element, pair })
  const texts = scalarTexts(pair, use)
  const prove: Prove = (one, above) => (all.isAlarming(one) ? proofs.of(one, above, texts.get(one) ?? null) : above)
  reachChanges(pair, visitReached, maxWays ?? MAX_WAYS, prove, all.required)
  for (const { reached, words } of uncovered(pair, proofs, alarms, direction)) report(reached, words)
}

/** What the move to another version of OpenAPI did to the keyword that changed; null if it did nothing. */
function effectOfMove({ delta, pair }: Reached, { move }: SchemaSources): string | null {
  if (move === undefined) return null
  const gained = movedKeywords(delta, pair.before)
  const lost = movedKeywords(delta, pair.after)
  if (gained.length > 0) return `${quoted(gained)} takes effect by the move ${move}`
  return lost.length > 0 ? `${quoted(lost)} loses its effect by the move ${move}` : null
}

/** References in place of a schema: what they lead to takes effect as a whole. */
const REFERENCES: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef'])

/** The keywords without effect on a side that a change may come from. A finding about a whole schema names all of them. */
function movedKeywords({ keyword, steps }: SchemaDelta, { ignored = [] }: ResolvedSchema): readonly string[] {
  const isOfWhole = steps.length === 0 && !KEYWORD_FORMS.has(keyword)
  return ignored.filter((name) =>
    isOfWhole
      ? KEYWORD_FORMS.has(name) || name === 'nullable'
      : name === keyword || name === steps[0] || REFERENCES.has(name),
  )
}

function quoted(keywords: readonly string[]): string {
  return keywords
    .toSorted(byCodeUnit)
    .map((name) => `\`${name}\``)
    .join(', ')
}
