/**
 * What stands at tools, prompts, resources and templates beside their texts, schemas and hints: icons, `_meta`, annotations
 * of content, and members that no version of the protocol has named so far.
 */
import { byCodeUnit } from '../../change-set.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { McpReport } from './report.ts'
import { compareToolSecurity, SECURITY_SCHEMES } from './security.ts'

/** Whose members are compared. */
interface Holder {
  readonly before: Located & { readonly value: JsonRecord }
  readonly after: Located & { readonly value: JsonRecord }
  readonly tool: string | null
  /** What comes before the member in the subject of a change; empty for a tool, whose name is not part of it. */
  readonly subject: string
  readonly report: McpReport
}

/** Members that others compare, or that say nothing a client could rest on: the size and the date of content. */
const ELSEWHERE: ReadonlySet<string> = new Set(['title', 'description', 'name', 'uri', 'uriTemplate', 'icons', '_meta'])
const OF_TOOLS: ReadonlySet<string> = new Set([
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  SECURITY_SCHEMES,
])
const OF_OFFERS: ReadonlySet<string> = new Set(['arguments', 'mimeType', 'annotations', 'size'])

/** Compares what a tool says beside its texts, schemas and hints. */
export function compareToolMembers(before: McpItem, after: McpItem, report: McpReport): void {
  const holder: Holder = { before, after, tool: after.name, subject: '', report }
  compareToolSecurity(before, after, report)
  compareIcons(holder)
  compareOthers(holder, ['_meta'], 'mcp-meta-changed', (name) => name === SECURITY_SCHEMES)
  compareOthers(holder, [], 'mcp-member-changed', (name) => ELSEWHERE.has(name) || OF_TOOLS.has(name))
}

/** Compares what a prompt, resource or template says beside its texts. `subject` names it. */
export function compareOfferMembers(before: McpItem, after: McpItem, subject: string, report: McpReport): void {
  const holder: Holder = { before, after, tool: null, subject: `${subject}/`, report }
  compareShared(holder)
  // Prompts are asked for by their name, which is how they are matched.
  if (before.value['name'] !== after.value['name']) sayMember(holder, 'mcp-resource-name-changed', ['name'])
  const [was, is] = [recordAt(before, 'annotations'), recordAt(after, 'annotations')]
  if (!isEqual(was['audience'], is['audience']))
    sayMember(holder, 'mcp-resource-audience-changed', ['annotations', 'audience'])
  compareOthers(holder, ['annotations'], 'mcp-resource-annotation-changed', isToldOrContent)
  compareOthers(holder, [], 'mcp-member-changed', (name) => ELSEWHERE.has(name) || OF_OFFERS.has(name))
}

function isToldOrContent(annotation: string): boolean {
  return annotation === 'audience' || annotation === 'lastModified'
}

function compareShared(holder: Holder): void {
  compareIcons(holder)
  compareOthers(holder, ['_meta'], 'mcp-meta-changed', () => false)
}

/** A client loads icons from where they are said to be; one of another place learns who looks, and may look like another. */
export function compareIcons(holder: Holder): void {
  const [before, after] = [holder.before.value['icons'] ?? null, holder.after.value['icons'] ?? null]
  if (isEqual(before, after) || (isNoIcon(before) && isNoIcon(after))) return
  const known = new Set(originsOf(before))
  const news = originsOf(after).filter((origin) => !known.has(origin))
  if (news.length > 0) sayMember(holder, 'mcp-icon-origin-changed', ['icons'], news.join(', '))
  else sayMember(holder, 'mcp-icons-changed', ['icons'])
}

function isNoIcon(icons: unknown): boolean {
  return icons === null || (Array.isArray(icons) && icons.length === 0)
}

/** Scheme and authority (RFC 3986 §3); data within the manifest comes from nowhere. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

function originsOf(icons: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(icons) ? icons : []
  const sources = list.map((icon) => (isRecord(icon) && typeof icon['src'] === 'string' ? icon['src'] : ''))
  const origins = sources.map((source) => ORIGIN.exec(source)?.[0].toLowerCase())
  return [...new Set(origins.filter((origin) => origin !== undefined))].sort(byCodeUnit)
}

/** Tells each member of the object at `path` that is another, but those that are left out. */
export function compareOthers(
  holder: Holder,
  path: readonly string[],
  rule: McpRuleId,
  isLeftOut: (name: string) => boolean,
): void {
  const [owner] = path
  const base = owner === undefined ? holder.before.value : recordAt(holder.before, owner)
  const head = owner === undefined ? holder.after.value : recordAt(holder.after, owner)
  for (const name of [...new Set([...Object.keys(base), ...Object.keys(head)])].sort(byCodeUnit)) {
    if (isLeftOut(name) || isEqual(memberOf(base, name), memberOf(head, name))) continue
    sayMember(holder, rule, [...path, name])
  }
}

function sayMember(
  { before, after, tool, subject, report }: Holder,
  rule: McpRuleId,
  path: readonly string[],
  detail = '',
): void {
  const [was, is] = [valueAt(before.value, path), valueAt(after.value, path)]
  const isGone = is === null
  report.add({
    rule,
    tool,
    subject: `${subject}${path.join('/')}`,
    side: isGone ? 'base' : 'head',
    location: `${pointerOf((isGone ? before : after).at)}${composePointer(path)}`,
    name: path.join('.'),
    before: was,
    after: is,
    detail,
  })
}

function valueAt(root: JsonRecord, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isRecord(value) ? memberOf(value, name) : null), root) ?? null
}

/** Absent and null say the same. */
function memberOf(owner: JsonRecord, name: string): unknown {
  return Object.hasOwn(owner, name) ? (owner[name] ?? null) : null
}

function recordAt(owner: { readonly value: JsonRecord }, name: string): JsonRecord {
  const value = memberOf(owner.value, name)
  return isRecord(value) ? value : {}
}
