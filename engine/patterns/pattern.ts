/** Named patterns over findings, with provenance (docs/reference/envelope.md#pattern-source). */

export interface PatternSource {
  readonly name: string
  readonly source: 'contract_diff' | 'agent_heuristic' | 'artifact_signal'
  readonly evidence_kind: 'measured' | 'derived'
  /** Measured: rows of `detected_patterns` that show it. */
  readonly detected_pattern_indices?: readonly number[]
  /** Derived: codes of the findings that triggered the heuristic. */
  readonly basis_codes?: readonly string[]
  readonly basis_code_labels?: readonly (string | null)[]
  readonly basis_rule_id?: string
  readonly rule_id?: string
}

export interface DetectedPattern {
  readonly name: string
  readonly severity: 'CRITICAL' | 'HIGH' | 'MEDIUM'
  readonly description: string
  readonly consequence: string
  readonly affected_path: string
  readonly affected_field: string
  readonly side?: 'request' | 'response'
}

export interface PatternReport {
  /** Names, sorted, without repeats; every one has a row in `pattern_sources`. */
  readonly patterns: readonly string[]
  readonly pattern_sources: readonly PatternSource[]
  readonly detected_patterns: readonly DetectedPattern[]
}
