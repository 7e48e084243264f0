/** Faults of MCP calls (too large, upstream away) as JSON-RPC errors, where it is known which request they answer. */
import { ERRORS } from '../../errors/errors.ts'
import type { CallFault, FaultyCall } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import { readRpcMessage, RPC_ERROR, rpcAnswer, rpcError } from './json-rpc.ts'
import { readStrictJson } from '../../json/strict-json.ts'

/**
 * With the HTTP status of the fault, by which transports distinguish it from a result. Null: the body has no request
 * with an id.
 */
export function mcpFault({ code, message, correlationId }: CallFault, { headers, body }: FaultyCall): Answer | null {
  const json = body === null ? null : readStrictJson(body)
  if (json?.ok !== true) return null
  const isBatch = Array.isArray(json.value)
  const values: readonly unknown[] = Array.isArray(json.value) ? json.value : [json.value]
  const { status } = ERRORS[code]
  const number = status < 500 ? RPC_ERROR.invalidRequest : RPC_ERROR.internal
  const data = { error: code, correlation_id: correlationId }
  const errors = values.map(readRpcMessage).flatMap((asked) => {
    return asked?.kind === 'request' ? [rpcError(asked.id, number, `${code}: ${message}`, data)] : []
  })
  return errors.length === 0 ? null : rpcAnswer(status, isBatch ? errors : errors[0], headers.accept)
}
