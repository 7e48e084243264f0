/**
 * The parts of a body that may name tools: the body itself, requests and sessions wrapped in it, items of a conversation. What a
 * caller writes as text, arguments or results is data and no part.
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
const LISTS_OF_PARTS = [
  'requests',
  'inlinedRequests',
  'inlined_requests',
  'input',
  'inputs',
  'items',
  'messages',
  'contents',
  'content',
  'parts',
  'output',
  'instances',
] as const
/** Members that hold tools, or name where tools are kept. */
export const LISTS = ['tools', 'functions'] as const
export const SERVERS = 'mcp_servers'
const MAX_DEPTH = 12

/** @param references names of members that name where tools are kept */
export function bodyParts(body: unknown, references: readonly string[]): BodyParts {
  if (typeof body === 'string') return { ok: false, why: 'its body is a JSON text, which may hold another document' }
  const names = countingNames([...NESTED, ...LISTS_OF_PARTS, ...LISTS, SERVERS, ...references])
  const parts: BodyPart[] = []
  const visit = (value: unknown, depth: number): string | null => {
    if (Array.isArray(value)) return firstProblem(value, depth)
    if (!isJsonObject(value)) return null
    if (depth > MAX_DEPTH) return 'its parts are nested too deep to be read'
    const other = otherSpelling(value, names)
    if (other !== null) return `"${other}" is another member in other letters, and some servers take it for that one`
    parts.push(value)
    const nested = NESTED.map((name) => value[name]).filter(isJsonObject)
    const listed = LISTS_OF_PARTS.map((name) => value[name]).filter((held) => isPartList(held))
    return firstProblem([...nested, ...listed], depth + 1)
  }
  const firstProblem = (values: readonly unknown[], depth: number): string | null => {
    for (const value of values) {
      const problem = visit(value, depth)
      if (problem !== null) return problem
    }
    return null
  }
  const why = visit(body, 0)
  return why === null ? { ok: true, parts } : { ok: false, why }
}

/** A list, or an object that wraps one (`requests: { requests: […] }`); other objects are data: `input` of a tool that was used. */
function isPartList(held: unknown): boolean {
  return Array.isArray(held) || (isJsonObject(held) && LISTS_OF_PARTS.some((name) => Array.isArray(held[name])))
}
