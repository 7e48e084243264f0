/** The input and output of the comparison of one keyword at a pair of schemas. */
import type { DeltaSeries, SchemaDelta } from './delta.ts'
import type { JsonRecord, Located } from './located.ts'
import type { ResolvedSchema, SchemaSource } from './source.ts'

/** What all pairs of a comparison share: where their schemas come from, and where changes are reported. */
export interface ComparisonContext {
  readonly sources: SchemaSources
  readonly add: (delta: SchemaDelta) => void
  /** Reports a series of changes, which may be empty or very long. */
  readonly reportEach: (series: DeltaSeries) => void
  readonly descend: (steps: readonly string[], before: Located, after: Located, isRequired?: boolean | null) => void
  /** Compares the subtypes that the discriminators of two schemas select. */
  readonly select: (before: ResolvedSchema, after: ResolvedSchema) => void
  readonly isSameShape: (before: Located, after: Located) => boolean
  /** The same, where no discriminator selects subtypes, which may differ. */
  readonly isSameWithSubtypes: (before: Located, after: Located) => boolean
}

/** The schemas of one pair, whatever form their members are brought to. */
export interface PairContext extends ComparisonContext {
  readonly before: ResolvedSchema
  readonly after: ResolvedSchema
}

/** One pair for the comparison of a keyword. */
export interface Examination extends PairContext {
  /** The members that are compared: those of `before` and `after`, brought to one form. */
  readonly base: JsonRecord
  readonly head: JsonRecord
}

export interface SchemaSources {
  readonly before: SchemaSource
  readonly after: SchemaSource
  /** The move between two versions of OpenAPI, in words. Absent: both sides are of one. */
  readonly move?: string
}
