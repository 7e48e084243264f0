/**
 * Keywords that a dialect of OpenAPI does not have, or not with such a value. Contracts of one version keep them, as many
 * readers do. A contract that moves to another version is read without them: one that only the other version has takes
 * effect by the move, or loses it.
 */
import { isBoolean, isNumber, KEYWORD_FORMS } from './keyword-forms.ts'
import { isRecord, type JsonRecord } from './located.ts'

type OpenApiDialect = 'openapi-2.0' | 'openapi-3.0' | 'json-schema'

/** Whether a keyword has no effect with a value. */
type IsIgnored = (value: unknown) => boolean

const always: IsIgnored = () => true

/** The Schema Objects of OpenAPI 2.0 and 3.0 (§4.7.24) list their keywords; any other one is unsupported. */
const SHARED_OWN = [
  ['$ref', 'type', 'format', 'enum', 'allOf', 'items', 'properties', 'additionalProperties', 'required'],
  ['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern'],
  ['maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties'],
].flat()

/** They say of a text what it contains, and refuse none (JSON Schema 2020-12 validation §8). */
const CONTENT = ['contentEncoding', 'contentMediaType', 'contentSchema']

function ignoredBesides(...own: readonly string[]): readonly (readonly [keyword: string, isIgnored: IsIgnored])[] {
  const known = new Set([...SHARED_OWN, ...CONTENT, ...own])
  return [...KEYWORD_FORMS.keys()].filter((keyword) => !known.has(keyword)).map((keyword) => [keyword, always])
}

const IGNORED: Readonly<Record<OpenApiDialect, ReadonlyMap<string, IsIgnored>>> = {
  'openapi-2.0': new Map([
    ...ignoredBesides(),
    ['nullable', always],
    ['exclusiveMaximum', isNumber],
    ['exclusiveMinimum', isNumber],
  ]),
  'openapi-3.0': new Map([
    ...ignoredBesides('oneOf', 'anyOf', 'not'),
    ['exclusiveMaximum', isNumber],
    ['exclusiveMinimum', isNumber],
  ]),
  'json-schema': new Map([
    ['nullable', always],
    ['dependencies', always],
    ['$recursiveRef', always],
    ['exclusiveMaximum', isBoolean],
    ['exclusiveMinimum', isBoolean],
  ]),
}

/** Kept by the schema that was rewritten, so that one schema keeps one identity. */
const rewritten = new WeakMap<JsonRecord, JsonRecord>()

/** The schema with the keywords that its dialect has; the same object if it has no other one. */
export function withOwnKeywords(schema: JsonRecord, dialect: OpenApiDialect): JsonRecord {
  const ignored = IGNORED[dialect]
  const names = Object.keys(schema)
  const isOwn = (name: string): boolean => ignored.get(name)?.(schema[name]) !== true
  if (names.every(isOwn)) return schema
  const known = rewritten.get(schema)
  if (known !== undefined) return known
  const own = Object.fromEntries(names.filter(isOwn).map((name) => [name, schema[name]]))
  rewritten.set(schema, own)
  return own
}

/** Members of keywords that OpenAPI 3.2 added (§4.24, §4.26). */
const MEMBERS_OF_32 = [
  ['discriminator', 'defaultMapping'],
  ['xml', 'nodeType'],
] as const

const before32 = new WeakMap<JsonRecord, JsonRecord>()

/** The schema without what its keywords have since OpenAPI 3.2; the same object if there is nothing of it. */
export function withoutMembersOf32(schema: JsonRecord): JsonRecord {
  const found = MEMBERS_OF_32.filter(([keyword, name]) => {
    const value = schema[keyword]
    return isRecord(value) && value[name] !== undefined
  })
  if (found.length === 0) return schema
  const known = before32.get(schema)
  if (known !== undefined) return known
  const changed = found.map(([keyword, name]) => {
    const { [name]: _added, ...rest } = Object(schema[keyword])
    return [keyword, rest] as const
  })
  const value = { ...schema, ...Object.fromEntries(changed) }
  before32.set(schema, value)
  return value
}
