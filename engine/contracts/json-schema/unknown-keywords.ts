/**
 * Keywords that are newer than the draft of a document. A draft ignores what it does not know (JSON Schema Core
 * draft-07 §6.4), so they are left out before schemas are compared.
 */
import { isRecord } from '../../schema/located.ts'
import { NAMED_SCHEMAS, VALUES } from './keywords.ts'

/** Keywords by the draft that introduced them, oldest first. */
const INTRODUCED: readonly (readonly [draft: string, keywords: readonly string[]])[] = [
  ['draft-06', ['const', 'contains', 'propertyNames']],
  ['draft-07', ['if', 'then', 'else', 'contentEncoding', 'contentMediaType']],
  [
    '2019-09',
    [
      'dependentRequired',
      'dependentSchemas',
      'unevaluatedItems',
      'unevaluatedProperties',
      'minContains',
      'maxContains',
      'contentSchema',
    ],
  ],
  ['2020-12', ['prefixItems', '$dynamicRef']],
]

/** The document with the keywords of its draft only. Another meta-schema may define any of them. */
export function withKnownKeywords(root: unknown, draft: string | null): unknown {
  const unknown = draft === null ? NONE : unknownIn(draft)
  return unknown.size === 0 ? root : known(root, unknown)
}

const NONE: ReadonlySet<string> = new Set()

function unknownIn(draft: string): ReadonlySet<string> {
  const age = ['draft-03', 'draft-04', ...INTRODUCED.map(([name]) => name)].indexOf(draft)
  if (age === -1) return NONE
  const later = INTRODUCED.slice(Math.max(age - 1, 0))
  return new Set(later.flatMap(([, keywords]) => keywords))
}

function known(schema: unknown, unknown: ReadonlySet<string>, isRoot = true): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => known(item, unknown, false))
  // A schema may state a draft of its own.
  if (!isRecord(schema) || (!isRoot && typeof schema['$schema'] === 'string')) return schema
  const members = Object.entries(schema).filter(([name]) => !unknown.has(name))
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (VALUES.has(name)) return [name, member]
      if (!NAMED_SCHEMAS.has(name) || !isRecord(member)) return [name, known(member, unknown, false)]
      const named = Object.entries(member).map(([key, one]) => [key, known(one, unknown, false)] as const)
      return [name, Object.fromEntries(named)]
    }),
  )
}
