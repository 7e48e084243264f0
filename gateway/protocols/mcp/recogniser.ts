/**
 * MCP over Streamable HTTP, both generations: with sessions (2025-03-26 … 2025-11-25) and without (2026-07-28). Calls
 * of tools, prompts, reads of resources and methods that MCP does not have are judged; its other methods pass. The
 * server's description of itself is recorded as it is streamed.
 */
import type { McpRoute } from './settings.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { hasBody } from '../common/request-line.ts'
import { ERRORS } from '../../errors/errors.ts'
import type { Answer } from '../../calls/answer.ts'
import type { Action, CallFault, FaultyCall, Recogniser, RefusedAction } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { firstId, readRpcMessages, RPC_ERROR, rpcAnswer, rpcError } from './json-rpc.ts'
import { BodilessAction, JudgedMessagesAction, MessagesAction, type JudgedMessages } from './actions.ts'
import { isClientRegistration, isTokenRequest, passingAuthorization } from './authorization.ts'
import { foreignPage } from './dns-rebinding.ts'
import { headerProblem, messagesProblem, judgedRequests } from './judged-requests.ts'
import { readStrictJson } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { overridesMethod } from '../common/method-override.ts'

/** What the recogniser works with. */
type McpParts = Pick<JudgedMessages, 'manifests' | 'edits' | 'results' | 'pending'>

export function createMcpRecogniser(parts: McpParts): Recogniser<McpRoute> {
  const { manifests } = parts
  return {
    needsBody: ({ method }) => method === 'POST',
    renderFault: mcpFault,
    recognise(call) {
      const page = foreignPage(call)
      if (page !== null)
        return { ...refusedMcpMessage(call, { status: 403, ...INVALID, message: page }), why: page, isGuard: true }
      if (overridesMethod(call))
        return refusedMcpMessage(call, { status: 400, ...INVALID, message: 'The request states its method twice.' })
      const unclear = unclearField(call.headers)
      if (unclear !== null)
        return refusedMcpMessage(call, {
          status: 400,
          ...INVALID,
          message: `${unclear} is sent twice, or has other characters than the protocol allows.`,
        })
      // It would stream by unread, and some servers read it whatever the method.
      if (call.method !== 'POST' && hasBody(call.received.headers))
        return refusedMcpMessage(call, {
          status: 400,
          ...INVALID,
          message: `MCP has no ${call.method} requests with a body.`,
        })
      if (call.method === 'GET' || call.method === 'DELETE') return new BodilessAction(call, manifests)
      if (call.method === 'OPTIONS' || call.method === 'HEAD') return new BodilessAction(call, manifests)
      if (call.method !== 'POST') {
        const message = `MCP has no ${call.method} requests.`
        return refusedMcpMessage(call, { status: 405, ...INVALID, message, headers: { allow: 'GET, POST, DELETE' } })
      }
      return recognisePost(call, parts)
    },
  }
}

function recognisePost(call: Call<McpRoute>, parts: McpParts): Action {
  const mediaProblem = mediaTypeProblem(call.headers)
  if (mediaProblem !== null)
    return isTokenRequest(call)
      ? passingAuthorization(call)
      : refusedMcpMessage(call, { status: 415, ...INVALID, message: mediaProblem })
  const body = call.body ?? Buffer.alloc(0)
  const json = readStrictJson(body)
  if (!json.ok) return refusedMcpMessage(call, { status: 400, code: RPC_ERROR.parse, message: json.message })
  const isBatch = Array.isArray(json.value)
  const read = readRpcMessages(json.value, body)
  const messages = read.filter((message) => message !== null)
  if (read.length === 0 || messages.length < read.length) {
    if (isClientRegistration(json.value)) return passingAuthorization(call)
    return refusedMcpMessage(call, {
      status: 400,
      ...INVALID,
      message:
        'The body is not a JSON-RPC 2.0 message or a batch of them, with the names of its members in lower case.',
    })
  }
  const problem = headerProblem(call.headers, messages) ?? messagesProblem(messages)
  if (problem !== null)
    return refusedMcpMessage(call, { status: 400, ...INVALID, message: problem, id: firstId(messages) })
  parts.pending.cancel(call, messages)
  const resources = judgedRequests(call.route.name, messages)
  return resources.length === 0
    ? new MessagesAction(call, parts.manifests, messages)
    : new JudgedMessagesAction({ ...parts, call, messages, resources, isBatch })
}

/** What names the session or the version of a request: visible ASCII, and once. Two are joined with a comma and a blank. */
const SINGLE_FIELDS = [
  ['mcp-session-id', 'Mcp-Session-Id'],
  ['mcp-protocol-version', 'MCP-Protocol-Version'],
] as const

/** Name of a field that servers read in different ways: as another session than the one judged. */
function unclearField(headers: IncomingHttpHeaders): string | null {
  for (const [name, written] of SINGLE_FIELDS) {
    const value = headers[name]
    if (value !== undefined && (typeof value !== 'string' || !/^[!-~]*$/.test(value))) return written
  }
  return null
}

function mediaTypeProblem(headers: IncomingHttpHeaders): string | null {
  // What nearly every client sends.
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return null
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json')
    return 'An MCP message is sent as Content-Type: application/json.'
  if (!isUtf8Type(headers['content-type'])) return 'An MCP message is UTF-8.'
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return 'A compressed MCP message cannot be judged; send it plain.'
  return null
}

const INVALID = { code: RPC_ERROR.invalidRequest }

interface RpcRefusal {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of the request that is answered. */
  readonly id?: unknown
}

function refusedMcpMessage(
  call: Call<McpRoute>,
  { status, code, message, headers, id = null }: RpcRefusal,
): RefusedAction {
  const answer = rpcAnswer(status, rpcError(id, code, message, { correlation_id: call.correlationId }), undefined)
  return { kind: 'refuse', name: call.method, answer: { ...answer, headers: { ...answer.headers, ...headers } } }
}

/**
 * Faults of calls (too large, upstream away) as JSON-RPC errors, where it is known which request they answer. With the
 * HTTP status of the fault, by which transports distinguish it from a result. Null: the body has no request
 * with an id.
 */
function mcpFault({ code, message, correlationId }: CallFault, { headers, body }: FaultyCall): Answer | null {
  if (body === null) return null
  const json = readStrictJson(body)
  if (!json.ok) return null
  const isBatch = Array.isArray(json.value)
  const { status } = ERRORS[code]
  const number = status < 500 ? RPC_ERROR.invalidRequest : RPC_ERROR.internal
  const data = { error: code, correlation_id: correlationId }
  const errors = readRpcMessages(json.value, body).flatMap((asked) => {
    return asked?.kind === 'request' ? [rpcError(asked.writtenId, number, `${code}: ${message}`, data)] : []
  })
  return errors.length === 0 ? null : rpcAnswer(status, isBatch ? errors : errors[0], headers.accept)
}
