/** Who sees what (docs/reference/api.md#authentication): agents what was issued to them, approvers and admins what is their tenant's; tokens only whom they were issued to. */
import type { Envelope } from '../../engine/internal.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import type { Route } from '../routing/route.ts'
import type { ApiKey } from '../store/store.ts'

/** The one audience whose decisions the caller sees; null: all of the tenant. */
export function ownAudience({ role, audience }: Pick<ApiKey, 'role' | 'audience'>): string | null {
  return role === 'agent' ? audience : null
}

/** Stands where a token would be that was issued to somebody else. No verifier takes it for one. */
const WITHHELD_TOKEN = 'withheld: issued to another audience'

/** The envelope as this caller may see it. The receipt is not under the hash of the body, so the rest can be checked as before. */
export function envelopeFor(envelope: Envelope, { audience }: Pick<ApiKey, 'audience'>): Envelope {
  if (envelope.audience === audience) return envelope
  return { ...envelope, receipt: { ...envelope.receipt, token: WITHHELD_TOKEN } }
}

/** Whether a route is any business of the caller's tenant. The operator's tenant sees all of them. */
export function seesRoute(name: string, { tenant }: Pick<ApiKey, 'tenant'>, routes: readonly Route[]): boolean {
  // Routes with several baselines name them ROUTE/AGENT.
  const route = routes.find((known) => known.name === name.split('/', 1)[0])
  return tenant === LOCAL_TENANT || (route !== undefined && route.tenants.includes(tenant))
}
