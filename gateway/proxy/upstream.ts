/** Connections towards the upstreams: one undici pool for each origin and way to connect, opened when first used. */
import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { Pool } from '../http-client.ts'
import type { RouteConfig } from '../config/route.ts'
import { DEFAULT_PORTS, readAuthority } from '../egress/authority.ts'
import type { Egress } from '../egress/policy.ts'
import type { Call } from '../intercept/action.ts'

/** What of a route says how its upstream is reached. */
export type UpstreamRoute = Pick<RouteConfig, 'name' | 'protocol' | 'upstream' | 'timeout' | 'tls'>

export interface Upstreams {
  poolOf(call: Pick<Call, 'origin'> & { readonly route: UpstreamRoute }): Pool
  /** Breaks off what is under way and closes every socket. */
  close(): Promise<void>
}

/** Origins that agents name; the operator's own are few and stay open. */
const MAX_NAMED_POOLS = 500

/** @param egress in force now: where the request names the destination, it judges each address that is connected to */
export function createUpstreams(egress: () => Egress): Upstreams {
  const ofRoutes = new Map<string, Pool>()
  // Routes are frozen objects of one settings generation: a route seen before needs no key to be made.
  const byRoute = new WeakMap<UpstreamRoute, Pool>()
  const named = new LRUCache<string, Pool>({
    max: MAX_NAMED_POOLS,
    // What is under way on it comes to its end.
    dispose: (pool) => void pool.close().catch(() => pool.destroy()),
  })
  const namedPool = (route: UpstreamRoute, origin: string): Pool => {
    const key = keyOf(route, origin)
    const pool = named.get(key) ?? openPool(origin, route, guardOf(origin, egress))
    named.set(key, pool)
    return pool
  }
  return {
    poolOf({ route, origin }) {
      if (route.upstream === undefined) return namedPool(route, origin)
      const known = byRoute.get(route)
      if (known !== undefined) return known
      const key = keyOf(route, origin)
      const pool = ofRoutes.get(key) ?? openPool(origin, route, {})
      ofRoutes.set(key, pool)
      byRoute.set(route, pool)
      return pool
    },
    async close() {
      const pools = [...ofRoutes.values(), ...named.values()]
      ofRoutes.clear()
      await Promise.all(pools.map((pool) => pool.destroy()))
      named.clear()
    },
  }
}

function keyOf({ timeout, tls }: UpstreamRoute, origin: string): string {
  return `${origin} ${timeout.connect} ${timeout.headers} ${tls.upstream_ca ?? ''}`
}

type Guard = { readonly lookup?: ReturnType<Egress['lookupFor']> }

/** The policy of the moment is asked at each connection, not the one of when the pool was opened. */
function guardOf(origin: string, egress: () => Egress): Guard {
  const { protocol, host } = new URL(origin)
  const read = readAuthority(host, DEFAULT_PORTS[protocol === 'https:' ? 'https' : 'http'])
  if (!read.ok) throw new Error(`${origin} is no origin: ${read.problem}`)
  return { lookup: (name, options, callback) => egress().lookupFor(read.authority)(name, options, callback) }
}

function openPool(origin: string, { timeout, tls }: UpstreamRoute, guard: Guard): Pool {
  return new Pool(origin, {
    pipelining: 1,
    connect: {
      timeout: timeout.connect * 1000,
      ...guard,
      ...(tls.upstream_ca === undefined ? {} : { ca: readFileSync(tls.upstream_ca, 'utf8') }),
    },
    headersTimeout: timeout.headers * 1000,
    // An answer may take as long as it keeps moving, and an event stream may be silent for hours.
    bodyTimeout: 0,
    allowH2: false,
  })
}
