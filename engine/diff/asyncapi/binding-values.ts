/** Values of binding settings in one form: limits as numbers, lists of objects side by side, schemas without texts. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import { isRecord, stepInto, textAt, type JsonRecord, type Located, type Place } from '../../schema/located.ts'

export type LocatedRecord = Located & { readonly value: JsonRecord }

/** The lists of the binding specifications are sets: topics, policies, regions. */
export function sortedSet(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => canonicalJson(item)).sort(byCodeUnit) : value
}

/**
 * A limit as a number; null if it is none. Some protocols write it as text: a duration in seconds with its unit.
 * @param unlimited the value that the protocol writes for no limit, beside -1
 */
export function limitOf(value: unknown, unlimited: unknown): number | null {
  if (value === -1 || (unlimited !== undefined && value === unlimited)) return Number.POSITIVE_INFINITY
  if (typeof value === 'string' && /^\d+(?:\.\d+)?s?$/.test(value)) return Number.parseFloat(value)
  return typeof value === 'number' ? value : null
}

/** Members of a schema that restrict no value. */
const TEXTS: ReadonlySet<string> = new Set([
  'title',
  'description',
  '$comment',
  'examples',
  'externalDocs',
  'deprecated',
])

/** Members of a schema whose lists have no order. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type'])

/** A described value without the texts of its schema, and without the order of its sets. One value of an enum is a constant. */
export function withoutTexts(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { const: constant, ...rest } = value
  const stated = constant === undefined ? rest : { ...rest, enum: [constant] }
  const members = Object.entries(stated).filter(([name]) => !TEXTS.has(name))
  return Object.fromEntries(members.map(([name, member]) => [name, SETS.has(name) ? sortedSet(member) : member]))
}

/** An object, or a list of objects: its parts are reported one by one. */
export function isHolder(located: Located | null): located is Located {
  const value: unknown = located?.value
  return isRecord(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => isRecord(item)))
}

/** Both sides as objects. The order of a list has no meaning, so equal items and those of one name have one index. */
export function sideBySide(before: Located, after: Located): readonly [LocatedRecord, LocatedRecord] {
  const [items, others] = [itemsOf(before), itemsOf(after)]
  if (items === null || others === null) return [asRecord(before), asRecord(after)]
  const places = new Map<number, number>()
  const taken = new Set<number>()
  for (const keyOf of [canonicalJson, itemName]) {
    const indexes = [...items.keys()].filter((index) => !taken.has(index)).toReversed()
    const open = Map.groupBy(indexes, (index) => keyOf(items[index]))
    for (const [index, item] of others.entries()) {
      const key = places.has(index) ? '' : keyOf(item)
      const place = key === '' ? undefined : open.get(key)?.pop()
      if (place === undefined) continue
      places.set(index, place)
      taken.add(place)
    }
  }
  const free = Array.from({ length: items.length + others.length }, (_, place) => place).filter(
    (place) => !taken.has(place),
  )
  const rest = free.values()
  const order = others.map((_, index) => places.get(index) ?? rest.next().value ?? index)
  return [asRecord(before), listRecord(after, others, order)]
}

/** What names an item: its own name, or that of its queue or endpoint. Empty if nothing does. */
function itemName(item: unknown): string {
  if (!isRecord(item)) return ''
  const owners = [item, item['queue'], item['endpoint']]
  return owners.map((owner) => textAt(owner, 'name')).find((name) => name !== null) ?? ''
}

function itemsOf({ value }: Located): readonly unknown[] | null {
  return Array.isArray(value) ? value : null
}

function asRecord(located: Located): LocatedRecord {
  const items = itemsOf(located)
  if (items !== null) return listRecord(located, items, [...items.keys()])
  return { ...located, value: isRecord(located.value) ? located.value : {} }
}

/** The items by their numbers, each at its place in the list. */
function listRecord(list: Located, items: readonly unknown[], numbers: readonly number[]): LocatedRecord {
  const nameOf = (index: number): string => String(numbers[index] ?? index)
  const value = Object.fromEntries(items.map((item, index) => [nameOf(index), item]))
  const moved = new Map<string, Place>(items.map((_, index) => [nameOf(index), stepInto(list.at, String(index))]))
  return { value, at: { ...list.at, moved }, document: list.document }
}
