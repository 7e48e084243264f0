/** The types that a schema admits, as far as its types, listed values, references and combinations show them. */
import { isRecord, memberOf, type Located } from '../../schema/located.ts'
import { AnswersByDepth } from '../../schema/looked-at.ts'
import { isAnnotation } from '../../schema/shape.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from '../../schema/source.ts'
import { itemsOf, locateItem } from '../../schema/subschemas.ts'
import { typesOf } from '../../schema/types.ts'

export type WrittenType = 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string'

const ALL: readonly WrittenType[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Nested deeper than this, any type is assumed. */
const MAX_DEPTH = 8

/** Null is left out: it is written as nothing. */
export function writtenTypesOf(schema: Located | null, source: SchemaSource): readonly WrittenType[] {
  return schema === null ? ALL : typesWithin(resolveSchema(schema, source), source, new AnswersByDepth(), 0)
}

function typesWithin(
  resolved: ResolvedSchema,
  source: SchemaSource,
  known: AnswersByDepth<readonly WrittenType[]>,
  depth: number,
): readonly WrittenType[] {
  if (depth > MAX_DEPTH) return ALL
  const { value } = resolved
  const within = (keyword: string): readonly (readonly WrittenType[])[] => {
    const items = itemsOf(value, keyword)
    return items.map((_, index) => {
      const one = resolveSchema(locateItem(resolved, items, keyword, index), source)
      return known.of(one.value, depth, () => typesWithin(one, source, known, depth + 1))
    })
  }
  const choices = ['anyOf', 'oneOf'].map(within).filter((types) => types.length > 0)
  const conditions = [...within('allOf'), ...choices.map((types) => types.flat())]
  const listed = value.const === undefined ? value.enum : [value.const]
  if (Array.isArray(listed)) conditions.push(listed.flatMap(typeOfValue))
  const negated = memberOf(resolved, 'not')
  if (negated !== null) conditions.push(typesWithout(resolveSchema(negated, source), source, known, depth + 1))
  const named: readonly string[] = typesOf(value)
  return ALL.filter(
    (type) =>
      (named.length === 0 || isOneOfTypes(type, named)) && conditions.every((types) => isOneOfTypes(type, types)),
  )
}

/** The types that the negation of a schema leaves: none without a condition, and those of a schema that is negated twice. */
function typesWithout(
  resolved: ResolvedSchema,
  source: SchemaSource,
  known: AnswersByDepth<readonly WrittenType[]>,
  depth: number,
): readonly WrittenType[] {
  const keywords = Object.keys(resolved.value).filter((keyword) => !isAnnotation(keyword))
  if (keywords.length === 0) return []
  const negated = memberOf(resolved, 'not')
  return keywords.length === 1 && negated !== null
    ? typesWithin(resolveSchema(negated, source), source, known, depth + 1)
    : ALL
}

/** Whether nothing that is written in a schema leaves a type out. */
export function isOfAnyType(schema: Located, source: SchemaSource): boolean {
  return writtenTypesOf(schema, source).length === ALL.length
}

function isOneOfTypes(type: WrittenType, types: readonly string[]): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function typeOfValue(value: unknown): readonly WrittenType[] {
  if (Array.isArray(value)) return ['array']
  if (isRecord(value)) return ['object']
  if (typeof value === 'number') return [Number.isInteger(value) ? 'integer' : 'number']
  if (typeof value === 'string' || typeof value === 'boolean') return [typeof value === 'string' ? 'string' : 'boolean']
  return []
}
