/** Converts Gemini's schemas (an OpenAPI 3.0 subset in protobuf JSON) to JSON Schema, with each part in its place. */
import { isRecord, type JsonRecord } from '../../schema/located.ts'

/** Counts are 64-bit numbers in protobuf, which its JSON writes as strings. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

const SILENT: ReadonlySet<string> = new Set(['propertyOrdering', 'property_ordering'])

/** The order of display does not affect which values are valid, and `enum` is no format but the keyword. */
function isSilent(name: string, value: unknown): boolean {
  if (name === 'nullable') return typeof value === 'boolean'
  return SILENT.has(name) || value === 'TYPE_UNSPECIFIED' || (name === 'format' && value === 'enum')
}

export function plainGeminiSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainGeminiSchema)
  if (!isRecord(schema)) return schema
  const members = Object.entries(schema).filter(([name, value]) => !isSilent(name, value))
  const plain = Object.fromEntries(members.map(([name, value]) => [name, plainGeminiMember(name, value)]))
  return schema['nullable'] === true ? withNull(plain) : plain
}

/** JSON Schema has null as a type, a listed value or an alternative. */
function withNull(schema: JsonRecord): JsonRecord {
  const { type, enum: listed, anyOf } = schema
  const more: [string, unknown][] = []
  if (typeof type === 'string') more.push(['type', [type, 'null']])
  if (Array.isArray(listed)) more.push(['enum', [...listed, null]])
  if (Array.isArray(anyOf)) more.push(['anyOf', [...anyOf, { type: 'null' }]])
  return { ...schema, ...Object.fromEntries(more) }
}

function plainGeminiMember(name: string, value: unknown): unknown {
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (COUNTS.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  if ((name === 'properties' || name === '$defs') && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([property, schema]) => [property, plainGeminiSchema(schema)]))
  }
  return name === 'items' || name === 'anyOf' ? plainGeminiSchema(value) : value
}

/** The name of a member in one form: protobuf JSON takes `google_search` and `googleSearch` alike. */
export function geminiName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Settings with the names of their members in one form. */
export function plainGeminiSettings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainGeminiSettings)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [geminiName(name), plainGeminiSettings(part)]))
}
