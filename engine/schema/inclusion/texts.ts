/**
 * Values that are written as text, in a query or a form. A text that readers may take for several values is admitted, or
 * refused, only if each of these values is.
 */
import { admitsValue, type Evaluation, type Truth } from './evaluate.ts'
import { constraintsWithin, type Constraint, type SchemaNode } from './model.ts'
import { itemNodes, memberNodes } from './places.ts'
import { namedTypes, scalarReadings } from './reading.ts'

/** More ways to read a value than these are not tried. */
const MOST_READINGS = 64

/** Whether one schema admits the text of a value and the other one refuses it, however each of them lets it be read. */
export function separatesText(sub: SchemaNode, other: SchemaNode, value: unknown, by: Evaluation): boolean {
  return refusesText(other, value, by) && isEach(sub, value, by, (verdict) => verdict !== false)
}

/** Whether a schema refuses the text of a value, however it lets it be read. */
export function refusesText(node: SchemaNode, value: unknown, by: Evaluation): boolean {
  return isEach(node, value, by, (verdict) => verdict === false)
}

function isEach(node: SchemaNode, value: unknown, by: Evaluation, isWanted: (verdict: Truth) => boolean): boolean {
  const readings = valueReadings([node], value)
  return readings !== null && readings.every((reading) => isWanted(admitsValue(node, reading, by)))
}

/** Null if there are too many. */
function valueReadings(nodes: readonly SchemaNode[], value: unknown, isMember = false): readonly unknown[] | null {
  // A schema that is a part of several parts counts once.
  const constraints = [...new Set([...new Set(nodes)].flatMap(constraintsWithin))]
  if (Array.isArray(value)) {
    const within = constraints.flatMap(itemNodes)
    return combined(value.map((item) => valueReadings(within, item, isMember)))
  }
  if (typeof value === 'object' && value !== null) {
    // An object within an object is JSON, in which types are distinguished.
    if (isMember) return [value]
    const members: readonly [string, unknown][] = Object.entries(value)
    const below = (name: string): readonly SchemaNode[] => constraints.flatMap((one) => memberNodes(one, name))
    const lists = combined(members.map(([name, member]) => valueReadings(below(name), member, true)))
    return lists?.map((list) => Object.fromEntries(members.map(([name], index) => [name, list[index]]))) ?? null
  }
  return textReadings(constraints, writtenText(value))
}

function writtenText(value: unknown): string {
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

function textReadings(constraints: readonly Constraint[], text: string): readonly unknown[] | null {
  const types = namedTypes(constraints)
  const scalars = scalarReadings(types, text)
  if (!types.has('array')) return scalars
  // A list of one is written as its item.
  const items = valueReadings(constraints.flatMap(itemNodes), text)?.map((item) => [item]) ?? null
  return items === null || types.size === 1 ? items : [...items, ...scalars]
}
