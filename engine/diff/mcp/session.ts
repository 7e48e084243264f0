/** What a server says of itself at the start of a session: capabilities, instructions, its name, the protocol version. */
import { byCodeUnit } from '../../change-set.ts'
import type { McpManifest, McpSession } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { compareWording } from '../../rules/mcp/wording.ts'
import { isRecord, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { McpReport } from './report.ts'
import { findNewSigns } from './texts.ts'

export function compareSession(before: McpManifest, after: McpManifest, report: McpReport): void {
  const sides: Sides = { before: before.session, after: after.session, report }
  compareInstructions(sides, after.isWhole)
  // A list of tools says nothing of the session, so that only two session starts are compared further.
  if (!before.isWhole || !after.isWhole) return
  compareCapabilities(sides)
  compareVersions(sides)
  compareIdentity(sides)
}

interface Sides {
  readonly before: McpSession
  readonly after: McpSession
  readonly report: McpReport
}

function say(
  { before, after, report }: Sides,
  rule: McpRuleId,
  path: readonly string[],
  change: { readonly before: unknown; readonly after: unknown; readonly detail?: string },
): void {
  const side = change.after === null ? 'base' : 'head'
  const location = `${pointerOf((side === 'base' ? before : after).at)}${composePointer(path)}`
  report.say({ rule, tool: null, subject: path.join('/'), side, location, name: path.slice(1).join('.'), ...change })
}

function compareInstructions(sides: Sides, isStated: boolean): void {
  const was = textOf(sides.before.value, 'instructions')
  const is = textOf(sides.after.value, 'instructions')
  if (is === '' && !isStated) return
  const wording = compareWording(was, is)
  if (wording.kind === 'same') return
  const rule = wording.kind === 'changed' || was === '' ? 'mcp-instructions-changed' : 'mcp-instructions-reworded'
  say(sides, rule, ['instructions'], { before: was || null, after: is || null, detail: wording.difference })
  const texts = [membersOf(sides.before, 'instructions'), membersOf(sides.after, 'instructions')] as const
  findNewSigns(...texts, null, 'server', sides.report)
}

/** One member of a session, in its place. */
function membersOf({ value, at }: McpSession, member: string): Located {
  return { value: { [member]: value[member] }, at, document: '' }
}

function compareCapabilities(sides: Sides): void {
  const old = recordOf(sides.before.value, 'capabilities')
  const now = recordOf(sides.after.value, 'capabilities')
  for (const name of namesOf(old, now)) {
    const path = ['capabilities', name]
    const [was, is] = [old[name] ?? null, now[name] ?? null]
    if (was === null && is !== null) say(sides, 'mcp-capability-added', path, { before: null, after: is })
    else if (was !== null && is === null) say(sides, 'mcp-capability-removed', path, { before: was, after: null })
    else if (isRecord(was) && isRecord(is)) compareParts(sides, path, was, is)
  }
}

/** Below a capability stand flags and further parts: an absent or false flag is not offered. */
function compareParts(sides: Sides, path: readonly string[], old: JsonRecord, now: JsonRecord): void {
  for (const name of namesOf(old, now)) {
    const below = [...path, name]
    const [was, is] = [old[name] ?? null, now[name] ?? null]
    if (isOffered(was) && !isOffered(is)) say(sides, 'mcp-capability-reduced', below, { before: was, after: is })
    else if (!isOffered(was) && isOffered(is)) say(sides, 'mcp-capability-added', below, { before: was, after: is })
    else if (isRecord(was) && isRecord(is)) compareParts(sides, below, was, is)
  }
}

function isOffered(value: unknown): boolean {
  return value !== null && value !== false
}

/** Protocol versions are days, so that their order is that of their text. */
function compareVersions(sides: Sides): void {
  const was = textOf(sides.before.value, 'protocolVersion')
  const is = textOf(sides.after.value, 'protocolVersion')
  if (was === '' || was === is) return
  const rule = is > was ? 'mcp-protocol-version-raised' : 'mcp-protocol-version-lowered'
  say(sides, rule, ['protocolVersion'], { before: was, after: is || null })
}

function compareIdentity(sides: Sides): void {
  const old = recordOf(sides.before.value, 'serverInfo')
  const now = recordOf(sides.after.value, 'serverInfo')
  for (const [member, rule] of [
    ['name', 'mcp-server-name-changed'],
    ['version', 'mcp-server-version-changed'],
  ] as const) {
    const [was, is] = [textOf(old, member), textOf(now, member)]
    if (was !== '' && was !== is) say(sides, rule, ['serverInfo', member], { before: was, after: is || null })
  }
  findNewSigns(
    membersOf(sides.before, 'serverInfo'),
    membersOf(sides.after, 'serverInfo'),
    null,
    'server',
    sides.report,
  )
}

function namesOf(old: JsonRecord, now: JsonRecord): readonly string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].sort(byCodeUnit)
}

function textOf(owner: JsonRecord, member: string): string {
  const value = owner[member]
  return typeof value === 'string' ? value : ''
}

function recordOf(owner: JsonRecord, member: string): JsonRecord {
  const value = owner[member]
  return isRecord(value) ? value : {}
}
