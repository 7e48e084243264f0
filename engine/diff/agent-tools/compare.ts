/**
 * Compares two texts of an agent's tools, in any form, into finding groups. What MCP tools have too is compared by the
 * MCP walker, the rest here.
 */
import type { CompareOptions, FormatComparison } from '../../model/format.ts'
import {
  readAgentTools,
  withEmptyParametersAs,
  type AgentTools,
  type ToolSettings,
} from '../../contracts/agent-tools/tools.ts'
import { readDocument } from '../../contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { sortedReferences, type UnresolvedReference } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { AGENT_TOOL_RULES, type AgentToolRuleId } from '../../rules/agent-tools/rows.ts'
import { Report } from '../../rules/judging/report.ts'
import { MCP_RULES } from '../../rules/mcp/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { isEqual } from '../../schema/equality.ts'
import { pointerOf, type Located } from '../../schema/located.ts'
import { keysOfBoth } from '../match.ts'
import { readSides, type Sides } from '../sides.ts'
import { unresolvedOfTools } from '../mcp/schemas.ts'
import { compareTools } from '../mcp/tools.ts'
import { mcpWalk, type McpReport, type McpWalk } from '../mcp/walk.ts'

const NOTHING: AgentTools = {
  items: new Map(),
  settings: new Map(),
  choice: new Map(),
  form: null,
  sourceOf: (pointer) => pointer,
  locate: () => null,
}

/** Compares the tools of both sides; an empty side is an agent without tools. The sides may be of different forms. */
export function compareAgentTools(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const sides = readSides(before, after, (text) => readTools(text, options))
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const report: McpReport = new Report({
    ...judgeById(new Map([...MCP_RULES, ...AGENT_TOOL_RULES])),
    levels: options.levels,
    sha256,
    locate: { base: base.locate, head: head.locate },
    sourceOf: { base: base.sourceOf, head: head.sourceOf },
  })
  const walk = mcpWalk(report, { tools: new Set(head.items.keys()), results: 'any' })
  const [baseItems, headItems] = [
    withEmptyParametersAs(head.items, base.items),
    withEmptyParametersAs(base.items, head.items),
  ]
  const examined = compareTools(baseItems, headItems, walk, (baseNode, headNode, own) => {
    const settings = { base: base.settings.get(headNode.name), head: head.settings.get(headNode.name) }
    compareToolSettings(settings, (change) => reportChange(change, { baseNode, headNode }, own))
  })
  if (base !== NOTHING && head !== NOTHING) compareChoice(base.choice, head.choice, walk)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: base.items.size, head: head.items.size },
      schemas_compared: examined,
      touched: report.touched,
    },
    spec_versions: { base: base.form, head: head.form },
    unresolved: sortedReferences([
      ...unresolvedOfTools('base', base.items).map(placedBy(base)),
      ...unresolvedOfTools('head', head.items).map(placedBy(head)),
    ]),
  })
}

function compareChoice(base: ReadonlyMap<string, Located>, head: ReadonlyMap<string, Located>, walk: McpWalk): void {
  for (const name of keysOfBoth(base.keys(), head.keys())) {
    const [baseNode, headNode] = [base.get(name) ?? null, head.get(name) ?? null]
    const [before, after] = [baseNode?.value ?? null, headNode?.value ?? null]
    if (isEqual(before, after)) continue
    const owners = { baseNode: null, headNode: null }
    const change = {
      rule: 'agent-tool-choice-changed',
      subject: name,
      name,
      before,
      after,
      baseNode,
      headNode,
    } as const
    reportChange(change, owners, walk)
  }
}

function placedBy({ sourceOf }: AgentTools): (reference: UnresolvedReference) => UnresolvedReference {
  return (reference) => ({ ...reference, location: sourceOf(reference.location) })
}

function readTools(text: string, options: CompareOptions): Result<AgentTools> {
  if (text === '') return ok(NOTHING)
  const document = readDocument(text, options.limits ?? DEFAULT_DOCUMENT_LIMITS)
  return document.ok ? readAgentTools(document.value) : document
}

interface ToolChange {
  readonly rule: AgentToolRuleId
  readonly subject: string
  readonly name?: string
  readonly before: unknown
  readonly after: unknown
  /** Where the value is in either document, or null. */
  readonly baseNode: Located | null
  readonly headNode: Located | null
}

type AddToolChange = (change: ToolChange) => void

function compareToolSettings({ base, head }: Sides<ToolSettings | undefined>, add: AddToolChange): void {
  if (base === undefined || head === undefined) return
  compareToolKind(base, head, add)
  if (base.kind === head.kind) compareMembers(base, head, add)
}

function reportChange(
  { baseNode, headNode, ...change }: ToolChange,
  owners: { readonly baseNode: Located | null; readonly headNode: Located | null },
  walk: McpWalk,
): void {
  const isRemoved = headNode === null && baseNode !== null
  const located = isRemoved ? baseNode : (headNode ?? owners.headNode)
  if (located === null) throw new Error(`no place for the rule ${change.rule}`)
  walk.add({ ...change, side: isRemoved ? 'base' : 'head', location: pointerOf(located.at) })
}

function compareToolKind(base: ToolSettings, head: ToolSettings, add: AddToolChange): void {
  const place = { baseNode: null, headNode: null }
  if (base.kind !== head.kind) {
    add({ ...place, rule: 'agent-tool-kind-changed', subject: 'kind', before: base.kind, after: head.kind })
  } else if (base.type !== head.type) {
    add({ ...place, rule: 'agent-tool-hosted-type-changed', subject: 'type', before: base.type, after: head.type })
  }
}

function compareMembers(base: ToolSettings, head: ToolSettings, add: AddToolChange): void {
  // What neither side states is left to the provider.
  if (base.isStrict !== head.isStrict && (base.strict !== null || head.strict !== null)) {
    const rule = head.isStrict ? 'agent-tool-strict-gained' : 'agent-tool-strict-lost'
    const values = { before: base.isStrict, after: head.isStrict }
    add({ rule, subject: 'strict', ...values, baseNode: base.strict, headNode: head.strict })
  }
  if (head.refusedAt !== null && base.refusedAt === null) {
    const place = { subject: 'strict schema', name: head.refusedAt, baseNode: null, headNode: head.strict }
    add({ ...place, rule: 'agent-tool-strict-refused', before: null, after: null })
  }
  const [baseFormat, headFormat] = [base.format?.value ?? null, head.format?.value ?? null]
  if (!isEqual(baseFormat, headFormat)) {
    const places = { baseNode: base.format, headNode: head.format }
    add({
      rule: 'agent-tool-input-format-changed',
      subject: 'format',
      before: baseFormat,
      after: headFormat,
      ...places,
    })
  }
  for (const name of keysOfBoth(base.members.keys(), head.members.keys())) {
    const [baseNode, headNode] = [base.members.get(name) ?? null, head.members.get(name) ?? null]
    const [before, after] = [baseNode?.value ?? null, headNode?.value ?? null]
    if (isEqual(before, after)) continue
    add({ rule: 'agent-tool-setting-changed', subject: `settings/${name}`, name, before, after, baseNode, headNode })
  }
}
