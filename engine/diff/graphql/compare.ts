/** Compares two texts of a GraphQL contract into finding groups. An empty side is a schema that offers nothing. */
import type { CompareOptions, FormatComparison } from '../../model/format.ts'
import { readGraphql } from '../../contracts/graphql/contract.ts'
import { NO_SCHEMA, ROOT_KINDS, STANDARD_SCALARS, type GraphqlSchema } from '../../contracts/graphql/schema.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { sortedReferences, type UnresolvedReference } from '../../contracts/unresolved.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { OF_COMPOSITION } from '../../rules/graphql/federation-rows.ts'
import { GRAPHQL_RULES, type GraphqlRuleId } from '../../rules/graphql/rows.ts'
import type { GroupingOptions } from '../../rules/findings/grouping.ts'
import { Report } from '../../rules/judging/report.ts'
import { filledIn, judgeById } from '../../rules/row.ts'
import { readSides } from '../sides.ts'
import { compareDirectives } from './directives.ts'
import { compareDescription, compareUsages } from './elements.ts'
import { graphqlWalk, Site, type GraphqlChange, type GraphqlWalk } from './walk.ts'
import { compareNamedTypes } from './types.ts'

/** Compares two schemas, each as SDL or as the JSON of an introspection query. */
export function compareGraphql(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const sides = readSides(before, after, (text) => readSchema(text, options))
  if (!sides.ok) return sides
  const locate = { base: locatorOf(sides.value.base), head: locatorOf(sides.value.head) }
  const judge = judgeById<GraphqlRuleId>(GRAPHQL_RULES)
  const report = new Report({ ...judge, levels: options.levels, sha256, locate })
  const walk = graphqlWalk(sides.value, report, changeOfHidden)
  compareSchemaDefinition(walk)
  compareRoots(walk)
  const examined = compareNamedTypes(walk)
  compareDirectives(walk)
  reportDanglingTypes(walk)
  reportUnusedScalars(walk)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: walk.references.base.operations.size, head: walk.references.head.operations.size },
      schemas_compared: examined,
      touched: report.touched,
    },
    // SDL does not state its edition of the language.
    spec_versions: { base: null, head: null },
    unresolved: sortedReferences([...unresolvedTypes('base', walk), ...unresolvedTypes('head', walk)]),
  })
}

/** What breaks clients who see an element changes the graph only, where they do not. Other subgraphs may need the element. */
function changeOfHidden(change: GraphqlChange, name: string): GraphqlChange {
  const row = GRAPHQL_RULES.get(change.rule)
  if (row?.rule.level !== 'breaking' || OF_COMPOSITION.has(change.rule)) return change
  if (row.rule.action === 'removed' && change.side === 'base')
    return { ...change, rule: 'graphql-federation-inaccessible-element-removed' }
  const { before = null, after = null, detail } = change
  const what = filledIn(row, { name, before, after, detail })
  return { ...change, rule: 'graphql-federation-inaccessible-element-changed', detail: what }
}

/** Types that are referred to but not defined. Their content was not compared. */
function unresolvedTypes(side: 'base' | 'head', { references }: GraphqlWalk): readonly UnresolvedReference[] {
  return [...references[side].dangling].map(([reference, { coordinate }]) => ({
    side,
    reference,
    location: composePointer(coordinateSteps(coordinate)),
    tool: null,
  }))
}

function readSchema(text: string, { limits }: CompareOptions): Result<GraphqlSchema> {
  const schema = readGraphql(text, limits ?? DEFAULT_DOCUMENT_LIMITS)
  return schema
}

/** A mark gives the position. Each change of a schema has one. */
function locatorOf(schema: GraphqlSchema): GroupingOptions['locate']['base'] {
  return (_, mark) => (mark === undefined ? null : schema.positionOf(mark))
}

function compareSchemaDefinition(walk: GraphqlWalk): void {
  const { base, head } = walk.sides
  if (base === NO_SCHEMA || head === NO_SCHEMA) return
  const site = new Site(walk, { coordinate: 'the schema', path: ['schema'], type: null })
  compareDescription('graphql-schema-description-changed', base.schema, head.schema, site)
  compareUsages(base.schema, head.schema, '', site)
}

function compareRoots(walk: GraphqlWalk): void {
  const { base, head } = walk.sides
  for (const kind of ROOT_KINDS) {
    const [before, after] = [base.roots.get(kind), head.roots.get(kind)]
    if (before?.name === after?.name) continue
    const site = new Site(walk, { coordinate: kind, path: ['schema', kind], type: null })
    const names = { before: before?.name ?? null, after: after?.name ?? null }
    if (after !== undefined) {
      const rule = before === undefined ? 'graphql-root-operation-added' : 'graphql-root-operation-changed'
      site.add({ rule, side: 'head', mark: after.mark, ...names })
    } else if (before !== undefined) {
      site.add({ rule: 'graphql-root-operation-removed', side: 'base', mark: before.mark, ...names })
    }
  }
}

/** References that are unresolved in the head and were not in the base. */
function reportDanglingTypes(walk: GraphqlWalk): void {
  const { base, head } = walk.references
  for (const [name, { coordinate, reference }] of head.dangling) {
    if (base.dangling.has(name)) continue
    const site = new Site(walk, { coordinate, path: coordinateSteps(coordinate), type: null })
    const rule = 'graphql-type-reference-unresolved'
    site.add({ rule, side: 'head', mark: reference.mark, after: name })
  }
}

/** The path of a type, field or argument by its coordinate. */
function coordinateSteps(coordinate: string): readonly string[] {
  const [, type = '', field, argument] = /^([^.]+)(?:\.([^(]+))?(?:\(([^:]+):\))?$/.exec(coordinate) ?? []
  const owner = field === undefined ? ['types', type] : ['types', type, 'fields', field]
  return argument === undefined ? owner : [...owner, 'arguments', argument]
}

/** A standard scalar is part of a schema only where something has its type. */
function reportUnusedScalars(walk: GraphqlWalk): void {
  const { base, head } = walk.references
  if (walk.sides.head === NO_SCHEMA) return
  for (const name of STANDARD_SCALARS) {
    // Introspection always contains these two.
    if (name === 'String' || name === 'Boolean') continue
    const isUsed = ({ inputs, outputs }: typeof base): boolean => inputs.has(name) || outputs.has(name)
    if (!isUsed(base) || isUsed(head)) continue
    const site = new Site(walk, { coordinate: name, path: ['types', name], type: null })
    site.add({ rule: 'graphql-standard-scalar-unused', side: 'base', mark: 0, before: name })
  }
}
