/** Schemas that hold one other schema and add nothing to what it admits but null: a wrapper on one side is no change of values. */
import { compareUsage, USAGE_KEYWORDS, withMarks } from './annotations.ts'
import type { PairContext } from './examination.ts'
import { isEqual } from './equality.ts'
import type { JsonRecord, Located } from './located.ts'
import { COMPOSITIONS, itemsOf, locateItem, type Composition } from './subschemas.ts'
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
  base: JsonRecord | null,
  head: JsonRecord | null,
  innerBase: JsonRecord,
  innerHead: JsonRecord,
): { readonly base: JsonRecord; readonly head: JsonRecord } | null {
  const usage: { readonly base: Record<string, unknown>; readonly head: Record<string, unknown> } = {
    base: {},
    head: {},
  }
  for (const keyword of USAGE) {
    const [innerBefore, innerAfter] = [innerBase[keyword], innerHead[keyword]]
    const [before, after] = [base?.[keyword] ?? innerBefore, head?.[keyword] ?? innerAfter]
    if (isEqual(innerBefore, innerAfter)) [usage.base[keyword], usage.head[keyword]] = [before, after]
    else if (!isEqual(before, innerBefore) || !isEqual(after, innerAfter)) return null
  }
  return usage
}

/** Hands on the schema inside a wrapper when only one side has that wrapper. */
export function unwrap(base: JsonRecord, head: JsonRecord, pair: PairContext): boolean {
  const { before, after, sources, add: say, descend } = pair
  let baseWrapper = wrapperOf(base, before, sources.before)
  let headWrapper = wrapperOf(head, after, sources.after)
  if (baseWrapper !== null && head[baseWrapper.keyword] !== undefined) baseWrapper = null
  if (headWrapper !== null && base[headWrapper.keyword] !== undefined) headWrapper = null
  if (baseWrapper === null && headWrapper === null) return false
  const unwrappedBase: Located = baseWrapper?.inner ?? before
  const unwrappedHead: Located = headWrapper?.inner ?? after
  const [innerBefore, innerAfter] = [
    resolveSchema(unwrappedBase, sources.before),
    resolveSchema(unwrappedHead, sources.after),
  ]
  const innerBase = withMarks(innerBefore.value, innerBefore, sources.before)
  const innerHead = withMarks(innerAfter.value, innerAfter, sources.after)
  const usage = usageAround(
    baseWrapper === null ? null : base,
    headWrapper === null ? null : head,
    innerBase,
    innerHead,
  )
  if (usage === null) return false
  compareUsage({ ...usage, stated: () => true, add: say })
  compareDefault({ ...usage, add: say })
  const [nullBefore, nullAfter] = [admitsNull(innerBase), admitsNull(innerHead)]
  const admitsNullBefore = nullBefore || (baseWrapper?.admitsNull ?? false)
  const admitsNullAfter = nullAfter || (headWrapper?.admitsNull ?? false)
  if (nullBefore === nullAfter && admitsNullBefore !== admitsNullAfter) {
    const steps = headWrapper === null ? [] : [headWrapper.keyword]
    say({
      keyword: 'nullable',
      action: admitsNullAfter ? 'became' : 'ceased',
      name: null,
      before: admitsNullBefore,
      after: admitsNullAfter,
      steps,
    })
  }
  descend([], unwrappedBase, unwrappedHead)
  return true
}
