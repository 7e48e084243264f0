/**
 * The vocabulary of a schema comparison: what changed at one pair of schemas, without opinion about whom it breaks.
 * Rules give the opinion (engine/rules/).
 */

import type { ResolvedSchema } from './source.ts'

/** What a keyword did. `set` and `unset` are of bounds; `widened`, `narrowed` and `moved` compare sets of admitted values. */
export type SchemaAction =
  | 'added'
  | 'removed'
  | 'changed'
  | 'increased'
  | 'decreased'
  | 'set'
  | 'unset'
  | 'widened'
  | 'narrowed'
  | 'generalized'
  | 'became'
  | 'ceased'

/**
 * Changes that several keywords make together have names of their own. `listOfTypes`: alternatives that differ in type.
 * `wrappedInOneOf`: an object became a choice of objects. `joinedInOneOf`: the same, and the object is one of them.
 */

/** One change at a pair of schemas. */
export interface SchemaDelta {
  /** The family that it belongs to: a keyword of JSON Schema, or a name of a change that several keywords make together. */
  readonly keyword: string
  readonly action: SchemaAction
  /** The property, enum value, pattern or subschema that changed; null when the keyword as a whole did. */
  readonly name: string | null
  readonly before: unknown
  readonly after: unknown
  /** Steps from the schema to what changed, on the side where it stands. */
  readonly steps: readonly string[]
  /** What the variance of a property depends on; of a property delta only. */
  readonly property?: PropertyFacts
  /** Of a type delta: what rules need to weigh it. */
  readonly types?: TypeFacts
  /** Of a discriminator that one side has: what it admits, or null if that is not known. */
  readonly selected?: ResolvedSchema | null
}

/**
 * Very many changes of one keyword, made each time they are asked for: the values of one hostile list would weigh a
 * hundred times their text, held one by one.
 */
export interface DeltaSeries {
  /** How many there are; at least one. */
  readonly count: number
  each(): Iterable<SchemaDelta>
}

export interface PropertyFacts {
  readonly required: boolean
  readonly requiredBefore: boolean
  readonly hasDefault: boolean
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly readOnlyBefore: boolean
  readonly writeOnlyBefore: boolean
}

/** Types without `null`; an empty list admits every type. */
export interface TypeFacts {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly formatBefore: string | null
  readonly formatAfter: string | null
}
