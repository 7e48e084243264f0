/** Which routes a person sees: those of the operator's tenant all, others those that serve their tenant. */
import { seesRoute } from '../api/visibility.ts'
import type { BaselineView } from '../baselines/baselines.ts'
import type { Visit } from './visit.ts'

export function seenRoutes(
  views: readonly BaselineView[],
  { visitor, settings }: Pick<Visit, 'visitor' | 'settings'>,
): readonly BaselineView[] {
  return views.filter(({ baseline }) => seesRoute(baseline.route, visitor, settings.config.routes))
}
