/** A comparison as workflow commands of GitHub Actions: each finding becomes an annotation of the contract in the pull request. */
import { LEVELS, type Level } from '../../engine/internal.ts'
import { annotationOf, detailLines, titleText, type ReportContext } from './annotation.ts'
import { countText, incompleteLine, type ReportGroup } from './diff-report.ts'
import { printable } from './printable.ts'

const COMMANDS: Readonly<Record<Level, string>> = { breaking: 'error', dangerous: 'warning', info: 'notice' }

/** Every text of a contract stands within one command, on one line: none of it can become a command of its own. */
export function renderGitHub({ report, documents, ignored }: ReportContext): string {
  const left = ignored.length === 0 ? '' : `; ${ignored.length} ignored`
  const counts = LEVELS.map((level) => countText(report.groups, level, level === 'info' ? 'compatible' : level))
  const summary = `${counts.join(', ')}${left}`
  const incomplete = incompleteLine(report)
  const gaps = incomplete === null ? [] : [`::error title=incomplete::${data(printable(incomplete))}`]
  return `${[...gaps, ...report.groups.map((group) => workflowCommand(group, documents)), summary].join('\n')}\n`
}

function workflowCommand(group: ReportGroup, documents: ReportContext['documents']): string {
  const place = annotationOf(group, documents)
  const properties = [
    ...(place === null ? [] : [`file=${property(place.path)}`]),
    ...(place?.position ? [`line=${place.position.line}`, `col=${place.position.column}`] : []),
    `title=${property(group.rule)}`,
  ]
  const text = [titleText(group), ...detailLines(group, documents)].join('\n')
  return `::${COMMANDS[group.level]} ${properties.join(',')}::${data(text)}`
}

/** As @actions/core escapes the text of a command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Properties are separated by commas and end at a colon. */
function property(text: string): string {
  return data(printable(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
