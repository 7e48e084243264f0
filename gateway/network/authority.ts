/** Host and port as a request names its destination, in one spelling: what several readers could take for several hosts is refused. */
import { formatAddress } from './listen-address.ts'
import { canonicalAddress } from './address.ts'
import { fail } from '../../engine/base.ts'

export type Scheme = 'http' | 'https'

export const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443 }

/** A destination. The host is lower case: a name, or an address in its canonical form without brackets. */
export interface Authority {
  readonly host: string
  readonly port: number
}

export type AuthorityReading =
  | { readonly ok: true; readonly authority: Authority }
  | { readonly ok: false; readonly problem: string }

/** @param defaultPort for what names none; null: then a port is required (CONNECT) */
export function readAuthority(text: string, defaultPort: number | null): AuthorityReading {
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(text)
  if (parts === null) return fail('it is not a host with an optional port')
  const [, hostText = '', portText] = parts
  const port = portText === undefined ? defaultPort : readPort(portText)
  if (port === null)
    return fail(portText === undefined ? 'the port is missing' : `"${portText}" is not a port from 1 to 65535`)
  const host = canonicalHost(hostText)
  return host.ok ? { ok: true, authority: { host: host.host, port } } : host
}

export function readPort(text: string): number | null {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

export type HostReading =
  | { readonly ok: true; readonly host: string }
  | { readonly ok: false; readonly problem: string }

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
/** A last label that systems read as a number makes the whole an IPv4 address to them (WHATWG URL, "ends in a number"). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0[xX][0-9A-Fa-f]*)$/

/** A name, an IPv4 address of four decimal parts, or an IPv6 address in brackets. */
export function canonicalHost(text: string): HostReading {
  if (text.startsWith('[')) {
    const address = canonicalAddress(text.slice(1, -1))
    return address === null || !text.includes(':')
      ? fail(`${text} is not an IPv6 address`)
      : { ok: true, host: address }
  }
  if (text.includes(':')) return fail(`"${text}" is not a host name: it holds a colon`)
  if (ENDS_IN_NUMBER.test(text)) {
    const address = canonicalAddress(text)
    return address === null
      ? fail(`"${text}" is an unusual spelling of an address; write four decimal parts`)
      : { ok: true, host: address }
  }
  if (text.length > 253 || !NAME.test(text)) return fail(`"${text.slice(0, 260)}" is not a host name${dotEnding(text)}`)
  return { ok: true, host: text.toLowerCase() }
}

/** DNS reads `api.example.` as `api.example`; routes, certificates and most servers read another name. */
function dotEnding(text: string): string {
  return text.endsWith('.') && NAME.test(text.slice(0, -1)) ? ': write it without the dot at its end' : ''
}

/** `https://api.example`, `http://[::1]:8080`. */
export function originOf(scheme: Scheme, { host, port }: Authority): string {
  if (port === DEFAULT_PORTS[scheme]) return `${scheme}://${host.includes(':') ? `[${host}]` : host}`
  return `${scheme}://${formatAddress({ host, port })}`
}

/** `api.example:443`, for logs, messages and the ledger. */
export function authorityText({ host, port }: Authority): string {
  return formatAddress({ host, port })
}
