/** What every report that lists one finding after another says of it, each fact on a line of its own. */
import type { ReportGroup } from './diff-report.ts'
import { printable } from './printable.ts'
import type { ReportedPair } from './annotation.ts'

const REACHED_SHOWN = 20

/** `name:line:column` of the finding, in the document it stands in. */
function placeText({ side, line, column, location }: ReportGroup, pair: ReportedPair): string {
  const { name } = pair[side]
  const place = line === null ? name : `${name}:${line}:${column ?? 1}`
  return printable(`${place} ${location || '/'}`)
}

/** `METHOD /path` of operations and names of tools. */
export function reachedNames({ operations, tools }: Pick<ReportGroup, 'operations' | 'tools'>): readonly string[] {
  return [...operations.map(({ method, path }) => `${method} ${path}`), ...tools].map(printable)
}

/** The change and what it reaches, when that is little: enough to tell it from its neighbours in a list of titles. */
export function titleText(group: ReportGroup): string {
  const [first, ...rest] = reachedNames(group)
  const reach = first === undefined ? '' : rest.length === 0 ? ` (${first})` : ` (${rest.length + 1} places)`
  return `${printable(group.message)}${reach}`
}

export function detailLines(group: ReportGroup, pair: ReportedPair): readonly string[] {
  const names = reachedNames(group)
  const rest = names.length - REACHED_SHOWN
  const shown = names.slice(0, REACHED_SHOWN).join(', ')
  const advice = group.level === 'info' ? [] : [`Why: ${printable(group.explanation)}`, `Fix: ${printable(group.fix)}`]
  return [
    `At: ${placeText(group, pair)}`,
    ...advice,
    ...(names.length === 0 ? [] : [`Reaches: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`]),
  ]
}
