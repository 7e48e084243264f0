/** Generates docs/rules.md, the index of all rules, and docs/rules/, a page for each area. The sources are the rule table and the cases that the tests run. */
import { LEVELS } from '../engine/internal.ts'
import type { Rule } from '../engine/rules/rule.ts'
import { ruleTable } from '../engine/rules/catalog/table.ts'
import { page, table } from './reference-pages.ts'
import { ruleExamples, type RuleExample } from './rule-examples.ts'
import type { GeneratedFile } from './validators.ts'

/** Rules in the order of the table, by area; areas in the order in which they first appear. */
function byArea(rules: readonly Rule[]): readonly (readonly [area: string, rules: readonly Rule[]])[] {
  const areas = new Map<string, Rule[]>()
  for (const rule of rules) {
    const known = areas.get(rule.area)
    if (known === undefined) areas.set(rule.area, [rule])
    else known.push(rule)
  }
  return [...areas]
}

function counted(rules: readonly Rule[]): string {
  return LEVELS.map((level) => `${rules.filter((rule) => rule.level === level).length} ${level}`).join(', ')
}

/** `request body` → `request-body.md`. */
function fileOf(area: string): string {
  return `${area.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`
}

export function rulesPages(): readonly GeneratedFile[] {
  const rules = ruleTable()
  const examples = ruleExamples()
  const areas = byArea(rules)
  return [indexPage(rules, areas), ...areas.map(([area, rows]) => areaPage(area, rows, examples))]
}

function indexPage(rules: readonly Rule[], areas: ReturnType<typeof byArea>): GeneratedFile {
  return page(
    'docs/rules.md',
    'Rules',
    `${rules.length} rules: ${counted(rules)}. The id in upper snake case is the reason code of a finding. Ids are only added, never changed. \`options.levels\` and a policy's \`levels\` change the level of a rule.`,
    'The level follows from two things: the side, and what the change does to the set of admitted values. Narrowing a request breaks callers. Widening a response breaks readers. Each area has a page with its rules: side, effect, the reason of each exception, and an example that the tests run.',
    ...areas.flatMap(([area, rows]) => [
      `## ${area}`,
      `${rows.length} rules, [with examples](rules/${fileOf(area)}).`,
      ...LEVELS.flatMap((level) => {
        const ids = rows.filter((rule) => rule.level === level).map(({ id }) => `\`${id}\``)
        return ids.length === 0 ? [] : [`**${level}**: ${ids.join(', ')}`]
      }),
    ]),
  )
}

function areaPage(area: string, rules: readonly Rule[], examples: ReadonlyMap<string, RuleExample>): GeneratedFile {
  const rows = rules.map((rule) => [...ruleCells(rule), ...exampleCells(examples.get(rule.id))])
  return page(
    `docs/rules/${fileOf(area)}`,
    `Rules: ${area}`,
    `${rules.length} rules: ${counted(rules)}. [All areas](../rules.md).`,
    '*Effect* is what the change does to the set of admitted values. A level that does not follow from side and effect is an exception, with its reason in parentheses. *Where*, *before* and *after* show the difference in the example. A linked place leads to the whole pair.',
    table(['rule', 'level', 'side', 'effect', 'what happened', 'where', 'before', 'after'], rows),
  )
}

function ruleCells({ id, level, direction, effect, description, because }: Rule): readonly string[] {
  return [
    `\`${id}\``,
    level,
    direction === 'none' ? '' : direction,
    effect,
    because === null ? description : `${description} (${because})`,
  ]
}

function exampleCells(example: RuleExample | undefined): readonly string[] {
  if (example === undefined) return ['', '', '']
  const { where, before, after, file, options } = example
  const place = code(where === '' ? '/' : where)
  const linked = file === null ? place : `[${place}](../../${file})`
  return [options === null ? linked : `${linked} with ${code(options)}`, code(before), code(after)]
}

/** Inline code: the fence is longer than any run of backticks inside (CommonMark §6.1). */
function code(text: string): string {
  if (text === '') return ''
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
  const fence = '`'.repeat(longest + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return fence + pad + text + pad + fence
}
