/**
 * Whether a schema admits a value, where that is seen without a search: most schemas only say which types there are and which
 * members an object holds. It needs no steps.
 */
import { holds, isInBound, type Evaluation } from './evaluate.ts'
import { exampleOf } from './formats.ts'
import { constraintsOfAll } from './members.ts'
import { constrainedType, isSilent, type Constraint, type SchemaNode } from './model.ts'

/** Values within values that are looked into. */
const MAX_LEVELS = 60

/** How many levels the value has that is seen. That is the same whatever was asked about first. */
const LEVELS = new WeakMap<SchemaNode, number>()
/** Within how many levels none is seen. Many members may lead to one schema. */
const UNSEEN = new WeakMap<SchemaNode, number>()

/**
 * True if a value is seen; false says nothing.
 * @param node by convention, no name that it requires may be left out of its values
 */
export function hasEvidentValue(node: SchemaNode): boolean {
  return levelsOf(node, MAX_LEVELS) !== null
}

function levelsOf(node: SchemaNode, most: number): number | null {
  const known = LEVELS.get(node)
  if (known !== undefined) return known > most ? null : known
  if (most <= (UNSEEN.get(node) ?? 0)) return null
  const found = levelsUnder(constraintsOfAll(node), most)
  if (found === null) UNSEEN.set(node, most)
  else LEVELS.set(node, found)
  return found
}

/** Values that meet most conditions on scalars. */
const PLAIN: readonly unknown[] = [null, true, 0, 1, '', 'aa']
/** Checks of scalars, which have no parts to look into. */
const FREE: Evaluation = { spend: () => true, known: new WeakMap() }

function levelsUnder(all: readonly Constraint[], most: number): number | null {
  const constraints = all.filter((one) => !isSilent(one))
  const [choice, more] = constraints.filter(isChoice)
  // Of several choices, beside each other or in each other, there are too many combinations.
  if (more !== undefined) return null
  if (choice !== undefined) {
    const others = constraints.filter((one) => one !== choice)
    return firstKnown(choice.nodes, (node) => {
      const own = constraintsOfAll(node)
      return own.some(isChoice) ? null : levelsUnder([...own, ...others], most)
    })
  }
  const listed = constraints.find(({ kind }) => kind === 'values')
  const values = listed?.kind === 'values' ? listed.values : [...PLAIN, ...examplesFor(constraints)]
  if (values.some((value) => isScalarMeeting(value, constraints))) return 1
  if (listed !== undefined) return null
  return levelsOfArray(constraints, most) ?? levelsOfObject(constraints, most)
}

function isChoice(constraint: Constraint): constraint is Extract<Constraint, { readonly kind: 'all' | 'any' | 'one' }> {
  return constraint.kind === 'any'
}

function firstKnown<Item>(items: readonly Item[], find: (item: Item) => number | null): number | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}

function examplesFor(constraints: readonly Constraint[]): readonly unknown[] {
  return constraints.flatMap((one) => (one.kind === 'format' ? [exampleOf(one.name)] : []))
}

function isScalarMeeting(value: unknown, constraints: readonly Constraint[]): boolean {
  if (typeof value === 'object' && value !== null) return false
  const type = value === null ? 'null' : typeof value
  return constraints.every((one) => {
    const own = constrainedType(one)
    if (own !== null) return own !== type || (one.kind !== 'pattern' && holds(one, value, FREE) === true)
    return (one.kind === 'types' || one.kind === 'values') && holds(one, value, FREE) === true
  })
}

/** The conditions on values of a type; null where these are of another type, or more is asked of them than is looked at. */
function conditionsOn(type: 'array' | 'object', constraints: readonly Constraint[]): readonly Constraint[] | null {
  const about: Constraint[] = []
  for (const one of constraints) {
    const own = constrainedType(one)
    if (one.kind === 'types' ? !one.types.has(type) : own === null) return null
    if (own === type) about.push(one)
  }
  return about
}

/** Of a list with as many items as there must be. */
function levelsOfArray(constraints: readonly Constraint[], most: number): number | null {
  const conditions = conditionsOn('array', constraints)
  const count = conditions === null ? null : leastCount(conditions)
  if (conditions === null || count === null) return null
  const others = conditions.filter(({ kind }) => kind !== 'bound')
  const [items, more] = others
  if (others.every(({ kind }) => kind === 'items' || kind === 'unique') && count === 0) return 1
  if (items === undefined) return 1
  if (more !== undefined || items.kind !== 'items' || items.prefix.length > 0) return null
  const below = items.rest === null ? 0 : levelsOf(items.rest, most - 1)
  return below === null ? null : below + 1
}

/** Of an object that holds what it is required to, and as many others as there must be. */
function levelsOfObject(constraints: readonly Constraint[], most: number): number | null {
  const conditions = conditionsOn('object', constraints)
  const count = conditions === null ? null : leastCount(conditions)
  if (conditions === null || count === null) return null
  const required = new Set(conditions.flatMap((one) => (one.kind === 'required' ? [one.name] : [])))
  const [shape, more] = conditions.filter((one) => one.kind === 'shape')
  const isLooked = conditions.every(({ kind }) => kind === 'bound' || kind === 'required' || kind === 'shape')
  if (!isLooked || more !== undefined || (shape?.patterns.length ?? 0) > 0) return null
  if (!conditions.every((one) => one.kind !== 'bound' || isInBound(one, Math.max(count, required.size)))) return null
  let levels = 1
  const hold = (name: string): boolean => {
    const member = shape?.properties.get(name) ?? shape?.others ?? null
    if (shape?.unused.has(name) === true) return false
    const below = member === null ? 0 : levelsOf(member, most - 1)
    levels = Math.max(levels, (below ?? 0) + 1)
    return below !== null
  }
  if (![...required].every(hold)) return null
  let missing = count - required.size
  for (const name of shape?.properties.keys() ?? []) {
    if (missing <= 0) break
    if (!required.has(name) && hold(name)) missing -= 1
  }
  return missing <= 0 ? levels : null
}

/** The least number of members that there may be; null where none may. */
function leastCount(conditions: readonly Constraint[]): number | null {
  const bounds = conditions.filter((one) => one.kind === 'bound')
  const mins = bounds.filter(({ end }) => end === 'min')
  const least = Math.max(0, ...mins.map(({ limit, isExclusive }) => Math.ceil(limit) + (isExclusive ? 1 : 0)))
  return bounds.every((one) => isInBound(one, least)) ? least : null
}
