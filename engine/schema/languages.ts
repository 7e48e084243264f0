/**
 * What one version of OpenAPI says otherwise than another: a contract that moves to a newer version keeps its meaning. And
 * what one version says in two ways.
 */
import type { JsonRecord } from './located.ts'
import { isAnnotation } from './shape.ts'

/**
 * Bytes: `format: binary` of 3.0 is a media type in 3.1 (`contentMediaType`), or nothing at all, and `format: byte` is
 * `contentEncoding: base64` (OpenAPI 3.1.0 §4.8.14.3.1, "Considerations for File Uploads").
 */
export function alignLanguages(before: JsonRecord, after: JsonRecord): readonly [JsonRecord, JsonRecord] {
  if (isBinary(before) && isBytes(after)) return [withoutBytes(before), withoutBytes(after)]
  if (isBinary(after) && isBytes(before)) return [withoutBytes(before), withoutBytes(after)]
  if (isBase64(before) && isBase64(after)) return [withoutEncoding(before), withoutEncoding(after)]
  return [before, after]
}

/**
 * The same within one language, where 3.1 has words for both: `format` of its registry, or those of JSON Schema, which generators
 * write since. Only what means the same is one; a schema that says less is another.
 */
export function alignBytes(before: JsonRecord, after: JsonRecord): readonly [JsonRecord, JsonRecord] {
  if ((isBinary(before) && isOctets(after)) || (isBinary(after) && isOctets(before)))
    return [withoutBytes(before), withoutBytes(after)]
  return isBase64(before) && isBase64(after) ? [withoutEncoding(before), withoutEncoding(after)] : [before, after]
}

/** A schema with the formats of bytes in place of the words of JSON Schema for them. */
export function withByteFormat(schema: JsonRecord): JsonRecord {
  if (schema.contentEncoding === undefined && schema[MEDIA] === undefined) return schema
  if (isBase64(schema)) return { ...withoutEncoding(schema), format: 'byte' }
  return isOctets(schema) ? { ...withoutBytes(schema), type: 'string', format: 'binary' } : schema
}

function isOctets(schema: JsonRecord): boolean {
  return schema.type === 'string' && schema[MEDIA] === 'application/octet-stream' && isBytes(schema)
}

/** A schema as far as no language says more of its bytes than another one: what admits any bytes admits any value. */
export function inAnyLanguage(schema: JsonRecord): JsonRecord {
  if (isBinary(schema) || isBytes(schema)) return withoutBytes(schema)
  return isBase64(schema) ? withoutEncoding(schema) : schema
}

/** A text of bytes, as 3.0 says it, and 2.0 of parameters and answers. */
export function isBinary({ type, format }: JsonRecord): boolean {
  return type === 'file' || (type === 'string' && format === 'binary')
}

/** Says no more of a value than that it is bytes of some media type. */
function isBytes(schema: JsonRecord): boolean {
  const { type, format } = schema
  const isUntyped =
    type === undefined && Object.keys(schema).every((keyword) => isAnnotation(keyword) || keyword === MEDIA)
  const isText = type === 'string' && typeof schema[MEDIA] === 'string' && schema.contentEncoding === undefined
  return format === undefined && (isUntyped || isText)
}

const MEDIA = 'contentMediaType'

function withoutBytes(schema: JsonRecord): JsonRecord {
  const { type: _type, format: _format, [MEDIA]: _media, ...rest } = schema
  return rest
}

function isBase64({ type, format, contentEncoding }: JsonRecord): boolean {
  if (type !== 'string') return false
  return contentEncoding === undefined ? format === 'byte' : contentEncoding === 'base64' && format === undefined
}

function withoutEncoding(schema: JsonRecord): JsonRecord {
  const { format: _format, contentEncoding: _encoding, ...rest } = schema
  return rest
}
