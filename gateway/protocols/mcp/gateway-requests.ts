/** The gateway's own requests to an MCP server, sent as the caller would, with the caller's session and credentials. */
import { encodedName } from './name-header.ts'
import type { McpRoute } from './settings.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { errors } from '../../network/undici.ts'
import { ownRequestHeaders } from '../../upstream/headers.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { UpstreamRefusal } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { ReplyReader } from './reply-reader.ts'
import { isEventStream } from './event-stream.ts'

/** The caller, and what is needed to send requests as this caller. */
export interface McpAsker {
  readonly call: Call<McpRoute>
  /** `params._meta` of the request at hand. */
  readonly meta: Readonly<Record<string, unknown>>
  /** It is a 2026-07-28 request: names its protocol version itself. */
  readonly isModern: boolean
}

interface OwnRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Of the tool or prompt that it names; 2026-07-28 repeats it in a header. */
  readonly name?: string
}

/** The server's answer is a JSON-RPC error. */
export class RpcFailure extends Error {
  readonly code: unknown

  constructor(error: Readonly<Record<string, unknown>>) {
    super(`the upstream answered "${String(error['message'])}"`)
    this.name = 'RpcFailure'
    this.code = error['code']
  }
}

/** The server took the request and answers on another stream, as the transport of 2024-11-05 (HTTP+SSE) has it. */
export class AnsweredElsewhere extends Error {
  constructor() {
    super('the upstream answers on another stream (HTTP+SSE of 2024-11-05); reach it by "preflight mcp --sse"')
    this.name = 'AnsweredElsewhere'
  }
}

const ACCEPTED = 202
/** A server that closes its stream this often does not answer. */
const MAX_RESUMPTIONS = 20
/** A shorter pause would be a load of its own. */
const LEAST_PAUSE_MS = 100
/** Statuses that only the caller can act on: sign in, get permission, begin a new session. */
const FOR_THE_CALLER: ReadonlySet<number> = new Set([401, 403, 404])
const RELAYED_HEADERS = ['www-authenticate'] as const
/** What the call at hand says of its own body, and must not be said of another one. */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'last-event-id',
  'mcp-method',
  'mcp-name',
])

/** The `result` that the server answers. Rejects with an UpstreamRefusal, an RpcFailure, or an Error that says what is wrong with the answer. */
export async function askServer(
  asker: McpAsker,
  request: OwnRequest,
  upstreams: Upstreams,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { call } = asker
  const id = `preflight-${randomUUID()}`
  const params = { ...request.params, ...(asker.isModern ? { _meta: protocolMembers(asker.meta) } : {}) }
  const answer = await upstreams.ownRequestsOf(call).request({
    path: call.upstreamPath,
    method: 'POST',
    headers: ownHeaders(call, request, asker.isModern),
    body: JSON.stringify({ jsonrpc: '2.0', id, method: request.method, params }),
    signal,
  })
  if (answer.statusCode !== 200) throw await rpcFailure(answer, id)
  const reply = new ReplyReader(id)
  await reply.read(answer)
  if (!asker.isModern) await resume(reply, call, upstreams, signal)
  const { error, result } = reply.message
  if (isJsonObject(error)) throw new RpcFailure(error)
  if (!isJsonObject(result)) throw new Error('its answer holds no result')
  return result
}

/** MCP 2025-11-25, Streamable HTTP: a server may close a stream before the reply. It goes on where it is asked for the last event. */
async function resume(
  reply: ReplyReader,
  call: Call<McpRoute>,
  upstreams: Upstreams,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; reply.lastEvent !== null && count < MAX_RESUMPTIONS; count += 1) {
    await sleep(Math.max(reply.pauseMs, LEAST_PAUSE_MS), undefined, { signal }).catch(() => signal.throwIfAborted())
    const answer = await upstreams.ownRequestsOf(call).request({
      path: call.upstreamPath,
      method: 'GET',
      headers: [
        ...ownRequestHeaders(call, belongsToTheCall),
        'accept',
        'text/event-stream',
        'last-event-id',
        reply.lastEvent,
      ],
      signal,
    })
    if (answer.statusCode !== 200 || !isEventStream(answer.headers)) {
      await answer.body.dump()
      throw new Error(`the upstream did not resume its answer (${answer.statusCode})`)
    }
    await reply.read(answer)
  }
}

/**
 * 2026-07-28 reports an unknown method with 404 too: an answer to this request is its failure, anything else is for the
 * caller.
 */
async function rpcFailure(answer: Dispatcher.ResponseData, id: string): Promise<Error> {
  const { statusCode, headers } = answer
  if (statusCode === ACCEPTED) {
    await answer.body.dump()
    return new AnsweredElsewhere()
  }
  const reply = new ReplyReader(id)
  const error = await reply
    .read(answer)
    .then(() => reply.message['error'])
    .catch(() => null)
  if (isJsonObject(error)) return new RpcFailure(error)
  if (FOR_THE_CALLER.has(statusCode)) return new UpstreamRefusal(statusCode, relayedHeaders(headers))
  return new Error(`the upstream answered ${statusCode}`)
}

/** Why a request failed, as a part of a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof errors.UndiciError || !(error instanceof Error))
    return 'the upstream did not answer as it should'
  return error.name === 'TimeoutError' ? 'the upstream did not answer in time' : error.message
}

/** The caller's header fields, but for those that belong to the message they came with. */
function ownHeaders(call: Call<McpRoute>, { method, name }: OwnRequest, isModern: boolean): string[] {
  return [
    ...ownRequestHeaders(call, belongsToTheCall),
    'content-type',
    'application/json',
    'accept',
    'application/json, text/event-stream',
    ...(isModern ? ['mcp-method', method, ...(name === undefined ? [] : ['mcp-name', encodedName(name)])] : []),
  ]
}

function belongsToTheCall(name: string): boolean {
  return OF_THE_CALL.has(name) || name.startsWith('mcp-param-')
}

/** Version, client and capabilities as the caller declared them; progress tokens and the like belong to its own request. */
export function protocolMembers(meta: McpAsker['meta']): McpAsker['meta'] {
  return Object.fromEntries(
    Object.entries(meta).filter(([name]) => /^io\.modelcontextprotocol\/(?!related-task$)/.test(name)),
  )
}

function relayedHeaders(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RELAYED_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
}
