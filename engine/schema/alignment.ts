/**
 * Different ways to write the same schema are brought to one form before they are compared. Old keywords become new ones.
 * A wrapper around one schema becomes that schema. Alternatives of constants become an enum.
 * Only what differs in form between the two sides is rewritten, so that the steps to a change stay as the author wrote them.
 */
import type { PairContext } from './examination.ts'
import { alignConstants, constantsAsEnum, typedAs, withoutImplied } from './constants.ts'
import { flatten } from './flatten.ts'
import { withoutIdle } from './ineffective-keywords.ts'
import { alignBytes, alignLanguages, isBinary } from './languages.ts'
import { isRecord, type JsonRecord } from './located.ts'
import { COMPOSITIONS, itemsOf } from './subschemas.ts'
import { bareWrapperOf } from './shape.ts'
import { compareTypeLists } from './type-lists.ts'
import { unwrap } from './wrappers.ts'

interface Aligned {
  readonly base: JsonRecord
  readonly head: JsonRecord
  readonly isRewritten: boolean
}

/** The members to compare; null when there is nothing to compare, or the schemas inside a wrapper were handed on for it. */
export function align(pair: PairContext): Aligned | null {
  const { before, after, sources } = pair
  const isMoved = sources.before.dialect !== sources.after.dialect
  const modern = withoutIdle(...asBytes(modernise(before.value), modernise(after.value)))
  const [baseForm, headForm] = isMoved ? alignLanguages(...modern) : alignBytes(...modern)
  if (!hasComposition(baseForm) && !hasComposition(headForm)) {
    const [base, head] = alignConstants(baseForm, headForm)
    return { base, head, isRewritten: base !== before.value || head !== after.value }
  }
  if (mayBeRewritten(baseForm, headForm) && pair.isSameWithSubtypes(before, after)) return null
  if (unwrap(baseForm, headForm, pair)) return null
  const [plainBase, plainHead] = withoutImplied(baseForm, headForm, pair)
  const [mergedBase, mergedHead] = mergeOneSided(plainBase, plainHead, pair)
  const [base, head] = alignLists(mergedBase, mergedHead, pair)
  return { base, head, isRewritten: base !== before.value || head !== after.value }
}

/** One side has alternatives, or a schema around the schema, that the other has not: list by list, that looks like a change. */
function mayBeRewritten(base: JsonRecord, head: JsonRecord): boolean {
  return COMPOSITIONS.some((keyword) => {
    const [before, after] = [itemsOf(base, keyword).length, itemsOf(head, keyword).length]
    if (before !== after) return Math.min(before, after) <= 1
    return before === 1 && (bareWrapperOf(base) === keyword) !== (bareWrapperOf(head) === keyword)
  })
}

/** `allOf` on one side only is merged into its schema, where that can be written. */
function mergeOneSided(
  base: JsonRecord,
  head: JsonRecord,
  { before, after, sources }: PairContext,
): readonly [JsonRecord, JsonRecord] {
  if ((base.allOf === undefined) === (head.allOf === undefined)) return [base, head]
  const mergedBase = flatten(base, before, sources.before)
  const mergedHead = flatten(head, after, sources.after)
  return mergedBase === null || mergedHead === null ? [base, head] : [mergedBase, mergedHead]
}

/**
 * The type of uploads and downloads (Swagger 2.0, Parameter and Response Object) as text of bytes, beside such text only.
 * Otherwise it is a type of its own: a part with a file is read in another way than a part with text.
 */
function asBytes(before: JsonRecord, after: JsonRecord): readonly [JsonRecord, JsonRecord] {
  return [withBytes(before, after), withBytes(after, before)]
}

function withBytes(schema: JsonRecord, other: JsonRecord): JsonRecord {
  const isFile = schema.type === 'file' && other.type !== 'file' && isBinary(other)
  return isFile ? { ...schema, type: 'string', format: 'binary' } : schema
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

function alignLists(base: JsonRecord, head: JsonRecord, pair: PairContext): readonly [JsonRecord, JsonRecord] {
  const { before, after, sources } = pair
  if (!hasAlternatives(base) && !hasAlternatives(head)) return alignConstants(base, head)
  const listedBase = Array.isArray(head.enum) ? typedAs(constantsAsEnum(base, before, sources.before), head) : base
  const listedHead = Array.isArray(base.enum) ? typedAs(constantsAsEnum(head, after, sources.after), base) : head
  return compareTypeLists(listedBase, listedHead, pair)
}

function hasComposition(schema: JsonRecord): boolean {
  return schema.allOf !== undefined || hasAlternatives(schema)
}

function hasAlternatives(schema: JsonRecord): boolean {
  return schema.oneOf !== undefined || schema.anyOf !== undefined
}
