/** The forms that values of JSON Schema keywords have. What has another JSON type is malformed. */
import { isRecord } from './located.ts'

export type KeywordForm =
  | 'schema'
  | 'schemas'
  | 'schema or schemas'
  | 'named schemas'
  | 'text'
  | 'number'
  | 'boolean'
  | 'number or boolean'
  | 'names'
  | 'types'
  | 'named names'
  | 'dependencies'
  | 'vocabularies'
  | 'list'
  | 'any'

/** The form of the value of each keyword that restricts values, drafts 4 to 2020-12. */
export const KEYWORD_FORMS: ReadonlyMap<string, KeywordForm> = new Map<string, KeywordForm>([
  ...keywords('text', '$schema', '$id', '$anchor', '$dynamicAnchor', '$ref', '$dynamicRef', '$recursiveRef'),
  ...keywords('boolean', '$recursiveAnchor', 'uniqueItems'),
  ...keywords('vocabularies', '$vocabulary'),
  ...keywords('named schemas', '$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas'),
  ...keywords('types', 'type'),
  ...keywords('list', 'enum'),
  ...keywords('any', 'const'),
  ...keywords('number', 'multipleOf', 'maximum', 'minimum', 'maxLength', 'minLength', 'maxItems', 'minItems'),
  ...keywords('number', 'maxContains', 'minContains', 'maxProperties', 'minProperties'),
  ...keywords('number or boolean', 'exclusiveMaximum', 'exclusiveMinimum'),
  ...keywords('text', 'pattern', 'format', 'contentEncoding', 'contentMediaType'),
  ...keywords('names', 'required'),
  ...keywords('named names', 'dependentRequired'),
  ...keywords('dependencies', 'dependencies'),
  ...keywords('schemas', 'prefixItems', 'allOf', 'anyOf', 'oneOf'),
  ...keywords('schema or schemas', 'items'),
  ...keywords('schema', 'additionalItems', 'unevaluatedItems', 'contains', 'propertyNames', 'contentSchema'),
  ...keywords('schema', 'additionalProperties', 'unevaluatedProperties', 'not', 'if', 'then', 'else'),
])

export function keywords(form: KeywordForm, ...names: readonly string[]): readonly (readonly [string, KeywordForm])[] {
  return names.map((name) => [name, form])
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

const FORMS: Readonly<Record<KeywordForm, (value: unknown) => boolean>> = {
  schema: isSchema,
  schemas: Array.isArray,
  'schema or schemas': (value) => Array.isArray(value) || isSchema(value),
  'named schemas': isRecord,
  text: isText,
  number: isNumber,
  boolean: isBoolean,
  'number or boolean': (value) => isNumber(value) || isBoolean(value),
  names: isTexts,
  types: (value) => TYPES.has(value) || (Array.isArray(value) && value.every((type) => TYPES.has(type))),
  'named names': (value) => isRecord(value) && Object.values(value).every(isTexts),
  dependencies: (value) => isRecord(value) && Object.values(value).every((one) => isTexts(one) || isSchema(one)),
  vocabularies: (value) => isRecord(value) && Object.values(value).every(isBoolean),
  list: Array.isArray,
  any: () => true,
}

/** Whether a value has its form. Schemas within it are not looked into. */
export function isFormed(value: unknown, form: KeywordForm): boolean {
  return FORMS[form](value)
}

function isSchema(value: unknown): boolean {
  return isRecord(value) || isBoolean(value)
}

export function isText(value: unknown): boolean {
  return typeof value === 'string'
}

export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

/** A list of texts. */
export function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}
