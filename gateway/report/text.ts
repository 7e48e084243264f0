/** A comparison for a person at a terminal: groups, worst first, each with its place, why it breaks and how to fix it. */
import { styleText } from 'node:util'
import { ABSENT, LEVELS, type Level } from '../../engine/internal.ts'
import { countText, incompleteLine, type DiffReport, type ReportGroup } from './diff-report.ts'
import { placeText, type NamedPair } from './annotation.ts'
import { printable } from './printable.ts'

interface TextOptions {
  readonly isColoured: boolean
  /** For `name:line:column`. */
  readonly documents: NamedPair
}

const LEVEL_STYLES: Readonly<
  Record<Level, { readonly title: string; readonly mark: string; readonly colour: 'red' | 'yellow' | 'green' }>
> = {
  breaking: { title: 'BREAKING', mark: '✗', colour: 'red' },
  dangerous: { title: 'DANGEROUS', mark: '!', colour: 'yellow' },
  info: { title: 'COMPATIBLE', mark: '·', colour: 'green' },
}

const REACHED_SHOWN = 5

type TextStyle = 'red' | 'yellow' | 'green' | 'bold' | 'dim'
type Paint = (styles: readonly TextStyle[], text: string) => string

export function renderText(report: DiffReport, { isColoured, documents }: TextOptions): string {
  const paint = painter(isColoured)
  const blocks = LEVELS.flatMap((level) => {
    const groups = report.groups.filter((group) => group.level === level)
    if (groups.length === 0) return []
    const { title, colour } = LEVEL_STYLES[level]
    const heading = paint(['bold', colour], `${title} (${groups.length})`)
    return [
      [heading, ...groups.flatMap((group, index) => groupLines(group, groups[index - 1], documents, paint))].join('\n'),
    ]
  })
  const incomplete = incompleteLine(report)
  const heads = incomplete === null ? [] : [paint(['bold', 'red'], printable(incomplete))]
  return `${[...heads, totalsLine(report, paint), ...blocks].join('\n\n')}\n`
}

function painter(isColoured: boolean): Paint {
  return (styles, text) => (isColoured ? styleText([...styles], text, { validateStream: false }) : text)
}

function totalsLine({ summary, patterns, groups }: DiffReport, paint: Paint): string {
  if (groups.length === 0)
    return `No change of meaning was found${summary.analysis_complete ? '' : ' in what was compared'}.`
  const counts = LEVELS.map((level) => {
    const text = countText(groups, level, LEVEL_STYLES[level].title.toLowerCase())
    return summary[level] > 0 ? paint([LEVEL_STYLES[level].colour], text) : text
  })
  const named = patterns.length === 0 ? '' : `\nPatterns: ${patterns.map(printable).join(', ')}`
  return `${counts.join(', ')}; semver ${summary.semver}${named}`
}

/** @param previous the advice is not repeated for the next change of the same kind */
function groupLines(
  group: ReportGroup,
  previous: ReportGroup | undefined,
  documents: NamedPair,
  paint: Paint,
): readonly string[] {
  const { mark, colour } = LEVEL_STYLES[group.level]
  return [
    `  ${paint([colour], mark)} ${printable(group.message)}`,
    paint(['dim'], `      ${placeText(group, documents)}  ${printable(group.location || '/')}  [${group.rule}]`),
    ...(isSameAdvice(group, previous) ? [] : advice(group)),
    ...reached(group),
  ]
}

function isSameAdvice({ explanation, fix }: ReportGroup, previous: ReportGroup | undefined): boolean {
  return previous !== undefined && explanation === previous.explanation && fix === previous.fix
}

function advice({ level, explanation, fix }: Pick<ReportGroup, 'level' | 'explanation' | 'fix'>): readonly string[] {
  return level === 'info' ? [] : [`      why  ${printable(explanation)}`, `      fix  ${printable(fix)}`]
}

function reached({ operations, tools }: ReportGroup): readonly string[] {
  return reachedLine([...operations.map(({ method, path }) => `${method} ${path}`), ...tools])
}

function reachedLine(names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  const rest = names.length - REACHED_SHOWN
  const shown = names.slice(0, REACHED_SHOWN).map(printable).join(', ')
  return [`      reaches ${shown}${rest > 0 ? ` and ${rest} more` : ''}`]
}

/** One change with its values, for lists of changes that decide something. */
interface DecidingChange extends Pick<
  ReportGroup,
  'rule' | 'level' | 'location' | 'side' | 'line' | 'column' | 'message' | 'explanation' | 'fix'
> {
  readonly artifact: string
  readonly before: unknown
  readonly after: unknown
  readonly places: readonly string[]
  readonly policy_rule: string | null
}

const LONGEST_VALUE = 300

export function changeLines(change: DecidingChange, isColoured: boolean): readonly string[] {
  const { level, artifact, location, rule, side, line, column, message, before, after, places } = change
  const { mark, colour, title } = LEVEL_STYLES[level]
  const paint = painter(isColoured)
  const position = line === null ? '' : `  ${side}, line ${line}, column ${column ?? 1}`
  const policy = change.policy_rule === null ? '' : `  policy rule ${change.policy_rule}`
  const hasValues = before !== null || after !== null
  return [
    `  ${paint([colour], `${mark} ${title.toLowerCase()}`)}  ${printable(message)}`,
    paint(['dim'], `      ${printable(`${artifact}  ${location || '/'}${position}  [${rule}]${policy}`)}`),
    ...(hasValues ? [`      before  ${valueText(before)}`, `      after   ${valueText(after)}`] : []),
    ...advice(change),
    ...reachedLine(places),
  ]
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return ABSENT
  const text = JSON.stringify(value)
  return printable(text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text)
}
