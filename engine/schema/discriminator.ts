/**
 * The schemas that a discriminator selects (OpenAPI 3.0.3 §4.7.25): among the alternatives of a choice, or among the
 * schemas that inherit from its own by `allOf`. No list names the latter, so they are compared as parts of that schema.
 * It is one file, since both read the same mapping.
 */
import { byCodeUnit } from '../common/code-unit-order.ts'
import { percentDecoded } from '../common/percent-decoding.ts'
import type { ComparisonContext, Examination, PairContext } from './examination.ts'
import { isRecord, ROOT, stepInto, type JsonRecord, type Located } from './located.ts'
import { EnteredSchemas } from './looked-at.ts'
import { referenceOf, selectedValues } from './selected-values.ts'
import { knows, resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { itemsOf, locate, locateItem, MAX_RENAMED, membersOf } from './subschemas.ts'

const KEYWORD = 'discriminator'
/** The value of OpenAPI 3.2 for all that are not listed. */
const OTHER_VALUES = 'any other value'

/** Compares the discriminator itself, and what it selects of a choice. */
export function compareDiscriminator(examination: Examination): void {
  const { before, after, sources, add: say } = examination
  const [base, head] = [discriminatorOf(examination.base), discriminatorOf(examination.head)]
  if (base === null || head === null) {
    if (base === head) return
    const action = head === null ? 'removed' : 'added'
    say({ keyword: KEYWORD, action, name: null, before: base, after: head, steps: [KEYWORD] })
    if (isChoice(base === null ? after.value : before.value)) compareSelection(examination)
    return
  }
  if (base.propertyName !== head.propertyName) {
    const values = { before: base.propertyName ?? null, after: head.propertyName ?? null }
    const steps = [KEYWORD, 'propertyName']
    say({ keyword: 'discriminator-property-name', action: 'changed', name: null, ...values, steps })
  }
  const [isBaseChoice, isHeadChoice] = [isChoice(examination.base), isChoice(examination.head)]
  if (!isBaseChoice && !isHeadChoice) return
  const [stated, statedHead] = [unobvious(mappingOf(base)), unobvious(mappingOf(head))]
  const property = base.propertyName
  const renamed = property === head.propertyName ? renamedAlternatives(examination, [stated, statedHead], property) : []
  const isImplied = (name: string): boolean =>
    isBaseChoice ? alternativeOf(examination.base, before, name) !== null : knowsSchema(sources.before, name, before)
  const isImpliedInHead = (name: string): boolean =>
    isHeadChoice ? alternativeOf(examination.head, after, name) !== null : knowsSchema(sources.after, name, after)
  const names = { base: renamed.map(([name]) => name), head: renamed.map(([, name]) => name) }
  compareMappings(
    {
      base: withImpliedNames(withNames(stated, names.base), statedHead, isImplied),
      head: withImpliedNames(withNames(statedHead, names.head), stated, isImpliedInHead),
    },
    examination,
    (_, target, other) => leadsToSame(target, other, examination),
  )
}

/**
 * A discriminator on one side only selects among any values, or refuses all that it does not list. Whether there are such values
 * is proved where the change is judged.
 */
function compareSelection({
  before,
  after,
  sources,
  add: say,
}: Pick<Examination, 'before' | 'after' | 'sources' | 'add'>): void {
  const isAdded = discriminatorOf(before.value) === null
  const [owner, source] = isAdded ? [after, sources.after] : [before, sources.before]
  const action = isAdded ? 'removed' : 'added'
  // Elsewhere the keyword is a note. One that has no schemas to select from selects nothing.
  if (source.subtypes === undefined || (!isChoice(owner.value) && subtypesOf(owner, source).size === 0)) return
  const selected = selectionOf(owner, source)
  const mapping = { keyword: 'discriminator-mapping', action, name: OTHER_VALUES, steps: [KEYWORD] } as const
  say({ ...mapping, before: null, after: null, selected })
}

/** What the discriminator of a schema admits; null where it is not known. */
function selectionOf(owner: ResolvedSchema, source: SchemaSource): ResolvedSchema | null {
  const discriminator = discriminatorOf(owner.value)
  const property = discriminator?.propertyName
  if (discriminator === null || typeof property !== 'string') return null
  const targets = new Map<string, string>()
  const mapping = isChoice(owner.value) ? alternativesByValue(owner.value, discriminator) : subtypesOf(owner, source)
  for (const [name, target] of mapping ?? []) {
    const { value, document } = located(target, owner, source)
    if (document !== owner.document) return null
    targets.set(name, value.$ref)
  }
  const others = targets.get(OTHER_VALUES) ?? null
  targets.delete(OTHER_VALUES)
  const isShared = (source.subtypes?.(owner) ?? null) !== null
  const own = isShared && !isChoice(owner.value) ? ownName(owner) : null
  return mapping === null ? null : selectedValues(owner, { property, targets, others, own }, source)
}

/** The mapping, and the alternatives by the names of their schemas; null if nothing leads to an alternative. */
function alternativesByValue(schema: JsonRecord, discriminator: JsonRecord): Mapping | null {
  const mapping = new Map(mappingOf(discriminator))
  const mapped = new Set([...mapping.values()].map(schemaNameOf))
  for (const item of [...itemsOf(schema, 'oneOf'), ...itemsOf(schema, 'anyOf')]) {
    const reference = referenceOf(item)
    const name = schemaNameOf(reference)
    if (reference === null || typeof name !== 'string') continue
    if (name !== reference && !mapping.has(name)) mapping.set(name, reference)
    else if (name === reference && !mapped.has(name)) return null
  }
  return mapping
}

function ownName({ at }: ResolvedSchema): string {
  return at.step.slice(at.step.lastIndexOf('/') + 1)
}

/** Hands on the schemas whose discriminators select subtypes in the place of two others. */
export function selectSubtypes({ before, after, sources, select }: PairContext): void {
  const [isAdded, isRemoved] = [selectsAlone(after.value, before.value), selectsAlone(before.value, after.value)]
  if (isAdded || isRemoved) return select(before, after)
  if (!mayInherit(before.value) || !mayInherit(after.value)) return
  const base = selectors(before, sources.before)
  const head = base.length === 0 ? [] : selectors(after, sources.after)
  for (const [index, selector] of base.entries()) {
    const partner = head.find(({ reference }) => reference === selector.reference) ?? head[index]
    if (partner === undefined) continue
    if (selectsAny(selector, sources.before) || selectsAny(partner, sources.after)) select(selector, partner)
  }
}

/** Whether a discriminator selects what the schema does not list. */
export function selectsAny(schema: ResolvedSchema, source: SchemaSource): boolean {
  const isOwn = discriminatorOf(schema.value) !== null && !isChoice(schema.value)
  return isOwn || (source.subtypes?.(schema) ?? []).length > 0
}

/** Compares the subtypes that two discriminators select, value by value. */
export function compareSubtypes(
  { before, after }: Pick<PairContext, 'before' | 'after'>,
  context: ComparisonContext,
): void {
  const { sources } = context
  const [stated, statedHead] = [subtypesOf(before, sources.before), subtypesOf(after, sources.after)]
  if (isAlone(before, after, statedHead) || isAlone(after, before, stated))
    return compareSelection({ before, after, ...context })
  const base = withImpliedNames(stated, statedHead, (name) => knowsSchema(sources.before, name, before))
  const head = withImpliedNames(statedHead, stated, (name) => knowsSchema(sources.after, name, after))
  const refer = (name: string): readonly [Located & Reference, Located & Reference] => [
    located(base.get(name), before, sources.before),
    located(head.get(name), after, sources.after),
  ]
  compareMappings({ base, head }, context, (name) => {
    const [one, two] = refer(name)
    if (one.value.$ref === two.value.$ref) return true
    // The schema has another name. Whatever else changed in it is found below.
    const isRenamed = knows(sources.before, one.value.$ref, one) && !knows(sources.after, one.value.$ref, after)
    return isRenamed && knows(sources.after, two.value.$ref, two) && !knows(sources.before, two.value.$ref, before)
  })
  const done = new Set<string>()
  for (const name of [...base.keys()].sort(byCodeUnit)) {
    if (!head.has(name)) continue
    const [one, two] = refer(name)
    const key = `${one.value.$ref} ${two.value.$ref}`
    if (done.has(key) || !knows(sources.before, one.value.$ref, one) || !knows(sources.after, two.value.$ref, two))
      continue
    done.add(key)
    context.descend([`${KEYWORD}[${name}]`], one, two)
  }
}

/** Whether a schema has a discriminator, and the other side has none, nor subtypes that one above it selects. */
function isAlone(one: ResolvedSchema, other: ResolvedSchema, mapping: Mapping): boolean {
  const isOneSided = discriminatorOf(one.value) !== null && discriminatorOf(other.value) === null
  return isOneSided && !isChoice(other.value) && mapping.size === 0
}

/** Whether a schema selects subtypes, and the other side of it does not, nor does it hold a schema that may. */
function selectsAlone(one: JsonRecord, other: JsonRecord): boolean {
  return discriminatorOf(one) !== null && !isChoice(one) && !isChoice(other) && !mayInherit(other)
}

function mayInherit({ discriminator, allOf }: JsonRecord): boolean {
  return discriminator !== undefined || allOf !== undefined
}

/** Schemas nested deeper than this in `allOf` select nothing. */
const MAX_NESTED = 16

/** The schema itself, or the parts that it is made of in place. A shared schema selects what inherits from it. */
function selectors(schema: ResolvedSchema, source: SchemaSource, depth = 0): readonly ResolvedSchema[] {
  if (discriminatorOf(schema.value) !== null) return isChoice(schema.value) ? [] : [schema]
  if (source.subtypes === undefined || depth === MAX_NESTED) return []
  if (source.subtypes(schema) !== null) return [schema]
  const parts = itemsOf(schema.value, 'allOf')
  return parts.flatMap((_, index) =>
    selectors(resolveSchema(locateItem(schema, parts, 'allOf', index), source), source, depth + 1),
  )
}

/** Where values lead: by the mapping, or to subtypes by their names. */
type Mapping = ReadonlyMap<string, unknown>

function subtypesOf(schema: ResolvedSchema, source: SchemaSource): Mapping {
  const discriminator = discriminatorOf(schema.value)
  const mapping = new Map(discriminator === null ? [] : mappingOf(discriminator))
  const mapped = new Set([...mapping.values()].map((target) => located(target, schema, source).value.$ref))
  for (const name of source.subtypes?.(schema) ?? []) {
    if (!mapped.has(located(name, schema, source).value.$ref) && !mapping.has(name)) mapping.set(name, name)
  }
  return mapping
}

interface Reference {
  readonly value: { readonly $ref: string }
}

/** A target as a reference: the name of a shared schema, or a reference already. */
function located(target: unknown, { at, document }: ResolvedSchema, source: SchemaSource): Located & Reference {
  const text = String(target)
  const place = stepInto(stepInto(at, KEYWORD), 'mapping')
  const file = fileOfSchema(source, text, document)
  const $ref = file === undefined ? text : sharedSchema(source, text)
  return { value: { $ref }, at: place, document: file ?? document }
}

function sharedSchema({ dialect }: SchemaSource, name: string): string {
  return dialect === 'openapi-2.0' ? `#/definitions/${name}` : `#/components/schemas/${name}`
}

/** The file with a shared schema of the name: the contract itself, or the one that asks. */
function fileOfSchema(source: SchemaSource, name: string, document: string): string | undefined {
  const reference = sharedSchema(source, name)
  return ['', document].find((file) => knows(source, reference, { value: null, at: ROOT, document: file }))
}

function knowsSchema(source: SchemaSource, name: string, from: Located): boolean {
  return fileOfSchema(source, name, from.document) !== undefined
}

/** In Swagger 2.0 the name of the property alone. */
function discriminatorOf({ discriminator }: JsonRecord): JsonRecord | null {
  if (typeof discriminator === 'string') return { propertyName: discriminator }
  return isRecord(discriminator) ? discriminator : null
}

/** Whether a schema lists what a discriminator of it chooses from. */
export function isChoice(schema: JsonRecord): boolean {
  return itemsOf(schema, 'oneOf').length > 0 || itemsOf(schema, 'anyOf').length > 0
}

function mappingOf(discriminator: JsonRecord): readonly (readonly [string, unknown])[] {
  const { defaultMapping } = discriminator
  const entries = Object.entries(membersOf(discriminator, 'mapping'))
  return defaultMapping === undefined ? entries : [...entries, [OTHER_VALUES, defaultMapping]]
}

/** The name of a schema leads to it without being listed. */
function unobvious(entries: readonly (readonly [string, unknown])[]): Mapping {
  return new Map(entries.filter(([name, target]) => name !== schemaNameOf(target)))
}

/** With the names of schemas that the other side lists and this one does not: they lead to the schemas. */
function withImpliedNames(mapping: Mapping, other: Mapping, isImplied: (name: string) => boolean): Mapping {
  return withNames(
    mapping,
    [...other.keys()].filter((name) => !mapping.has(name) && isImplied(name)),
  )
}

/** With names of schemas, which lead to the schemas. */
function withNames(mapping: Mapping, names: readonly string[]): Mapping {
  return names.length === 0 ? mapping : new Map([...mapping, ...names.map((name) => [name, name] as const)])
}

/**
 * Alternatives that differ in the name of their schema only, where that name is the value that selects them. No mapping
 * leads to them, and they list no values of the property.
 */
function renamedAlternatives(
  { base, head, before, after, sources, isSameShape }: Examination,
  mappings: readonly [Mapping, Mapping],
  property: unknown,
): readonly (readonly [base: string, head: string])[] {
  const [baseNames, headNames] = [implicitNames(base, mappings[0]), implicitNames(head, mappings[1])]
  const removed = [...baseNames].filter((name) => !headNames.has(name) && !mappings[1].has(name))
  const added = [...headNames].filter((name) => !baseNames.has(name) && !mappings[0].has(name))
  // More of them are reported as alternatives that go and come.
  if (removed.length > MAX_RENAMED || added.length > MAX_RENAMED) return []
  return removed.flatMap((name) => {
    const alternative = alternativeOf(base, before, name)
    if (alternative === null || listsValues(alternative, property, sources.before)) return []
    const renamed = added.find((other) => {
      const partner = alternativeOf(head, after, other)
      return partner !== null && isSameShape(alternative, partner)
    })
    return renamed === undefined ? [] : [[name, renamed] as const]
  })
}

/** Names of the shared schemas among the alternatives to which no mapping leads. Another file has no name. */
function implicitNames(schema: JsonRecord, mapping: Mapping): ReadonlySet<string> {
  const mapped = new Set([...mapping.values()].map(schemaNameOf))
  const names = [...itemsOf(schema, 'oneOf'), ...itemsOf(schema, 'anyOf')].flatMap((item) => {
    const name = isRecord(item) ? schemaNameOf(item.$ref) : undefined
    return typeof name === 'string' && isRecord(item) && name !== item.$ref ? [name] : []
  })
  return new Set(names.filter((name) => !mapped.has(name)))
}

/** Whether a schema, or a part of it, lists the values of a property. */
function listsValues(
  schema: Located,
  property: unknown,
  source: SchemaSource,
  entered = new EnteredSchemas(),
  depth = 0,
): boolean {
  if (typeof property !== 'string' || depth === MAX_NESTED) return false
  const resolved = resolveSchema(schema, source)
  if (!entered.enter(resolved.value, depth)) return false
  const properties = membersOf(resolved.value, 'properties')
  if (Object.hasOwn(properties, property)) {
    const { value } = resolveSchema(locate(resolved, properties, 'properties', property), source)
    if (value.const !== undefined || value.enum !== undefined) return true
  }
  const parts = itemsOf(resolved.value, 'allOf')
  return parts.some((_, index) =>
    listsValues(locateItem(resolved, parts, 'allOf', index), property, source, entered, depth + 1),
  )
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
    const index = indicesByName(items).get(name)
    if (index !== undefined) return locateItem(owner, items, keyword, index)
  }
  return null
}

/** Of each list of alternatives the first of each name. Every value of a mapping asks for one. */
const INDICES = new WeakMap<readonly unknown[], ReadonlyMap<unknown, number>>()

function indicesByName(items: readonly unknown[]): ReadonlyMap<unknown, number> {
  const known = INDICES.get(items)
  if (known !== undefined) return known
  const indices = new Map<unknown, number>()
  for (const [index, item] of items.entries()) {
    const name = isRecord(item) ? schemaNameOf(item.$ref) : null
    if (isRecord(item) && !indices.has(name)) indices.set(name, index)
  }
  INDICES.set(items, indices)
  return indices
}

/** A target is a reference, or the name of a schema among the components. An accepted version has the name of the schema. */
function schemaNameOf(target: unknown): unknown {
  if (typeof target !== 'string') return target
  return (target.startsWith('#') ? percentDecoded(target) : target).replace(SHARED, '')
}

const SHARED = /^#(?:\/x-preflight-accepted\/\d+)?\/(?:components\/schemas|definitions)\//

/** What came is one change, and so is what went; a value that leads elsewhere is a change of its own. */
function compareMappings(
  { base, head }: { readonly base: Mapping; readonly head: Mapping },
  { add: say }: Pick<Examination, 'add'>,
  isSame: (name: string, target: unknown, other: unknown) => boolean,
): void {
  const keyword = 'discriminator-mapping'
  // The order of keys in a document has no meaning.
  const [baseValues, headValues] = [[...base.keys()].sort(byCodeUnit), [...head.keys()].sort(byCodeUnit)]
  const removed = baseValues.filter((name) => !head.has(name))
  const added = headValues.filter((name) => !base.has(name))
  for (const [action, names, holder] of [
    ['removed', removed, base],
    ['added', added, head],
  ] as const) {
    const [first] = names
    if (first === undefined) continue
    const values = Object.fromEntries(names.map((name) => [name, holder.get(name)]))
    const [before, after] = action === 'added' ? [null, values] : [values, null]
    say({ keyword, action, name: names.join(', '), before, after, steps: [KEYWORD, 'mapping', first] })
  }
  for (const name of baseValues) {
    const [before, after] = [base.get(name), head.get(name)]
    if (!head.has(name) || isSame(name, before, after)) continue
    say({ keyword, action: 'changed', name, before, after, steps: [KEYWORD, 'mapping', name] })
  }
}
