/**
 * Addresses in the header fields of an answer. A server that writes complete addresses writes its own. A client that
 * follows one goes around the gateway, so the next call is not judged. Such an address becomes that of the gateway for
 * the same resource.
 */
import type { IncomingMessage } from 'node:http'
import type { Route } from '../routing/route.ts'

/** An upstream, and where its route stands at the gateway. */
export type ServedRoute = Pick<Route, 'upstream'> & Partial<Pick<Route, 'match'>>

interface Served {
  readonly upstream: URL
  readonly prefix: string
}

/** A route that has no upstream of its own is reached at the address of its server: such addresses stay. */
const served = new WeakMap<ServedRoute, Served | null>()

function servedBy(route: ServedRoute): Served | null {
  const known = served.get(route)
  if (known !== undefined) return known
  const { upstream, match } = route
  const made =
    upstream === undefined || match === undefined ? null : { upstream: new URL(upstream), prefix: match.path }
  served.set(route, made)
  return made
}

/** By name in lower case: the parts of the value that are an address. Each expression has what precedes it, and it. */
const ADDRESSES: ReadonlyMap<string, RegExp> = new Map([
  ['location', /^(\s*)(.*)$/s],
  ['content-location', /^(\s*)(.*)$/s],
  ['link', /(<)([^<>]*)/g],
  // Browsers also take an address without `url=`, behind any separator.
  ['refresh', /^(\s*[\d.]+[\s;,]*(?:url\s*=\s*)?["']?)([^"']*)/i],
])

/**
 * The fields with the addresses of the route's upstream replaced. Those of other servers stay.
 * @param fields name, value, name, value …; changed in place
 */
export function replaceOwnAddresses(fields: string[], route: ServedRoute, request: RequestSeen): void {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? ''
    // The lengths of the four names: most fields cost one comparison.
    if (name.length !== 4 && name.length !== 7 && name.length !== 8 && name.length !== 16) continue
    const addresses = ADDRESSES.get(name.toLowerCase())
    const own = addresses === undefined ? null : servedBy(route)
    if (addresses === undefined || own === null) continue
    // Clients resolve the others; many use a link as it stands.
    const origin = name.length === 'link'.length ? originAsked(request, own) : ''
    fields[index + 1] = (fields[index + 1] ?? '').replace(addresses, (whole, before: string, address: string) => {
      const there = addressAtGateway(address, own)
      return there === null ? whole : before + origin + there
    })
  }
}

type RequestSeen = Pick<IncomingMessage, 'headers' | 'socket'>

/** The origin at which the client reached the gateway. Empty if unknown, or if it asked for the upstream by its own name. */
function originAsked({ headers, socket }: RequestSeen, { upstream }: Served): string {
  const { host = '', 'x-forwarded-proto': stated } = headers
  const isEncrypted = stated === 'https' || ('encrypted' in socket && socket.encrypted === true)
  const url = URL.parse(`${isEncrypted ? 'https' : 'http'}://${host}`)
  return url === null || isSameServer(url, upstream) ? '' : url.origin
}

/** What an address without a scheme or a host is resolved against: the gateway, in plaintext or by TLS. */
const AT_GATEWAY = ['http://gateway.invalid', 'https://gateway.invalid'] as const

/** A reference that a client resolves against the gateway's address. Null: it does not name a resource below the upstream. */
function addressAtGateway(address: string, { upstream, prefix }: Served): string | null {
  const readings = AT_GATEWAY.map((base) => URL.parse(address, base)).filter((url) => url !== null)
  const url = readings.find((one) => isSameServer(one, upstream))
  if (url === undefined) return null
  const base = upstream.pathname.replace(/\/$/, '')
  if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return null
  const rest = url.pathname === upstream.pathname ? '' : url.pathname.slice(base.length)
  const path = rest === '' ? prefix : prefix.replace(/\/$/, '') + rest
  // Two slashes at the beginning would name a host.
  return `${path.startsWith('//') ? '/.' : ''}${path}${ownSearch(url, upstream)}${url.hash}`
}

const WEB: ReadonlySet<string> = new Set(['http:', 'https:'])

/** The same host and port, or the other scheme at its usual port. */
function isSameServer(url: URL, upstream: URL): boolean {
  return WEB.has(url.protocol) && hostOf(url) === hostOf(upstream) && url.port === upstream.port
}

/** Without the dot that ends a complete name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '')
}

/** Without the query of the upstream's own address, which each call gets again. */
function ownSearch({ search }: URL, upstream: URL): string {
  const { search: added } = upstream
  if (added === '' || (search !== added && !search.startsWith(`${added}&`))) return search
  return search.slice(added.length).replace('&', '?')
}
