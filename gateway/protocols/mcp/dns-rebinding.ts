/**
 * Web pages that reach an MCP server on loopback under their own host name (DNS rebinding). Such a server detects them
 * by the Host header (MCP 2025-11-25, Streamable HTTP, Security Warning). The gateway replaces that header, so it must
 * check instead.
 */
import { isIP } from 'node:net'
import { isLoopback } from '../../network/listen-address.ts'
import type { CallHead } from '../../calls/call.ts'

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

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : null
}

function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isIP(host) !== 0
}
