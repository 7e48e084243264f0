/**
 * Routes of sidecars at their hub. The hub stores them as `TENANT:ROUTE`; names of its own routes have no colon. It has no
 * configuration of theirs, so people who accept their contracts there decide under these terms.
 */
import type { Route } from './route.ts'

/** What the acceptance of a contract needs of its route. */
export type AcceptedRoute = Pick<Route, 'name' | 'environment' | 'operation' | 'tenants' | 'contract'>

/** @param name of a route or of one of its baselines (`ROUTE/NAME`); null: it is none of a sidecar */
export function sidecarRoute(name: string): AcceptedRoute | null {
  const [, tenant] = /^([^:/]+):[a-z0-9][a-z0-9-]{0,62}(?:\/|$)/.exec(name) ?? []
  return tenant === undefined ? null : { name, operation: 'tool_call', tenants: [tenant] }
}
