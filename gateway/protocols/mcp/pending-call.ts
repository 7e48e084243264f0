/**
 * An MCP call that waits for an approval: an event stream with signs of life, progress for callers that asked for it,
 * and then the real answer.
 */
import type { PendingAnswer } from '../common/action.ts'
import { RPC_ERROR, rpcError, type RpcRequest } from './json-rpc.ts'
import { isJsonObject, readStrictJsonText } from '../../json/strict-json.ts'

export function acceptsStream(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((type) => (type.split(';', 1)[0] ?? '').trim().toLowerCase() === 'text/event-stream')
}

/** @param requests those that the answer is for; at least one */
export function createPendingAnswer(requests: readonly RpcRequest[]): PendingAnswer {
  let signs = 0
  return {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
    sign() {
      signs += 1
      const notices = requests.flatMap(({ params }) => progressOf(params, signs))
      return notices.length === 0
        ? ': waiting for an approval\n\n'
        : notices.map((notice) => eventOf(JSON.stringify(notice))).join('')
    },
    embed: (status, body) =>
      isMessages(body)
        ? eventOf(body)
        : requests.map((request) => eventOf(JSON.stringify(failure(request, status)))).join(''),
  }
}

/** MCP, Progress: with the token that the caller gave, growing, without a total. */
function progressOf(params: RpcRequest['params'], progress: number): readonly unknown[] {
  const meta = params['_meta']
  const token = isJsonObject(meta) ? meta['progressToken'] : undefined
  if (typeof token !== 'string' && typeof token !== 'number') return []
  const message = 'Preflight waits for an approval of this call.'
  return [{ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, message } }]
}

/** A JSON-RPC message, or a batch of them. */
function isMessages(body: string): boolean {
  const json = readStrictJsonText(body)
  const messages: readonly unknown[] = !json.ok ? [] : Array.isArray(json.value) ? json.value : [json.value]
  return messages.length > 0 && messages.every((message) => isJsonObject(message) && message['jsonrpc'] === '2.0')
}

function failure({ writtenId }: RpcRequest, status: number): unknown {
  return rpcError(writtenId, RPC_ERROR.notForwarded, `The server answered ${status}, and no MCP message.`)
}

/** The text as it came: line breaks of JSON stand between tokens only, so a break of the field changes nothing. */
function eventOf(text: string): string {
  return `event: message\ndata: ${text.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}
