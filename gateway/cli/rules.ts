/** `preflight rules`: every rule with its coordinates and its level, for policies, ignore lists and `--level`. */
import {
  ARTIFACT_TYPES,
  COORDINATES,
  coordinatesOf,
  LEVELS,
  readSelector,
  ruleTable,
  type RuleSelector,
} from '../../engine/internal.ts'
import { markdownText, printable } from '../report/printable.ts'
import { EXIT, UsageError, type Arguments, type Command, type ExitCode } from './command.ts'
import type { CommandIo } from './io.ts'

const FORMS = ['text', 'json', 'markdown'] as const

/** The columns of a rule, which policies and reports use. */
const COLUMNS = ['rule', 'level', ...COORDINATES, 'description'] as const

type RuleColumns = Readonly<Record<(typeof COLUMNS)[number], string>>

export const rulesCommand: Command = {
  name: 'rules',
  summary: 'List the rules of a comparison with their coordinates and levels.',
  operands: '[PATTERN]',
  operandCount: [0, 1],
  options: [
    { name: 'format', value: 'FORMAT', allowed: FORMS, help: 'Output format; default: text.' },
    { name: 'type', value: 'TYPE', allowed: ARTIFACT_TYPES, help: 'Only rules for this kind of contract.' },
    { name: 'level', value: 'LEVEL', allowed: LEVELS, help: 'Only rules with this level.' },
  ],
  notes: [
    'PATTERN: part of an id, an id with * for any characters, or coordinates; separated by commas, all must match.',
    '',
    'Examples:',
    '  preflight rules --type openapi --level breaking',
    "  preflight rules 'api-security-*' --format json",
    '  preflight rules area:security,action:added',
    '',
    'Exit codes: 0 listed, 2 usage, or no rule matches.',
  ].join('\n'),
  run: runRules,
}

function runRules(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const rows = selectedRows(args)
  if (rows.length === 0) throw new UsageError('no rule matches; preflight rules lists all of them')
  const form = FORMS.find((known) => known === args.value('format')) ?? 'text'
  io.stdout.write(RENDERERS[form](rows))
  return Promise.resolve(EXIT.good)
}

function selectedRows(args: Arguments): readonly RuleColumns[] {
  const selector = selectorOf(args.operands[0] ?? '')
  const [type, level] = [args.value('type'), args.value('level')]
  return ruleTable()
    .filter((rule) => selector.has(rule.id) && (level === undefined || rule.level === level))
    .flatMap(({ id, level: own, description }) => {
      const coordinates = coordinatesOf(id)
      return coordinates === undefined ? [] : [{ rule: id, level: own, ...coordinates, description }]
    })
    .filter(({ format }) => type === undefined || format === type)
}

/** Without `*` and coordinates, any part of the id matches. */
function selectorOf(pattern: string): Pick<RuleSelector, 'has'> {
  if (!/[*:,]/.test(pattern)) return { has: (id) => id.includes(pattern) }
  const selector = readSelector(pattern)
  if (selector.ok) return selector.value
  throw new UsageError(`${selector.problem.message}; ${selector.problem.fix}`)
}

const RENDERERS: Readonly<Record<(typeof FORMS)[number], (rows: readonly RuleColumns[]) => string>> = {
  text: rulesText,
  json: (rows) => `${JSON.stringify({ rules: rows }, null, 2)}\n`,
  markdown: markdownTable,
}

function rulesText(rows: readonly RuleColumns[]): string {
  const names = COLUMNS.filter((name) => name !== 'description')
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => row[name].length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[line(names), ...rows.map((row) => line(names.map((name) => printable(row[name]))))].join('\n')}\n`
}

function markdownTable(rows: readonly RuleColumns[]): string {
  const heading = [tableLine(COLUMNS), tableLine(COLUMNS.map(() => '---'))]
  return `${[...heading, ...rows.map((row) => tableLine(COLUMNS.map((name) => markdownText(row[name]))))].join('\n')}\n`
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
