/** Keys for the knowledge about MCP servers: by caller, server, session, and whatever else a listing may depend on. */
import type { Call } from '../../calls/call.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { callerKey, offerKey } from '../common/offer-key.ts'
import { protocolMembers, type McpAsker } from './gateway-requests.ts'
import type { McpRoute } from './settings.ts'

/**
 * Key of a caller: its endpoint and, there, its session or its credentials where there are no sessions. Several servers may
 * be below one route, and the query may choose among them. @param begun null: the session of the call
 */
export function callerAt(call: Call<McpRoute>, begun: string | null = null): string {
  const { upstreamPath, headers } = call
  const session = begun ?? headers['mcp-session-id']
  const place = `${serverOf(call)}${upstreamPath}`
  const caller = callerKey(headers)
  return session === undefined && caller === ''
    ? place
    : `${place}\n${sha256Hex(`${String(session ?? '')}\n${caller}`)}`
}

/** Key of the server: the route, and the origin where the route has no upstream. */
export function serverOf({ route, origin }: Call<McpRoute>): string {
  return `${route.name}\n${route.upstream === undefined ? origin : ''}`
}

/** Key of a session, or of the caller where there are none. @param begun null: the session of the call */
export function sessionKeyOf(call: Call<McpRoute>, begun: string | null): string {
  const session = begun ?? call.headers['mcp-session-id']
  return session === undefined ? callerAt(call) : `${serverOf(call)}\n${sha256Hex(String(session))}`
}

/** What a listing may depend on beside the caller: other fields, and what a request of 2026-07-28 says of its client. */
export function variantOf({ call, meta, isModern }: McpAsker): string {
  const fields = offerKey(call.headers, call.route)
  return isModern ? `${fields}\n${JSON.stringify(protocolMembers(meta))}` : fields
}
