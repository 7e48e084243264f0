/**
 * Different ways to write the same schema are brought to one form before they are compared: old keywords to new ones, a
 * wrapper around one schema to that schema, alternatives of constants to an enum, a list of types to a list of types.
 * Only what differs in form between the two sides is rewritten, so that the steps to a change stay as the author wrote them.
 */
import type { Examination, SchemaSources } from './comparison.ts'
import { COMPOSITIONS, type Composition } from './composition.ts'
import { alignConstants, constantsAsEnum, typedAs, withoutImplied } from './constants.ts'
import { flatten } from './flatten.ts'
import { isRecord, type JsonRecord, type Located } from './located.ts'
import { itemsOf, locateItem } from './parts.ts'
import { isAnnotation, isAnnotationOnly } from './shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { compareTypeLists } from './type-lists.ts'
import { admitsNull } from './types.ts'

export interface Aligned {
  readonly old: JsonRecord
  readonly now: JsonRecord
  readonly isRewritten: boolean
}

type Report = Pick<Examination, 'say' | 'descend' | 'isSameShape'>

/** The members to compare; null when the schemas inside a wrapper were handed on for comparison instead. */
export function align(
  before: ResolvedSchema,
  after: ResolvedSchema,
  sources: SchemaSources,
  report: Report,
): Aligned | null {
  const was = modernise(before.value)
  const is = modernise(after.value)
  if (unwrap(before, after, was, is, sources, report)) return null
  const [plainOld, plainNow] = withoutImplied(was, is, before, after, sources)
  const [left, right] = mergeOneSided(plainOld, plainNow, before, after, sources)
  const [old, now] = alignLists(left, right, before, after, sources, report)
  return { old, now, isRewritten: old !== before.value || now !== after.value }
}

/** `allOf` on one side only is merged into its schema, where that can be written. */
function mergeOneSided(
  was: JsonRecord,
  is: JsonRecord,
  before: ResolvedSchema,
  after: ResolvedSchema,
  sources: SchemaSources,
): readonly [JsonRecord, JsonRecord] {
  if ((was.allOf === undefined) === (is.allOf === undefined)) return [was, is]
  const old = flatten(was, before, sources.before)
  const now = flatten(is, after, sources.after)
  return old === null || now === null ? [was, is] : [old, now]
}

/** Keywords of older drafts in their present form: boolean exclusive bounds, tuples in `items`, `dependencies`. */
function modernise(schema: JsonRecord): JsonRecord {
  const hasBooleanBound = typeof schema.exclusiveMaximum === 'boolean' || typeof schema.exclusiveMinimum === 'boolean'
  const isTuple = Array.isArray(schema.items)
  if (!hasBooleanBound && !isTuple && !isRecord(schema.dependencies)) return schema
  const modern: Record<string, unknown> = { ...schema }
  moveBound(modern, 'maximum', 'exclusiveMaximum')
  moveBound(modern, 'minimum', 'exclusiveMinimum')
  if (isTuple) {
    modern.prefixItems = schema.items
    modern.items = schema.additionalItems
    delete modern.additionalItems
  }
  if (isRecord(schema.dependencies)) splitDependencies(modern, schema.dependencies)
  return modern
}

function moveBound(schema: Record<string, unknown>, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return
  const isExclusive = schema[exclusive] && schema[bound] !== undefined
  if (isExclusive) {
    schema[exclusive] = schema[bound]
    delete schema[bound]
  } else delete schema[exclusive]
}

function splitDependencies(schema: Record<string, unknown>, dependencies: JsonRecord): void {
  const entries = Object.entries(dependencies)
  schema.dependentRequired = Object.fromEntries(entries.filter(([, value]) => Array.isArray(value)))
  schema.dependentSchemas = Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)))
  delete schema.dependencies
}

/** A schema that only passes on what another one says, perhaps adding null. */
interface Wrapper {
  readonly keyword: Composition
  readonly inner: Located
  readonly admitsNull: boolean
}

/** Keywords that a wrapper may have of its own. */
const WRAPPER_KEYWORDS: ReadonlySet<string> = new Set([
  'nullable',
  'x-nullable',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
])

function wrapperOf(schema: JsonRecord, owner: ResolvedSchema, source: SchemaSource): Wrapper | null {
  const keyword = COMPOSITIONS.find((name) => schema[name] !== undefined)
  if (keyword === undefined) return null
  for (const name in schema) {
    if (name !== keyword && !isAnnotation(name) && !WRAPPER_KEYWORDS.has(name)) return null
  }
  const list = itemsOf(schema, keyword)
  if (list.length === 0 || list.length > 2) return null
  const items = list.map((_, index) => locateItem(owner, list, keyword, index))
  const isNull = (item: Located): boolean => keyword !== 'allOf' && isNullOnly(resolveSchema(item, source).value)
  const [inner, other] = items.filter((item) => !isNull(item))
  if (inner === undefined || other !== undefined) return null
  return { keyword, inner, admitsNull: items.length === 2 || admitsNull(schema) }
}

function isNullOnly(schema: JsonRecord): boolean {
  if (schema.const === null && Object.hasOwn(schema, 'const')) return true
  if (Array.isArray(schema.enum) && schema.enum.length === 1 && schema.enum[0] === null) return true
  const { type, ...rest } = schema
  return (type === 'null' || (Array.isArray(type) && type.length === 1 && type[0] === 'null')) && isAnnotationOnly(rest)
}

/** Hands on the schema inside a wrapper when only one side has that wrapper. */
function unwrap(
  before: ResolvedSchema,
  after: ResolvedSchema,
  was: JsonRecord,
  is: JsonRecord,
  sources: SchemaSources,
  { say, descend }: Report,
): boolean {
  let left = wrapperOf(was, before, sources.before)
  let right = wrapperOf(is, after, sources.after)
  if (left !== null && is[left.keyword] !== undefined) left = null
  if (right !== null && was[right.keyword] !== undefined) right = null
  if (left === null && right === null) return false
  const old: Located = left?.inner ?? before
  const now: Located = right?.inner ?? after
  const nullBefore = admitsNull(resolveSchema(old, sources.before).value)
  const nullAfter = admitsNull(resolveSchema(now, sources.after).value)
  const wasNull = nullBefore || (left?.admitsNull ?? false)
  const isNull = nullAfter || (right?.admitsNull ?? false)
  if (nullBefore === nullAfter && wasNull !== isNull) {
    const steps = right === null ? [] : [right.keyword]
    say({
      keyword: 'nullable',
      action: isNull ? 'became' : 'ceased',
      name: null,
      before: wasNull,
      after: isNull,
      steps,
    })
  }
  descend([], old, now)
  return true
}

function alignLists(
  was: JsonRecord,
  is: JsonRecord,
  before: ResolvedSchema,
  after: ResolvedSchema,
  sources: SchemaSources,
  report: Report,
): readonly [JsonRecord, JsonRecord] {
  if (!hasAlternatives(was) && !hasAlternatives(is)) return alignConstants(was, is)
  const old = Array.isArray(is.enum) ? typedAs(constantsAsEnum(was, before, sources.before), is) : was
  const now = Array.isArray(was.enum) ? typedAs(constantsAsEnum(is, after, sources.after), was) : is
  return compareTypeLists(old, now, before, after, sources, report)
}

function hasAlternatives(schema: JsonRecord): boolean {
  return schema.oneOf !== undefined || schema.anyOf !== undefined
}
