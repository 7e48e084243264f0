/**
 * Values that are written as text, in a query or a form. A reader makes values of a text by the types that its schema
 * names. A text that it may read in several ways is refused only if each of them is.
 */
import { admitsValue, type Evaluation, type Truth } from './evaluate.ts'
import { constraintsWithin, jsonTypeOf, type Constraint, type JsonType, type SchemaNode } from './model.ts'
import { itemNodes, memberNodes } from './places.ts'

/** More ways to read a value than these are not tried. */
const MOST_READINGS = 64

/** Whether a reader refuses the text of a value, however the schema lets it read the text. */
export function refusesText(node: SchemaNode, value: unknown, by: Evaluation): boolean {
  return isEach(node, value, by, (verdict) => verdict === false)
}

/**
 * A value whose text the one schema admits and the other one refuses, because it reads it in another way. It is the given
 * one, or one that readers may take for a value of another type.
 */
export function separatingText(sub: SchemaNode, other: SchemaNode, value: unknown, by: Evaluation): unknown {
  return [value, ...SEVERAL, ...constraintsWithin(other).flatMap(scalarsNear)].find(
    (one) => refusesText(other, one, by) && isEach(sub, one, by, (verdict) => verdict !== false),
  )
}

/** Whether a schema may refuse a value because some other schema admits it. */
export function mayExclude(node: SchemaNode): boolean {
  return constraintsWithin(node).some(({ kind }) => EXCLUDING.has(kind))
}

const EXCLUDING: ReadonlySet<Constraint['kind']> = new Set<Constraint['kind']>(['not', 'one', 'condition'])

const SEVERAL = ['0', '1', '-1', '0.5', 'true', 'text'] as const

/** Scalars at the limits of a condition. */
function scalarsNear(constraint: Constraint): readonly unknown[] {
  if (constraint.kind === 'bound') return [constraint.limit - 1, constraint.limit, constraint.limit + 1]
  if (constraint.kind === 'multiple') return [constraint.of]
  return constraint.kind === 'values' ? constraint.values.filter((value) => typeof value !== 'object') : []
}

function isEach(node: SchemaNode, value: unknown, by: Evaluation, isWanted: (verdict: Truth) => boolean): boolean {
  const readings = readingsOf([node], value)
  return readings !== null && readings.every((reading) => isWanted(admitsValue(node, reading, by)))
}

/** Null if there are too many. */
function readingsOf(nodes: readonly SchemaNode[], value: unknown, isMember = false): readonly unknown[] | null {
  const constraints = nodes.flatMap(constraintsWithin)
  if (Array.isArray(value)) {
    const within = constraints.flatMap(itemNodes)
    return combined(value.map((item) => readingsOf(within, item, isMember)))
  }
  if (typeof value === 'object' && value !== null) {
    // An object within an object is JSON, in which types are distinguished.
    if (isMember) return [value]
    const members: readonly [string, unknown][] = Object.entries(value)
    const below = (name: string): readonly SchemaNode[] => constraints.flatMap((one) => memberNodes(one, name))
    const lists = combined(members.map(([name, member]) => readingsOf(below(name), member, true)))
    return lists?.map((list) => Object.fromEntries(members.map(([name], index) => [name, list[index]]))) ?? null
  }
  return scalarReadings(constraints, textOf(value))
}

function textOf(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** All combinations of one reading for each part. */
function combined(parts: readonly (readonly unknown[] | null)[]): readonly (readonly unknown[])[] | null {
  let lists: readonly (readonly unknown[])[] = [[]]
  for (const readings of parts) {
    if (readings === null || lists.length * readings.length > MOST_READINGS) return null
    lists = lists.flatMap((list) => readings.map((reading) => [...list, reading]))
  }
  return lists
}

function scalarReadings(constraints: readonly Constraint[], text: string): readonly unknown[] | null {
  const types = namedTypes(constraints)
  const scalars = readAs(types, text)
  if (!types.has('array')) return scalars
  // A list of one is written as its item.
  const items = readingsOf(constraints.flatMap(itemNodes), text)?.map((item) => [item]) ?? null
  return items === null || types.size === 1 ? items : [...items, ...scalars]
}

function readAs(types: ReadonlySet<JsonType>, text: string): readonly unknown[] {
  const isAny = types.size === 0
  const readings: unknown[] = []
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if ((isAny || types.has('number')) && Number.isFinite(number)) readings.push(number)
  if ((isAny || types.has('boolean')) && (text === 'true' || text === 'false')) readings.push(text === 'true')
  if ((isAny || types.has('null')) && (text === '' || text === 'null')) readings.push(null)
  const isString = isAny || types.has('string') || readings.length === 0 || readings.includes(null)
  return isString ? [...readings, text] : readings
}

/** The types that schemas name, and those of the values that they list. Empty if any type will do. */
function namedTypes(constraints: readonly Constraint[]): ReadonlySet<JsonType> {
  return new Set(
    constraints.flatMap((one): readonly JsonType[] => {
      if (one.kind === 'types') return [...one.types]
      return one.kind === 'values' ? one.values.map(jsonTypeOf) : []
    }),
  )
}
