/** Connections towards the upstreams: one undici pool for each origin and set of timeouts, opened when first used. */
import { Pool } from 'undici'
import type { RouteConfig } from '../config/route.ts'
import type { Call } from '../intercept/action.ts'

export interface Upstreams {
  poolOf(call: Pick<Call, 'route' | 'origin'>): Pool
  /** Breaks off what is under way and closes every socket. */
  close(): Promise<void>
}

export function createUpstreams(): Upstreams {
  const pools = new Map<string, Pool>()
  // Routes are frozen objects of one settings generation: a route seen before needs no key to be made.
  const byRoute = new WeakMap<RouteConfig, Pool>()
  return {
    poolOf({ route, origin }) {
      const known = route.upstream === undefined ? undefined : byRoute.get(route)
      if (known !== undefined) return known
      const key = `${origin} ${route.timeout.connect} ${route.timeout.headers}`
      const pool = pools.get(key) ?? openPool(origin, route)
      pools.set(key, pool)
      byRoute.set(route, pool)
      return pool
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}

function openPool(origin: string, route: RouteConfig): Pool {
  return new Pool(origin, {
    pipelining: 1,
    connect: { timeout: route.timeout.connect * 1000 },
    headersTimeout: route.timeout.headers * 1000,
    // An answer may take as long as it keeps moving, and an event stream may be silent for hours.
    bodyTimeout: 0,
    allowH2: false,
  })
}
