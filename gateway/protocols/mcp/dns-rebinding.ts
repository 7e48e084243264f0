/**
 * Web pages that reach an MCP server on loopback under their own host name (DNS rebinding). Such a server detects them
 * by the Host header (MCP 2025-11-25, Streamable HTTP, Security Warning). The gateway replaces that header, so it must
 * check instead.
 */
import { isLoopback } from '../../network/listen-address.ts'
import type { CallHead } from '../../calls/call.ts'
import { hostnameOf, isLocalName } from '../../network/origin.ts'

/**
 * The message for the page; null: no page, a page of this machine, or a host that the route names. Programs send no
 * Origin.
 */
export function foreignPage({ route, origin, trafficPath, received: { headers } }: CallHead): string | null {
  if (headers.origin === undefined || trafficPath !== 'reverse' || route.match.host !== undefined) return null
  if (!isLoopback(hostnameOf(origin) ?? '')) return null
  const host = hostnameOf(`http://${headers.host ?? ''}`)
  return host !== null && isLocalName(host)
    ? null
    : 'A page reaches a server on loopback only by a host that match.host of the route names.'
}
