/** Converts Gemini's schemas (an OpenAPI 3.0 subset in protobuf JSON) to JSON Schema, with each part in its place. */
import { isRecord } from '../../schema/located.ts'

/** Counts are 64-bit numbers in protobuf, which its JSON writes as strings. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** Display order and examples do not affect which values are valid. */
const SILENT: ReadonlySet<string> = new Set(['propertyOrdering', 'property_ordering'])

export function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema)
  if (!isRecord(schema)) return schema
  const members = Object.entries(schema).filter(([name, value]) => !SILENT.has(name) && value !== 'TYPE_UNSPECIFIED')
  return Object.fromEntries(members.map(([name, value]) => [name, plainMember(name, value)]))
}

function plainMember(name: string, value: unknown): unknown {
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (COUNTS.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  if ((name === 'properties' || name === '$defs') && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([property, schema]) => [property, plainSchema(schema)]))
  }
  return name === 'items' || name === 'anyOf' ? plainSchema(value) : value
}
