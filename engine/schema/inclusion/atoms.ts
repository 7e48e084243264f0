/** What follows from a schema that a value must meet, or must not: the conditions that a search gathers. */
import type { Constraint, Literal, SchemaNode, Shape } from './model.ts'

/** Which name a demanded member has. */
export type Where =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** Neither described nor matched by a shape. */
  | { readonly kind: 'beyond'; readonly shape: Shape }
  | { readonly kind: 'any' }

/** What follows from literals for values of one type. */
export type Atom =
  | { readonly kind: 'keep'; readonly constraint: Constraint; readonly isMet: boolean }
  | { readonly kind: 'presence'; readonly name: string; readonly isPresent: boolean }
  /** There is a member at such a name, with such a name, whose value is such. */
  | {
      readonly kind: 'member'
      readonly where: Where
      readonly named: readonly Literal[]
      readonly value: readonly Literal[]
    }
  /** There are items, as many as said, at different positions of those from `from` on, or at `from` only. */
  | {
      readonly kind: 'item'
      readonly from: number
      readonly isOnly: boolean
      readonly count: number
      readonly value: readonly Literal[]
    }

/** One alternative of many, and none of the others: their literals are made when this way is tried. */
export interface Only {
  readonly kind: 'only'
  readonly node: SchemaNode
  readonly among: readonly SchemaNode[]
}

export type Pending = Literal | Atom | Only
/** All of it together. */
export type LiteralSet = readonly Pending[]

export const met = (node: SchemaNode): Literal => ({ node, isMet: true })
export const unmet = (node: SchemaNode): Literal => ({ node, isMet: false })
