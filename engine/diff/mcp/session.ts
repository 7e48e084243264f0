/** What a server states at the start of a session: capabilities, instructions, its name, the protocol version. */
import { MCP_LISTS, type McpManifest, type McpSession } from '../../contracts/mcp-manifest.ts'
import { malformedMcpParts } from '../../contracts/mcp-parts.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { compareWording } from './wording.ts'
import { isEqual, ValueSet } from '../../schema/equality.ts'
import { isRecord, memberOf, pointerOf, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { compareIcons, compareOthers, memberOrNull } from './members.ts'
import { addMalformed, type McpWalk } from './walk.ts'
import { AUTHORIZATION_MEMBERS, authorizationRule } from './security.ts'
import { findNewSigns, textMember } from './texts.ts'
import { keysOfBoth } from '../match.ts'
import { membersOf } from '../../schema/subschemas.ts'

export function compareSession(before: McpManifest, after: McpManifest, walk: McpWalk): void {
  const sides: SessionSides = { before: before.session, after: after.session, walk }
  const [base, head] = [malformedMcpParts(before.session, 'session'), malformedMcpParts(after.session, 'session')]
  addMalformed(base, head, '', walk)
  compareInstructions(sides, after.isWhole)
  searchTexts(sides)
  compareCaching(sides)
  // A tool list contains no session, so only two session starts are compared further.
  if (!before.isWhole || !after.isWhole) return
  compareCapabilities(sides)
  compareVersions(sides)
  compareServerInfo(sides)
  compareFurtherMembers(sides)
}

/** Members that are compared elsewhere, or that concern one answer only. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(MCP_LISTS),
  'capabilities',
  'instructions',
  'serverInfo',
  'protocolVersion',
  'supportedVersions',
  'nextCursor',
  'cacheScope',
  'ttlMs',
  'resultType',
  '_meta',
])

/** The stated authorization, and members that no version of the protocol defines. */
function compareFurtherMembers(sides: SessionSides): void {
  const [base, head] = [sides.before.value, sides.after.value]
  for (const name of keysOfBoth(Object.keys(base), Object.keys(head))) {
    const [before, after] = [memberOrNull(base, name), memberOrNull(head, name)]
    if (KNOWN_MEMBERS.has(name) || isEqual(before, after)) continue
    const rule = AUTHORIZATION_MEMBERS.has(name) ? authorizationRule(before, after) : 'mcp-member-changed'
    addSessionChange(sides, rule, [name], { before, after, name })
  }
}

interface SessionSides {
  readonly before: McpSession
  readonly after: McpSession
  readonly walk: McpWalk
}

function addSessionChange(
  { before, after, walk }: SessionSides,
  rule: McpRuleId,
  path: readonly string[],
  change: { readonly before: unknown; readonly after: unknown; readonly detail?: string; readonly name?: string },
): void {
  const side = change.after === null ? 'base' : 'head'
  const location = `${pointerOf((side === 'base' ? before : after).at)}${composePointer(path)}`
  walk.add({ rule, subject: path.join('/'), side, location, name: path.slice(1).join('.'), ...change })
}

function compareInstructions(sides: SessionSides, isStated: boolean): void {
  const before = textMember(sides.before.value, 'instructions')
  const after = textMember(sides.after.value, 'instructions')
  if (after === '' && !isStated) return
  const wording = compareWording(before, after)
  if (wording.kind === 'same') return
  const rule = wording.kind === 'changed' || before === '' ? 'mcp-instructions-changed' : 'mcp-instructions-reworded'
  addSessionChange(sides, rule, ['instructions'], {
    before: before || null,
    after: after || null,
    detail: wording.difference,
  })
}

/** Hosts may show any of its texts to models. Those of the lists are searched item by item. */
function searchTexts({ before, after, walk }: SessionSides): void {
  findNewSigns(withoutLists(before), withoutLists(after), 'server', walk)
}

function withoutLists({ value, at }: McpSession): Located {
  const members = Object.entries(value).filter(([name]) => !Object.hasOwn(MCP_LISTS, name))
  return { value: Object.fromEntries(members), at, document: '' }
}

function compareCapabilities(sides: SessionSides): void {
  const base = membersOf(sides.before.value, 'capabilities')
  const head = membersOf(sides.after.value, 'capabilities')
  compareOffered(sides, ['capabilities'], base, head)
}

/** Compares capabilities with their flags and parts. Absent, null and false mean not offered. */
function compareOffered(sides: SessionSides, path: readonly string[], base: JsonRecord, head: JsonRecord): void {
  for (const name of keysOfBoth(Object.keys(base), Object.keys(head))) {
    const below = [...path, name]
    const [before, after] = [memberOrNull(base, name), memberOrNull(head, name)]
    const removed = isCapability(path) ? 'mcp-capability-removed' : 'mcp-capability-reduced'
    if (isOffered(before) && !isOffered(after)) addSessionChange(sides, removed, below, { before, after })
    else if (!isOffered(before) && isOffered(after))
      addSessionChange(sides, 'mcp-capability-added', below, { before, after })
    else if (isRecord(before) && isRecord(after)) compareOffered(sides, below, before, after)
    else compareSetting(sides, below, before, after)
  }
}

/** Each extension is a capability (MCP 2025-11-25). Its users are refused when it is removed. */
function isCapability(path: readonly string[]): boolean {
  return path.length === 1 || (path.length === 2 && path[1] === 'extensions')
}

/** For a list the items count. For other settings the extension defines the meaning. */
function compareSetting(sides: SessionSides, path: readonly string[], before: unknown, after: unknown): void {
  if (isEqual(before, after) || !isOffered(before)) return
  if (!Array.isArray(before) || !Array.isArray(after)) {
    addSessionChange(sides, 'mcp-capability-setting-changed', path, { before, after })
    return
  }
  const [known, offered] = [new ValueSet(before), new ValueSet(after)]
  const change = { before, after }
  if (!before.every((value) => offered.has(value))) addSessionChange(sides, 'mcp-capability-reduced', path, change)
  else if (!after.every((value) => known.has(value))) addSessionChange(sides, 'mcp-capability-added', path, change)
}

function isOffered(value: unknown): boolean {
  return value !== null && value !== false
}

/** Protocol versions are dates, so text order is their order. */
function compareVersions(sides: SessionSides): void {
  compareSupported(sides)
  const before = textMember(sides.before.value, 'protocolVersion')
  const after = textMember(sides.after.value, 'protocolVersion')
  if (before === '' || before === after) return
  const rule = after > before ? 'mcp-protocol-version-raised' : 'mcp-protocol-version-lowered'
  addSessionChange(sides, rule, ['protocolVersion'], { before, after: after || null })
}

/** The versions that a server without sessions supports (MCP 2026-07-28, `server/discover`). */
function compareSupported(sides: SessionSides): void {
  const [before, after] = [sides.before.value['supportedVersions'], sides.after.value['supportedVersions']]
  if (!Array.isArray(before) || !Array.isArray(after)) return
  const [known, spoken] = [new ValueSet(before), new ValueSet(after)]
  for (const version of before)
    if (!spoken.has(version))
      reportSessionVersion(sides, 'mcp-protocol-version-removed', { before: version, after: null })
  for (const version of after)
    if (!known.has(version)) reportSessionVersion(sides, 'mcp-protocol-version-added', { before: null, after: version })
}

function reportSessionVersion(
  sides: SessionSides,
  rule: McpRuleId,
  change: { readonly before: unknown; readonly after: unknown },
): void {
  addSessionChange(sides, rule, ['supportedVersions'], change)
}

/** Who may share a cached list (MCP 2026-07-28). A side without the member is of an earlier version. */
function compareCaching(sides: SessionSides): void {
  const [before, after] = [sides.before.value['cacheScope'], sides.after.value['cacheScope']]
  if (before === 'private' && after === 'public')
    addSessionChange(sides, 'mcp-cache-scope-widened', ['cacheScope'], { before, after })
}

/** Where a server names itself: at the start of a session, and since 2026-07-28 in the `_meta` of its answers. */
const IDENTITIES = [['serverInfo'], ['_meta', 'io.modelcontextprotocol/serverInfo']] as const

const NAMED_MEMBERS = [
  ['name', 'mcp-server-name-changed'],
  ['version', 'mcp-server-version-changed'],
] as const

function compareServerInfo(sides: SessionSides): void {
  const [before, after] = [identityOf(sides.before), identityOf(sides.after)]
  const { walk } = sides
  for (const [member, rule] of NAMED_MEMBERS) {
    const [base, head] = [textMember(before.value, member), textMember(after.value, member)]
    if (base === '' || base === head) continue
    const side = head === '' ? 'base' : 'head'
    const location = `${pointerOf((side === 'base' ? before : after).at)}/${member}`
    const subject = `serverInfo/${member}`
    walk.add({ rule, subject, side, location, name: member, before: base, after: head || null })
  }
  const holder = { before, after, subject: 'serverInfo/', walk }
  compareIcons(holder)
  compareOthers(holder, [], 'mcp-server-info-changed', (name) => REPORTED_ELSEWHERE.has(name))
}

const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set(['name', 'version', 'icons'])

/** The name and version that a server states; empty if it states none. */
function identityOf(session: McpSession): McpSession {
  const found = IDENTITIES.map((path) =>
    path.reduce<Located | null>((owner, name) => (owner === null ? null : memberOf(owner, name)), session),
  )
  for (const identity of found)
    if (identity !== null && isRecord(identity.value)) return { ...identity, value: identity.value }
  return { value: {}, at: stepInto(session.at, 'serverInfo'), document: '' }
}
