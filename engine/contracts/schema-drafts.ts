/**
 * Reads each schema by its own draft before schemas are compared. Keywords that are newer than the draft are left out: a
 * draft ignores what it does not know (JSON Schema Core draft-07 §6.4). A file or part may state another draft than the
 * document: whether siblings of its `$ref` count is then written in the form that the document's draft has for it.
 */
import { isRecord, type JsonRecord } from '../schema/located.ts'
import { hasMeaningfulSibling, SILENT_SIBLINGS, type SchemaDialect } from '../schema/source.ts'
import { dialectOf, draftOf, NAMED_SCHEMAS, VALUES } from './schema-keywords.ts'

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

/** How the schemas of one draft are read. */
interface Reading {
  readonly unknown: ReadonlySet<string>
  /** Whether siblings of `$ref` count in this draft, if the dialect of the document decides otherwise. */
  readonly siblings: 'as in the document' | 'ignored' | 'counted'
  /** Dialect of the document. */
  readonly dialect: SchemaDialect
}

/** The document with the keywords of its draft only. Another meta-schema may define any of them. */
export function withKnownKeywords(root: unknown, draft: string | null, hasFurtherDrafts = false): unknown {
  const reading = readingOf(draft, dialectOf(draft))
  return reading.unknown.size === 0 && !hasFurtherDrafts ? root : known(root, reading)
}

/** A further file of a document, read by the draft that the file states. OpenAPI up to 3.0 has a dialect of its own. */
export function withOwnDraft(root: unknown, dialect: SchemaDialect): unknown {
  if (dialect !== 'json-schema' && dialect !== 'json-schema-draft-7') return root
  const draft = isRecord(root) ? draftOf(root['$schema']) : null
  return draft === null ? root : known(root, readingOf(draft, dialect))
}

function readingOf(draft: string | null, dialect: SchemaDialect): Reading {
  const own = draft === null ? dialect : dialectOf(draft)
  const differing = own === 'json-schema' ? 'counted' : 'ignored'
  const siblings = own === dialect ? 'as in the document' : differing
  return { unknown: draft === null ? NONE : unknownIn(draft), siblings, dialect }
}

const NONE: ReadonlySet<string> = new Set()

function unknownIn(draft: string): ReadonlySet<string> {
  const age = ['draft-03', 'draft-04', ...INTRODUCED.map(([name]) => name)].indexOf(draft)
  if (age === -1) return NONE
  const later = INTRODUCED.slice(Math.max(age - 1, 0))
  return new Set(later.flatMap(([, keywords]) => keywords))
}

function known(schema: unknown, reading: Reading, isRoot = true): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => known(item, reading, false))
  if (!isRecord(schema)) return schema
  // A schema may state a draft of its own.
  if (!isRoot && typeof schema['$schema'] === 'string')
    return known(schema, readingOf(draftOf(schema['$schema']), reading.dialect))
  const members = Object.entries(withSiblings(schema, reading)).filter(([name]) => !reading.unknown.has(name))
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (VALUES.has(name)) return [name, member]
      if (!NAMED_SCHEMAS.has(name) || !isRecord(member)) return [name, known(member, reading, false)]
      const named = Object.entries(member).map(([key, one]) => [key, known(one, reading, false)] as const)
      return [name, Object.fromEntries(named)]
    }),
  )
}

/** The schema with the siblings of its `$ref` in the form of the document's draft. Pointers into `allOf` stay as they are. */
function withSiblings(schema: JsonRecord, { siblings }: Reading): JsonRecord {
  const { $ref, ...rest } = schema
  if (siblings === 'as in the document' || typeof $ref !== 'string') return schema
  if (siblings === 'ignored')
    return Object.fromEntries(Object.entries(schema).filter(([name]) => SILENT_SIBLINGS.has(name)))
  if (!hasMeaningfulSibling(schema)) return schema
  return { ...rest, allOf: [...(Array.isArray(rest['allOf']) ? rest['allOf'] : []), { $ref }] }
}
