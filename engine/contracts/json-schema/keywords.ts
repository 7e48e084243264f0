/** The keywords that identify a document as JSON Schema, and the names of its drafts. */

import { isRecord, type JsonRecord } from '../../schema/located.ts'

/** Members that map names to schemas: a property may be called `$id` or `enum`. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** Members that contain values, whatever their keys are. */
export const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example'])

type KeywordForm =
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

/** The form of each keyword's value, drafts 4 to 2020-12. */
const KEYWORDS: ReadonlyMap<string, KeywordForm> = new Map<string, KeywordForm>([
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

/** Keywords that admit and refuse nothing. Many of them occur in other documents. */
const ANNOTATIONS: ReadonlyMap<string, KeywordForm> = new Map<string, KeywordForm>([
  ...keywords('text', 'id', '$comment', 'title', 'description'),
  ...keywords('boolean', 'readOnly', 'writeOnly', 'deprecated'),
  ...keywords('list', 'examples'),
  ...keywords('any', 'default'),
])

function keywords(form: KeywordForm, ...names: readonly string[]): readonly (readonly [string, KeywordForm])[] {
  return names.map((name) => [name, form])
}

/** Whether any member is a keyword that restricts values. */
export function holdsKeyword(schema: JsonRecord): boolean {
  return Object.keys(schema).some((name) => KEYWORDS.has(name))
}

/** Whether every member of the schema, at every depth, is a JSON Schema keyword with a value of its form. */
export function holdsKeywordsOnly(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  if (!isRecord(value)) return false
  return Object.entries(value).every(([name, member]) => {
    const form = KEYWORDS.get(name) ?? ANNOTATIONS.get(name)
    return form === undefined ? name.startsWith('x-') : hasForm(member, form)
  })
}

const FORMS: Readonly<Record<KeywordForm, (value: unknown) => boolean>> = {
  schema: holdsKeywordsOnly,
  schemas: (value) => Array.isArray(value) && value.every(holdsKeywordsOnly),
  'schema or schemas': (value) => (Array.isArray(value) ? value.every(holdsKeywordsOnly) : holdsKeywordsOnly(value)),
  'named schemas': (value) => isRecord(value) && Object.values(value).every(holdsKeywordsOnly),
  text: isText,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  'number or boolean': (value) => typeof value === 'number' || typeof value === 'boolean',
  names: isNames,
  types: (value) => TYPES.has(value) || (Array.isArray(value) && value.every((type) => TYPES.has(type))),
  'named names': (value) => isRecord(value) && Object.values(value).every(isNames),
  dependencies: (value) =>
    isRecord(value) && Object.values(value).every((one) => isNames(one) || holdsKeywordsOnly(one)),
  vocabularies: (value) => isRecord(value) && Object.values(value).every((one) => typeof one === 'boolean'),
  list: (value) => Array.isArray(value),
  any: () => true,
}

function hasForm(value: unknown, form: KeywordForm): boolean {
  return FORMS[form](value)
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

const DRAFTS: readonly { readonly pattern: RegExp; readonly name: string }[] = [
  { pattern: /^https?:\/\/json-schema\.org\/draft-0([3-7])\/(?:hyper-)?schema#?$/, name: 'draft-0' },
  { pattern: /^https?:\/\/json-schema\.org\/draft\/(2019-09|2020-12)\/(?:hyper-)?schema#?$/, name: '' },
]

/**
 * Short name of the dialect in `$schema`: `draft-07`, `2020-12`. Another meta-schema has its full name; null if none
 * is stated.
 */
export function draftOf(stated: unknown): string | null {
  if (typeof stated !== 'string' || stated === '') return null
  for (const { pattern, name } of DRAFTS) {
    const year = pattern.exec(stated)?.[1]
    if (year !== undefined) return `${name}${year}`
  }
  return stated
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/**
 * Whether a document is certainly a JSON Schema: it names a draft, has a form that no other format has, or consists of
 * keywords only.
 */
export function isPlainlyJsonSchema(root: unknown): boolean {
  if (!isRecord(root)) return false
  const { $schema, $defs, type, properties } = root
  if (typeof $schema === 'string') return DRAFTS.some(({ pattern }) => pattern.test($schema))
  const { $schema: _schema, type: _type, ...rest } = root
  if (isRecord($defs) || (TYPES.has(type) && (isRecord(properties) || holdsKeyword(rest)))) return true
  return holdsKeyword(root) && holdsKeywordsOnly(root)
}

/** Up to draft 7 a reference hides its sibling keywords (draft-handrews-json-schema-01 §8.3). */
export function dialectOf(draft: string | null): 'json-schema' | 'json-schema-draft-7' {
  return draft !== null && /^draft-0[3-7]$/.test(draft) ? 'json-schema-draft-7' : 'json-schema'
}
