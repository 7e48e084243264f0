/** How old a baseline may be (`contract.max_age`). One that is older was not looked at for too long to judge by: calls are not forwarded. */
import type { Route } from '../routing/route.ts'
import { GatewayError } from '../errors/errors.ts'
import type { BaselineRow } from '../store/store.ts'

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
    `The baseline of "${route.name}" was last confirmed ${since}, longer ago than contract.max_age lets it be (${route.contract?.max_age} seconds). ` +
      `Review it, then confirm it: preflight baselines promote ${route.name} ${baseline.digest}`,
  )
}
