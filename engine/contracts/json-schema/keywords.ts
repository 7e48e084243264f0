/** The keywords of JSON Schema by which a document shows that it is one, and the names of its drafts. */

import { isRecord } from '../../schema/located.ts'

/** Members that hold schemas by name: a property may be called `$id` or `enum`. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** Members that hold values, however what is in them is called. */
export const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example'])

/** Any of these at the root makes a schema; `title` and `description` are members of too much else. */
const TELLING: ReadonlySet<string> = new Set([
  '$schema',
  '$ref',
  '$defs',
  'definitions',
  'type',
  'properties',
  'patternProperties',
  'additionalProperties',
  'required',
  'items',
  'prefixItems',
  'enum',
  'const',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  '$dynamicRef',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'multipleOf',
  'contains',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
])

export function holdsKeyword(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(schema).some((name) => TELLING.has(name))
}

const DRAFTS: readonly { readonly pattern: RegExp; readonly name: string }[] = [
  { pattern: /^https?:\/\/json-schema\.org\/draft-0([3-7])\/(?:hyper-)?schema#?$/, name: 'draft-0' },
  { pattern: /^https?:\/\/json-schema\.org\/draft\/(2019-09|2020-12)\/(?:hyper-)?schema#?$/, name: '' },
]

/** Short name of the language that `$schema` states: `draft-07`, `2020-12`; another meta-schema by its whole name, null where none is stated. */
export function draftOf(stated: unknown): string | null {
  if (typeof stated !== 'string' || stated === '') return null
  for (const { pattern, name } of DRAFTS) {
    const year = pattern.exec(stated)?.[1]
    if (year !== undefined) return `${name}${year}`
  }
  return stated
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** Whether a document is a JSON Schema beyond doubt: it names a draft, or it has the form that nothing else has. */
export function isPlainlyJsonSchema(root: unknown): boolean {
  if (!isRecord(root)) return false
  const { $schema, $defs, type, properties } = root
  if (typeof $schema === 'string') return DRAFTS.some(({ pattern }) => pattern.test($schema))
  const { $schema: _schema, type: _type, ...rest } = root
  return isRecord($defs) || (TYPES.has(type) && (isRecord(properties) || holdsKeyword(rest)))
}
