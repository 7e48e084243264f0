/**
 * The form in which schemas are proved: a conjunction of constraints for each schema, whatever keywords wrote it. A
 * constraint on values of one JSON type admits all values of other types.
 */
import type { ValueSet } from '../equality.ts'
import type { ResolvedSchema } from '../source.ts'

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** The order in which types are searched for a counterexample. */
export const JSON_TYPES: readonly JsonType[] = ['object', 'array', 'string', 'number', 'boolean', 'null']

/** The side of a proof that a schema belongs to: which names it describes matters for conventions on new names. */
export type ProofSide = 'sub' | 'super'

/** A schema as a conjunction. Constraints are made when they are asked for, so that recursion ends. */
export interface SchemaNode {
  readonly id: number
  readonly side: ProofSide
  readonly constraints: readonly Constraint[]
  /** Whether every value is admitted. Most nodes are looked at no further. */
  readonly isOpen: boolean
  /** The schema object that it was made from; null for one that a keyword implies. */
  readonly source: ResolvedSchema | null
  /** Of the property that holds it: true when values of this direction do not carry it. */
  readonly isUnused: boolean
}

/** What an object holds by name: keywords that only have a meaning together. */
export interface Shape {
  readonly kind: 'shape'
  readonly side: ProofSide
  readonly properties: ReadonlyMap<string, SchemaNode>
  readonly patterns: readonly (readonly [pattern: string, node: SchemaNode])[]
  /** Schema of the names that are neither described nor matched; null: no condition. */
  readonly others: SchemaNode | null
  /** Names that no value of this direction carries; of the side that gives the values only. */
  readonly unused: ReadonlySet<string>
}

export const NO_NAMES: ReadonlySet<string> = new Set()

/** Of every schema of `type: integer`. */
export const INTEGER: Constraint = { kind: 'multiple', of: 1 }

export interface Items {
  readonly kind: 'items'
  readonly prefix: readonly SchemaNode[]
  readonly rest: SchemaNode | null
}

/** How many of something there may be: characters, items, properties; or the value of a number. */
export interface Bound {
  readonly kind: 'bound'
  readonly of: 'number' | 'string' | 'array' | 'object'
  readonly end: 'min' | 'max'
  readonly limit: number
  readonly isExclusive: boolean
}

export type Constraint =
  | { readonly kind: 'never' }
  | { readonly kind: 'types'; readonly types: ReadonlySet<JsonType> }
  | { readonly kind: 'values'; readonly values: readonly unknown[]; readonly set: ValueSet }
  | Bound
  | { readonly kind: 'multiple'; readonly of: number }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'format'; readonly name: string; readonly of: 'number' | 'string' }
  /** A condition on the value that a reader makes of a text. */
  | { readonly kind: 'read'; readonly typed: TextReading['typed']; readonly constraint: Constraint }
  | { readonly kind: 'unique' }
  | Items
  | {
      readonly kind: 'contains'
      readonly node: SchemaNode
      readonly min: number
      readonly max: number | null
      /** Whether `unevaluatedItems` passes over the items that it matches; null where the draft is not known. */
      readonly evaluates: boolean | null
    }
  | Shape
  | { readonly kind: 'required'; readonly name: string }
  | { readonly kind: 'names'; readonly node: SchemaNode }
  | { readonly kind: 'dependent'; readonly name: string; readonly node: SchemaNode }
  | { readonly kind: 'all' | 'any' | 'one'; readonly nodes: readonly SchemaNode[] }
  | { readonly kind: 'not'; readonly node: SchemaNode }
  | {
      readonly kind: 'condition'
      readonly test: SchemaNode
      readonly then: SchemaNode | null
      readonly otherwise: SchemaNode | null
    }
  /**
   * What no other keyword looked at. `exact` admits the same values without a look at the rest; where there is none, `widest`
   * and `narrowest` bound it.
   */
  | {
      readonly kind: 'unevaluated'
      readonly of: 'array' | 'object'
      readonly node: SchemaNode
      readonly owner: SchemaNode
      readonly exact: SchemaNode | null
      readonly widest: Shape | Items | null
      readonly narrowest: Shape | Items
    }
  /** A condition that is not looked into. */
  | { readonly kind: 'opaque'; readonly why: string }

/**
 * True for a constraint that refuses no value. It is kept, because what it matches is evaluated (2020-12 core §10.2.2.1,
 * §10.3.1.3).
 */
export function isSilent(constraint: Constraint): boolean {
  if (constraint.kind === 'condition') return constraint.then === null && constraint.otherwise === null
  return constraint.kind === 'contains' && constraint.min <= 0 && constraint.max === null
}

/** A type besides `string` that a text may be read as. An integer is read from its digits only. */
export type TextType = 'number' | 'integer' | 'boolean' | 'null'

/** What a reader makes of a text. */
export interface TextReading {
  /** The types that it recognises in texts. */
  readonly typed: ReadonlySet<TextType>
  /** The text is the only item of a list. */
  readonly isList: boolean
}

/** A schema that a value must meet, or must not. */
export interface Literal {
  readonly node: SchemaNode
  readonly isMet: boolean
}

/** The types that a constraint is about; null: all of them. */
export function constrainedType(constraint: Constraint): JsonType | null {
  if (constraint.kind === 'bound' || constraint.kind === 'format' || constraint.kind === 'unevaluated') {
    return constraint.of
  }
  if (constraint.kind === 'multiple') {
    return 'number'
  }
  if (constraint.kind === 'pattern' || constraint.kind === 'read') {
    return 'string'
  }
  if (constraint.kind === 'unique' || constraint.kind === 'items' || constraint.kind === 'contains') {
    return 'array'
  }
  if (
    constraint.kind === 'shape' ||
    constraint.kind === 'required' ||
    constraint.kind === 'names' ||
    constraint.kind === 'dependent'
  ) {
    return 'object'
  }
  return null
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** The constraints on one value: those of a schema and of all that it combines, in whatever way. */
export function constraintsWithin(start: SchemaNode): readonly Constraint[] {
  const nodes = new Map([[start.id, start]])
  const found: Constraint[] = []
  // Grows while it is gone through.
  for (const { constraints } of nodes.values()) {
    for (const constraint of constraints) {
      found.push(constraint)
      for (const node of combinedIn(constraint)) nodes.set(node.id, node)
    }
  }
  return found
}

/** The schemas of the same value that a constraint holds. */
function combinedIn(constraint: Constraint): readonly SchemaNode[] {
  if (constraint.kind === 'all' || constraint.kind === 'any' || constraint.kind === 'one') return constraint.nodes
  if (constraint.kind === 'not' || constraint.kind === 'dependent') return [constraint.node]
  if (constraint.kind !== 'condition') return []
  return [constraint.test, constraint.then, constraint.otherwise].filter((one) => one !== null)
}
