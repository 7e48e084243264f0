/**
 * The schemas whose values are scalars in a text that has no types: parameters, headers, fields of forms, and the items of such
 * lists. Of these, two schemas admit the same if they admit the same texts: `1` is a number and a string. How a parameter writes
 * the members of an object is not examined (its style), so they are not among them.
 */
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { Reached } from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { typesOf } from '../../schema/types.ts'
import { isRepeatedField, type SchemaUse } from './schema-judge.ts'
import type { ScalarText } from './schema-proofs.ts'
import { distinguishesTypes, isForm } from './type-verdict.ts'

/** Parts of a contract whose schemas without a media type describe one text each. */
const TEXT_AREAS: ReadonlySet<string> = new Set(['parameters', 'headers', 'callbacks'])

/** For null in a text that has no types. */
export const NULL_WORDS = 'such a text has no form of null: callers leave it out, or write an empty text or `null`'

/** Whether a change is about null alone, in a text that has no form of it (RFC 6570 §2.3, OpenAPI 3.1.1 Appendix B). */
export function isUnwrittenNull({ delta, path, pair }: Reached, use: SchemaUse): boolean {
  if (!isOfNull(delta)) return false
  const { mediaType, sites, fieldTypes } = use
  if (mediaType === null) return TEXT_AREAS.has(sites.root.area)
  const [field = '', items = 'items', ...rest] = path
  const isField = isForm(mediaType) && field !== '' && items === 'items' && rest.length === 0
  const hasText = [pair.before, pair.after].every(({ value }) => !typesOf(value).some((type) => COMPOUND.has(type)))
  return isField && hasText && !distinguishesTypes(fieldTypes?.get(field) ?? null)
}

function isOfNull({ keyword, action, before, after }: SchemaDelta): boolean {
  if (keyword === 'nullable') return true
  return keyword === 'enum' && (action === 'removed' ? before === null : action === 'added' && after === null)
}

/** Types that a field of a form has as JSON. */
const COMPOUND: ReadonlySet<string> = new Set(['array', 'object'])

/** The pairs whose values are such texts. */
export function scalarTexts(pair: SchemaPair, use: SchemaUse): ReadonlyMap<SchemaPair, ScalarText> {
  const { mediaType, sites, fieldTypes, parameter } = use
  const { area, direction } = sites.root
  if (direction === 'shared' || area === 'tools') return NONE
  if (mediaType === null) return withItems([pair], () => parameter?.repeats === true)
  if (!isForm(mediaType)) return NONE
  const fields = pair.edges.flatMap(({ to, steps: [field = ''], isRequired }) =>
    isRequired === null || distinguishesTypes(fieldTypes?.get(field) ?? null) ? [] : [[to, field] as const],
  )
  const names = new Map(fields)
  return withItems([...names.keys()], (one) => isRepeatedField(use, [names.get(one) ?? '']))
}

const NONE: ReadonlyMap<SchemaPair, ScalarText> = new Map()

/** @param repeats whether a list is written by repeating the name of the scalar */
function withItems(
  pairs: readonly SchemaPair[],
  repeats: (pair: SchemaPair) => boolean,
): ReadonlyMap<SchemaPair, ScalarText> {
  const items = pairs.flatMap(({ edges }) =>
    edges.filter(({ steps, isRequired }) => isRequired === null && steps.join() === 'items').map(({ to }) => to),
  )
  const texts = pairs.map((pair) => [pair, isListOfOne(pair, repeats(pair)) ? 'a list of one' : 'a scalar'] as const)
  const all = [...texts, ...items.map((item) => [item, 'a scalar'] as const)]
  return new Map(all.filter(([pair]) => !changesTypeList(pair)))
}

/**
 * Whether a scalar becomes a list, or a scalar or a list, and is written as the list of it; or the other way around. Where names are not repeated for each item,
 * a text may hold what separates items.
 */
function isListOfOne({ before, after }: SchemaPair, isRepeated: boolean): boolean {
  const { items } = after.value
  // A list of one item at most that becomes a scalar.
  if (typesOf(before.value).join() === 'array' && before.value.maxItems === 1)
    return !typesOf(after.value).some((type) => COMPOUND.has(type))
  if (!typesOf(after.value).includes('array') || !isRecord(items)) return false
  const types = scalarTypesOf(before.value)
  // Items of any type are written otherwise (OpenAPI 3.1.1 §4.8.15.1.1).
  if (![types, scalarTypesOf(items)].every((all) => all.length > 0 && !all.some((type) => COMPOUND.has(type))))
    return false
  return isRepeated || types.every((type) => UNSEPARATED.has(type))
}

/** The types that are named, or those of the listed values. */
function scalarTypesOf(schema: JsonRecord): readonly string[] {
  const { enum: values, const: value } = schema
  const listed: readonly unknown[] = Array.isArray(values) ? values : value === undefined ? [] : [value]
  return [...typesOf(schema), ...listed.map((one) => typeof one)]
}

/** Types whose values hold no separator of lists. */
const UNSEPARATED: ReadonlySet<string> = new Set(['boolean', 'integer', 'number'])

/** A list of types that changes is a matter of types: clients are generated from it. */
function changesTypeList({ deltas }: SchemaPair): boolean {
  return deltas.some((entry) => 'keyword' in entry && entry.keyword === 'listOfTypes')
}
