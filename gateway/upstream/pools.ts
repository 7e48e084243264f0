/**
 * Connections to the upstreams: one undici pool for each origin and set of connection options, opened when first used.
 */
import { LRUCache } from 'lru-cache'
import type { Dispatcher } from 'undici'
import { openPool, requestBy, type UndiciPoolType } from '../network/undici.ts'
import type { Route } from '../routing/route.ts'
import { DEFAULT_PORTS, readAuthority } from '../network/authority.ts'
import type { Egress } from './egress-policy.ts'
import type { Call } from '../calls/call.ts'
import { isGrpc } from '../network/grpc-media-type.ts'
import type { RequestDispatcher } from './sent-request.ts'
import { createHttp2Origin, type Http2Origin } from './http2-origin.ts'
import { signsAuthority } from './signed-authority.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

/** The part of a route that determines how its upstream is reached. */
export type UpstreamRoute = Pick<Route, 'name' | 'protocol' | 'upstream' | 'upstream_protocol' | 'timeout' | 'tls'>

/** Sends the gateway's own requests to an upstream. */
interface OwnRequests {
  /** Rejects with an error of undici, of the connection, or with the reason of the signal. */
  request(question: UpstreamRequest): Promise<Dispatcher.ResponseData>
}

interface UpstreamRequest {
  readonly path: string
  readonly method: string
  readonly headers: string[] | Readonly<Record<string, string>>
  readonly body?: Buffer | string | null
  readonly signal?: AbortSignal
}

/** The part of a call that determines how its upstream is reached. */
type ReachedBy = Pick<Call, 'origin' | 'headers'> & { readonly route: UpstreamRoute }

export interface Upstreams {
  /** Uses the route's version of HTTP. */
  ownRequestsOf(call: Pick<ReachedBy, 'origin' | 'route'>): OwnRequests
  /** Sends the call itself. @param isUpgrade HTTP/2 has no such switch, so HTTP/1.1 is used */
  dispatcherOf(call: ReachedBy, isUpgrade: boolean): RequestDispatcher
  /** Connections and requests of each pool, by origin. */
  inspect(): readonly object[]
  /** Ends what is in flight and closes every socket. */
  close(): Promise<void>
}

/** Limits the origins that agents name; the operator's own are few and stay open. */
const MAX_NAMED_POOLS = 500

/** @param egress in force now: where the request names the destination, it checks each address that is connected to */
export function createUpstreams(egress: () => Egress): Upstreams {
  return new UpstreamPools(egress)
}

class UpstreamPools implements Upstreams {
  readonly #egress: () => Egress
  readonly #ofRoutes = new Map<string, UndiciPoolType>()
  // Routes are frozen objects of one settings generation: a known route needs no key.
  readonly #byRoute = new WeakMap<UpstreamRoute, UndiciPoolType>()
  readonly #named = new LRUCache<string, UndiciPoolType>({
    max: MAX_NAMED_POOLS,
    // Its requests in flight finish.
    dispose: (pool) => void pool.close().catch(() => pool.destroy()),
  })
  readonly #http2 = new LRUCache<string, Http2Origin>({
    max: MAX_NAMED_POOLS,
    dispose: (origin) => origin.close(),
  })
  /** The policy that checked the addresses of the connections that are open. */
  #checkedBy: Egress | null = null

  constructor(egress: () => Egress) {
    this.#egress = egress
  }

  ownRequestsOf(call: Pick<ReachedBy, 'origin' | 'route'>): OwnRequests {
    return call.route.upstream_protocol === 'http2'
      ? askerBy(this.#http2Origin(call.route, call.origin))
      : this.#poolOf(call)
  }

  dispatcherOf(call: ReachedBy, isUpgrade: boolean): RequestDispatcher {
    return goesByHttp2(call) && !isUpgrade ? this.#http2Origin(call.route, call.origin) : this.#poolOf(call)
  }

  inspect(): readonly object[] {
    return [
      ...[...this.#ofRoutes, ...this.#named].map(([key, { stats }]) => ({
        origin: hostOfPool(key),
        protocol: 'http1',
        connected: stats.connected,
        free: stats.free,
        running: stats.running,
        queued: stats.queued,
      })),
      ...[...this.#http2.keys()].map((key) => ({ origin: hostOfPool(key), protocol: 'http2' })),
    ]
  }

  async close(): Promise<void> {
    const pools = [...this.#ofRoutes.values(), ...this.#named.values()]
    this.#ofRoutes.clear()
    for (const origin of this.#http2.values()) origin.destroy()
    await Promise.all(pools.map((pool) => pool.destroy()))
    this.#named.clear()
    this.#http2.clear()
  }

  #poolOf({ route, origin }: Pick<ReachedBy, 'origin' | 'route'>): UndiciPoolType {
    if (route.upstream === undefined) return this.#namedPool(route, origin)
    const known = this.#byRoute.get(route)
    if (known !== undefined) return known
    const key = poolKey(route, origin)
    const pool = this.#ofRoutes.get(key) ?? openPoolFor(origin, route, {})
    this.#ofRoutes.set(key, pool)
    this.#byRoute.set(route, pool)
    return pool
  }

  #namedPool(route: UpstreamRoute, origin: string): UndiciPoolType {
    this.#followPolicy()
    const key = poolKey(route, origin)
    const pool = this.#named.get(key) ?? openPoolFor(origin, route, guardOf(origin, this.#egress))
    this.#named.set(key, pool)
    return pool
  }

  /** A connection to an address that another policy allowed takes no further request; those in flight finish. */
  #followPolicy(): void {
    const policy = this.#egress()
    if (policy === this.#checkedBy) return
    this.#checkedBy = policy
    this.#named.clear()
    for (const key of this.#http2.keys()) if (key.endsWith(GUARDED)) this.#http2.delete(key)
  }

  #http2Origin(route: UpstreamRoute, origin: string): Http2Origin {
    if (route.upstream === undefined) this.#followPolicy()
    const guard = route.upstream === undefined ? guardOf(origin, this.#egress) : {}
    const key = `${poolKey(route, origin)}${guard.lookup === undefined ? '' : GUARDED}`
    const known = this.#http2.get(key) ?? openHttp2(origin, route, guard)
    this.#http2.set(key, known)
    return known
  }
}

/** Ends the keys of connections whose addresses egress has checked. */
const GUARDED = ' guarded'

/**
 * True where the route asks for HTTP/2, and for requests that only work over it. A signature that covers `:authority`
 * is not kept where the route names an upstream: that changes the authority, so the signature fails anyway.
 */
export function goesByHttp2({ headers, route }: Pick<ReachedBy, 'headers' | 'route'>): boolean {
  if (route.upstream_protocol === 'http2' || isGrpc(headers)) return true
  return route.upstream === undefined && signsAuthority(headers)
}

function askerBy(origin: Http2Origin): OwnRequests {
  return {
    request({ path, method, headers, body = null, signal }) {
      const fields = Array.isArray(headers) ? headers : Object.entries(headers).flat()
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const dispatcher = {
        dispatch: (_options: unknown, handler: Dispatcher.DispatchHandler) =>
          origin.dispatch({ path, method, headers: fields, body: bytes }, handler),
      }
      return requestBy(dispatcher, { path, method, ...(signal === undefined ? {} : { signal }) })
    },
  }
}

function poolKey({ timeout, tls }: UpstreamRoute, origin: string): string {
  return `${origin} ${timeout.connect} ${timeout.headers} ${timeout.idle} ${tls.upstream_ca ?? ''}`
}

/** Without a user and password. */
function hostOfPool(key: string): string {
  const [origin = ''] = key.split(' ', 1)
  return URL.parse(origin)?.host ?? origin
}

type AddressGuard = { readonly lookup?: ReturnType<Egress['lookupFor']> }

/** The current policy is asked at each connection, not the policy at the time when the pool was opened. */
function guardOf(origin: string, egress: () => Egress): AddressGuard {
  const { protocol, host } = new URL(origin)
  const read = readAuthority(host, DEFAULT_PORTS[protocol === 'https:' ? 'https' : 'http'])
  if (!read.ok) throw new Error(`${origin} is not an origin: ${read.problem}`)
  return { lookup: (name, options, callback) => egress().lookupFor(read.authority)(name, options, callback) }
}

function openHttp2(origin: string, { timeout, tls }: UpstreamRoute, guard: AddressGuard): Http2Origin {
  return createHttp2Origin(origin, {
    connectMs: timeout.connect * 1000,
    headersMs: timeout.headers * 1000,
    idleMs: timeout.idle * 1000,
    ...guard,
    ...(tls.upstream_ca === undefined ? {} : { ca: readRegularFile(tls.upstream_ca, 'utf8') }),
  })
}

function openPoolFor(origin: string, { timeout, tls }: UpstreamRoute, guard: AddressGuard): UndiciPoolType {
  return openPool(origin, {
    pipelining: 1,
    connect: {
      timeout: timeout.connect * 1000,
      ...guard,
      ...(tls.upstream_ca === undefined ? {} : { ca: readRegularFile(tls.upstream_ca, 'utf8') }),
    },
    headersTimeout: timeout.headers * 1000,
    bodyTimeout: timeout.idle * 1000,
    allowH2: false,
  })
}
