/** Comparisons made by hand, for tests of what comes after a comparison. */
import type { ArtifactAnalysis, Comparison, FindingGroup, Level, Occurrence } from '../../engine/internal.ts'

export interface FakeFinding {
  readonly rule: string
  readonly level: Level
  readonly location?: string
  readonly direction?: FindingGroup['direction']
  readonly message?: string
  readonly fix?: string
  /** `METHOD /path`, or the name of a tool; none: the contract as a whole. */
  readonly places?: readonly string[]
}

export function fakeGroup(finding: FakeFinding): FindingGroup {
  const { rule, level, location = '/paths/~1pets', message = `${rule} happened` } = finding
  const places = finding.places ?? [null]
  return {
    id: `${rule}@${location}`,
    rule,
    code: rule.toUpperCase().replaceAll('-', '_'),
    level,
    direction: finding.direction ?? 'response',
    location,
    side: 'head',
    line: 3,
    column: 5,
    message,
    explanation: 'Readers fail.',
    fix: finding.fix ?? `Undo ${rule}.`,
    before: null,
    after: null,
    occurrences: places.map((place) => fakeOccurrence(place, rule, location, message)),
  }
}

function fakeOccurrence(place: string | null, rule: string, location: string, message: string): Occurrence {
  const [method, path] = place?.split(' ') ?? []
  return {
    operation: method && path ? { method, path, operation_id: null } : null,
    tool: method && !path ? method : null,
    message: place === null ? message : `${message} at ${place}`,
    fingerprint: `fp:${rule}:${location}:${place}`,
  }
}

export function fakeComparison(findings: readonly FakeFinding[], rest: Partial<Comparison> = {}): Comparison {
  const groups = findings.map(fakeGroup)
  const risky = groups.filter(({ level }) => level !== 'info')
  return {
    groups,
    stats: {
      operations: { base: 3, head: 3 },
      schemas_compared: 7,
      touched: { endpoints: risky.reduce((sum, { occurrences }) => sum + occurrences.length, 0), fields: 0, params: 0 },
    },
    spec_versions: { base: '3.0.3', head: '3.0.3' },
    patterns: [],
    pattern_sources: [],
    detected_patterns: [],
    unresolved: [],
    reads_day: false,
    ...rest,
  }
}

export function fakeAnalysis(
  id: string,
  findings: readonly FakeFinding[],
  rest: Partial<Comparison> = {},
): ArtifactAnalysis {
  return { id, type: 'openapi', ok: true, comparison: fakeComparison(findings, rest) }
}

export function failedAnalysis(
  id: string,
  code = 'ARTIFACT_UNREADABLE',
  message = 'the text ends too early',
): ArtifactAnalysis {
  return { id, type: 'openapi', ok: false, problem: { code, message, pointer: '', line: 7, column: 2 } }
}
