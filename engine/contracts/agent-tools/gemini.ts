/** Converts Gemini's schemas (an OpenAPI 3.0 subset in protobuf JSON) to JSON Schema, with each part in its place. */
import { pointerToken } from '../../common/json-pointer.ts'
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

const SILENT: ReadonlySet<string> = new Set(['propertyOrdering'])

/** The order of display does not affect which values are valid, and `enum` is no format but the keyword. */
function isSilent(name: string, value: unknown): boolean {
  if (name === 'nullable') return typeof value === 'boolean'
  return SILENT.has(name) || value === 'TYPE_UNSPECIFIED' || (name === 'format' && value === 'enum')
}

/** A member that has another name in JSON Schema, by the pointers of both. */
type Renamed = (plain: string, written: string) => void

/** @param renamed gets each member that is found under another name in the document */
export function plainGeminiSchema(schema: unknown, renamed: Renamed, [plain, written]: Paths = ['', '']): unknown {
  if (Array.isArray(schema))
    return schema.map((one, index) => plainGeminiSchema(one, renamed, [`${plain}/${index}`, `${written}/${index}`]))
  if (!isRecord(schema)) return schema
  const members = Object.entries(schema).flatMap(([stated, value]): readonly (readonly [string, unknown])[] => {
    const name = keywordName(stated)
    if (isSilent(name, value) || (name !== stated && Object.hasOwn(schema, name))) return []
    const paths: Paths = [`${plain}/${pointerToken(name)}`, `${written}/${pointerToken(stated)}`]
    if (name !== stated) renamed(...paths)
    return [[name, plainGeminiMember(name, value, renamed, paths)]]
  })
  const found = Object.fromEntries(members)
  return schema['nullable'] === true ? withNull(found) : found
}

/** Pointers of the part in JSON Schema and in the document. */
type Paths = readonly [plain: string, written: string]

/** Protobuf JSON takes `any_of` and `anyOf` alike. References and their targets have names of their own. */
function keywordName(stated: string): string {
  if (stated === 'ref' || stated === 'defs') return `$${stated}`
  return geminiName(stated)
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

function plainGeminiMember(name: string, value: unknown, renamed: Renamed, paths: Paths): unknown {
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (name === '$ref' && typeof value === 'string') return value.replace(/^#\/defs\//, '#/$defs/')
  if (COUNTS.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  if ((name === 'properties' || name === '$defs') && isRecord(value)) {
    const [plain, written] = paths
    return Object.fromEntries(
      Object.entries(value).map(([property, schema]) => {
        const step = pointerToken(property)
        return [property, plainGeminiSchema(schema, renamed, [`${plain}/${step}`, `${written}/${step}`])]
      }),
    )
  }
  return SCHEMAS.has(name) ? plainGeminiSchema(value, renamed, paths) : value
}

const SCHEMAS: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'additionalProperties'])

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
