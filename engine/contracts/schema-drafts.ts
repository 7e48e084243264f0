/**
 * Reads each schema by its own draft before schemas are compared. Keywords that are newer than the draft are left out: a
 * draft ignores what it does not know (JSON Schema Core draft-07 §6.4). A file or part may state another draft than the
 * document: whether siblings of its `$ref` count is then written in the form that the document's draft has for it.
 */
import { isBoolean, isNumber } from '../schema/keyword-forms.ts'
import { isRecord, type JsonRecord } from '../schema/located.ts'
import { hasMeaningfulSibling, hidesSiblings, SILENT_SIBLINGS, type SchemaDialect } from '../schema/source.ts'
import { asDraft4 } from './draft-3.ts'
import { dialectOfDraft, draftOf, NAMED_SCHEMAS, VALUES } from './schema-keywords.ts'

/** Drafts of JSON Schema, oldest first. */
export const DRAFTS = ['draft-03', 'draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const

type Draft = (typeof DRAFTS)[number]

/** Keywords by the draft that introduced them. */
const INTRODUCED: readonly (readonly [draft: Draft, keywords: readonly string[]])[] = [
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

type Holds = (value: unknown) => boolean

/**
 * Keywords that only some drafts have, or have with some values. Documents of one draft keep them, as many readers do. A
 * document that moves to another draft loses them.
 */
const LIMITED: readonly (readonly [keyword: string, first: Draft, last: Draft, holds?: Holds])[] = [
  ['id', 'draft-03', 'draft-04'],
  ['$id', 'draft-06', '2020-12'],
  ['$id', 'draft-06', 'draft-07', isFragment],
  ['$anchor', '2019-09', '2020-12'],
  ['$recursiveRef', '2019-09', '2019-09'],
  ['$recursiveAnchor', '2019-09', '2019-09'],
  ['$dynamicAnchor', '2020-12', '2020-12'],
  ['dependencies', 'draft-03', 'draft-07'],
  ['additionalItems', 'draft-03', '2019-09'],
  ['items', 'draft-03', '2019-09', Array.isArray],
  ['exclusiveMaximum', 'draft-03', 'draft-04', isBoolean],
  ['exclusiveMinimum', 'draft-03', 'draft-04', isBoolean],
  ['exclusiveMaximum', 'draft-06', '2020-12', isNumber],
  ['exclusiveMinimum', 'draft-06', '2020-12', isNumber],
]

function isFragment(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('#')
}

/** How the schemas of one draft are read. */
interface DraftReading {
  /** Null: any of them may be defined. */
  readonly draft: Draft | null
  /** Whether the keywords count that only earlier drafts have. */
  readonly isStrict: boolean
  /** Whether siblings of `$ref` count in this draft, if the dialect of the document decides otherwise. */
  readonly siblings: 'as in the document' | 'ignored' | 'counted'
  /** Dialect of the document. */
  readonly dialect: SchemaDialect
}

interface DraftOptions {
  /** Whether a schema within the document may state a draft of its own. */
  readonly hasFurtherDrafts?: boolean
  /** Leaves out what only earlier drafts have too, for a document that is compared with one of another draft. */
  readonly isStrict?: boolean
}

/** The document with the keywords of its draft only. Another meta-schema may define any of them. */
export function withKnownKeywords(
  root: unknown,
  draft: string | null,
  { hasFurtherDrafts = false, isStrict = false }: DraftOptions = {},
): unknown {
  const reading = readingOf(draft, { dialect: dialectOfDraft(draft), isStrict })
  const leavesAll = reading.draft === null || (reading.draft === '2020-12' && !isStrict)
  const written = reading.draft === 'draft-03' ? asDraft4(root) : root
  return leavesAll && !hasFurtherDrafts ? written : known(written, reading)
}

/** A further file of a document, read by the draft that the file states. OpenAPI up to 3.0 has a dialect of its own. */
export function withOwnDraft(root: unknown, dialect: SchemaDialect): unknown {
  if (dialect !== 'json-schema' && dialect !== 'json-schema-draft-7') return root
  const draft = isRecord(root) ? draftOf(root['$schema']) : null
  if (draft === null) return root
  return known(draft === 'draft-03' ? asDraft4(root) : root, readingOf(draft, { dialect, isStrict: false }))
}

/** A document of schemas in the default language of JSON Schema, and the drafts that some of them state. */
interface StatedDrafts {
  readonly root: unknown
  readonly drafts: ReadonlySet<string>
}

/**
 * An OpenAPI contract with each schema that states a draft read by it, and the others by that of `jsonSchemaDialect` (OpenAPI
 * 3.1.1 §4.8.24.7). What is written elsewhere stays the same object.
 */
export function withStatedDrafts(root: unknown): StatedDrafts {
  const drafts = new Set<string>()
  const dialect = draftOf(isRecord(root) ? root['jsonSchemaDialect'] : null)
  const own = DRAFTS.find((one) => one === dialect) ?? null
  const read = (value: unknown, [name = '', ...holders]: readonly string[]): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const draft = isRecord(value) && name !== '' ? draftOf(value['$schema']) : null
    if (draft !== null) drafts.add(draft)
    if (draft !== null || (own !== null && isSchemaPlace(name, holders)))
      return known(value, readingOf(draft ?? own, { dialect: 'json-schema', isStrict: false }), false)
    const entries = Object.entries<unknown>({ ...value })
    const members = entries.map(([key, member]) =>
      !Array.isArray(value) && isValueMember(key, name) ? member : read(member, [key, name, ...holders]),
    )
    if (entries.every(([, member], index) => member === members[index])) return value
    return Array.isArray(value) ? members : Object.fromEntries(entries.map(([key], index) => [key, members[index]]))
  }
  return { root: read(root, []), drafts }
}

/** Whether OpenAPI has a schema under a name. */
function isSchemaPlace(name: string, [holder, ...above]: readonly string[]): boolean {
  if (name === 'schema' || name === 'itemSchema') return holder !== 'properties'
  return holder === 'schemas' && above[0] === 'components' && above[1] === ''
}

/** Whether a member is a value, which holds no schema. The default response is none. */
export function isValueMember(name: string, holder: string): boolean {
  return VALUES.has(name) && !(name === 'default' && holder === 'responses')
}

function readingOf(
  stated: string | null,
  { dialect, isStrict }: Pick<DraftReading, 'dialect' | 'isStrict'>,
): DraftReading {
  const own = stated === null ? dialect : dialectOfDraft(stated)
  const differing = own === 'json-schema' ? 'counted' : 'ignored'
  const siblings = own === dialect ? 'as in the document' : differing
  return { draft: DRAFTS.find((draft) => draft === stated) ?? null, isStrict, siblings, dialect }
}

/** Whether a draft has a keyword with this value. Another meta-schema may define any. */
export function draftHas(stated: string | null, keyword: string, value: unknown): boolean {
  return isKnownKeyword(keyword, value, readingOf(stated, { dialect: dialectOfDraft(stated), isStrict: true }))
}

function isKnownKeyword(keyword: string, value: unknown, { draft, isStrict }: DraftReading): boolean {
  if (draft === null) return true
  const age = DRAFTS.indexOf(draft)
  const since = FIRST_DRAFT.get(keyword)
  if (since !== undefined && DRAFTS.indexOf(since) > age) return false
  const spans = isStrict ? (LIMITS.get(keyword) ?? []) : []
  const applicable = spans.filter(([, , , holds]) => holds === undefined || holds(value))
  return applicable.every(([, first, last]) => DRAFTS.indexOf(first) <= age && age <= DRAFTS.indexOf(last))
}

const FIRST_DRAFT = new Map(INTRODUCED.flatMap(([draft, keywords]) => keywords.map((name) => [name, draft] as const)))
const LIMITS = Map.groupBy(LIMITED, ([keyword]) => keyword)

function known(schema: unknown, reading: DraftReading, isRoot = true): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => known(item, reading, false))
  if (!isRecord(schema)) return schema
  // A schema may state a draft of its own, but not beside a reference that hides it.
  if (!isRoot && typeof schema['$schema'] === 'string' && !isHiding(schema, reading))
    return known(schema, readingOf(draftOf(schema['$schema']), reading))
  const members = Object.entries(withReadSiblings(schema, reading)).filter(([name, value]) =>
    isKnownKeyword(name, value, reading),
  )
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (VALUES.has(name)) return [name, member]
      if (!NAMED_SCHEMAS.has(name) || !isRecord(member)) return [name, known(member, reading, false)]
      const named = Object.entries(member).map(([key, one]) => [key, known(one, reading, false)] as const)
      return [name, Object.fromEntries(named)]
    }),
  )
}

/** Whether the reference of a schema hides its siblings. */
function isHiding({ $ref }: JsonRecord, { siblings, dialect }: DraftReading): boolean {
  const isHidden = siblings === 'ignored' || (siblings === 'as in the document' && hidesSiblings(dialect))
  return isHidden && typeof $ref === 'string'
}

/** Beside a reference that hides them they name no schema. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['$id', 'id', '$anchor', '$dynamicAnchor'])

/** The schema with the siblings of its `$ref` in the form of the document's draft. Pointers into `allOf` stay as they are. */
function withReadSiblings(schema: JsonRecord, { siblings }: DraftReading): JsonRecord {
  if (siblings === 'as in the document' || typeof schema['$ref'] !== 'string') return schema
  if (siblings === 'ignored')
    return Object.fromEntries(
      Object.entries(schema).filter(([name]) => SILENT_SIBLINGS.has(name) && !IDENTIFIERS.has(name)),
    )
  return withCountedSiblings(schema)
}

/** A schema whose reference counts beside its other keywords, for readers of drafts in which it hides them. */
export function withCountedSiblings(schema: JsonRecord): JsonRecord {
  const { $ref, ...rest } = schema
  if (typeof $ref !== 'string') return schema
  if (!hasMeaningfulSibling(schema) && Object.keys(schema).every((name) => !IDENTIFIERS.has(name))) return schema
  return { ...rest, allOf: [...(Array.isArray(rest['allOf']) ? rest['allOf'] : []), { $ref }] }
}
