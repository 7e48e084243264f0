/** Marks for the direction in which a value is not sent, wherever a schema states them. */
import { EnteredSchemas } from './looked-at.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { itemsOf, locateItem } from './subschemas.ts'

export type UsageMark = 'readOnly' | 'writeOnly'
export const USAGE_MARKS: readonly UsageMark[] = ['readOnly', 'writeOnly']

const MAX_NESTED = 8

/**
 * Whether a schema has a mark, by itself or by a part of its `allOf`. Of several marks that apply to one value, one suffices
 * (JSON Schema Validation 2020-12 §9.4).
 */
export function isMarked(
  schema: ResolvedSchema,
  mark: UsageMark,
  source: SchemaSource,
  entered: EnteredSchemas | null = null,
  depth = 0,
): boolean {
  if (schema.value[mark] === true) return true
  if (schema.value.allOf === undefined || depth === MAX_NESTED) return false
  const below = entered ?? new EnteredSchemas()
  if (!below.enter(schema.value, depth)) return false
  const list = itemsOf(schema.value, 'allOf')
  return list.some((_, index) => {
    const part = resolveSchema(locateItem(schema, list, 'allOf', index), source)
    return isMarked(part, mark, source, below, depth + 1)
  })
}
