/** The schemas of one tool, judged by the families: arguments as a request, the structured result as a response. */
import type { McpItem, McpItems } from '../../contracts/mcp-manifest.ts'
import { Addresses } from '../../contracts/addresses.ts'
import { dialectOfDraft, draftOf, evaluatesContainedIn } from '../../contracts/schema-keywords.ts'
import { DRAFTS, withKnownKeywords } from '../../contracts/schema-drafts.ts'
import { malformedToolSchema, type ToolValue } from '../../contracts/mcp-parts.ts'
import { withPlainSchemaReferences } from '../../contracts/plain-references.ts'
import { NO_FILES } from '../../contracts/documents.ts'
import { readInPlace } from '../../contracts/misplaced-references.ts'
import { localRefPointer, parsePointer } from '../../contracts/pointer.ts'
import {
  danglingReferences,
  unresolvedIn,
  type DanglingReference,
  type UnresolvedReference,
} from '../../contracts/unresolved.ts'
import type { LifecycleOptions } from '../../schema/lifecycle.ts'
import { TOOL_INPUT, TOOL_OUTPUT, type SitePair } from '../../schema/sites.ts'
import { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { Reached } from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import { isRecord, memberOf, pointerOf, stepInto, type Located } from '../../schema/located.ts'
import { hidesSiblings, type SchemaSource } from '../../schema/source.ts'
import { addMalformed, type McpWalk } from './walk.ts'

type SchemaMember = 'inputSchema' | 'outputSchema'

/** Compares both schemas of a tool. Returns the number of compared schemas. */
export function compareToolSchemas(before: McpItem, after: McpItem, walk: McpWalk): number {
  const input = compareToolSchema(
    memberOrAny(before, 'inputSchema'),
    memberOrAny(after, 'inputSchema'),
    TOOL_INPUT,
    walk,
  )
  const base = memberOf(before, 'outputSchema')
  const head = memberOf(after, 'outputSchema')
  if (base !== null && head !== null) return input + compareToolSchema(base, head, TOOL_OUTPUT, walk)
  if (base === null && head === null) return input
  reportOutputSchema(base, head, walk)
  return input
}

/** Without the schema a tool takes or returns anything. */
function memberOrAny(tool: McpItem, member: SchemaMember): Located {
  return memberOf(tool, member) ?? { value: {}, at: stepInto(tool.at, member), document: '' }
}

function reportOutputSchema(before: Located | null, after: Located | null, walk: McpWalk): void {
  const there = after ?? before
  if (there === null) return
  walk.add({
    rule: after === null ? 'mcp-tool-output-schema-removed' : 'mcp-tool-output-schema-added',
    subject: 'outputSchema',
    side: after === null ? 'base' : 'head',
    location: pointerOf(there.at),
    before: before?.value ?? null,
    after: after?.value ?? null,
  })
}

/** Malformed parts of the schemas of a tool. Without `before`, of one that was added. */
export function reportMalformedSchemas(before: McpItem | null, after: McpItem, walk: McpWalk): void {
  for (const member of ['inputSchema', 'outputSchema'] as const) {
    const [base, head] = [before && memberOf(before, member), memberOf(after, member)]
    const isOtherDraft = base !== null && head !== null && toolDraft(base) !== toolDraft(head)
    const value = member === 'inputSchema' ? 'object' : walk.results
    const [was, is] = [malformedIn(base, value, isOtherDraft), malformedIn(head, value, isOtherDraft)]
    addMalformed(was, is, `/${member}`, walk)
  }
}

/** @param isStrict takes only the forms of keywords that the draft of the schema has */
function malformedIn(schema: Located | null, value: ToolValue, isStrict: boolean): ToolSchema['malformed'] {
  if (schema === null) return new Map()
  const { root, source, malformed } = toolSchema(schema)
  if (value === 'object' && !isStrict) return malformed
  return malformedToolSchema(root, source, { value, draft: isStrict ? toolDraft(schema) : null })
}

/** Only values matter for tools: their schemas have no life cycle. */
const LIFECYCLE: LifecycleOptions = {
  daysUntil: () => null,
  deprecationDaysStable: 0,
  deprecationDaysBeta: 0,
  minimumStability: 'draft',
}

function compareToolSchema(before: Located, after: Located, sites: SitePair, walk: McpWalk): number {
  const isOtherDraft = toolDraft(before) !== toolDraft(after)
  if (isOtherDraft && !isKnownDraft(toolDraft(after))) reportDialect(before, after, sites, walk)
  const [base, head] = [toolSchema(before, isOtherDraft), toolSchema(after, isOtherDraft)]
  const comparison = new SchemaComparison({ before: base.source, after: head.source })
  const pair = comparison.compare(base.root, head.root)
  comparison.complete()
  const subjectOf = ({ path, delta }: Reached): string =>
    [sites.root.prefix, ...path, delta.keyword, delta.name ?? ''].join('/')
  const use = { sites, mediaType: null, parameter: null, lifecycle: LIFECYCLE }
  walk.addSchemas({ pair, use, subjectOf, isGone: isRemoval }, comparison)
  reportDanglingInSchema(before, after, sites.root.prefix, walk)
  return comparison.examined
}

function isKnownDraft(draft: string): boolean {
  return DRAFTS.some((known) => known === draft)
}

function reportDialect(before: Located, after: Located, sites: SitePair, walk: McpWalk): void {
  const place = { side: 'head', location: pointerOf(stepInto(after.at, '$schema')) } as const
  const values = { before: toolDraft(before), after: toolDraft(after) }
  walk.add({ ...place, ...values, rule: 'mcp-tool-schema-dialect-unknown', subject: `${sites.root.prefix}/$schema` })
}

function isRemoval({ action }: SchemaDelta): boolean {
  return action === 'removed' || action === 'unset' || action === 'ceased'
}

/** The schema of a tool as a document of its own: a manifest contains many. */
interface ToolSchema {
  readonly root: Located
  readonly source: SchemaSource
  /** What the schema states, read when a reference is followed. */
  readonly addresses: () => Addresses
  readonly malformed: ReturnType<typeof malformedToolSchema>
}

/** The draft that a schema states. The default is 2020-12 (MCP, Tool.inputSchema). */
function toolDraft({ value }: Located): string {
  return draftOf(isRecord(value) ? value['$schema'] : null) ?? '2020-12'
}

/**
 * @param isStrict leaves out what the draft of the schema does not know. Models and many hosts read such keywords all the
 * same, so this is for schemas that change their draft.
 */
function toolSchema(written: Located, isStrict = false): ToolSchema {
  const draft = toolDraft(written)
  const [dialect, evaluatesContained] = [dialectOfDraft(draft), evaluatesContainedIn(draft)]
  // What draft 3 says has other keywords in all later ones.
  const known = isStrict || draft === 'draft-03' ? withKnownKeywords(written.value, draft, { isStrict }) : written.value
  // After that: a draft may not have the dynamic references of another one.
  const plain = withPlainSchemaReferences(known, draft)
  return readInPlace({ root: plain, files: NO_FILES }, ({ root: value }) => {
    const root = value === written.value ? written : { ...written, value }
    let read: Addresses | null = null
    const addresses = (): Addresses => (read ??= new Addresses(root, { hidesSiblings: hidesSiblings(dialect) }))
    const resolve = (reference: string, from: Located): Located | null =>
      addresses().find(reference, from) ?? resolveWithin(root, reference)
    const malformed = malformedToolSchema(root, { resolve }, { value: 'object' })
    return { root, source: { dialect, evaluatesContained, resolve }, addresses, malformed, resolve }
  })
}

/** Finds the targets of references within a schema of a tool. */
export function schemaResolver(schema: Located): SchemaSource['resolve'] {
  let source: SchemaSource | null = null
  return (reference, from) => (source ??= toolSchema(schema).source).resolve(reference, from)
}

function resolveWithin(root: Located, reference: string): Located | null {
  const pointer = localRefPointer(reference)
  if (pointer === null) return null
  return (parsePointer(pointer) ?? ['\u0000']).reduce<Located | null>(pointerStep, root)
}

function pointerStep(owner: Located | null, token: string): Located | null {
  if (owner === null) return null
  if (!Array.isArray(owner.value)) return memberOf(owner, token)
  const items: readonly unknown[] = owner.value
  const item = /^(?:0|[1-9]\d*)$/.test(token) ? items[Number(token)] : undefined
  return item === undefined ? null : { value: item, at: stepInto(owner.at, token), document: owner.document }
}

/**
 * References that are unresolved in the head and were not in the base. Their targets were not compared, so they are
 * reported.
 */
function reportDanglingInSchema(before: Located, after: Located, subject: string, walk: McpWalk): void {
  const base = new Set(danglingIn(before).map(({ reference }) => reference))
  for (const { reference, holder } of danglingIn(after)) {
    if (base.has(reference)) continue
    const location = pointerOf(stepInto(holder.at, '$ref'))
    walk.add({ rule: 'mcp-tool-reference-unresolved', subject, side: 'head', location, after: reference })
  }
}

function danglingIn(schema: Located): readonly DanglingReference[] {
  const { root, source, addresses } = toolSchema(schema)
  return danglingReferences({
    root,
    resolve: (reference, from) => source.resolve(reference, from),
    ...(addresses().areOfOneBase ? {} : { baseOf: (from: Located) => addresses().baseOf(from) }),
  })
}

/** Unresolved references in the tool schemas of one side. */
export function unresolvedOfTools(side: 'base' | 'head', tools: McpItems | null): readonly UnresolvedReference[] {
  return [...(tools?.values() ?? [])].flatMap((tool) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((member) => {
      const schema = memberOf(tool, member)
      return schema === null ? [] : unresolvedIn(side, danglingIn(schema), tool.name)
    }),
  )
}
