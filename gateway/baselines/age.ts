/**
 * The maximum age of a baseline (`contract.max_age`). With an older one calls are not forwarded: it was confirmed too long ago.
 */
import type { Route } from '../routing/route.ts'
import { GatewayError } from '../errors/errors.ts'
import type { BaselineRow } from '../store/baselines.ts'

export function isExpired({ contract }: Route, { setAt }: Pick<BaselineRow, 'setAt'>, now: number): boolean {
  const maxAge = contract?.max_age
  return maxAge !== undefined && now - setAt > maxAge * 1000
}

/** @throws GatewayError PREFLIGHT_UNDECIDED */
export function assertFresh(route: Route, baseline: BaselineRow, now: number): void {
  if (!isExpired(route, baseline, now)) return
  const since = new Date(baseline.setAt).toISOString()
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The baseline of "${route.name}" was last confirmed ${since}, longer ago than contract.max_age allows (${route.contract?.max_age} seconds). ` +
      `Review it, then confirm it: preflight baselines promote ${route.name} ${baseline.digest}`,
  )
}
