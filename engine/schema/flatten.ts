/** `allOf` merged into the schema that holds it, where every keyword involved has a merge; null where one has none. */
import { lookupTable } from '../common/lookup-table.ts'
import { isEqual } from './equality.ts'
import { isRecord, type JsonRecord } from './located.ts'
import { AnswersByDepth } from './looked-at.ts'
import { itemsOf, locateItem, textsOf } from './subschemas.ts'
import { isAnnotation } from './shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

const MAX_DEPTH = 16

/** How two values of one keyword become one that admits what both admit; undefined where that cannot be written. */
type Merge = (a: unknown, b: unknown) => unknown

const MERGES: Readonly<Record<string, Merge>> = lookupTable({
  properties: mergeProperties,
  required: (a, b) => [...new Set([...textsOf(a), ...textsOf(b)])],
  type: mergeTypes,
  maximum: lower,
  exclusiveMaximum: lower,
  maxLength: lower,
  maxItems: lower,
  maxProperties: lower,
  minimum: higher,
  exclusiveMinimum: higher,
  minLength: higher,
  minItems: higher,
  minProperties: higher,
})

export function flatten(
  schema: JsonRecord,
  owner: ResolvedSchema,
  source: SchemaSource,
  known = new AnswersByDepth<JsonRecord | null>(),
  depth = 0,
): JsonRecord | null {
  const items = itemsOf(schema, 'allOf')
  if (items.length === 0) return schema
  if (depth > MAX_DEPTH) return null
  const { allOf: _, ...own } = schema
  const parts: JsonRecord[] = []
  let merged: JsonRecord | null = own
  for (const [index] of items.entries()) {
    const item = resolveSchema(locateItem(owner, items, 'allOf', index), source)
    const part =
      item.document === owner.document
        ? known.of(item.value, depth, () => flatten(item.value, item, source, known, depth + 1))
        : null
    if (part === null) return null
    parts.push(part)
    merged = mergeRecords(merged, part)
    if (merged === null) return null
  }
  return isNullable(own) || !refusesNull([own, ...parts]) ? merged : withoutNullable(merged)
}

/** `nullable` applies to the type beside it (OpenAPI 3.0.3 §4.7.24.1): where one part has a type that is not, null is refused. */
function refusesNull(parts: readonly JsonRecord[]): boolean {
  return parts.some((part) => part.type !== undefined && !isNullable(part) && !Array.isArray(part.type))
}

function isNullable(schema: JsonRecord): boolean {
  return NULLABLE.some((keyword) => schema[keyword] === true)
}

const NULLABLE = ['nullable', 'x-nullable'] as const

function withoutNullable({ nullable: _nullable, 'x-nullable': _xNullable, ...schema }: JsonRecord): JsonRecord {
  return schema
}

function mergeRecords(a: JsonRecord, b: JsonRecord): JsonRecord | null {
  const merged = new Map(Object.entries<unknown>(a))
  for (const [keyword, value] of Object.entries(b)) {
    if (isAnnotation(keyword)) continue
    const held = merged.get(keyword)
    // The word of the whole counts, else that of its parts together (refusesNull).
    if (keyword === 'nullable' || keyword === 'x-nullable') {
      merged.set(keyword, held ?? value)
      continue
    }
    const result = !merged.has(keyword) || isEqual(held, value) ? value : MERGES[keyword]?.(held, value)
    if (result === undefined) return null
    merged.set(keyword, result)
  }
  return Object.fromEntries(merged)
}

function mergeProperties(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return undefined
  const merged = new Map(Object.entries(a))
  for (const [name, value] of Object.entries(b)) {
    if (merged.has(name) && !isEqual(merged.get(name), value)) return undefined
    merged.set(name, value)
  }
  return Object.fromEntries(merged)
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const others = new Set(Array.isArray(b) ? b : [b])
  const shared = (Array.isArray(a) ? a : [a]).filter((type) => others.has(type))
  return shared.length === 0 ? undefined : shared.length === 1 ? shared[0] : shared
}

function lower(a: unknown, b: unknown): unknown {
  return typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : undefined
}

function higher(a: unknown, b: unknown): unknown {
  return typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : undefined
}
