/**
 * Reads the offers of an MCP server from any stored form: a `tools/list` result, its JSON-RPC response, a bare tool
 * list, or a record of the session start. Changes are not judged here.
 */
import { ok, type Result } from '../common/result.ts'
import { isRecord, memberOf, pointerOf, ROOT, stepInto, type JsonRecord, type Located } from '../schema/located.ts'
import type { SourceDocument } from './document.ts'
import type { Locate } from './positions.ts'
import { firstAt, unreadableAt } from './unreadable.ts'
import type { ToolValue } from './mcp-parts.ts'

/** The lists of a manifest, and the identifying member of their items. MCP allows each name once within its list. */
export const MCP_LISTS = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
} as const

export type McpList = keyof typeof MCP_LISTS

/** One tool, prompt, resource or template. */
export interface McpItem extends Located {
  readonly name: string
  readonly value: JsonRecord
}

export type McpItems = ReadonlyMap<string, McpItem>

export interface McpManifest {
  /** Null if the manifest cannot contain the list: a `tools/list` result contains no prompts. */
  readonly lists: Readonly<Record<McpList, McpItems | null>>
  /** The members other than the lists: capabilities, instructions, serverInfo, protocolVersion. */
  readonly session: McpSession
  /** True if the manifest records a session start, so that absent members are not offered. */
  readonly isWhole: boolean
  readonly protocolVersion: string | null
  readonly results: ToolValue
  readonly locate: Locate
}

export interface McpSession extends Located {
  readonly value: JsonRecord
}

/** A document without the enclosing JSON-RPC response or list. */
interface Unwrapped {
  readonly session: McpSession
  /** The list of tools, if the document is the list. */
  readonly bareTools: Located | null
}

/** Whether a value has the form of a manifest: MCP tools, or a session start. */
export function isMcpManifest(root: unknown): boolean {
  const unwrapped = unwrapManifest(root)
  if (unwrapped === null) return false
  const { tools, capabilities, protocolVersion, supportedVersions, resourceTemplates } = unwrapped.session.value
  const listed: unknown = unwrapped.bareTools?.value ?? tools
  if (Array.isArray(listed) && listed.length > 0) return listed.every(isTool)
  const isStart = typeof protocolVersion === 'string' || Array.isArray(supportedVersions)
  if (isStart && isRecord(capabilities)) return true
  return (Array.isArray(listed) && unwrapped.bareTools === null) || Array.isArray(resourceTemplates)
}

function isTool(value: unknown): boolean {
  return isRecord(value) && typeof value['name'] === 'string' && isRecord(value['inputSchema'])
}

/** Reads a manifest. The problem names the fault by pointer and position. */
export function readMcpManifest({ root, locate }: SourceDocument): Result<McpManifest> {
  const unwrapped = unwrapManifest(root)
  if (unwrapped === null)
    return manifestFault(locate, { value: root, at: ROOT, document: '' }, 'it is neither an object nor a list')
  const { session } = unwrapped
  const lists: Record<McpList, McpItems | null> = {
    tools: null,
    prompts: null,
    resources: null,
    resourceTemplates: null,
  }
  for (const list of ['tools', 'prompts', 'resources', 'resourceTemplates'] as const) {
    const found = list === 'tools' && unwrapped.bareTools ? unwrapped.bareTools : memberOf(session, list)
    const items = found === null ? ok(null) : readList(list, found, locate)
    if (!items.ok) return items
    lists[list] = items.value
  }
  const { nextCursor, protocolVersion } = session.value
  if (typeof nextCursor === 'string' && nextCursor !== '') {
    return manifestFault(locate, session, 'it is one page of a list (nextCursor). Join the pages into one document')
  }
  const isWhole = ['capabilities', 'serverInfo', 'protocolVersion'].some((name) => Object.hasOwn(session.value, name))
  if (!isWhole && Object.values(lists).every((items) => items === null)) {
    return manifestFault(locate, session, 'it lists no tools, prompts or resources')
  }
  return ok({
    lists,
    session,
    isWhole,
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : null,
    results: isWithoutSessions(session.value) ? 'any' : 'object',
    locate,
  })
}

const FIRST_WITHOUT_SESSIONS = '2026-07-28'

/** Whether only clients of MCP 2026-07-28 and later read the manifest: its answers have members that earlier ones do not. */
function isWithoutSessions({ protocolVersion, supportedVersions, resultType, ttlMs }: JsonRecord): boolean {
  if (typeof protocolVersion === 'string') return protocolVersion >= FIRST_WITHOUT_SESSIONS
  if (!Array.isArray(supportedVersions)) return typeof resultType === 'string' || typeof ttlMs === 'number'
  return supportedVersions.every((version) => typeof version === 'string' && version >= FIRST_WITHOUT_SESSIONS)
}

function unwrapManifest(root: unknown): Unwrapped | null {
  if (Array.isArray(root)) {
    return { session: { value: {}, at: ROOT, document: '' }, bareTools: { value: root, at: ROOT, document: '' } }
  }
  if (!isRecord(root)) return null
  const { result } = root
  const isResponse = isRecord(result) && !Object.hasOwn(root, 'tools')
  const session = isResponse
    ? { value: result, at: stepInto(ROOT, 'result'), document: '' }
    : { value: root, at: ROOT, document: '' }
  return { session, bareTools: null }
}

function readList(list: McpList, found: Located, locate: Locate): Result<McpItems> {
  if (!Array.isArray(found.value)) return manifestFault(locate, found, `${list} is not a list`)
  const key = MCP_LISTS[list]
  const items = new Map<string, McpItem>()
  const values: readonly unknown[] = found.value
  for (const [index, value] of values.entries()) {
    const item = { value, at: stepInto(found.at, String(index)), document: '' }
    const name = isRecord(value) ? value[key] : undefined
    if (!isRecord(value) || typeof name !== 'string')
      return manifestFault(locate, item, `an item of ${list} has no ${key}`)
    // Otherwise one of the two could be compared and the other one called.
    const first = items.get(name)
    if (first !== undefined) {
      const place = firstAt(locate(pointerOf(first.at)), pointerOf(first.at))
      return manifestFault(locate, item, `${list} holds ${JSON.stringify(name)} twice${place}`)
    }
    const schema = list === 'tools' ? value['inputSchema'] : undefined
    if (schema !== undefined && !isRecord(schema))
      return manifestFault(locate, item, 'the inputSchema of a tool is not an object')
    items.set(name, { ...item, value, name })
  }
  return ok(items)
}

function manifestFault(locate: Locate, { at }: Located, what: string): Result<never> {
  return unreadableAt(locate, pointerOf(at), `as an MCP manifest: ${what}`)
}
