/**
 * The annotations of a tool (MCP ToolAnnotations) and its execution settings. Absent hints have the defaults of the
 * protocol.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { isEqual } from '../../schema/equality.ts'
import { pointerOf, type JsonRecord } from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'
import { membersOf } from '../../schema/subschemas.ts'

interface Hint {
  readonly name: string
  /** The protocol's default for an absent hint. */
  readonly fallback: boolean
  /** The value that promises less harm. */
  readonly safe: boolean
  readonly worse: McpRuleId
  /** The rule for a stated hint when the tool stops being read-only. */
  readonly stated?: McpRuleId
}

const HINTS: readonly Hint[] = [
  { name: 'readOnlyHint', fallback: false, safe: true, worse: 'mcp-tool-read-only-lost' },
  {
    name: 'destructiveHint',
    fallback: true,
    safe: false,
    worse: 'mcp-tool-became-destructive',
    stated: 'mcp-tool-destructive-stated',
  },
  { name: 'idempotentHint', fallback: false, safe: true, worse: 'mcp-tool-idempotence-lost' },
  { name: 'openWorldHint', fallback: true, safe: false, worse: 'mcp-tool-became-open-world' },
]

/** Has a meaning only for tools that change something (MCP ToolAnnotations). */
const OF_WRITERS: ReadonlySet<string> = new Set(['destructiveHint', 'idempotentHint'])

export function compareToolAnnotations(before: McpItem, after: McpItem, walk: McpWalk): void {
  const base = membersOf(before.value, 'annotations')
  const head = membersOf(after.value, 'annotations')
  for (const hint of HINTS) {
    if (base[hint.name] === head[hint.name]) continue
    const rule = judgeHint(hint, base, head)
    if (rule !== null) reportToolMember({ before, after, walk }, rule, 'annotations', hint.name)
  }
  for (const name of new Set([...Object.keys(base), ...Object.keys(head)])) {
    if (
      name === 'title' ||
      HINTS.some((hint) => hint.name === name) ||
      isEqual(statedIn(base, name), statedIn(head, name))
    )
      continue
    reportToolMember({ before, after, walk }, 'mcp-tool-annotation-changed', 'annotations', name)
  }
}

function judgeHint(hint: Hint, base: JsonRecord, head: JsonRecord): McpRuleId | null {
  const before = readHint(hint, base)
  const after = readHint(hint, head)
  if (OF_WRITERS.has(hint.name)) {
    if (readOnly(head)) return null
    // The write hints of a read-only tool had no effect. Losing readOnlyHint covers them, unless the head states harm.
    if (readOnly(base)) return hint.stated !== undefined && head[hint.name] === !hint.safe ? hint.stated : null
  }
  if (before !== after) return after === hint.safe ? 'mcp-tool-annotation-safer' : hint.worse
  // The default, now stated.
  return null
}

function readHint({ name, fallback }: Hint, annotations: JsonRecord): boolean {
  const value = annotations[name]
  return typeof value === 'boolean' ? value : fallback
}

function readOnly(annotations: JsonRecord): boolean {
  return annotations['readOnlyHint'] === true
}

const TASK_RULES: Readonly<Record<string, McpRuleId>> = lookupTable({
  required: 'mcp-tool-task-required',
  forbidden: 'mcp-tool-task-forbidden',
  optional: 'mcp-tool-task-optional',
})

/** Whether a tool is called as a task. Without the member it is not (MCP 2025-11-25). */
export function compareExecution(before: McpItem, after: McpItem, walk: McpWalk): void {
  const [base, head] = [membersOf(before.value, 'execution'), membersOf(after.value, 'execution')]
  for (const name of new Set([...Object.keys(base), ...Object.keys(head)])) {
    if (name === 'taskSupport' || isEqual(statedIn(base, name), statedIn(head, name))) continue
    reportToolMember({ before, after, walk }, 'mcp-tool-execution-changed', 'execution', name)
  }
  const baseSupport = base['taskSupport'] ?? 'forbidden'
  const headSupport = head['taskSupport'] ?? 'forbidden'
  if (baseSupport === headSupport) return
  const rule =
    typeof headSupport === 'string' && Object.hasOwn(TASK_RULES, headSupport) ? TASK_RULES[headSupport] : undefined
  reportToolMember({ before, after, walk }, rule ?? 'mcp-tool-task-required', 'execution', 'taskSupport')
}

interface ToolSides {
  readonly before: McpItem
  readonly after: McpItem
  readonly walk: McpWalk
}

/** Undefined if it is not stated: members may have names of Object.prototype. */
function statedIn(members: JsonRecord, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

function reportToolMember(
  { before, after, walk }: ToolSides,
  rule: McpRuleId,
  owner: 'annotations' | 'execution',
  name: string,
): void {
  const head = statedIn(membersOf(after.value, owner), name)
  const isRemoved = head === undefined
  walk.add({
    rule,
    subject: `${owner}/${name}`,
    side: isRemoved ? 'base' : 'head',
    location: `${pointerOf(isRemoved ? before.at : after.at)}${composePointer([owner, name])}`,
    name,
    before: statedIn(membersOf(before.value, owner), name) ?? null,
    after: head ?? null,
  })
}
