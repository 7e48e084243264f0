/** One request to the console after sign-in, and what a page answers. */
import type { BaselineService, BaselineView } from '../baselines/baselines.ts'
import type { BreakGlass } from '../break-glass/break-glass.ts'
import type { FleetReports } from '../fleet/reports.ts'
import type { Bodies } from '../listen/bodies.ts'
import type { Flow } from '../flow/flow.ts'
import type { ApiConfig } from '../api/settings.ts'
import type { ApprovalsConfig } from '../approvals/settings.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { NotificationsConfig } from '../notifications/settings.ts'
import type { CurrentSettingsOf, SettingsOf } from '../settings/current.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observation } from '../telemetry/observation.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { Markup } from './markup.ts'
import type { ConsoleConfig } from './settings.ts'
import { seesRoute } from '../api/visibility.ts'

type ConsoleSettingsInForce = ApiConfig & ApprovalsConfig & ConsoleConfig & NotificationsConfig

export interface ConsoleDeps {
  readonly settings: CurrentSettingsOf<ConsoleSettingsInForce>
  readonly store: Store
  readonly flow: Pick<Flow, 'analyze' | 'compare'>
  readonly baselines: Pick<BaselineService, 'list' | 'view' | 'promote'>
  readonly breakGlass: Pick<BreakGlass, 'refresh'>
  readonly fleet: Pick<FleetReports, 'own'>
  readonly notifier: Pick<Notifier, 'test'>
  readonly bodies: Bodies
  readonly observer: Observer
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called after an approval was granted or denied, or an exception opened. */
  readonly approvalDecided: () => void
}

/** The person, as far as pages need to know. */
export type Visitor = Pick<ApiKey, 'audience' | 'tenant' | 'name' | 'role' | 'groups'>

export interface Visit {
  readonly visitor: Visitor
  /** Goes into each form. */
  readonly csrf: string
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string | undefined>>
  /** The submitted form; empty for GET. */
  readonly form: URLSearchParams
  readonly settings: SettingsOf<ConsoleSettingsInForce>
  readonly observation: Observation
  /** Milliseconds since the epoch; the same for the whole page. */
  readonly now: number
  readonly deps: ConsoleDeps
}

export type PageReply =
  | {
      readonly kind: 'page'
      readonly status?: number
      readonly title: string
      /** True: the page follows changes. */
      readonly isLive?: boolean
      readonly body: Markup
    }
  | { readonly kind: 'redirect'; readonly to: string }
  /** A file to keep, line by line. */
  | { readonly kind: 'lines'; readonly name: string; readonly lines: AsyncIterable<string> }

export type ConsolePage = (visit: Visit) => Promise<PageReply>

/** Routes that a person sees: those of the operator's tenant all, others those that serve their tenant. */
export function seenRoutes(
  views: readonly BaselineView[],
  { visitor, settings }: Pick<Visit, 'visitor' | 'settings'>,
): readonly BaselineView[] {
  return views.filter(({ baseline }) => seesRoute(baseline.route, visitor, settings.config.routes))
}
