/**
 * Web pages that reach an MCP server on loopback by a name of their own (DNS rebinding). Such a server tells them by the Host
 * header (MCP 2025-11-25, Streamable HTTP, Security Warning), and the gateway, which gives it its own, must look in its place.
 */
import { isIP } from 'node:net'
import { isLoopback } from '../../network/listen-address.ts'
import type { CallHead } from '../../calls/call.ts'

/** What to tell the page; null: no page, a page of this machine, or a host that the route names. Programs send no Origin. */
export function foreignPage({ route, origin, entrance, received: { headers } }: CallHead): string | null {
  if (headers.origin === undefined || entrance !== 'reverse' || route.match.host !== undefined) return null
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
