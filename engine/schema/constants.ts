/** Schemas that admit a finite list of values: constants, alternatives of constants, and conditions that such a list already meets. */
import type { PairContext } from './examination.ts'
import { valueKey, ValueSet } from './equality.ts'
import type { JsonRecord } from './located.ts'
import { itemsOf, locateItem } from './subschemas.ts'
import { isAnnotation } from './shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

/** A constant against an enum is an enum of one value. */
export function alignConstants(before: JsonRecord, after: JsonRecord): readonly [JsonRecord, JsonRecord] {
  return [
    Array.isArray(after.enum) ? constAsEnum(before) : before,
    Array.isArray(before.enum) ? constAsEnum(after) : after,
  ]
}

function constAsEnum(schema: JsonRecord): JsonRecord {
  if (schema.const === undefined || schema.enum !== undefined) return schema
  const { const: value, ...rest } = schema
  return { ...rest, enum: [value] }
}

/** `oneOf` or `anyOf` of constants, as the enum that it is. */
export function constantsAsEnum(schema: JsonRecord, owner: ResolvedSchema, source: SchemaSource): JsonRecord {
  const keyword = schema.oneOf === undefined ? 'anyOf' : 'oneOf'
  const items = itemsOf(schema, keyword)
  if (items.length === 0 || schema.enum !== undefined) return schema
  const values = items.map((_, index) =>
    constantOf(resolveSchema(locateItem(owner, items, keyword, index), source).value),
  )
  if (values.some((value) => value === undefined)) return schema
  const rest: Record<string, unknown> = { ...schema }
  delete rest[keyword]
  return { ...rest, enum: keyword === 'oneOf' ? listedOnce(values) : values }
}

/** What two alternatives of `oneOf` admit is refused. */
function listedOnce(values: readonly unknown[]): readonly unknown[] {
  const keys = values.map(valueKey)
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts.size === values.length ? values : values.filter((_, index) => counts.get(keys[index] ?? '') === 1)
}

/** Values that are all of the type which the other side states are of that type, though nobody says so here. */
export function typedAs(schema: JsonRecord, { type }: JsonRecord): JsonRecord {
  const { enum: values } = schema
  if (schema.type !== undefined || type === undefined || !Array.isArray(values)) return schema
  const types = Array.isArray(type) ? type : [type]
  return values.every((value) => types.some((name) => isOfType(value, name))) ? { ...schema, type } : schema
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null'
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function constantOf(schema: JsonRecord): unknown {
  if (schema.const !== undefined) return schema.const
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined
}

/**
 * Removes `allOf` where, on both sides, the values that the schema lists itself meet all of it. A component that got more
 * values changes nothing for a schema that is pinned to one of the earlier values.
 */
export function withoutImplied(
  base: JsonRecord,
  head: JsonRecord,
  { before, after, sources }: PairContext,
): readonly [JsonRecord, JsonRecord] {
  if (base.allOf === undefined && head.allOf === undefined) return [base, head]
  const areImplied = isAllImplied(base, before, sources.before) && isAllImplied(head, after, sources.after)
  return areImplied ? [withoutAllOf(base), withoutAllOf(head)] : [base, head]
}

function withoutAllOf(schema: JsonRecord): JsonRecord {
  if (schema.allOf === undefined) return schema
  const { allOf: _, ...rest } = schema
  return rest
}

function isAllImplied(schema: JsonRecord, owner: ResolvedSchema, source: SchemaSource): boolean {
  if (schema.allOf === undefined) return true
  const own = listedValues(schema)
  if (own === null) return false
  const items = itemsOf(schema, 'allOf')
  return items.every((_, index) => {
    const item = resolveSchema(locateItem(owner, items, 'allOf', index), source)
    if (!Object.keys(item.value).every((keyword) => LISTING_KEYWORDS.has(keyword) || isAnnotation(keyword)))
      return false
    if (item.value.type !== undefined && item.value.type !== schema.type) return false
    const listed = listedValues(constantsAsEnum(item.value, item, source))
    if (listed === null) return false
    const admitted = new ValueSet(listed)
    return own.every((value) => admitted.has(value))
  })
}

/** Of a schema with other keywords than these, more is to be met than its list of values. */
const LISTING_KEYWORDS: ReadonlySet<string> = new Set(['type', 'format', 'enum', 'const', 'oneOf', 'anyOf'])

/** The values that a schema lists itself; null when it lists none. */
function listedValues(schema: JsonRecord): readonly unknown[] | null {
  const { enum: values } = constAsEnum(schema)
  return Array.isArray(values) ? values : null
}
