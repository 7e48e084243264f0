/** Schemas that hold one other schema and add nothing to what it admits but null: a wrapper on one side is no change of values. */
import { compareAnnotations, USAGE_KEYWORDS } from './annotations.ts'
import type { Examination, SchemaSources } from './examination.ts'
import { COMPOSITIONS, type Composition } from './composition.ts'
import { isEqual } from './equality.ts'
import type { JsonRecord, Located } from './located.ts'
import { itemsOf, locateItem } from './subschemas.ts'
import { isAnnotation, isAnnotationOnly } from './shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { admitsNull } from './types.ts'
import { compareDefault } from './values.ts'

const USAGE: readonly string[] = [...USAGE_KEYWORDS, 'default']

/** A schema that only passes on what another one says, perhaps adding null. */
interface SchemaWrapper {
  readonly keyword: Composition
  readonly inner: Located
  readonly admitsNull: boolean
}

/** Keywords that a wrapper may have of its own. */
const WRAPPER_KEYWORDS: ReadonlySet<string> = new Set(['nullable', 'x-nullable', ...USAGE])

function wrapperOf(schema: JsonRecord, owner: ResolvedSchema, source: SchemaSource): SchemaWrapper | null {
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

/**
 * Annotations of use (read-only, deprecated …) that the wrappers add to the schemas inside them. Null when the wrapper and
 * the schema inside both state one, because then neither alone decides.
 */
function usageAround(
  was: JsonRecord | null,
  is: JsonRecord | null,
  innerOld: JsonRecord,
  innerNow: JsonRecord,
): { readonly base: JsonRecord; readonly head: JsonRecord } | null {
  const [base, head]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
  for (const keyword of USAGE) {
    const [inside, insideNow] = [innerOld[keyword], innerNow[keyword]]
    const [before, after] = [was?.[keyword] ?? inside, is?.[keyword] ?? insideNow]
    if (isEqual(inside, insideNow)) [base[keyword], head[keyword]] = [before, after]
    else if (!isEqual(before, inside) || !isEqual(after, insideNow)) return null
  }
  return { base, head }
}

/** Hands on the schema inside a wrapper when only one side has that wrapper. */
export function unwrap(
  before: ResolvedSchema,
  after: ResolvedSchema,
  was: JsonRecord,
  is: JsonRecord,
  sources: SchemaSources,
  { add: say, descend }: Pick<Examination, 'add' | 'descend'>,
): boolean {
  let left = wrapperOf(was, before, sources.before)
  let right = wrapperOf(is, after, sources.after)
  if (left !== null && is[left.keyword] !== undefined) left = null
  if (right !== null && was[right.keyword] !== undefined) right = null
  if (left === null && right === null) return false
  const base: Located = left?.inner ?? before
  const head: Located = right?.inner ?? after
  const [innerOld, innerNow] = [resolveSchema(base, sources.before).value, resolveSchema(head, sources.after).value]
  const usage = usageAround(left === null ? null : was, right === null ? null : is, innerOld, innerNow)
  if (usage === null) return false
  compareAnnotations({ ...usage, add: say })
  compareDefault({ ...usage, add: say })
  const [nullBefore, nullAfter] = [admitsNull(innerOld), admitsNull(innerNow)]
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
  descend([], base, head)
  return true
}
