/** JSON-RPC 2.0 as MCP uses it: telling messages apart, and the answers that the gateway makes itself. */
import type { Answer } from '../../calls/answer.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'

export type MessageId = string | number

/** JSON-RPC 2.0 §5.1, and the code of docs/reference/wire-headers.md#refusals for what may not proceed. */
export const RPC_ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notForwarded: -32001,
} as const

export interface RpcRequest {
  readonly kind: 'request'
  readonly id: MessageId
  /** For its answer: a long number keeps its digits, which its client looks for. */
  readonly writtenId: unknown
  readonly method: string
  readonly params: Params
}

export type Message =
  | RpcRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response' }

export type Params = Readonly<Record<string, unknown>>

const MEMBERS = countingNames(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])

/** The messages of a body, one or a batch; null for a value that is none. */
export function readRpcMessages(value: unknown, body: Buffer): readonly (Message | null)[] {
  const messages = listOf(value).map(readRpcMessage)
  if (!messages.some(hasLongId)) return messages
  const written = listOf(withWrittenNumbers(body.toString('utf8'), value))
  return messages.map((message, index) =>
    message?.kind === 'request' ? { ...message, writtenId: recordIn(written[index])['id'] } : message,
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function hasLongId(message: Message | null): boolean {
  return message?.kind === 'request' && typeof message.id === 'number' && !Number.isSafeInteger(message.id)
}

/** Null when the value is no JSON-RPC message, or another one to readers that take names in any case. */
function readRpcMessage(value: unknown): Message | null {
  if (!isJsonObject(value) || otherSpelling(value, MEMBERS) !== null) return null
  const { id, method, params } = value
  if (method === undefined) return 'result' in value || 'error' in value ? { kind: 'response' } : null
  if (typeof method !== 'string' || (params !== undefined && params !== null && !isJsonObject(params))) return null
  const members = recordIn(params)
  if (id === undefined) return { kind: 'notification', method, params: members }
  return isMessageId(id) ? { kind: 'request', id, writtenId: id, method, params: members } : null
}

export function isMessageId(value: unknown): value is MessageId {
  return typeof value === 'string' || typeof value === 'number'
}

export function rpcError(id: unknown, code: number, message: string, data?: unknown): unknown {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

/** One message or a batch, in the media type that the caller asked for first of JSON, else as an event stream. */
export function rpcAnswer(status: number, message: unknown, accept: string | undefined): Answer {
  const body = JSON.stringify(message)
  return acceptsJson(accept)
    ? { status, headers: { 'content-type': 'application/json' }, body }
    : {
        status,
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
        body: `event: message\ndata: ${body}\n\n`,
      }
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true
  const types = accept.split(',').map((type) => (type.split(';', 1)[0] ?? '').trim().toLowerCase())
  return types.some((type) => type === 'application/json' || type === 'application/*' || type === '*/*')
}

/** Id of the first request among messages, as it is written; null when there is none to answer. */
export function firstId(messages: readonly Message[]): unknown {
  for (const message of messages) if (message.kind === 'request') return message.writtenId
  return null
}
