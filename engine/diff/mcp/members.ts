/**
 * Members of tools, prompts, resources and templates other than texts, schemas and hints. They are icons, `_meta`,
 * content annotations, and members that no version of the protocol defines.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'
import { compareToolSecurity, SECURITY_SCHEMES, valueAt } from './security.ts'
import { keysOfBoth } from '../match.ts'
import { compareHeaderArguments } from './header-arguments.ts'
import { compareVisibility } from './visibility.ts'

/** The owner of the compared members. */
interface MemberHolder {
  readonly before: Located & { readonly value: JsonRecord }
  readonly after: Located & { readonly value: JsonRecord }
  /** The prefix of the member in the subject of a change. Empty for a tool, whose name is not part of the subject. */
  readonly subject: string
  readonly walk: McpWalk
}

/** Members that other walkers compare, or that clients cannot rely on: the size and date of content. */
const ELSEWHERE: ReadonlySet<string> = new Set(['title', 'description', 'name', 'uri', 'uriTemplate', 'icons', '_meta'])
const OF_TOOLS: ReadonlySet<string> = new Set([
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  SECURITY_SCHEMES,
])
const OF_OFFERS: ReadonlySet<string> = new Set(['arguments', 'mimeType', 'annotations', 'size'])

/** Compares the members of a tool other than texts, schemas and hints. */
export function compareToolMembers(before: McpItem, after: McpItem, walk: McpWalk): void {
  const holder: MemberHolder = { before, after, subject: '', walk }
  compareToolSecurity(before, after, walk)
  compareHeaderArguments(before, after, walk)
  compareVisibility(before, after, walk)
  compareIcons(holder)
  compareOthers(holder, ['_meta'], 'mcp-meta-changed', (name) => name === SECURITY_SCHEMES)
  compareOthers(holder, [], 'mcp-member-changed', (name) => ELSEWHERE.has(name) || OF_TOOLS.has(name))
}

/** Compares the members of a prompt, resource or template other than its texts. `subject` names it. */
export function compareOfferMembers(before: McpItem, after: McpItem, subject: string, walk: McpWalk): void {
  const holder: MemberHolder = { before, after, subject: `${subject}/`, walk }
  compareShared(holder)
  // Clients request prompts by name, so prompts are matched by name.
  if (before.value['name'] !== after.value['name']) reportMember(holder, 'mcp-resource-name-changed', ['name'])
  const [base, head] = [recordAt(before, 'annotations'), recordAt(after, 'annotations')]
  if (!isEqual(sortedRoles(base['audience']), sortedRoles(head['audience'])))
    reportMember(holder, 'mcp-resource-audience-changed', ['annotations', 'audience'])
  compareOthers(holder, ['annotations'], 'mcp-resource-annotation-changed', isReportedOrContent)
  compareOthers(holder, [], 'mcp-member-changed', (name) => ELSEWHERE.has(name) || OF_OFFERS.has(name))
}

/** The audience is a set. What is malformed stays as it is. */
function sortedRoles(audience: unknown): unknown {
  if (!Array.isArray(audience)) return audience
  return [...new Set(audience)].toSorted((one, other) => byCodeUnit(String(one), String(other)))
}

function isReportedOrContent(annotation: string): boolean {
  return annotation === 'audience' || annotation === 'lastModified'
}

function compareShared(holder: MemberHolder): void {
  compareIcons(holder)
  compareOthers(holder, ['_meta'], 'mcp-meta-changed', () => false)
}

/** Clients load icons from the stated address. Another host learns who loads them, and may show other images. */
export function compareIcons(holder: MemberHolder): void {
  const [before, after] = [holder.before.value['icons'] ?? null, holder.after.value['icons'] ?? null]
  if (isEqual(before, after) || (isNoIcon(before) && isNoIcon(after))) return
  const known = new Set(originsOf(before))
  const news = originsOf(after).filter((origin) => !known.has(origin))
  if (news.length > 0) reportMember(holder, 'mcp-icon-origin-changed', ['icons'], news.join(', '))
  else reportMember(holder, 'mcp-icons-changed', ['icons'])
}

function isNoIcon(icons: unknown): boolean {
  return icons === null || (Array.isArray(icons) && icons.length === 0)
}

function originsOf(icons: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(icons) ? icons : []
  const origins = list.map((icon) => (isRecord(icon) && typeof icon['src'] === 'string' ? originOf(icon['src']) : null))
  return [...new Set(origins.filter((origin) => origin !== null))].sort(byCodeUnit)
}

/** The scheme, the slashes before the host, and what is before the path. */
const ADDRESS = /^([a-z][a-z0-9+.-]*:)?([/\\]*)([^/\\?#]*)/

/** The schemes whose addresses have a host after any number of slashes, and their default ports. */
const HOSTED: ReadonlyMap<string, RegExp> = new Map([
  ['https:', /:443$/],
  ['http:', /:80$/],
])

/**
 * Where a host loads an address from, as browsers read it (WHATWG URL §4.4): `https:a.example`, `//a.example` and
 * `https:\\a.example` name a host too. Another scheme is its own origin, since hosts may run `javascript:` and read
 * `file:`. Null for data URLs, which load nothing, and for paths.
 */
function originOf(source: string): string | null {
  const text = source
    .replaceAll(/[\t\n\r]/g, '')
    .trim()
    .toLowerCase()
  const [, scheme = '', slashes = '', authority = ''] = ADDRESS.exec(text) ?? []
  if (scheme === 'data:') return null
  const port = HOSTED.get(scheme)
  if (scheme !== '' && port === undefined) return slashes.length > 1 ? `${scheme}//${authority}` : scheme
  if (scheme === '' && slashes.length < 2) return null
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return `${scheme}//${port === undefined ? host : host.replace(port, '')}`
}

/** Reports each changed member of the object at `path`, except the excluded ones. */
export function compareOthers(
  holder: MemberHolder,
  path: readonly string[],
  rule: McpRuleId,
  isLeftOut: (name: string) => boolean,
): void {
  const [owner] = path
  const base = owner === undefined ? holder.before.value : recordAt(holder.before, owner)
  const head = owner === undefined ? holder.after.value : recordAt(holder.after, owner)
  for (const name of keysOfBoth(Object.keys(base), Object.keys(head))) {
    if (isLeftOut(name) || isEqual(memberOrNull(base, name), memberOrNull(head, name))) continue
    reportMember(holder, rule, [...path, name])
  }
}

function reportMember(
  { before, after, subject, walk }: MemberHolder,
  rule: McpRuleId,
  path: readonly string[],
  detail = '',
): void {
  const [base, head] = [valueAt(before.value, path), valueAt(after.value, path)]
  const isRemoved = head === null
  walk.add({
    rule,
    subject: `${subject}${path.join('/')}`,
    side: isRemoved ? 'base' : 'head',
    location: `${pointerOf((isRemoved ? before : after).at)}${composePointer(path)}`,
    name: path.join('.'),
    before: base,
    after: head,
    detail,
  })
}

/** Absent and null are equal. */
export function memberOrNull(owner: JsonRecord, name: string): unknown {
  return Object.hasOwn(owner, name) ? (owner[name] ?? null) : null
}

function recordAt(owner: { readonly value: JsonRecord }, name: string): JsonRecord {
  const value = memberOrNull(owner.value, name)
  return isRecord(value) ? value : {}
}
