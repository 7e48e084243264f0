/**
 * MCP over Streamable HTTP, both generations: with sessions (2025-03-26 … 2025-11-25) and without (2026-07-28). Every method
 * passes; `tools/call` is judged per tool; `tools/list` answers and list_changed notices are noted as they stream by.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Action, Call, Recogniser } from './action.ts'
import { firstId, readMessage, RPC_ERROR, rpcAnswer, rpcError, type Message, type MessageId } from './json-rpc.ts'
import { BodilessAction, MessagesAction, ToolCallsAction, VERSION_CLAIM, type ToolCall } from './mcp-actions.ts'
import type { McpManifests } from './mcp-manifests.ts'
import { isJsonObject, readStrictJson } from './strict-json.ts'

export function createMcpRecogniser(manifests: McpManifests): Recogniser {
  return {
    needsBody: ({ method }) => method === 'POST',
    recognise(call) {
      if (call.method === 'GET' || call.method === 'DELETE') return new BodilessAction(call, manifests)
      if (call.method === 'OPTIONS' || call.method === 'HEAD') return new BodilessAction(call, manifests)
      if (call.method !== 'POST') {
        return refused(call, 405, RPC_ERROR.invalidRequest, `MCP has no ${call.method} requests.`, {
          allow: 'GET, POST, DELETE',
        })
      }
      return recognisePost(call, manifests)
    },
  }
}

function recognisePost(call: Call, manifests: McpManifests): Action {
  const mediaProblem = mediaTypeProblem(call.headers)
  if (mediaProblem !== null) return refused(call, 415, RPC_ERROR.invalidRequest, mediaProblem)
  const json = readStrictJson(call.body ?? Buffer.alloc(0))
  if (!json.ok) return refused(call, 400, RPC_ERROR.parse, json.message)
  const isBatch = Array.isArray(json.value)
  const values: readonly unknown[] = Array.isArray(json.value) ? json.value : [json.value]
  const messages = values.map(readMessage).filter((message) => message !== null)
  if (values.length === 0 || messages.length < values.length) {
    return refused(call, 400, RPC_ERROR.invalidRequest, 'The body is not a JSON-RPC 2.0 message or a batch of them.')
  }
  const problem = headerProblem(call.headers, messages) ?? toolCallProblem(messages)
  if (problem !== null) return refused(call, 400, RPC_ERROR.invalidRequest, problem, {}, firstId(messages))
  const toolCalls = messages.flatMap((message) => toolCallOf(call.route.name, message))
  return toolCalls.length === 0
    ? new MessagesAction(call, manifests, messages)
    : new ToolCallsAction(call, manifests, messages, toolCalls, isBatch)
}

function toolCallOf(route: string, message: Message): readonly ToolCall[] {
  if (message.kind === 'response' || message.method !== 'tools/call') return []
  const tool = message.params['name']
  if (typeof tool !== 'string') return []
  const meta = message.params['_meta']
  return [
    {
      id: message.kind === 'request' ? message.id : null,
      tool,
      name: `tools/call ${tool}`,
      target: `${route}/${tool}`,
      scope: { tool },
      isModern: isJsonObject(meta) && VERSION_CLAIM in meta,
    },
  ]
}

/** What would let a call reach another tool than the one judged, or leave nothing to judge. */
function toolCallProblem(messages: readonly Message[]): string | null {
  const ids = new Set<MessageId>()
  for (const message of messages) {
    if (message.kind === 'response') continue
    if (message.kind === 'request') {
      if (ids.has(message.id)) return `The batch uses the id ${JSON.stringify(message.id)} twice.`
      ids.add(message.id)
    }
    if (message.method === 'tools/call' && typeof message.params['name'] !== 'string') {
      return 'tools/call needs params.name, the name of the tool.'
    }
  }
  return null
}

/** 2026-07-28 repeats method and name in headers for intermediaries: a server that trusts them must not see another call. */
function headerProblem(headers: IncomingHttpHeaders, messages: readonly Message[]): string | null {
  const method = headers['mcp-method']
  const name = headers['mcp-name']
  if (method === undefined && name === undefined) return null
  const [message, ...others] = messages
  if (message === undefined || others.length > 0 || message.kind === 'response') {
    return 'Mcp-Method and Mcp-Name belong to a request with a single message.'
  }
  if (method !== undefined && method !== message.method)
    return 'The Mcp-Method header and the method in the body differ.'
  if (name === undefined || message.method !== 'tools/call') return null
  return decodedHeader(String(name)) === message.params['name']
    ? null
    : 'The Mcp-Name header and params.name in the body differ.'
}

/** Names outside visible ASCII travel as `=?base64?…?=` (MCP 2026-07-28, Streamable HTTP). */
function decodedHeader(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/i.exec(value)
  return encoded?.[1] === undefined ? value : Buffer.from(encoded[1], 'base64').toString('utf8')
}

function mediaTypeProblem(headers: IncomingHttpHeaders): string | null {
  // What nearly every client sends.
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return null
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  if (type !== 'application/json') return 'An MCP message is sent as Content-Type: application/json.'
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) return 'An MCP message is UTF-8.'
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return 'A compressed MCP message cannot be judged; send it plain.'
  return null
}

function refused(
  call: Call,
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  id: MessageId | null = null,
): Action {
  const answer = rpcAnswer(status, rpcError(id, code, message, { correlation_id: call.correlationId }), undefined)
  return { kind: 'refuse', name: call.method, answer: { ...answer, headers: { ...answer.headers, ...headers } } }
}
