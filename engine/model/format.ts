/**
 * The interface of a contract format: the input and output of its comparison. Every format depends on this file, and
 * none knows the others or their list (formats/compare.ts).
 */
import type { DocumentLimits } from './limits.ts'
import type { FindingGroup, Level } from './finding.ts'
import type { Sha256 } from '../common/hash.ts'
import type { Result } from '../common/result.ts'

/** Options of `POST /api/diff` (docs/reference/api.md#post-apidiff). Absent means the default of the rule set. */
export interface CompareOptions {
  readonly limits?: DocumentLimits
  /**
   * Calendar day `YYYY-MM-DD` that sunset dates are compared with; the engine has no clock. Absent: no sunset date has
   * come, so a removal before it is breaking, and no notice is too short.
   */
  readonly today?: string
  readonly deprecation_days_stable?: number
  readonly deprecation_days_beta?: number
  readonly stability_level?: 'draft' | 'alpha' | 'beta' | 'stable'
  /** Levels of rules instead of their own, by selectors of rules (rules/catalog/selector.ts). */
  readonly levels?: Readonly<Record<string, Level | 'off'>>
  readonly match_path?: string
  readonly unmatch_path?: string
  readonly strip_prefix_base?: string
  readonly strip_prefix_head?: string
  readonly include_path_params?: boolean
  readonly case_insensitive_headers?: boolean
  readonly attributes?: readonly string[]
  /** Texts of further files that `$ref`s of the documents may name. */
  readonly files?: FurtherFiles
}

/** By path, from where the path of the document starts. */
export interface FurtherFiles {
  readonly base: Readonly<Record<string, string>>
  readonly head: Readonly<Record<string, string>>
  /** Path of the document itself; absent: its folder is where paths start, and no reference names it. */
  readonly document?: string
}

export interface ComparisonStats {
  /** Operations, tools … that the contract holds, both sides. */
  readonly operations: { readonly base: number; readonly head: number }
  readonly schemas_compared: number
  /** Distinct endpoints, fields and parameters touched by breaking or dangerous findings. */
  readonly touched: { readonly endpoints: number; readonly fields: number; readonly params: number }
}

/** A reference without a target, at one place of one side. */
export interface UnresolvedReference {
  readonly side: 'base' | 'head'
  /** As written: `./pets.yaml#/Pet`, `common/money.proto`. */
  readonly reference: string
  /** Pointer of the object that holds it; for a further file its path, `#`, and the pointer. */
  readonly location: string
  /** The tool whose schema contains it. Null: it concerns the whole contract. */
  readonly tool: string | null
}

/** The result of comparing one format. */
export interface FormatComparison {
  readonly groups: readonly FindingGroup[]
  readonly stats: ComparisonStats
  /** Version of the contract language on either side, e.g. `3.0.3`; null for an empty side. */
  readonly spec_versions: { readonly base: string | null; readonly head: string | null }
  /** The version that the contract states. Absent if its format has none, null on a side that states none. */
  readonly contract_versions?: { readonly base: string | null; readonly head: string | null }
  /**
   * The consumers that the contract states, and the operation each uses. Absent if its format has no place for them.
   */
  readonly contract_consumers?: readonly { readonly name: string; readonly operation: string | null }[]
  /** References of either side whose target was not given and so not compared. Empty: everything was compared. */
  readonly unresolved: readonly UnresolvedReference[]
}

export interface FormatOptions extends CompareOptions {
  /** Called when the comparison compares a sunset day with `today`: on another day its result may differ. */
  readonly onDayRead?: () => void
}

/** Compares two texts; an empty one is a contract that does not exist (yet, or any more). */
export type CompareFormat = (
  before: string,
  after: string,
  options: FormatOptions,
  sha256: Sha256,
) => Result<FormatComparison>
