/**
 * The tools in the body of a call to a model, wherever a provider has them, as one contract: the same tools in another order, or
 * with other secrets, are the same table. What looks like tools and has no single reading is said.
 */
import canonicalize from 'canonicalize'
import type { OfferedContract } from '../../baselines/baselines.ts'
import { contractDigest } from '../../baselines/baselines.ts'
import { countingNames, otherSpelling } from '../folded-names.ts'
import { isJsonObject } from '../strict-json.ts'

type Members = Readonly<Record<string, unknown>>

export type ToolTable =
  | { readonly kind: 'none' }
  | { readonly kind: 'tools'; readonly offered: OfferedContract }
  | { readonly kind: 'unreadable'; readonly why: string }

/** Parts of a body that hold tools like the body itself: sessions, wrapped requests, the configuration of a call. */
const NESTED = [
  'session',
  'request',
  'body',
  'params',
  'toolConfig',
  'tool_config',
  'config',
  'generationConfig',
] as const
/** Lists of such parts. */
const BATCHES = ['requests', 'inlinedRequests'] as const
const LISTS = ['tools', 'functions'] as const
/** What a caller shows to the server behind a tool: theirs, and kept nowhere. */
const SECRETS: ReadonlySet<string> = new Set(['headers', 'authorization', 'authorization_token'])
/** Where a provider keeps what it was told, and no tool changes by it. */
const SILENT: ReadonlySet<string> = new Set(['cache_control', 'cachePoint'])
const MAX_DEPTH = 4
const NAMES = countingNames([...NESTED, ...BATCHES, ...LISTS, 'mcp_servers', 'batch'])

export function toolTableOf(body: unknown): ToolTable {
  const found: unknown[] = []
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body]
  const problem = firstProblem(parts, found, 0)
  if (problem !== null) return { kind: 'unreadable', why: problem }
  const told = found.filter((tool) => !isMark(tool))
  const tools = [...new Set(told.map((tool) => canonicalize(plainTool(tool)) ?? 'null'))].toSorted()
  if (tools.length === 0) return { kind: 'none' }
  const content = `{"tools":[${tools.join(',')}]}`
  return { kind: 'tools', offered: { type: 'agent_tools', content, digest: contractDigest(content) } }
}

/** Null when all was found; else what is there and is no list, or a list to some servers only. */
function collect(part: unknown, found: unknown[], depth: number): string | null {
  if (!isJsonObject(part) || depth > MAX_DEPTH) return null
  const other = otherSpelling(part, NAMES)
  if (other !== null) return `"${other}" is another member in other letters, and some servers take it for that one`
  for (const name of LISTS) {
    const held = part[name]
    if (held === undefined || held === null) continue
    if (!Array.isArray(held)) return `"${name}" is no list of tools`
    found.push(...held)
  }
  const servers = part['mcp_servers']
  if (servers !== undefined && servers !== null) {
    if (!Array.isArray(servers)) return '"mcp_servers" is no list'
    found.push(...servers.map(serverTool))
  }
  return firstProblem(nestedParts(part), found, depth + 1)
}

function firstProblem(parts: readonly unknown[], found: unknown[], depth: number): string | null {
  return parts.map((part) => collect(part, found, depth)).find((problem) => problem !== null) ?? null
}

function nestedParts(part: Members): readonly unknown[] {
  const batches = BATCHES.flatMap((name): readonly unknown[] => {
    const held = part[name]
    return Array.isArray(held) ? held : []
  })
  const batch = isJsonObject(part['batch'])
    ? [part['batch'], part['batch']['input_config'], part['batch']['inputConfig']]
    : []
  return [...NESTED.map((name) => part[name]), ...batches, ...batch]
}

/** A server whose tools the provider calls itself, as the other provider writes it in the list of tools. */
function serverTool(server: unknown): unknown {
  if (!isJsonObject(server)) return server
  const { name, url, type: _type, ...rest } = server
  return { type: 'mcp', server_label: `mcp_servers/${String(name)}`, server_url: url, ...rest }
}

/** An item that only says where a provider is to keep what it has read. */
function isMark(tool: unknown): boolean {
  const names = isJsonObject(tool) ? Object.keys(tool) : []
  return names.length > 0 && names.every((name) => SILENT.has(name))
}

/** Bedrock wraps a tool once more; its parts are those of the others. */
function plainTool(tool: unknown): unknown {
  if (!isJsonObject(tool)) return tool
  const spec = tool['toolSpec']
  if (isJsonObject(spec)) {
    const { inputSchema, ...rest } = spec
    return plainTool({ ...rest, input_schema: isJsonObject(inputSchema) ? inputSchema['json'] : inputSchema })
  }
  return Object.fromEntries(Object.entries(tool).filter(([name]) => !SECRETS.has(name) && !SILENT.has(name)))
}
