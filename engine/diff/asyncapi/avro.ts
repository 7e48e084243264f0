/** Avro schemas in one notation: what only documents them is gone, and every name is a full name (Avro 1.12, "Names"). */
import { readJson } from '../../contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'

const AVRO = /^application\/vnd\.apache\.avro(?:\+(?:json|yaml))?(?=;|$)/i

/** The name of the language, whichever text it is written in. */
export function languageOf(format: string | null): string | null {
  return format === null ? null : format.replace(AVRO, 'application/vnd.apache.avro')
}

const PRIMITIVE: ReadonlySet<string> = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])
const NAMED: ReadonlySet<unknown> = new Set(['record', 'error', 'enum', 'fixed'])

/** The one notation of a schema. Null: it is in another language, or holds what is no schema, so that nothing is known of it. */
export function avroForm(format: string | null, schema: unknown): { readonly form: unknown } | null {
  if (format === null || !AVRO.test(format)) return null
  const read = typeof schema === 'string' ? readText(schema) : schema
  return holdsReference(read) ? null : { form: schemaForm(read, '') }
}

/** A schema may be the text of its JSON. */
function readText(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  const read = readJson(text, DEFAULT_DOCUMENT_LIMITS)
  return read.ok ? read.value : text
}

function holdsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsReference)
  return isRecord(value) && (value.$ref !== undefined || Object.values(value).some(holdsReference))
}

function schemaForm(schema: unknown, namespace: string): unknown {
  if (typeof schema === 'string') return PRIMITIVE.has(schema) ? schema : fullName(schema, namespace)
  if (Array.isArray(schema)) return schema.map((branch) => schemaForm(branch, namespace))
  if (!isRecord(schema)) return schema
  const { doc: _, namespace: stated, ...members } = schema
  if (!NAMED.has(members.type)) return unwrapped(withForms(members, namespace))
  const own = typeof stated === 'string' ? stated : namespace
  const name = typeof members.name === 'string' ? fullName(members.name, own) : members.name
  const inner = typeof name === 'string' && name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : ''
  const fields = Array.isArray(members.fields) ? members.fields.map((field) => fieldForm(field, inner)) : members.fields
  return { ...members, name, ...(fields !== undefined && { fields }) }
}

/** A list, a map, or a type with attributes. */
function withForms(members: JsonRecord, namespace: string): JsonRecord {
  const forms: Record<string, unknown> = { ...members }
  for (const keyword of ['type', 'items', 'values'])
    if (members[keyword] !== undefined && members[keyword] !== 'array' && members[keyword] !== 'map')
      forms[keyword] = schemaForm(members[keyword], namespace)
  return forms
}

/** A type without attributes may be written as its name. */
function unwrapped(schema: JsonRecord): unknown {
  return Object.keys(schema).length === 1 && schema.type !== undefined ? schema.type : schema
}

function fieldForm(field: unknown, namespace: string): unknown {
  if (!isRecord(field)) return field
  const { doc: _, order, type, ...members } = field
  const other = order === undefined || order === 'ascending' ? {} : { order }
  return { ...members, ...other, type: schemaForm(type, namespace) }
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}
