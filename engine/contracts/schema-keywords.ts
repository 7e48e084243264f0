/** The keywords that identify a document as JSON Schema, and the names of its drafts. */

import { isFormed, KEYWORD_FORMS, keywords, type KeywordForm } from '../schema/keyword-forms.ts'
import { isRecord, type JsonRecord } from '../schema/located.ts'

/** Members that map names to schemas: a property may be called `$id` or `enum`. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** Members that contain values, whatever their keys are. A value there that looks like a reference is none. */
export const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example'])

/** Keywords that admit and refuse nothing. Many of them occur in other documents. */
const ANNOTATIONS: ReadonlyMap<string, KeywordForm> = new Map<string, KeywordForm>([
  ...keywords('text', 'id', '$comment', 'title', 'description'),
  ...keywords('boolean', 'readOnly', 'writeOnly', 'deprecated'),
  ...keywords('list', 'examples'),
  ...keywords('any', 'default'),
])

/** Whether any member is a keyword that restricts values. */
export function holdsKeyword(schema: JsonRecord): boolean {
  return Object.keys(schema).some((name) => KEYWORD_FORMS.has(name))
}

/** Whether every member of the schema, at every depth, is a JSON Schema keyword with a value of its form. */
export function holdsKeywordsOnly(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  if (!isRecord(value)) return false
  return Object.entries(value).every(([name, member]) => {
    const form = KEYWORD_FORMS.get(name) ?? ANNOTATIONS.get(name)
    return form === undefined ? name.startsWith('x-') : hasForm(member, form)
  })
}

/** Whether a value has the form of its keyword, and the schemas that it holds hold keywords only. */
function hasForm(value: unknown, form: KeywordForm): boolean {
  return isFormed(value, form) && schemasIn(value, form).every(holdsKeywordsOnly)
}

function schemasIn(value: unknown, form: KeywordForm): readonly unknown[] {
  if (form === 'schema') return [value]
  if (form === 'schemas' || form === 'schema or schemas') return Array.isArray(value) ? value : [value]
  if (form === 'dependencies') return Object.values(Object(value)).filter((one) => !Array.isArray(one))
  return form === 'named schemas' ? Object.values(Object(value)) : []
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

/**
 * Whether a document is certainly a JSON Schema: it names a draft, has a form that no other format has, or consists of
 * keywords only.
 */
export function isPlainlyJsonSchema(root: unknown): boolean {
  if (!isRecord(root)) return false
  const { $schema, $defs, type, properties } = root
  if (typeof $schema === 'string') return DRAFTS.some(({ pattern }) => pattern.test($schema))
  const { $schema: _schema, type: _type, ...rest } = root
  const isTyped = typeof type === 'string' && isFormed(type, 'types')
  if (isRecord($defs) || (isTyped && (isRecord(properties) || holdsKeyword(rest)))) return true
  return holdsKeyword(root) && holdsKeywordsOnly(root)
}

/** The dialects of OpenAPI that extend 2020-12. */
const OPENAPI_DIALECT = /^https:\/\/spec\.openapis\.org\/oas\/3\.\d+\/dialect\/(?:base|[\d-]+)$/

export function isOpenApiDialect(draft: string): boolean {
  return OPENAPI_DIALECT.test(draft)
}

/** Whether `contains` evaluates items in a draft (`SchemaSource.evaluatesContained`). The default draft is 2020-12. */
export function evaluatesContainedIn(draft: string | null): boolean | null {
  if (draft === null || draft === '2020-12' || isOpenApiDialect(draft)) return true
  return draft === '2019-09' ? false : null
}

/** Up to draft 7 a reference hides its sibling keywords (draft-handrews-json-schema-01 §8.3). */
export function dialectOfDraft(draft: string | null): 'json-schema' | 'json-schema-draft-7' {
  return draft !== null && /^draft-0[3-7]$/.test(draft) ? 'json-schema-draft-7' : 'json-schema'
}
