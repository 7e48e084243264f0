/** What a schema says of an object that lacks a property, and gets it by a default before it is validated. */
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'

/** Keywords whose parts are conditions of the object itself. */
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const

/** The properties of a schema, where one admits no value. */
export function withoutValues(schema: JsonRecord, name: string): JsonRecord {
  return { ...membersOf(schema, 'properties'), [name]: { not: {} } }
}

/**
 * The schema of objects without the property that are valid once they have it. Null if that depends on the value of the
 * default.
 */
export function asIfFilled(schema: JsonRecord, name: string): JsonRecord | null {
  const parts = partsAsIfFilled(schema, name)
  return parts && { ...parts, properties: withoutValues(schema, name) }
}

function partsAsIfFilled(schema: JsonRecord, name: string): JsonRecord | null {
  // It is refused by the number of properties alone.
  if (schema['maxProperties'] === 0) return null
  const filled: Record<string, unknown> = { ...schema }
  if (schema['required'] !== undefined) filled['required'] = textsOf(schema['required']).filter((one) => one !== name)
  // The property counts as one.
  for (const bound of ['maxProperties', 'minProperties']) {
    const stated = schema[bound]
    if (typeof stated === 'number') filled[bound] = stated - 1
  }
  for (const keyword of COMBINATORS) {
    const items: unknown = schema[keyword]
    if (!Array.isArray(items)) continue
    const parts = items.map((item: unknown) => partAsIfFilled(item, name))
    if (parts.includes(null)) return null
    filled[keyword] = parts
  }
  if (!isRecord(schema['not'])) return filled
  const excluded = partAsIfFilled(schema['not'], name)
  return excluded === null ? null : { ...filled, not: excluded }
}

function partAsIfFilled(part: unknown, name: string): unknown {
  if (!isRecord(part)) return part
  return Object.hasOwn(membersOf(part, 'properties'), name) ? null : partsAsIfFilled(part, name)
}
