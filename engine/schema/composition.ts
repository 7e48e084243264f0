/** Schemas made of schemas: allOf, anyOf and oneOf with their alternatives matched. */
import { compareDiscriminator } from './discriminator.ts'
import type { Examination } from './examination.ts'
import { COMPOSITIONS, itemsOf, locateItem, MAX_RENAMED, membersOf, type Composition } from './subschemas.ts'
import type { JsonRecord, Located } from './located.ts'
import { isAnnotation, isAnnotationOnly, shapeKey } from './shape.ts'
import { knows, resolveSchema, type SchemaSource } from './source.ts'

export function compareComposition(examination: Examination): void {
  for (const keyword of COMPOSITIONS) compareList(examination, keyword)
  compareDiscriminator(examination)
}

/** One alternative, as far as matching needs it. */
interface Item {
  readonly index: number
  readonly located: Located
  readonly reference: string | null
  readonly title: string
  readonly label: string
  readonly value: JsonRecord
}

function compareList(examination: Examination, keyword: Composition): void {
  const { base, head, before, after, sources, descend } = examination
  if (base[keyword] === head[keyword]) return
  const baseList = itemsOf(base, keyword)
  const headList = itemsOf(head, keyword)
  const baseItems = baseList.map((_, index) =>
    itemAt(locateItem(before, baseList, keyword, index), index, sources.before),
  )
  const headItems = headList.map((_, index) =>
    itemAt(locateItem(after, headList, keyword, index), index, sources.after),
  )
  const { matched, removed, added } = matchItems(baseItems, headItems, examination)
  if (keyword !== 'allOf' && (baseList.length === 0) !== (headList.length === 0)) reportPresence(examination, keyword)
  for (const [baseItem, headItem] of matched)
    descend([`${keyword}[${headItem.label}]`], baseItem.located, headItem.located)
  reportUnmatched(examination, keyword, 'removed', removed)
  reportUnmatched(examination, keyword, 'added', added)
}

/** Alternatives where there were none are a condition; without any, what they excluded is admitted. */
function reportPresence({ base, head, add: say }: Examination, keyword: Composition): void {
  const action = head[keyword] === undefined ? 'removed' : 'added'
  const [before, after] = [base[keyword] ?? null, head[keyword] ?? null]
  say({ keyword: `${keyword}-list`, action, name: null, before, after, steps: [keyword] })
}

function itemAt(located: Located, index: number, source: SchemaSource): Item {
  const resolved = resolveSchema(located, source)
  const reference = resolved.reference
  const title = typeof resolved.value.title === 'string' ? resolved.value.title : ''
  const label = reference === null ? title || `#${index + 1}` : (reference.split('/').at(-1) ?? reference)
  return { index, located, reference, title, label, value: resolved.value }
}

function reportUnmatched(
  { add: say }: Examination,
  keyword: Composition,
  action: 'added' | 'removed',
  items: readonly Item[],
): void {
  const silent = keyword === 'allOf' ? items.filter(({ value }) => isAnnotationOnly(value)) : []
  const report = items.filter((item) => !silent.includes(item))
  for (const [family, group] of [
    [keyword, report],
    [`${keyword}-annotation-only`, silent],
  ] as const) {
    const [first] = group
    if (first === undefined) continue
    const values = group.map(({ located }) => located.value)
    const name = group.map(({ label }) => label).join(', ')
    const steps = [keyword, String(first.index)]
    const [before, after] = action === 'added' ? [null, values] : [values, null]
    say({ keyword: family, action, name, before, after, steps })
  }
}

/** A glance at a schema: those of equal meaning look the same. */
function sketchOf(schema: JsonRecord): string {
  const keywords = Object.keys(schema).filter((keyword) => !isAnnotation(keyword))
  return [...keywords.sort(), ...Object.keys(membersOf(schema, 'properties')).sort()].join(' ')
}

interface Matching {
  readonly matched: readonly (readonly [Item, Item])[]
  readonly removed: readonly Item[]
  readonly added: readonly Item[]
}

/** By reference, then by equal form, then by equal meaning, then by title; a single one left on each side is one changed. */
function matchItems(before: readonly Item[], after: readonly Item[], examination: Examination): Matching {
  const matched: (readonly [Item, Item])[] = []
  let removed = before
  let added = after
  const pair = (key: (item: Item) => string | null): void => {
    if (removed.length === 0 || added.length === 0) return
    const [pairs, onlyBefore, onlyAfter] = matchItemsByKey(removed, added, key)
    for (const one of pairs) matched.push(one)
    removed = onlyBefore
    added = onlyAfter
  }
  pair(({ reference }) => reference)
  pair(({ reference, located }) => (reference === null ? shapeKey(located.value) : null))
  if (removed.length <= MAX_RENAMED && added.length <= MAX_RENAMED) {
    for (const item of removed) {
      const sketch = sketchOf(item.value)
      const equal = added.find(
        (other) =>
          mayBeRenamed(item, other, examination) &&
          sketch === sketchOf(other.value) &&
          examination.isSameShape(item.located, other.located),
      )
      if (equal === undefined) continue
      removed = removed.filter((other) => other !== item)
      added = added.filter((other) => other !== equal)
    }
  }
  pair(({ reference, title }) => (reference === null && title !== '' ? title : null))
  const [base, head] = [removed[0], added[0]]
  if (removed.length === 1 && added.length === 1 && base && head && isUnnamed(base) && isUnnamed(head)) {
    return { matched: [...matched, [base, head]], removed: [], added: [] }
  }
  return { matched, removed, added }
}

/** Two names for one schema are a rename only where each name is unknown to the other side. */
function mayBeRenamed(before: Item, after: Item, { sources }: Examination): boolean {
  if (before.reference === null || after.reference === null) return true
  return (
    !knows(sources.after, before.reference, after.located) && !knows(sources.before, after.reference, before.located)
  )
}

function isUnnamed({ reference, title }: Item): boolean {
  return reference === null && title === ''
}

function matchItemsByKey(
  before: readonly Item[],
  after: readonly Item[],
  key: (item: Item) => string | null,
): [pairs: (readonly [Item, Item])[], removed: readonly Item[], added: readonly Item[]] {
  const pairs: (readonly [Item, Item])[] = []
  // Most lists have the same keys in the same order, at least up to what changed.
  for (const [index, item] of before.entries()) {
    const [text, partner] = [key(item), after[index]]
    if (text === null || partner === undefined || text !== key(partner)) break
    pairs.push([item, partner])
  }
  const [baseRest, headRest] = [before.slice(pairs.length), after.slice(pairs.length)]
  if (baseRest.length === 0 || headRest.length === 0) return [pairs, baseRest, headRest]
  const groups = Map.groupBy(headRest, key)
  const waiting = new Map([...groups].map(([text, group]) => [text, group.values()]))
  const taken = new Set<Item>()
  for (const item of baseRest) {
    const text = key(item)
    const partner = text === null ? undefined : waiting.get(text)?.next().value
    if (partner === undefined) continue
    pairs.push([item, partner])
    taken.add(item).add(partner)
  }
  return [pairs, baseRest.filter((item) => !taken.has(item)), headRest.filter((item) => !taken.has(item))]
}
