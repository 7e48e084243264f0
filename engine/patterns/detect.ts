/** Findings → named patterns with provenance: each name says what it rests on, by row or by code (docs/reference/envelope.md#pattern-source). */
import { byCodeUnit } from '../common/code-unit-order.ts'
import { parsePointer } from '../contracts/pointer.ts'
import { countPlaces, type FindingGroup } from '../model/finding.ts'
import { ruleOf } from '../rules/catalog/table.ts'
import { AGENT_PATTERNS, type AgentPattern } from './agent.ts'
import { GOVERNANCE_PATTERNS, type GovernancePattern } from './governance.ts'
import type { DetectedPattern, PatternReport, PatternSource } from './pattern.ts'

/** Names the patterns in the findings of one comparison; rows follow the order of the groups within each pattern. */
export function detectPatterns(groups: readonly FindingGroup[]): PatternReport {
  const rows: DetectedPattern[] = []
  const sources: PatternSource[] = []
  for (const pattern of GOVERNANCE_PATTERNS) {
    const found = groups.filter(pattern.matches).map((group) => detectedPattern(pattern, group))
    if (found.length === 0) continue
    sources.push({
      name: pattern.name,
      source: 'contract_diff',
      evidence_kind: 'measured',
      detected_pattern_indices: found.map((_, index) => rows.length + index),
    })
    // Spread as arguments, as many as a hostile contract brings would not fit on the stack.
    for (const row of found) rows.push(row)
  }
  for (const pattern of AGENT_PATTERNS) {
    const found = groups.filter(pattern.matches)
    if (found.length > 0) sources.push(derivedSource(pattern, found))
  }
  const patterns = sources.map(({ name }) => name).sort(byCodeUnit)
  return { patterns, pattern_sources: sources, detected_patterns: rows }
}

function derivedSource({ name, ruleId }: AgentPattern, groups: readonly FindingGroup[]): PatternSource {
  const labels = new Map(groups.map(({ code, rule }) => [code, ruleOf(rule)?.description ?? null]))
  const basis = [...labels].sort(([a], [b]) => byCodeUnit(a, b))
  return {
    name,
    source: 'agent_heuristic',
    evidence_kind: 'derived',
    basis_codes: basis.map(([code]) => code),
    basis_code_labels: basis.map(([, label]) => label),
    rule_id: ruleId,
  }
}

function detectedPattern(pattern: GovernancePattern, group: FindingGroup): DetectedPattern {
  const { direction } = group
  const row: DetectedPattern = {
    name: pattern.name,
    severity: pattern.severity[group.level],
    description: descriptionOf(group),
    consequence: pattern.consequence,
    affected_path: affectedPath(group),
    affected_field: affectedField(group),
  }
  return pattern.hasSide && direction !== 'none' ? { ...row, side: direction } : row
}

function descriptionOf(group: FindingGroup): string {
  const places = countPlaces(group)
  return places > 1 ? `${group.message} (in ${places} places)` : group.message
}

/** The first operation or tool that the change reaches; empty for what concerns the whole contract. */
function affectedPath({ occurrences }: FindingGroup): string {
  const [first] = occurrences
  if (first === undefined) return ''
  return first.operation === null ? (first.tool ?? '') : `${first.operation.method} ${first.operation.path}`
}

/** The property by the pointer, where that passes one; else the parameter or name that the words give. */
function affectedField({ location, message, occurrences }: FindingGroup): string {
  const tokens = parsePointer(location) ?? []
  const named = tokens.filter((_, index) => tokens[index - 1] === 'properties')
  if (named.length > 0) return named.join('.')
  const parameter = /\((?:query|path|header|cookie) parameter ([^)]{1,200})\)$/.exec(occurrences[0]?.message ?? '')?.[1]
  return parameter ?? /`([^`]{1,200})`/.exec(message)?.[1] ?? ''
}
