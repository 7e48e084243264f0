/**
 * Requests that are judged or wait for an approval, by what their client takes them back with: the id, in the same session
 * (MCP, Cancellation). The server does not know them yet, so it could not do that itself.
 */
import type { Call } from '../../calls/call.ts'
import { isMessageId, type Message, type MessageId } from './json-rpc.ts'
import { serverOf } from './caller-keys.ts'
import type { McpRoute } from './settings.ts'

export interface PendingRequests {
  /** @returns a function that ends it */
  add(call: Call<McpRoute>, ids: readonly MessageId[], onCancelled: () => void): () => void
  /** Ends those of the same session that one of the messages takes back. */
  cancel(call: Call<McpRoute>, messages: readonly Message[]): void
}

export function createPendingRequests(): PendingRequests {
  const pending = new Map<string, Set<() => void>>()
  return {
    add(call, ids, onCancelled) {
      const keys = ids.flatMap((id) => keyOf(call, id) ?? [])
      for (const key of keys) pending.set(key, (pending.get(key) ?? new Set()).add(onCancelled))
      return () => {
        for (const key of keys) {
          pending.get(key)?.delete(onCancelled)
          if (pending.get(key)?.size === 0) pending.delete(key)
        }
      }
    },
    cancel(call, messages) {
      if (pending.size === 0) return
      for (const message of messages) {
        if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') continue
        const { requestId } = message.params
        const key = isMessageId(requestId) ? keyOf(call, requestId) : null
        for (const end of key === null ? [] : (pending.get(key) ?? [])) end()
      }
    },
  }
}

/** Null: without a session, ids of different clients cannot be distinguished. A number and a text are two ids. */
function keyOf(call: Call<McpRoute>, id: MessageId): string | null {
  const session = call.headers['mcp-session-id']
  return session === undefined ? null : `${serverOf(call)}\n${String(session)}\n${JSON.stringify(id)}`
}
