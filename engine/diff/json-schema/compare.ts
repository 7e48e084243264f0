/**
 * Compares two texts of a JSON Schema into finding groups. The root is compared first, then the definitions that it
 * does not reach.
 */
import type { FormatOptions, FormatComparison } from '../../model/format.ts'
import { definitionsOf, readJsonSchema, type JsonSchemaContract } from '../../contracts/json-schema/document.ts'
import { UNNAMED_SCHEMA } from '../../contracts/plain-references.ts'
import {
  danglingReferences,
  sortedReferences,
  unresolvedIn,
  type UnresolvedReference,
} from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { JSON_SCHEMA_RULES, type JsonSchemaRuleId } from '../../rules/json-schema/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { SCHEMA_DOCUMENT } from '../../schema/sites.ts'
import { Report } from '../../rules/judging/report.ts'
import { SchemaComparison, type SchemaPair } from '../../schema/comparison/comparison.ts'
import { isRecord, ROOT, stepInto, type Located } from '../../schema/located.ts'
import { contractWalk, type ContractWalk } from '../contract-walk.ts'
import { compareMalformed } from '../malformed-parts.ts'
import { walkOptionsOf } from '../options.ts'
import { readSides, type Sides } from '../sides.ts'
import { keysOfBoth } from '../match.ts'

type SchemaWalk = ContractWalk<JsonSchemaRuleId>
type AddSchemaChange = SchemaWalk['add']

/** Compares two schemas of any draft; an empty side is a schema that does not exist. */
export function compareJsonSchemas(
  before: string,
  after: string,
  options: FormatOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const lifecycle = walkOptionsOf(options)
  if (!lifecycle.ok) return lifecycle
  const sides = readSchemas(before, after, options)
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const locate = { base: base?.locate ?? (() => null), head: head?.locate ?? (() => null) }
  const judge = judgeById<JsonSchemaRuleId>(JSON_SCHEMA_RULES)
  const report = new Report({ ...judge, levels: options.levels, sha256, locate })
  const walk = contractWalk(report, lifecycle.value)
  const examined =
    base === null || head === null ? reportAddedOrRemoved(base, head, walk.add) : compareBoth(base, head, walk)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: base === null ? 0 : 1, head: head === null ? 0 : 1 },
      schemas_compared: examined,
      touched: report.touched,
    },
    spec_versions: { base: base?.draft ?? null, head: head?.draft ?? null },
    unresolved: sortedReferences([...unresolvedReferences('base', base), ...unresolvedReferences('head', head)]),
  })
}

/** A keyword that one of two drafts does not have means nothing on that side. */
function readSchemas(before: string, after: string, options: FormatOptions): Result<Sides<JsonSchemaContract | null>> {
  const read = (isStrict: boolean): Result<Sides<JsonSchemaContract | null>> =>
    readSides(before, after, (text, side) => readJsonSchema(text, side, { ...options, isStrict }))
  const sides = read(false)
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const drafts = [base?.draft ?? null, head?.draft ?? null]
  return drafts.includes(null) || drafts[0] === drafts[1] ? sides : read(true)
}

function unresolvedReferences(
  side: 'base' | 'head',
  contract: JsonSchemaContract | null,
): readonly UnresolvedReference[] {
  if (contract === null) return []
  const { root, source } = contract
  const resolve = (reference: string, from: Located): Located | null => source.find(reference, from)
  return unresolvedIn(side, danglingReferences({ root, resolve, baseOf: (from) => source.baseOf(from) }))
}

function reportAddedOrRemoved(
  base: JsonSchemaContract | null,
  head: JsonSchemaContract | null,
  add: AddSchemaChange,
): number {
  const located: Located = { value: null, at: ROOT, document: '' }
  const isAdded = base === null && head !== null
  const rule = isAdded ? 'schema-document-added' : 'schema-document-removed'
  add({ rule, subject: '', side: isAdded ? 'head' : 'base', located })
  return 0
}

function compareBoth(base: JsonSchemaContract, head: JsonSchemaContract, walk: SchemaWalk): number {
  const { add } = walk
  compareDraftAndAddress(base, head, add)
  const comparison = new SchemaComparison({ before: base.source, after: head.source })
  const root = comparison.compare(base.root, head.root)
  const [baseDefinitions, headDefinitions] = [definitionsOf(base), definitionsOf(head)]
  const names = keysOfBoth(baseDefinitions.keys(), headDefinitions.keys())
  const definitions = names.flatMap((name): readonly NamedSchemaPair[] => {
    const [before, after] = [baseDefinitions.get(name), headDefinitions.get(name)]
    if (before !== undefined && after !== undefined)
      return [{ pair: comparison.compare(before, after), lead: ['$defs', name] }]
    reportDefinition(name, before, after, add)
    return []
  })
  comparison.complete()
  reportPairs(walk, [{ pair: root, lead: [] }, ...definitions], comparison)
  reportDanglingSchemas(base, head, add)
  compareMalformed(base.malformed, head.malformed, ({ place, ...change }) =>
    add({ ...change, rule: 'schema-part-malformed', subject: place, name: place }),
  )
  return comparison.examined
}

interface NamedSchemaPair {
  readonly pair: SchemaPair
  /** The path of the schema in its document. */
  readonly lead: readonly string[]
}

/** The root comes first and reports what it reaches. A definition reports only what was not reported before. */
function reportPairs(walk: SchemaWalk, pairs: readonly NamedSchemaPair[], comparison: SchemaComparison): void {
  const reported = new Set<SchemaPair>()
  const use = { sites: SCHEMA_DOCUMENT, mediaType: null }
  for (const { pair, lead } of pairs) {
    const reached: SchemaPair[] = []
    const skips = (one: SchemaPair): boolean => {
      reached.push(one)
      return reported.has(one)
    }
    walk.addSchemas({ pair, use, where: '', lead, endpoint: '', skips }, comparison)
    for (const one of reached) reported.add(one)
  }
}

function reportDefinition(
  name: string,
  before: Located | undefined,
  after: Located | undefined,
  add: AddSchemaChange,
): void {
  const located = after ?? before
  if (located === undefined) return
  const isAdded = before === undefined
  const rule = isAdded ? 'schema-definition-added' : 'schema-definition-removed'
  add({
    rule,
    subject: name,
    name,
    side: isAdded ? 'head' : 'base',
    located,
    before: before?.value,
    after: after?.value,
  })
}

/** Clients cannot rely on a dialect or an address that was not stated. */
function compareDraftAndAddress(base: JsonSchemaContract, head: JsonSchemaContract, add: AddSchemaChange): void {
  if (base.draft !== null && head.draft !== null && base.draft !== head.draft) {
    const located = { value: head.draft, at: stepInto(ROOT, '$schema'), document: '' }
    add({
      rule: 'schema-draft-changed',
      subject: '$schema',
      side: 'head',
      located,
      before: base.draft,
      after: head.draft,
    })
  }
  const [before, after] = [schemaAddress(base), schemaAddress(head)]
  if (before === null || before.address === after?.address) return
  const located = { value: null, at: stepInto(ROOT, (after ?? before).keyword), document: '' }
  const change = { subject: '$id', before: before.address, after: after?.address ?? null, located }
  add({ ...change, rule: 'schema-id-changed', side: after === null ? 'base' : 'head' })
}

/** Draft 4 calls it `id`. A trailing empty fragment has no meaning. */
function schemaAddress({
  root,
  draft,
}: JsonSchemaContract): { readonly keyword: string; readonly address: string } | null {
  if (!isRecord(root.value)) return null
  const keyword = draft === 'draft-04' || draft === 'draft-03' ? 'id' : '$id'
  const stated = root.value[keyword]
  if (typeof stated !== 'string' || stated === UNNAMED_SCHEMA) return null
  return { keyword, address: stated.replace(/#$/, '') }
}

/** References that are unresolved in the head and were not in the base. */
function reportDanglingSchemas(base: JsonSchemaContract, head: JsonSchemaContract, add: AddSchemaChange): void {
  const known = new Set(base.source.dangling.map(({ reference }) => reference))
  for (const { reference, holder } of head.source.dangling) {
    if (known.has(reference)) continue
    add({ rule: 'schema-reference-unresolved', subject: reference, side: 'head', located: holder, after: reference })
  }
}
