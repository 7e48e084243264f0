/** The reach of the change: blast radius and patterns over all artifacts of the change set. */
import type { FindingGroup } from '../model/finding.ts'
import type { PatternReport } from '../patterns/pattern.ts'
import type { BlastRadius } from './envelope-members.ts'
import type { ConsumerReach, JudgedArtifact } from './judgement.ts'

/** Maximum rows of detected patterns in one envelope. The evidence contains the count of the others. */
const MAX_PATTERN_ROWS = 100

/** Without a scope, the counts of the comparison. With one, what the remaining findings touch. */
export function blastRadius(
  artifacts: readonly JudgedArtifact[],
  isScoped: boolean,
  { declared, observed }: ConsumerReach,
): BlastRadius {
  const radius = { endpoints: 0, fields: 0, params: 0 }
  for (const { analysis, groups } of artifacts) {
    if (!analysis.ok) continue
    const touched = isScoped ? touchedCounts(groups) : analysis.comparison.stats.touched
    radius.endpoints += touched.endpoints
    radius.fields += touched.fields
    radius.params += touched.params
  }
  return {
    ...radius,
    consumers_declared: declared?.length ?? 0,
    consumers_observed: observed?.length ?? 0,
    graph_source: graphSource(declared !== null, observed !== null),
  }
}

function graphSource(isDeclared: boolean, isObserved: boolean): BlastRadius['graph_source'] {
  if (isDeclared && isObserved) return 'declared+observed'
  if (isDeclared) return 'declared'
  return isObserved ? 'observed' : 'none'
}

function touchedCounts(groups: readonly FindingGroup[]): { endpoints: number; fields: number; params: number } {
  const risky = groups.filter(({ level }) => level !== 'info')
  const endpoints = new Set(
    risky.flatMap(({ occurrences }) =>
      occurrences.map(({ operation, tool }) => (operation || tool ? JSON.stringify([operation, tool]) : '')),
    ),
  )
  endpoints.delete('')
  const distinct = (segment: string) =>
    new Set(risky.map(({ location }) => location).filter((location) => location.includes(segment))).size
  return { endpoints: endpoints.size, fields: distinct('/properties/'), params: distinct('/parameters/') }
}

interface MergedPatterns extends PatternReport {
  readonly omitted: number
}

/** One report for the change set: indices point to the new rows. */
export function mergePatterns(reports: readonly PatternReport[]): MergedPatterns {
  const rows = reports.flatMap(({ detected_patterns: detected }) => detected)
  let offset = 0
  const sources = reports.flatMap(({ pattern_sources: own, detected_patterns: detected }) => {
    const start = offset
    offset += detected.length
    return own.map((source) => {
      const indices = source.detected_pattern_indices?.map((index) => index + start)
      return indices
        ? { ...source, detected_pattern_indices: indices.filter((index) => index < MAX_PATTERN_ROWS) }
        : source
    })
  })
  return {
    patterns: [...new Set(reports.flatMap(({ patterns }) => patterns))].sort(),
    pattern_sources: sources,
    detected_patterns: rows.slice(0, MAX_PATTERN_ROWS),
    omitted: Math.max(0, rows.length - MAX_PATTERN_ROWS),
  }
}
