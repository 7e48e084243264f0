/**
 * A schema whose alternatives differ in type only is a list of types: `oneOf` of a string and an integer admits what
 * `type: [string, integer]` admits.
 */
import type { Examination, PairContext } from './examination.ts'
import type { JsonRecord, Located } from './located.ts'
import { itemsOf, locateItem, withoutTypes } from './subschemas.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { admitsNull } from './types.ts'
import { compareWrapping } from './wrapping.ts'

/** Tells a changed list of types as one change, and hands back the members without what that explains. */
export function compareTypeLists(
  base: JsonRecord,
  head: JsonRecord,
  pair: PairContext,
): readonly [JsonRecord, JsonRecord] {
  const { before, after, sources, add: say, descend } = pair
  const baseTypes = typeListOf(base, before, sources.before)
  const headTypes = typeListOf(head, after, sources.after)
  // Two lists around one type: one of them would be left out.
  if ((baseTypes?.isList === false && hasTwoLists(head)) || (headTypes?.isList === false && hasTwoLists(base)))
    return [base, head]
  if (
    baseTypes !== null &&
    headTypes !== null &&
    (baseTypes.isList || headTypes.isList) &&
    isOneEach(baseTypes, headTypes)
  ) {
    if (baseTypes.isList && headTypes.isList && isSameTypeList(baseTypes, headTypes)) return [base, head]
    reportTypes(baseTypes, headTypes, say)
    if (baseTypes.isList && headTypes.isList) {
      for (const type of baseTypes.types) {
        const [baseAlternative, headAlternative] = [baseTypes.single(type), headTypes.single(type)]
        if (baseAlternative !== null && headAlternative !== null)
          descend([`${headTypes.keyword}[${type}]`], baseAlternative, headAlternative)
      }
      if (admitsNull(base) !== admitsNull(head)) reportNull(baseTypes, headTypes, say)
      return [withoutTypes(base), withoutTypes(head)]
    }
    const alternative = baseTypes.isList
      ? sharedOf(baseTypes, headTypes, sources.before)
      : sharedOf(headTypes, baseTypes, sources.after)
    // Without a type in common, what went and what came is all there is to say of types.
    if (alternative === null) return [withoutTypes(base), withoutTypes(head)]
    return baseTypes.isList
      ? [asOneType(base, alternative, baseTypes), besideOneType(head, alternative)]
      : [besideOneType(base, alternative), asOneType(head, alternative, headTypes)]
  }
  return compareWrapping(base, head, pair)
}

function hasTwoLists({ oneOf, anyOf }: JsonRecord): boolean {
  return oneOf !== undefined && anyOf !== undefined
}

/** The alternative of the one type that stands on the other side. */
function sharedOf(list: TypeList, { types }: TypeList, source: SchemaSource): JsonRecord | null {
  const shared = list.types.find((type) => types.includes(type))
  const alternative = shared === undefined ? null : list.single(shared)
  return alternative === null ? null : resolveSchema(alternative, source).value
}

/** The alternative, which holds beside what stands around the list. */
function asOneType(schema: JsonRecord, alternative: JsonRecord, list: TypeList): JsonRecord {
  return { ...alternative, ...withoutTypes(schema), ...(list.admitsNull ? { nullable: true } : {}) }
}

/** A format that no alternative has is not reported: the change of the list of types is. */
function besideOneType(schema: JsonRecord, { format }: JsonRecord): JsonRecord {
  const { oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema
  return format === undefined ? { ...rest, format } : rest
}

/** Null that is said around a list is said of none of its alternatives. */
function reportNull(base: TypeList, head: TypeList, add: Examination['add']): void {
  const [before, after] = [base.admitsNull, head.admitsNull]
  if (before === after) return
  add({ keyword: 'nullable', action: after ? 'became' : 'ceased', name: null, before, after, steps: [head.keyword] })
}

/** Whether each type that both lists hold has one alternative in each, so that the two can be compared. */
function isOneEach(before: TypeList, after: TypeList): boolean {
  const shared = before.types.filter((type) => after.types.includes(type))
  return shared.every((type) => before.single(type) !== null && after.single(type) !== null)
}

function isSameTypeList(before: TypeList, after: TypeList): boolean {
  return before.types.length === after.types.length && before.types.every((type) => after.types.includes(type))
}

function reportTypes(base: TypeList, head: TypeList, add: Examination['add']): void {
  const gone = base.types.filter((type) => !covers(head, type))
  const come = head.types.filter((type) => !covers(base, type))
  const [keyword, before, after] = ['listOfTypes', base.types.join(' | '), head.types.join(' | ')]
  const steps = [head.keyword]
  if (come.length > 0) add({ keyword, action: 'widened', name: come.join(', '), before, after, steps })
  if (gone.length > 0) add({ keyword, action: 'narrowed', name: gone.join(', '), before, after, steps })
}

/** Every integer is a number. */
function covers({ types }: TypeList, type: string): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

interface TypeList {
  readonly types: readonly string[]
  readonly isList: boolean
  readonly keyword: 'oneOf' | 'anyOf' | 'type'
  /** True when the schema or an alternative of another type than null says that null is a value, too. */
  readonly admitsNull: boolean
  /** The one alternative of a type; null when there are several. */
  readonly single: (type: string) => Located | null
}

function typeListOf(schema: JsonRecord, owner: ResolvedSchema, source: SchemaSource): TypeList | null {
  if (schema.not !== undefined || schema.allOf !== undefined || schema.properties !== undefined) return null
  if (typeof schema.type === 'string') {
    const value = schema
    return {
      types: [schema.type],
      isList: false,
      keyword: 'type',
      admitsNull: admitsNull(schema),
      single: (type) => (type === value.type ? { ...owner, value } : null),
    }
  }
  if (schema.type !== undefined) return null
  for (const keyword of ['oneOf', 'anyOf'] as const) {
    const items = itemsOf(schema, keyword)
    if (items.length === 0) continue
    const alternatives = items.map((_, index) => resolveSchema(locateItem(owner, items, keyword, index), source).value)
    const types = alternatives.map(simpleType)
    if (!types.every((type) => type !== null)) continue
    const single = (type: string): Located | null => {
      const index = types.indexOf(type)
      return index === -1 || types.includes(type, index + 1) ? null : locateItem(owner, items, keyword, index)
    }
    const isNullable = [schema, ...alternatives].some((one) => one.type !== 'null' && admitsNull(one))
    return { types: [...new Set(types)], isList: true, keyword, admitsNull: isNullable, single }
  }
  return null
}

function simpleType({ type, properties, oneOf, anyOf, allOf }: JsonRecord): string | null {
  const isSimple = properties === undefined && oneOf === undefined && anyOf === undefined && allOf === undefined
  return isSimple && typeof type === 'string' ? type : null
}
