/**
 * The comparison of two texts of one contract: text → Contract → Delta[] → FindingGroup[] → patterns.
 * Pure and synchronous; may be slow on large input, so the gateway runs it in a worker (design.md, law 7).
 */
import type { Artifact, ArtifactType } from './change-set.ts'
import type { DocumentLimits } from './contracts/limits.ts'
import type { FindingGroup, Level } from './finding.ts'
import type { Sha256 } from './hash.ts'
import type { PatternReport } from './patterns/pattern.ts'
import type { Problem, Result } from './result.ts'

export { DEFAULT_DOCUMENT_LIMITS } from './contracts/limits.ts'
export type { DocumentLimits } from './contracts/limits.ts'

/** Options of `POST /api/diff` (wire.md §3). Absent means the default of the rule set. */
export interface CompareOptions {
  readonly limits?: DocumentLimits
  /** Calendar day `YYYY-MM-DD` that sunset dates are held against; the engine has no clock. Absent: sunset dates in the past are not judged. */
  readonly today?: string
  readonly deprecation_days_stable?: number
  readonly deprecation_days_beta?: number
  readonly stability_level?: 'draft' | 'alpha' | 'beta' | 'stable'
  readonly levels?: Readonly<Record<string, Level | 'off'>>
  readonly match_path?: string
  readonly unmatch_path?: string
  readonly strip_prefix_base?: string
  readonly strip_prefix_head?: string
  readonly include_path_params?: boolean
  readonly case_insensitive_headers?: boolean
  readonly attributes?: readonly string[]
  /** Texts of further files that `$ref`s of the documents may name, by path relative to the document. */
  readonly files?: { readonly base: Readonly<Record<string, string>>; readonly head: Readonly<Record<string, string>> }
}

export interface ComparisonStats {
  /** Operations, tools … that the contract holds, both sides. */
  readonly operations: { readonly base: number; readonly head: number }
  readonly schemas_compared: number
  /** Distinct endpoints, fields and parameters touched by breaking or dangerous findings. */
  readonly touched: { readonly endpoints: number; readonly fields: number; readonly params: number }
}

export interface Comparison extends PatternReport {
  readonly groups: readonly FindingGroup[]
  readonly stats: ComparisonStats
  /** Version of the contract language on either side, e.g. `3.0.3`; null for an empty side. */
  readonly spec_versions: { readonly base: string | null; readonly head: string | null }
}

/** What became of one artifact. `failed` carries the problem and never counts as analysed. */
export type ArtifactAnalysis = {
  readonly id: string
  readonly type: ArtifactType
} & ({ readonly ok: true; readonly comparison: Comparison } | { readonly ok: false; readonly problem: Problem })

export type Compare = (artifact: Artifact, options: CompareOptions, sha256: Sha256) => Result<Comparison>
