/** docs/rules.md from the rule table of the engine: every rule id with its level, what it watches and why an exception is one. */
import { LEVELS } from '../engine/index.ts'
import type { Rule } from '../engine/rules/rule.ts'
import { ruleTable } from '../engine/rules/table.ts'
import { page, table } from './reference-pages.ts'
import type { GeneratedFile } from './validators.ts'

/** Rules in the order of the table, by area; areas in the order in which they first appear. */
function byArea(rules: readonly Rule[]): ReadonlyMap<string, readonly Rule[]> {
  const areas = new Map<string, Rule[]>()
  for (const rule of rules) {
    const known = areas.get(rule.area)
    if (known === undefined) areas.set(rule.area, [rule])
    else known.push(rule)
  }
  return areas
}

function rowOf({ id, level, direction, effect, description, because }: Rule): readonly string[] {
  return [
    `\`${id}\``,
    level,
    direction === 'none' ? '' : direction,
    effect,
    because === null ? description : `${description} (${because})`,
  ]
}

export function rulesPage(): GeneratedFile {
  const rules = ruleTable()
  const counts = LEVELS.map((level) => `${rules.filter((rule) => rule.level === level).length} ${level}`).join(', ')
  const sections = [...byArea(rules)].flatMap(([area, rows]) => [
    `## ${area}`,
    table(['rule', 'level', 'side', 'effect', 'what happened'], rows.map(rowOf)),
  ])
  return page(
    'docs/rules.md',
    'Rules',
    `${rules.length} rules: ${counts}. The id in upper snake case is the reason code of a finding. Ids are pinned and only ever added to; \`options.levels\` and a policy's \`levels\` change the level of one.`,
    '*Effect* is what the change does to the set of values that the contract admits. With the side it gives the level: narrowing what a request may carry breaks callers, widening what a response may carry breaks readers. A level that differs from that is an exception, with its reason in parentheses.',
    ...sections,
  )
}
