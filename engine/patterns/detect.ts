/** Findings → named patterns with provenance. */
import type { FindingGroup } from '../finding.ts'
import type { PatternReport } from './pattern.ts'

export function detectPatterns(_groups: readonly FindingGroup[]): PatternReport {
  return { patterns: [], pattern_sources: [], detected_patterns: [] }
}
