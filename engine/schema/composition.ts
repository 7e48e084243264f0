/** Schemas made of schemas: allOf, anyOf, oneOf with their alternatives matched, and the discriminator that picks one. */
import { byCodeUnit } from '../common/code-unit-order.ts'
import type { Examination } from './examination.ts'
import { membersOf, itemsOf, locateItem } from './subschemas.ts'
import { isRecord, type JsonRecord, type Located } from './located.ts'
import { isAnnotation, isAnnotationOnly, shapeKey } from './shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

export const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'] as const
export type Composition = (typeof COMPOSITIONS)[number]

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
  reportUnmatched(examination, keyword, 'removed', removed, baseList, sources.before)
  reportUnmatched(examination, keyword, 'added', added, headList, sources.after)
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
  list: readonly unknown[],
  source: SchemaSource,
): void {
  const silent =
    keyword === 'allOf' ? items.filter(({ located }) => isAnnotationOnly(resolveSchema(located, source).value)) : []
  const report = items.filter((item) => !silent.includes(item))
  for (const [family, group] of [
    [keyword, report],
    [`${keyword}-annotation-only`, silent],
  ] as const) {
    const [first] = group
    if (first === undefined) continue
    const values = group.map(({ index }) => list[index])
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

/** Longer leftover lists than this are not searched for equal schemas under other names. */
const MAX_SEARCH = 24

/** By reference, then by equal form, then by equal meaning, then by title; a single one left on each side is one changed. */
function matchItems(before: readonly Item[], after: readonly Item[], examination: Examination): Matching {
  const matched: (readonly [Item, Item])[] = []
  let removed = before
  let added = after
  const pair = (key: (item: Item) => string | null): void => {
    if (removed.length === 0 || added.length === 0) return
    const [pairs, onlyBefore, onlyAfter] = matchByKey(removed, added, key)
    for (const one of pairs) matched.push(one)
    removed = onlyBefore
    added = onlyAfter
  }
  pair(({ reference }) => reference)
  pair(({ reference, located }) => (reference === null ? shapeKey(located.value) : null))
  if (removed.length <= MAX_SEARCH && added.length <= MAX_SEARCH) {
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

function knows(source: SchemaSource, reference: string, from: Located): boolean {
  return source.knows?.(reference, from) ?? false
}

function isUnnamed({ reference, title }: Item): boolean {
  return reference === null && title === ''
}

function matchByKey(
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

function compareDiscriminator(examination: Examination): void {
  const { add: say } = examination
  const keyword = 'discriminator'
  const [base, head] = [discriminatorOf(examination.base), discriminatorOf(examination.head)]
  if (base === null || head === null) {
    if (base === head) return
    say({
      keyword,
      action: head === null ? 'removed' : 'added',
      name: null,
      before: base,
      after: head,
      steps: [keyword],
    })
    return
  }
  if (base.propertyName !== head.propertyName) {
    const [before, after] = [base.propertyName ?? null, head.propertyName ?? null]
    say({
      keyword: 'discriminator-property-name',
      action: 'changed',
      name: null,
      before,
      after,
      steps: [keyword, 'propertyName'],
    })
  }
  const [baseMapping, headMapping] = [mappingOf(base), mappingOf(head)]
  const { before, after, sources } = examination
  compareMapping(
    { ...baseMapping, ...impliedIn(examination.base, before, sources.before, Object.keys(headMapping), baseMapping) },
    { ...headMapping, ...impliedIn(examination.head, after, sources.after, Object.keys(baseMapping), headMapping) },
    examination,
  )
}

/** The names of schemas that the other side lists and this one does not. They lead to the schemas (OpenAPI 3.1.0 §4.8.25). */
function impliedIn(
  schema: JsonRecord,
  owner: ResolvedSchema,
  source: SchemaSource,
  names: readonly string[],
  listed: JsonRecord,
): JsonRecord {
  const isChoice = ['oneOf', 'anyOf'].some((keyword) => itemsOf(schema, keyword).length > 0)
  const holder = source.dialect === 'openapi-2.0' ? 'definitions' : 'components/schemas'
  const isImplied = (name: string): boolean =>
    isChoice ? alternativeOf(schema, owner, name) !== null : knows(source, `#/${holder}/${name}`, owner)
  const implied = names.filter((name) => !Object.hasOwn(listed, name) && isImplied(name))
  return Object.fromEntries(implied.map((name) => [name, name]))
}

/** In Swagger 2.0 the name of the property alone. */
function discriminatorOf({ discriminator }: JsonRecord): JsonRecord | null {
  if (typeof discriminator === 'string') return { propertyName: discriminator }
  return isRecord(discriminator) ? discriminator : null
}

/** Where values lead; in OpenAPI 3.2 those that are not listed lead somewhere, too. */
function mappingOf(discriminator: JsonRecord): JsonRecord {
  const { defaultMapping } = discriminator
  const entries = Object.entries(membersOf(discriminator, 'mapping'))
  // The name of a schema leads to it without being listed.
  const mapping = Object.fromEntries(entries.filter(([name, target]) => name !== schemaNameOf(target)))
  return defaultMapping === undefined ? mapping : { ...mapping, 'any other value': defaultMapping }
}

/** The same schema, or an alternative that got another name and is not there under the old one any more. */
function leadsToSame(
  baseTarget: unknown,
  headTarget: unknown,
  { before, after, base, head, isSameShape }: Examination,
): boolean {
  const [baseName, headName] = [schemaNameOf(baseTarget), schemaNameOf(headTarget)]
  if (baseName === headName) return true
  const [baseAlternative, headAlternative] = [
    alternativeOf(base, before, baseName),
    alternativeOf(head, after, headName),
  ]
  if (baseAlternative === null || headAlternative === null || alternativeOf(head, after, baseName) !== null)
    return false
  return isSameShape(baseAlternative, headAlternative)
}

function alternativeOf(schema: JsonRecord, owner: ResolvedSchema, name: unknown): Located | null {
  for (const keyword of ['oneOf', 'anyOf'] as const) {
    const items = itemsOf(schema, keyword)
    const index = items.findIndex((item) => isRecord(item) && schemaNameOf(item.$ref) === name)
    if (index !== -1) return locateItem(owner, items, keyword, index)
  }
  return null
}

/** A target is a reference, or the name of a schema among the components. */
function schemaNameOf(target: unknown): unknown {
  return typeof target === 'string' ? target.replace(/^#\/(?:components\/schemas|definitions)\//, '') : target
}

/** What came is one change, and so is what went; a value that leads elsewhere is a change of its own. */
function compareMapping(base: JsonRecord, head: JsonRecord, examination: Examination): void {
  const { add: say } = examination
  const keyword = 'discriminator-mapping'
  // The order of keys in a document has no meaning.
  const [baseValues, headValues] = [Object.keys(base).sort(byCodeUnit), Object.keys(head).sort(byCodeUnit)]
  const gone = baseValues.filter((name) => !Object.hasOwn(head, name))
  const come = headValues.filter((name) => !Object.hasOwn(base, name))
  for (const [action, names, holder] of [
    ['removed', gone, base],
    ['added', come, head],
  ] as const) {
    const [first] = names
    if (first === undefined) continue
    const values = Object.fromEntries(names.map((name) => [name, holder[name]]))
    const [before, after] = action === 'added' ? [null, values] : [values, null]
    say({ keyword, action, name: names.join(', '), before, after, steps: ['discriminator', 'mapping', first] })
  }
  for (const name of baseValues) {
    if (!Object.hasOwn(head, name) || leadsToSame(base[name], head[name], examination)) continue
    const [before, after] = [base[name], head[name]]
    say({ keyword, action: 'changed', name, before, after, steps: ['discriminator', 'mapping', name] })
  }
}
