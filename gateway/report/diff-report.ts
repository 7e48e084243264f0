/** The answer of a comparison in its wire form (docs/reference/api.md#post-apidiff): made once here, for `/api/diff` and for the command line. */
import {
  countFindings,
  countPlaces,
  expandFindings,
  LEVELS,
  type Comparison,
  type ComparisonStats,
  type Decision,
  type DetectedPattern,
  type Finding,
  type FindingGroup,
  type Level,
  type Occurrence,
  type Operation,
} from '../../engine/internal.ts'

export interface ReportGroup {
  readonly id: string
  readonly rule: string
  readonly code: string
  readonly level: Level
  readonly direction: FindingGroup['direction']
  readonly location: string
  readonly side: FindingGroup['side']
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  readonly explanation: string
  readonly fix: string
  /** Distinct operations that the change reaches, in the order of the contract; the first ones, where it reaches very many. */
  readonly operations: readonly Operation[]
  readonly tools: readonly string[]
  /** Findings of the group. */
  readonly count: number
}

interface ReportSummary {
  readonly breaking: number
  readonly dangerous: number
  readonly info: number
  /** What the default policy would say of the worst level; never a decision. */
  readonly decision_hint: Decision
  readonly semver: 'major' | 'minor' | 'none'
  /** False where a side refers to something that was not handed in: what is said covers the rest only. */
  readonly analysis_complete: boolean
}

/** A reference whose target was not compared. */
interface ReportReference {
  readonly side: 'base' | 'head'
  /** As written. */
  readonly reference: string
  /** Pointer of the object that holds it. */
  readonly location: string
}

export interface DiffReport {
  readonly summary: ReportSummary
  readonly findings: readonly Finding[]
  readonly groups: readonly ReportGroup[]
  /** Findings left out of `findings` because of the limit; `groups` is always whole. */
  readonly truncated: number
  readonly patterns: readonly string[]
  readonly detected_patterns: readonly DetectedPattern[]
  readonly stats: ComparisonStats
  readonly spec_versions: Comparison['spec_versions']
  /** At most `MAX_REFERENCES`; `summary.analysis_complete` is false when there is any. */
  readonly unresolved_references: readonly ReportReference[]
}

const MAX_REFERENCES = 200

/** `limit` bounds `findings` (docs/reference/api.md#post-apidiff, default 5,000). */
export function diffReport(comparison: Comparison, limit: number): DiffReport {
  const { groups, patterns, detected_patterns, stats, spec_versions, unresolved } = comparison
  const findings = expandFindings(groups, limit)
  return {
    summary: summarize(groups, unresolved.length === 0),
    findings,
    groups: groups.map(reportGroup),
    truncated: countFindings(groups) - findings.length,
    patterns,
    detected_patterns,
    stats,
    spec_versions,
    unresolved_references: unresolved
      .slice(0, MAX_REFERENCES)
      .map(({ side, reference, location }) => ({ side, reference, location })),
  }
}

/** True when something at `level` or worse was found. */
export function reaches(report: DiffReport, level: Level): boolean {
  return LEVELS.slice(0, LEVELS.indexOf(level) + 1).some((worse) => report.summary[worse] > 0)
}

function summarize(groups: readonly FindingGroup[], isComplete: boolean): ReportSummary {
  const breaking = countFindings(groups, 'breaking')
  const dangerous = countFindings(groups, 'dangerous')
  const info = countFindings(groups, 'info')
  return {
    breaking,
    dangerous,
    info,
    decision_hint: breaking > 0 || !isComplete ? 'BLOCK' : dangerous > 0 ? 'REQUIRE_APPROVAL' : 'ALLOW',
    semver: breaking > 0 ? 'major' : dangerous + info > 0 ? 'minor' : 'none',
    analysis_complete: isComplete,
  }
}

const NAMED = 3

/** That a comparison is not complete, in one sentence; null: it is. */
export function incompleteLine({ summary, unresolved_references: references }: DiffReport): string | null {
  if (summary.analysis_complete) return null
  const shown = references
    .slice(0, NAMED)
    .map(({ side, reference, location }) => `${reference} (${side}, ${location || '/'})`)
  const rest = references.length - shown.length
  return `Not complete: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} could not be resolved and was not compared.`
}

/** `3 breaking`; where changes reach several places each, also how many: the summary counts places, a list shows changes. */
export function countText(groups: readonly ReportGroup[], level: Level, word: string): string {
  const changes = groups.filter((group) => group.level === level)
  const places = changes.reduce((sum, { count }) => sum + count, 0)
  return `${changes.length} ${word}${places === changes.length ? '' : ` (at ${places} places)`}`
}

/** A group in its wire form: its operations and tools once each, and the places named where its own words do not. */
export function reportGroup(whole: FindingGroup): ReportGroup {
  const { occurrences, unlisted: _unlisted, before: _before, after: _after, ...group } = whole
  const operations = new Map<string, Operation>()
  const tools = new Set<string>()
  for (const { operation, tool } of occurrences) {
    if (operation) operations.set(`${operation.method} ${operation.path}`, operation)
    if (tool !== null) tools.add(tool)
  }
  const message = messageWithPlaces(whole)
  return { ...group, message, operations: [...operations.values()], tools: [...tools], count: countPlaces(whole) }
}

const SHOWN = 3

/** The message of a group with the parameters, headers and payloads that it reaches: `… (query parameter limit)`. */
function messageWithPlaces({ message, occurrences, unlisted = 0 }: FindingGroup): string {
  const named = occurrences.map((occurrence) => ({ ...occurrence, place: placeIn(occurrence.message, message) }))
  const places = [...new Set(named.flatMap((one) => (one.place === '' || isItsOperation(one) ? [] : [one.place])))]
  if (places.length === 0) return message
  const rest = places.length - SHOWN
  const more = rest > 0 ? ` and ${rest} more` : unlisted > 0 ? ' and more' : ''
  return `${message} (${places.slice(0, SHOWN).join('; ')}${more})`
}

/** Whether a place is only the operation, which reports list beside the message: `query note`, `/notes.v1.Notes/Get`. */
function isItsOperation({ place, operation }: Pick<Occurrence, 'operation'> & { readonly place: string }): boolean {
  if (operation === null) return false
  const { method, path } = operation
  return place === path || place.toUpperCase() === `${method} ${path}`.toUpperCase()
}

/** What a place says beyond the change; its own wording of the change may be another one. */
function placeIn(text: string, change: string): string {
  if (text === change || !text.endsWith(')')) return ''
  const start = text.startsWith(`${change} (`) ? change.length : openingOf(text)
  const place = start === -1 ? '' : text.slice(start + 2, -1)
  // A change may end with a parenthesis of its own: `tool X: … the alternative #1 (anyOf)`.
  return change.endsWith(` (${place})`) ? '' : place
}

/** Where the last parenthesis opens, those within it left aside; -1 where it does not. */
function openingOf(text: string): number {
  let depth = 0
  for (let index = text.length - 1; index > 0; index -= 1) {
    if (text[index] === ')') depth += 1
    if (text[index] === '(') depth -= 1
    if (depth === 0) return text[index - 1] === ' ' ? index - 1 : -1
  }
  return -1
}
