/**
 * Members of two schemas that decide the whole. An object or a list that only holds members admits whatever its members
 * admit. If one member admits a value that the other side refuses, so does the whole.
 */
import { isSilent, type Constraint, type JsonType, type SchemaNode, type Shape } from './model.ts'

/** The same part of both sides. */
type MemberPair = readonly [sub: SchemaNode, other: SchemaNode]

/** Members for which any value of `sub` may be exchanged, and which `other` looks at in any case. */
export function decidingMembers(sub: SchemaNode, other: SchemaNode): readonly MemberPair[] {
  const own = constraintsOfAll(sub)
  if (!own.every(isMemberwise)) return []
  const asked = constraintsOfAll(other)
  return [...namedMembers(own, asked), ...itemsOfBoth(own, asked)]
}

/** The alternatives of two choices of equal length, one of the other side for each. */
export function pairedAlternatives(sub: SchemaNode, other: SchemaNode): readonly MemberPair[] {
  const asked = constraintsOfAll(other).flatMap(alternativesOf)
  return constraintsOfAll(sub)
    .flatMap(alternativesOf)
    .flatMap((nodes) => {
      const opposite = asked.find(({ length }) => length === nodes.length) ?? []
      return nodes.flatMap((one, index): readonly MemberPair[] => {
        const two = opposite[index]
        return two === undefined ? [] : [[one, two]]
      })
    })
}

/** The alternatives of a choice that the other side, which has fewer or more of them, does not seem to have. */
export function newAlternatives(
  sub: SchemaNode,
  other: SchemaNode,
  isWithin: (sub: SchemaNode, other: SchemaNode) => boolean,
): readonly SchemaNode[] {
  const choices = constraintsOfAll(other).flatMap(alternativesOf)
  if (choices.length === 0) return []
  const asked = choices.flat()
  // Most alternatives have one of the same name on the other side, so that not each is compared with each.
  const named = new Map(asked.map((node) => [referenceTo(node), node]))
  return constraintsOfAll(sub)
    .flatMap(alternativesOf)
    .filter(({ length }) => choices.every((nodes) => nodes.length !== length))
    .flat()
    .filter((one) => {
      const reference = referenceTo(one)
      const partner = reference === null ? undefined : named.get(reference)
      if (partner !== undefined) return !isWithin(one, partner)
      return reference !== null || !asked.some((two) => isWithin(one, two))
    })
}

function referenceTo({ source }: SchemaNode): string | null {
  return source?.reference ?? null
}

function alternativesOf(constraint: Constraint): readonly (readonly SchemaNode[])[] {
  return constraint.kind === 'any' || constraint.kind === 'one' ? [constraint.nodes] : []
}

/** What `constraintsOfAll` found. A schema is compared with many, and may combine thousands. */
const COMBINED = new WeakMap<readonly Constraint[], readonly Constraint[]>()

/** The constraints of a schema and of all that it combines by `allOf`. */
export function constraintsOfAll(start: SchemaNode): readonly Constraint[] {
  const { constraints } = start
  if (constraints.every(({ kind }) => kind !== 'all')) return constraints
  const known = COMBINED.get(constraints)
  if (known !== undefined) return known
  const found = combinedConstraints(start)
  COMBINED.set(constraints, found)
  return found
}

function combinedConstraints(start: SchemaNode): readonly Constraint[] {
  const nodes = new Set([start])
  // Grows while it is gone through.
  for (const node of nodes)
    for (const constraint of node.constraints)
      if (constraint.kind === 'all') for (const held of constraint.nodes) nodes.add(held)
  return [...nodes].flatMap(({ constraints }) => constraints.filter(({ kind }) => kind !== 'all'))
}

/** True for a constraint that looks at the members one by one, or not at all. */
export function isMemberwise(constraint: Constraint): boolean {
  const { kind } = constraint
  if (isSilent(constraint)) return true
  if (kind === 'bound' || kind === 'format') return constraint.of === 'number' || constraint.of === 'string'
  if (kind === 'shape') return constraint.patterns.length === 0
  if (kind === 'items') return constraint.prefix.length === 0
  return kind === 'types' || kind === 'required' || kind === 'multiple' || kind === 'pattern'
}

function namedMembers(own: readonly Constraint[], asked: readonly Constraint[]): readonly MemberPair[] {
  const [shape, more] = own.filter(isShape)
  if (shape === undefined || more !== undefined || !admitsType(own, 'object')) return []
  return asked.filter(isShape).flatMap(({ properties }) =>
    [...shape.properties].flatMap(([name, sub]): readonly MemberPair[] => {
      const other = properties.get(name)
      // A member that is not sent has no value that could be refused.
      return other === undefined || shape.unused.has(name) ? [] : [[sub, other]]
    }),
  )
}

function itemsOfBoth(own: readonly Constraint[], asked: readonly Constraint[]): readonly MemberPair[] {
  const [items, more] = own.flatMap((one) => (one.kind === 'items' && one.rest !== null ? [one.rest] : []))
  if (items === undefined || more !== undefined || !admitsType(own, 'array')) return []
  return asked.flatMap((one): readonly MemberPair[] =>
    one.kind === 'items' && one.prefix.length === 0 && one.rest !== null ? [[items, one.rest]] : [],
  )
}

export function isShape(constraint: Constraint): constraint is Shape {
  return constraint.kind === 'shape'
}

function admitsType(constraints: readonly Constraint[], type: JsonType): boolean {
  return constraints.every((one) => one.kind !== 'types' || one.types.has(type))
}
