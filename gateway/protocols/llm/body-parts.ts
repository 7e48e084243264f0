/**
 * The parts of a body that may name tools: the body itself, requests and sessions wrapped in it, items of a
 * conversation. Members of a request that are not known are parts as well: providers pass them on to models
 * (`additionalModelRequestFields`, `extra_body`). What a caller writes as text, arguments or results is data.
 */
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject } from '../../json/strict-json.ts'

export type BodyPart = Readonly<Record<string, unknown>>

type BodyParts =
  | { readonly ok: true; readonly parts: readonly BodyPart[] }
  | { readonly ok: false; readonly why: string }

/** Members that hold one part. */
const NESTED = [
  'session',
  'request',
  'body',
  'params',
  'setup',
  'toolConfig',
  'tool_config',
  'config',
  'generationConfig',
  'bidiGenerateContentSetup',
  'bidi_generate_content_setup',
  'liveConnectConstraints',
  'live_connect_constraints',
  'container',
  'data_source',
  'sampling_params',
  'completion_args',
  'agent',
  'assistant',
  'batch',
  'input_config',
  'inputConfig',
  'interaction',
  'modelInput',
  'target',
] as const
/** Members that hold lists of parts, or a wrapped list. */
const LISTS_OF_REQUESTS = ['requests', 'inlinedRequests', 'inlined_requests', 'instances'] as const
/** Of a conversation: the members of its items that are not known are data. */
const LISTS_OF_ITEMS = ['input', 'inputs', 'items', 'messages', 'contents', 'content', 'parts', 'output'] as const
const ITEMS: ReadonlySet<string> = new Set(LISTS_OF_ITEMS)
const LISTS_OF_PARTS = [...LISTS_OF_REQUESTS, ...LISTS_OF_ITEMS] as const
/** Members that hold tools, or name where tools are kept. */
export const LISTS = ['tools', 'functions'] as const
export const SERVERS = 'mcp_servers'
/** Members that switch tools of the provider itself on: search, code, connected data, plugins. */
export const SWITCHES = [
  'web_search_options',
  'search_parameters',
  'search_options',
  'search_settings',
  'enable_search',
  'enable_web_search',
  'enable_x_search',
  'enable_web_scraping',
  'web_search',
  'enable_code_interpreter',
  'enable_enhancement',
  'data_sources',
  'dataSources',
  'compound_custom',
  'plugins',
  'integrations',
  // Open WebUI, Letta, Vapi: tools that the server keeps, and runs itself.
  'tool_ids',
  'toolIds',
  'toolgroups',
] as const
/** Members of a request that hold data. */
const DATA: ReadonlySet<string> = new Set(
  [
    'metadata labels variables promptVariables documents examples arguments args result',
    'response_format responseFormat text schema responseSchema response_schema json_schema',
  ].flatMap((line) => line.split(' ')),
)
const MAX_DEPTH = 12
/** How deep members that are not known are followed: no provider has tools further within. */
const MAX_UNKNOWN_DEPTH = 4

/** @param references names of members that name where tools are kept */
export function bodyParts(body: unknown, references: readonly string[]): BodyParts {
  if (typeof body === 'string') return { ok: false, why: 'its body is a JSON text, which may hold another document' }
  const names = countingNames([...NESTED, ...LISTS_OF_PARTS, ...LISTS, SERVERS, ...SWITCHES, ...references])
  const parts: BodyPart[] = []
  const visit = (value: unknown, depth: number, isItem: boolean): string | null => {
    if (Array.isArray(value)) return firstProblem(value, depth, isItem)
    if (!isJsonObject(value)) return null
    if (depth > MAX_DEPTH) return 'its parts are nested too deep to be read'
    const other = otherSpelling(value, names)
    if (other !== null) return inOtherLetters(other)
    parts.push(value)
    const nested = NESTED.map((name) => value[name]).filter(isJsonObject)
    const requests = LISTS_OF_REQUESTS.map((name) => value[name]).filter((held) => isPartList(held))
    const items = LISTS_OF_ITEMS.map((name) => value[name]).filter((held) => isPartList(held))
    return (
      firstProblem([...nested, ...requests], depth + 1, isItem) ??
      firstProblem(items, depth + 1, true) ??
      (isItem ? null : firstUnknown(value, 0))
    )
  }
  const firstProblem = (values: readonly unknown[], depth: number, isItem: boolean): string | null => {
    for (const value of values) {
      const problem = visit(value, depth, isItem)
      if (problem !== null) return problem
    }
    return null
  }
  /** An object in place of a conversation is a request of its own (`input` of Replicate and RunPod). */
  const isKnown = (name: string, held: unknown): boolean =>
    names.exact.has(name) && !(ITEMS.has(name) && isJsonObject(held))
  const firstUnknown = (request: BodyPart, depth: number): string | null => {
    if (depth >= MAX_UNKNOWN_DEPTH) return null
    for (const [name, held] of Object.entries(request)) {
      if (DATA.has(name) || (depth === 0 ? isKnown(name, held) : OF_UNKNOWN.has(name))) continue
      for (const part of (Array.isArray(held) ? held : [held]).filter(isJsonObject)) {
        const other = otherSpelling(part, HOLDERS)
        const problem = other === null ? firstUnknown(part, depth + 1) : inOtherLetters(other)
        if (problem !== null) return problem
        parts.push(holdersIn(part))
      }
    }
    return null
  }
  const why = visit(body, 0, false)
  return why === null ? { ok: true, parts } : { ok: false, why }
}

function inOtherLetters(name: string): string {
  return `"${name}" differs from another member in letter case only, and some servers take it for that one`
}

const HOLDERS = countingNames([...LISTS, SERVERS, ...SWITCHES])
const SWITCH_NAMES: ReadonlySet<string> = new Set(SWITCHES)
/** Members of a part that is not known which are not followed: those that hold tools, and conversations. */
const OF_UNKNOWN: ReadonlySet<string> = new Set([...LISTS_OF_ITEMS, ...HOLDERS.exact])

/** What lists tools in a part that is not known; other forms of such members are settings. */
function holdersIn(part: BodyPart): BodyPart {
  return Object.fromEntries(
    Object.entries(part).filter(
      ([name, held]) => SWITCH_NAMES.has(name) || (HOLDERS.exact.has(name) && Array.isArray(held)),
    ),
  )
}

/** A list, or an object that wraps one (`requests: { requests: […] }`); other objects are data: `input` of a tool that was used. */
function isPartList(held: unknown): boolean {
  return Array.isArray(held) || (isJsonObject(held) && LISTS_OF_PARTS.some((name) => Array.isArray(held[name])))
}
