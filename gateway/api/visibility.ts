/**
 * Who sees what (docs/reference/api.md#authentication): roles with the right to read see their whole tenant, agents see what was
 * issued to them. Only the audience of a token sees the token.
 */
import type { Envelope } from '../../engine/internal.ts'
import { hasRight, isOperatorTenant } from '../callers/rights.ts'
import { sidecarRoute } from '../routing/sidecar-route.ts'
import type { Route } from '../routing/route.ts'
import type { ApiKey } from '../store/api-keys.ts'

/** The one audience whose decisions the caller sees; null: all of the tenant. */
export function ownAudience({ role, audience }: Pick<ApiKey, 'role' | 'audience'>): string | null {
  return hasRight({ role }, 'read') ? null : audience
}

/** Replaces a token that was issued to another audience. No verifier accepts it. */
const WITHHELD_TOKEN = 'withheld: issued to another audience'

/** The envelope as this caller may see it. The receipt is not part of the body hash, so the rest can still be checked. */
export function envelopeFor(envelope: Envelope, { audience }: Pick<ApiKey, 'audience'>): Envelope {
  if (envelope.audience === audience) return envelope
  return { ...envelope, receipt: { ...envelope.receipt, token: WITHHELD_TOKEN } }
}

/** Whether the caller's tenant may see a route. The operator's tenant sees all routes. */
export function seesRoute(name: string, { tenant }: Pick<ApiKey, 'tenant'>, routes: readonly Route[]): boolean {
  // Routes with several baselines name them ROUTE/AGENT.
  const route = routes.find((known) => known.name === name.split('/', 1)[0]) ?? sidecarRoute(name)
  return isOperatorTenant({ tenant }) || route?.tenants.includes(tenant) === true
}
