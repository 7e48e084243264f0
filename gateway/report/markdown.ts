/** A comparison as Markdown for a pull request or a chat: groups, worst first (wire.md §3). */
import { LEVELS, type Level, type Operation } from '../../engine/index.ts'
import type { DiffReport, ReportGroup } from './diff-report.ts'
import { markdownCode, markdownText } from './printable.ts'

const HEADINGS: Readonly<Record<Level, string>> = {
  breaking: 'Breaking',
  dangerous: 'Dangerous',
  info: 'Compatible',
}

const REACHED_SHOWN = 10

export function renderMarkdown(report: DiffReport): string {
  const { summary } = report
  const lines = [
    '# Contract comparison',
    '',
    `**${summary.breaking}** breaking, **${summary.dangerous}** dangerous, **${summary.info}** compatible. ` +
      `Hint: ${markdownCode(summary.decision_hint)}, semver ${markdownCode(summary.semver)}.`,
    '',
  ]
  if (report.patterns.length > 0) lines.push(`Patterns: ${report.patterns.map(markdownCode).join(', ')}`, '')
  for (const level of LEVELS) {
    const groups = report.groups.filter((group) => group.level === level)
    if (groups.length > 0) lines.push(`## ${HEADINGS[level]} (${groups.length})`, '', ...groups.flatMap(section), '')
  }
  if (report.groups.length === 0) lines.push('No change of meaning was found.', '')
  return lines.join('\n')
}

function section(group: ReportGroup): readonly string[] {
  const place = group.line === null ? '' : `, ${group.side} ${group.line}:${group.column ?? 1}`
  const detail =
    group.level === 'info' ? [] : [`  - Why: ${markdownText(group.explanation)}`, `  - Fix: ${markdownText(group.fix)}`]
  return [
    `- ${markdownText(group.message)} — ${markdownCode(group.rule)} at ${markdownCode(group.location || '/')}${place}`,
    ...reached(group),
    ...detail,
  ]
}

function reached({ operations, tools }: ReportGroup): readonly string[] {
  const names = [...operations.map(operationName), ...tools]
  if (names.length === 0) return []
  const rest = names.length - REACHED_SHOWN
  const shown = names.slice(0, REACHED_SHOWN).map(markdownCode).join(', ')
  return [`  - Reaches: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`]
}

function operationName({ method, path }: Operation): string {
  return `${method} ${path}`
}
