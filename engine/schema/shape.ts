/**
 * Whether two schemas admit the same values as far as their form tells: references followed, annotations and order set
 * aside. Recursion is taken as equal until shown otherwise (coinduction). A bounded search: what is not shown the same
 * within its budget counts as different, which can only add findings.
 */
import { isEqual, isSameSet, valueKey } from './equality.ts'
import { isRecord, stepInto, type JsonRecord, type Located } from './located.ts'
import { selectsAny } from './discriminator.ts'
import { COMPOSITIONS, itemsOf, locateItem, type Composition } from './subschemas.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

interface ShapeSearch {
  readonly before: SchemaSource
  readonly after: SchemaSource
  readonly assumed: Map<JsonRecord, Set<JsonRecord>>
  budget: number
  /** Whether a schema was met that selects subtypes. */
  isSelecting: boolean
}

/** What the form of two schemas tells. Subtypes that a discriminator selects are no part of the form. */
export type ShapeAnswer = 'different' | 'same' | 'same but for subtypes'

const BUDGET = 4000

/** Keywords whose value says nothing about which values are valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'summary',
  'example',
  'examples',
  'externalDocs',
  'xml',
  '$comment',
  '$id',
  '$schema',
  '$anchor',
  '$defs',
  'definitions',
])

export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || (keyword.startsWith('x-') && keyword !== 'x-nullable')
}

/** Keywords that add no condition of their own beside the annotations. */
const USAGE: ReadonlySet<string> = new Set(['default', 'deprecated', 'readOnly', 'writeOnly'])

/** True when a schema holds annotations only, so that it admits every value. */
export function isAnnotationOnly(schema: JsonRecord): boolean {
  return Object.keys(schema).every((keyword) => isAnnotation(keyword) || USAGE.has(keyword))
}

export function compareShapes(
  before: Located,
  after: Located,
  sources: { before: SchemaSource; after: SchemaSource },
): ShapeAnswer {
  const { before: base, after: head } = sources
  const search: ShapeSearch = { before: base, after: head, assumed: new Map(), budget: BUDGET, isSelecting: false }
  if (!same(before, after, search)) return 'different'
  return search.isSelecting ? 'same but for subtypes' : 'same'
}

function same(before: Located, after: Located, search: ShapeSearch): boolean {
  search.budget -= 1
  if (search.budget < 0) return false
  const base = bare(before, search.before)
  const head = bare(after, search.after)
  search.isSelecting ||= isSelecting(base, search.before) || isSelecting(head, search.after)
  if (base.value === head.value) return true
  const assumed = search.assumed.get(base.value) ?? new Set()
  if (assumed.has(head.value)) return true
  search.assumed.set(base.value, assumed.add(head.value))
  const baseForm = { ...base, value: inOneForm(base.value) }
  const headForm = { ...head, value: inOneForm(head.value) }
  for (const keyword of new Set([...Object.keys(baseForm.value), ...Object.keys(headForm.value)])) {
    if (isAnnotation(keyword)) continue
    if (!sameKeyword(keyword, baseForm, headForm, search)) return false
  }
  return true
}

/** Only a shared schema has subtypes. */
function isSelecting(schema: ResolvedSchema, source: SchemaSource): boolean {
  return (schema.reference !== null || schema.value.discriminator !== undefined) && selectsAny(schema, source)
}

/** The schema that a chain of references and of wrappers around one schema leads to. */
export function bare(schema: Located, source: SchemaSource): ResolvedSchema {
  let current = resolveSchema(schema, source)
  for (let hops = 0; hops < MAX_WRAPPERS; hops += 1) {
    const keyword = bareWrapperOf(current.value)
    if (keyword === null) break
    current = resolveSchema(locateItem(current, itemsOf(current.value, keyword), keyword, 0), source)
  }
  return current
}

const MAX_WRAPPERS = 64

/** The keyword of a schema that only says that one other schema holds. */
export function bareWrapperOf(schema: JsonRecord): Composition | null {
  if (schema.allOf === undefined && schema.anyOf === undefined && schema.oneOf === undefined) return null
  const keyword = COMPOSITIONS.find((name) => itemsOf(schema, name).length === 1)
  if (keyword === undefined) return null
  for (const name in schema) if (name !== keyword && !isAnnotation(name)) return null
  return keyword
}

/** Constants as an enum, alternatives of constants as one, and alternatives of bare types as a list of types. */
function inOneForm(schema: JsonRecord): JsonRecord {
  const { const: value, ...rest } = schema
  if (value !== undefined) return schema.enum === undefined ? { ...rest, enum: [value] } : schema
  const keyword = (['oneOf', 'anyOf'] as const).find((name) => itemsOf(schema, name).length > 0)
  if (keyword === undefined) return schema
  const { [keyword]: _, ...others } = schema
  for (const single of ['const', 'type'] as const) {
    const values = itemsOf(schema, keyword).map((item) => onlyMember(item, single))
    const listed = single === 'const' ? 'enum' : 'type'
    if (schema[listed] !== undefined || values.includes(undefined)) continue
    // What two alternatives of oneOf admit is refused.
    if (keyword === 'oneOf' && overlaps(values)) return schema
    return { ...others, [listed]: values }
  }
  return schema
}

/** Whether two of several constants, or types, share a value. */
function overlaps(values: readonly unknown[]): boolean {
  return new Set(values.map(valueKey)).size < values.length || (values.includes('number') && values.includes('integer'))
}

/** The value of a keyword that is all that a schema says. */
function onlyMember(schema: unknown, keyword: string): unknown {
  const wrapper = isRecord(schema) ? bareWrapperOf(schema) : null
  if (isRecord(schema) && wrapper !== null) return onlyMember(itemsOf(schema, wrapper)[0], keyword)
  if (!isRecord(schema) || Array.isArray(schema[keyword])) return undefined
  for (const name in schema) if (name !== keyword && !isAnnotation(name)) return undefined
  return schema[keyword]
}

function sameKeyword(keyword: string, base: Located, head: Located, search: ShapeSearch): boolean {
  const before = isRecord(base.value) ? base.value[keyword] : undefined
  const after = isRecord(head.value) ? head.value[keyword] : undefined
  if (SETS.has(keyword)) return isSameSet(presentValues(before), presentValues(after))
  if (NAMED.has(keyword))
    return sameNamed(locatedWithin(base, keyword, before), locatedWithin(head, keyword, after), search)
  if (LISTS.has(keyword))
    return sameLists(locatedWithin(base, keyword, before), locatedWithin(head, keyword, after), search)
  if (!SINGLE.has(keyword) || before === undefined || after === undefined) return isEqual(before, after)
  return same(locatedWithin(base, keyword, before), locatedWithin(head, keyword, after), search)
}

const SETS: ReadonlySet<string> = new Set(['type', 'required', 'enum'])
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const SINGLE: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
  'unevaluatedItems',
  'unevaluatedProperties',
])

function presentValues(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

function setKey(value: unknown): string {
  return [...new Set(presentValues(value).map(valueKey))].sort().join(',')
}

function sameNamed(base: Located, head: Located, search: ShapeSearch): boolean {
  const beforeMembers = isRecord(base.value) ? base.value : {}
  const afterMembers = isRecord(head.value) ? head.value : {}
  const names = Object.keys(beforeMembers)
  if (names.length !== Object.keys(afterMembers).length || !names.every((name) => Object.hasOwn(afterMembers, name)))
    return false
  return names.every((name) =>
    same(locatedWithin(base, name, beforeMembers[name]), locatedWithin(head, name, afterMembers[name]), search),
  )
}

function sameLists(base: Located, head: Located, search: ShapeSearch): boolean {
  const beforeItems: readonly unknown[] = Array.isArray(base.value) ? base.value : []
  const afterItems: readonly unknown[] = Array.isArray(head.value) ? head.value : []
  if (beforeItems.length !== afterItems.length) return false
  return beforeItems.every((item, index) =>
    same(locatedWithin(base, String(index), item), locatedWithin(head, String(index), afterItems[index]), search),
  )
}

function locatedWithin(owner: Located, step: string, value: unknown): Located {
  return { value, at: stepInto(owner.at, step), document: owner.document }
}

/** A text that schemas written in place share when they admit the same values, references taken by name. */
export function shapeKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shapeKey).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const wrapper = bareWrapperOf(value)
  if (wrapper !== null) return shapeKey(itemsOf(value, wrapper)[0])
  const schema = inOneForm(value)
  const members = Object.keys(schema)
    .filter((name) => !isAnnotation(name))
    .sort()
    .map((name) => `${JSON.stringify(name)}:${SETS.has(name) ? setKey(schema[name]) : shapeKey(schema[name])}`)
  return `{${members.join(',')}}`
}
