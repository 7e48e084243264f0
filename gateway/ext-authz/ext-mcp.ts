/**
 * agentgateway's MCP guardrails (ExtMcp): one check for each MCP request, and one for its result. The route is named by
 * the server that the call targets. Requests are judged as the proxy judges them; results are read, never changed.
 */
import { LRUCache } from 'lru-cache'
import { isJsonObject, readStrictJson, readStrictJsonText } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { RPC_ERROR } from '../protocols/mcp/json-rpc.ts'
import { isJudgedMethod } from '../protocols/mcp/judged-requests.ts'
import { matchByName } from '../routing/target.ts'
import { correlationIdOf } from '../telemetry/correlation.ts'
import type { PendingWait } from '../enforce/pending-calls.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import { answerOnRoute, type AuthzDeps, type CheckedRequest, type CheckVerdict, type ReadAnswer } from './check.ts'
import {
  AUTHORIZATION_CODE,
  type McpRequest,
  type McpRequestResult,
  type McpResponse,
  type McpResponseResult,
} from './ext-mcp-protocol.ts'
import { mergedFields, type HeaderField } from './fields.ts'

interface ExtMcp {
  /** Null: the calling proxy has disconnected. */
  checkRequest(asked: McpRequest, waiting: PendingWait): Promise<McpRequestResult | null>
  checkResponse(answered: McpResponse): Promise<McpResponseResult>
}

/** Forwarded calls whose results are still to come: at most so many bytes of requests, for so long. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
const BYTES_BESIDE_BODY = 4096
const RESULT_WITHIN_MS = 600_000

interface ForwardedCall {
  readonly id: string
  readonly read: ReadAnswer
  readonly bytes: number
}

export function createExtMcp(deps: AuthzDeps): ExtMcp {
  const forwarded = new LRUCache<string, ForwardedCall>({
    maxSize: MAX_PENDING_BYTES,
    sizeCalculation: ({ bytes }) => bytes + BYTES_BESIDE_BODY,
    ttl: RESULT_WITHIN_MS,
  })
  return {
    async checkRequest(asked, waiting) {
      const read = authzRequestOf(asked)
      if (!read.ok) return { error: mcpError(AUTHORIZATION_CODE.invalid, read.message) }
      const { question } = read
      const [service = '', ...others] = asked.service_names
      const matchIn = ({ config }: ListenSettingsInForce) => matchByName(config.routes, service, 'mcp')
      if (matchIn(deps.settings()) === null)
        return { error: mcpError(AUTHORIZATION_CODE.permissionDenied, noRouteText(service)) }
      if (others.length > 0)
        return isJudgedMethod(asked.method)
          ? { error: mcpError(AUTHORIZATION_CODE.invalid, `${asked.method} names several servers.`) }
          : { pass: {} }
      const verdict = await answerOnRoute(question, matchIn, waiting, deps)
      if (verdict.kind === 'gone') return null
      if (verdict.kind === 'deny') return { error: denialOf(verdict) }
      const { correlationId: id } = question
      const key = asked.invocation_id === '' ? id : asked.invocation_id
      // Clients choose correlation ids. The results of two calls with the same one cannot be distinguished.
      if (forwarded.has(key)) forwarded.delete(key)
      else forwarded.set(key, { id, read: verdict.readAnswer, bytes: asked.mcp_request.length })
      return { pass: {}, header_mutation: mutationOf(verdict) }
    },
    async checkResponse(answered) {
      const { mcp_response: result, invocation_id: invocation, metadata_context: context } = answered
      const json = readStrictJson(result)
      if (!json.ok) return { error: mcpError(AUTHORIZATION_CODE.invalid, `The result cannot be read: ${json.message}`) }
      const key = invocation === '' ? (context?.fields['correlation_id']?.string_value ?? '') : invocation
      const call = forwarded.get(key)
      forwarded.delete(key)
      if (call !== undefined) {
        const body = Buffer.concat([
          Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":`),
          result,
          END,
        ])
        await call.read({ status: 200, headers: { 'content-type': 'application/json' }, body })
      }
      return { pass: {} }
    },
  }
}

const END = Buffer.from('}')

function noRouteText(service: string): string {
  return `No MCP route is named ${JSON.stringify(service)}. Name a route after the server of the calling proxy (docs/ext-authz.md).`
}

/** Fields of the HTTP request around the message. The session and the repeated names are those of the calling proxy's own client. */
const OF_THE_HTTP_REQUEST =
  /^(?:host|accept(?:-.*)?|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|last-event-id|mcp-(?:session-id|method|name|param-.*))$/

type ReadAuthzRequest =
  | { readonly ok: true; readonly question: CheckedRequest }
  | { readonly ok: false; readonly message: string }

/** The message as a client would send it to the server itself. */
function authzRequestOf({ method, mcp_request: params, headers: sent }: McpRequest): ReadAuthzRequest {
  if (params.length > 0) {
    const json = readStrictJson(params)
    if (!json.ok) return { ok: false, message: `params cannot be read: ${json.message}` }
    if (!isJsonObject(json.value)) return { ok: false, message: 'params is not an object.' }
  }
  const fields = sent.map(({ key, value }): HeaderField => [key, value.toString('latin1')])
  const authority = fields.find(([name]) => name === ':authority' || name.toLowerCase() === 'host')
  const kept = fields.filter(([name]) => !name.startsWith(':') && !OF_THE_HTTP_REQUEST.test(name.toLowerCase()))
  const host = authority?.[1] ?? 'mcp.invalid'
  const own: readonly HeaderField[] = [
    ['host', host],
    ['content-type', 'application/json'],
    ['accept', 'application/json'],
  ]
  const all = [...own, ...kept]
  const headers = mergedFields(all)
  const correlationId = correlationIdOf(headers)
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(correlationId)},"method":${JSON.stringify(method)}`
  const bytes = Buffer.concat([Buffer.from(params.length > 0 ? `${head},"params":` : head), params, END])
  return {
    ok: true,
    question: {
      correlationId,
      scheme: 'https',
      method: 'POST',
      host,
      target: '/',
      headers,
      rawHeaders: all.flat(),
      body: { kind: 'whole', bytes },
      takesFieldsOff: true,
      needsStatus: false,
    },
  }
}

function mutationOf({ upstream, remove }: Extract<CheckVerdict, { readonly kind: 'allow' }>) {
  return { set: upstream.map(([key, value]) => ({ key, value: Buffer.from(value, 'latin1') })), remove }
}

type McpError = Extract<McpRequestResult, { readonly error: unknown }>['error']

function mcpError(code: number, reason: string, data: unknown = {}): McpError {
  return { code, reason, mcp_error: Buffer.from(JSON.stringify(data)) }
}

const INVALID_REQUESTS: ReadonlySet<unknown> = new Set([
  RPC_ERROR.parse,
  RPC_ERROR.invalidRequest,
  RPC_ERROR.invalidParams,
])

/** The answer of the protocol, as the calling proxy's error: the text for the agent, and the members of the refusal. */
function denialOf({ answer }: Extract<CheckVerdict, { readonly kind: 'deny' }>): McpError {
  const read = readStrictJsonText(String(answer.body))
  const { error, result, ...members } = recordIn(read.ok ? read.value : null)
  if (isJsonObject(result)) {
    const [content] = Array.isArray(result['content']) ? result['content'] : []
    const text = isJsonObject(content) && typeof content['text'] === 'string' ? content['text'] : REFUSED
    return mcpError(AUTHORIZATION_CODE.permissionDenied, text, result['structuredContent'])
  }
  if (isJsonObject(error)) {
    const code = INVALID_REQUESTS.has(error['code']) ? AUTHORIZATION_CODE.invalid : AUTHORIZATION_CODE.permissionDenied
    return mcpError(code, typeof error['message'] === 'string' ? error['message'] : REFUSED, error['data'])
  }
  const { message } = members
  return mcpError(AUTHORIZATION_CODE.permissionDenied, typeof message === 'string' ? message : REFUSED, {
    error,
    ...members,
  })
}

const REFUSED = 'Preflight refused the call.'
