/**
 * `unevaluatedProperties` and `unevaluatedItems` hold for what no other keyword has evaluated (JSON Schema 2020-12 core §11).
 * They admit what a condition evaluates: adding such a condition widens, removing it narrows.
 */
import { lookupTable } from '../common/lookup-table.ts'
import type { Examination } from './examination.ts'
import { isRecord, type JsonRecord } from './located.ts'
import { EnteredSchemas } from './looked-at.ts'
import { allowanceOf, compareAllowance, itemsOf, locate, locateItem, membersOf } from './subschemas.ts'
import { shapeKey } from './shape.ts'
import { evaluatesContained, resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

const KEYWORDS = ['unevaluatedProperties', 'unevaluatedItems'] as const
type Keyword = (typeof KEYWORDS)[number]

/** The keyword of the same schema that looks at all that is left, so that nothing stays unevaluated. */
const EXHAUSTING: Readonly<Record<Keyword, string>> = lookupTable({
  unevaluatedProperties: 'additionalProperties',
  unevaluatedItems: 'items',
})

/** Schemas at the same place of the value, whose looking counts. */
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const
const SINGLES = ['if', 'then', 'else'] as const
const MAX_DEPTH = 12
const EVERYTHING = 'everything'

/** What is left unevaluated may be: anything where nothing can be. */
export function unevaluatedOf(schema: JsonRecord, keyword: Keyword): unknown {
  return schema[EXHAUSTING[keyword]] === undefined ? schema[keyword] : undefined
}

export function compareUnevaluated(examination: Examination): void {
  for (const keyword of KEYWORDS) compareLeft(examination, keyword)
}

function compareLeft(examination: Examination, keyword: Keyword): void {
  if (examination.base[keyword] === undefined && examination.head[keyword] === undefined) return

  const { before, after, sources, add: say } = examination
  const base = reduced(examination.base, keyword)
  const head = reduced(examination.head, keyword)
  compareAllowance({ ...examination, base, head }, keyword)
  if (allowanceOf(base[keyword]) === 'anything' || allowanceOf(head[keyword]) === 'anything') return
  const evaluatedBase = looksAt(base, head, { owner: before, source: sources.before }, keyword)
  const evaluatedHead = looksAt(head, base, { owner: after, source: sources.after }, keyword)
  const facts = { keyword, name: null, before: base[keyword], after: head[keyword], steps: [keyword] }
  if (!includes(evaluatedHead, evaluatedBase)) say({ ...facts, action: 'narrowed' })
  if (!includes(evaluatedBase, evaluatedHead)) say({ ...facts, action: 'widened' })
}

function includes(whole: ReadonlySet<string>, part: ReadonlySet<string>): boolean {
  return whole.has(EVERYTHING) || [...part].every((one) => whole.has(one))
}

function reduced(schema: JsonRecord, keyword: Keyword): JsonRecord {
  const value = unevaluatedOf(schema, keyword)
  return value === schema[keyword] ? schema : { ...schema, [keyword]: value }
}

interface SchemaSide {
  readonly owner: ResolvedSchema
  readonly source: SchemaSource
}

/**
 * What the schemas within evaluate. Single names count only in keywords that the other side lacks: otherwise an added or
 * removed property is reported as such.
 */
function looksAt(schema: JsonRecord, other: JsonRecord, side: SchemaSide, keyword: Keyword): ReadonlySet<string> {
  const found = new Set<string>()
  const [naming, others] = [new EnteredSchemas(), new EnteredSchemas()]
  const entered = (isNaming: boolean): EnteredSchemas => (isNaming ? naming : others)
  for (const [name, part] of inPlaceSubschemas(schema, side)) {
    const isNaming = other[name] === undefined && name !== 'allOf'
    collectEvaluated(part, { ...side, owner: part, keyword, isNaming, entered: entered(isNaming) }, found)
  }
  if (keyword === 'unevaluatedItems') own(schema, { ...side, keyword, isNaming: true }, found)
  return found
}

interface Collecting extends SchemaSide {
  readonly keyword: Keyword
  readonly isNaming: boolean
  readonly entered: EnteredSchemas
}

function collectEvaluated(schema: ResolvedSchema, given: Collecting, found: Set<string>, depth = 0): void {
  const { keyword } = given
  const { value } = schema
  if (depth > MAX_DEPTH || found.has(EVERYTHING) || !given.entered.enter(value, depth)) return
  if (value[EXHAUSTING[keyword]] !== undefined || value[keyword] !== undefined) found.add(EVERYTHING)
  own(value, given, found)
  for (const [, part] of inPlaceSubschemas(value, { ...given, owner: schema }))
    collectEvaluated(part, given, found, depth + 1)
}

/** What a schema looks at by its own keywords. */
function own(
  schema: JsonRecord,
  { keyword, isNaming, source }: Pick<Collecting, 'keyword' | 'isNaming' | 'source'>,
  found: Set<string>,
): void {
  if (keyword === 'unevaluatedProperties') {
    for (const pattern of Object.keys(membersOf(schema, 'patternProperties'))) found.add(`pattern ${pattern}`)
    if (isNaming) for (const name of Object.keys(membersOf(schema, 'properties'))) found.add(`name ${name}`)
    return
  }
  if (isNaming) for (const [index] of itemsOf(schema, 'prefixItems').entries()) found.add(`item ${index}`)
  if (schema.contains !== undefined && evaluatesContained(source) !== false)
    found.add(`contains ${shapeKey(schema.contains)}`)
}

function* inPlaceSubschemas(
  schema: JsonRecord,
  { owner, source }: SchemaSide,
): Generator<readonly [keyword: string, part: ResolvedSchema]> {
  for (const keyword of LISTS) {
    const items = itemsOf(schema, keyword)
    for (const [index] of items.entries()) {
      yield [keyword, resolveSchema(locateItem(owner, items, keyword, index), source)]
    }
  }
  for (const keyword of SINGLES) {
    // Without a condition its consequences are not looked at.
    if (schema.if === undefined || !isRecord(schema[keyword])) continue
    yield [keyword, resolveSchema(locate(owner, schema, keyword), source)]
  }
  const dependent = membersOf(schema, 'dependentSchemas')
  for (const name of Object.keys(dependent)) {
    yield ['dependentSchemas', resolveSchema(locate(owner, dependent, 'dependentSchemas', name), source)]
  }
}
