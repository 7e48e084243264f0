/** A comparison as Markdown for a pull request or a chat: groups, worst first (docs/reference/api.md#post-apidiff). */
import { LEVELS, type Level, type Operation } from '../../engine/internal.ts'
import { countText, incompleteLine, type DiffReport, type ReportGroup } from './diff-report.ts'
import { markdownCode, markdownText } from './printable.ts'

const HEADINGS: Readonly<Record<Level, string>> = {
  breaking: 'Breaking',
  dangerous: 'Dangerous',
  info: 'Compatible',
}

const REACHED_SHOWN = 10
/** UTF-16 code units of the groups: with what stands around them it stays below what comments of pull requests take (65,536 on GitHub). */
const MAX_LENGTH = 60_000

export function renderMarkdown(report: DiffReport): string {
  const { summary } = report
  const lines = [
    '# Contract comparison',
    '',
    `${LEVELS.map((level) => boldCount(report, level)).join(', ')}. ` +
      `Hint: ${markdownCode(summary.decision_hint)}, semver ${markdownCode(summary.semver)}.`,
    '',
  ]
  const incomplete = incompleteLine(report)
  if (incomplete !== null) lines.push(`**${markdownText(incomplete)}**`, '')
  if (report.patterns.length > 0) lines.push(`Patterns: ${report.patterns.map(markdownCode).join(', ')}`, '')
  const { shown, rest } = fitting(report.groups)
  for (const level of LEVELS) {
    const sections = shown.filter(({ group }) => group.level === level)
    if (sections.length === 0) continue
    const all = report.groups.filter((group) => group.level === level).length
    lines.push(`## ${HEADINGS[level]} (${all})`, '', ...sections.map(({ text }) => text), '')
  }
  if (rest.length > 0) lines.push(restLine(rest), '')
  if (report.groups.length === 0)
    lines.push(`No change of meaning was found${summary.analysis_complete ? '' : ' in what was compared'}.`, '')
  return lines.join('\n')
}

function boldCount({ groups }: DiffReport, level: Level): string {
  return countText(groups, level, HEADINGS[level].toLowerCase()).replace(/^\d+/, '**$&**')
}

interface MarkdownSection {
  readonly group: ReportGroup
  readonly text: string
}

/** What fits, worst first, and the groups from the first on that does not. */
function fitting(groups: readonly ReportGroup[]): {
  readonly shown: readonly MarkdownSection[]
  readonly rest: readonly ReportGroup[]
} {
  const ordered = LEVELS.flatMap((level) => groups.filter((group) => group.level === level))
  const shown: MarkdownSection[] = []
  let length = 0
  for (const group of ordered) {
    const text = groupSection(group).join('\n')
    length += text.length + 1
    if (length > MAX_LENGTH) break
    shown.push({ group, text })
  }
  return { shown, rest: ordered.slice(shown.length) }
}

function restLine(rest: readonly ReportGroup[]): string {
  const counts = LEVELS.flatMap((level) => {
    const count = rest.filter((group) => group.level === level).length
    return count === 0 ? [] : [`${count} ${HEADINGS[level].toLowerCase()}`]
  })
  return `**${rest.length} more** are left out here (${counts.join(', ')}); the other forms of the report have them all.`
}

function groupSection(group: ReportGroup): readonly string[] {
  const place = group.line === null ? '' : `, ${group.side} ${group.line}:${group.column ?? 1}`
  const detail =
    group.level === 'info' ? [] : [`  - Why: ${markdownText(group.explanation)}`, `  - Fix: ${markdownText(group.fix)}`]
  return [
    `- ${markdownText(group.message)} — ${markdownCode(group.rule)} at ${markdownCode(group.location || '/')}${place}`,
    ...reachedList(group),
    ...detail,
  ]
}

function reachedList({ operations, tools }: ReportGroup): readonly string[] {
  const names = [...operations.map(operationName), ...tools]
  if (names.length === 0) return []
  const rest = names.length - REACHED_SHOWN
  const shown = names.slice(0, REACHED_SHOWN).map(markdownCode).join(', ')
  return [`  - Reaches: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`]
}

function operationName({ method, path }: Operation): string {
  return `${method} ${path}`
}
