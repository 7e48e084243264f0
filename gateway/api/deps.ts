/** What the API listener is built from. Everything with a life of its own is passed in, so that tests can pass in fakes. */
import type { BaselineService } from '../baselines/baselines.ts'
import type { Bodies } from '../listen/bodies.ts'
import type { BreakGlass } from '../break-glass/break-glass.ts'
import type { FleetReports } from '../fleet/reports.ts'
import type { Flow } from '../flow/flow.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { ScmAccess } from '../scm/access.ts'
import type { CurrentApiSettings } from './settings.ts'
import type { StatusPublisher } from '../status-lists/publisher.ts'
import type { Store } from '../store/store.ts'
import type { DecisionLog } from '../telemetry/decision-log/decision-log.ts'
import type { Inspection } from '../telemetry/inspection.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import type { Authorities } from '../tls/authorities.ts'

export interface ApiDeps {
  readonly settings: CurrentApiSettings
  /** What `/schemas/config.json` returns. */
  readonly configSchema: object
  readonly store: Store
  readonly flow: Flow
  readonly keys: Pick<KeyRing, 'keySet' | 'published' | 'signer'>
  readonly monitoring: Pick<Monitoring, 'open' | 'report' | 'isWired'>
  readonly breakGlass: Pick<BreakGlass, 'refresh'>
  readonly fleet: Pick<FleetReports, 'own'>
  readonly baselines: Pick<BaselineService, 'list' | 'view' | 'promote' | 'registered'>
  readonly authorities: Pick<Authorities, 'bundle'>
  readonly scm: ScmAccess
  readonly statusLists: Pick<StatusPublisher, 'list'>
  readonly bodies: Bodies
  readonly decisionLog: Pick<DecisionLog, 'isOn' | 'write'>
  /** Null: nobody looks at this gateway. */
  readonly inspection: Pick<Inspection, 'status' | 'logLevel' | 'setLogLevel'> | null
  readonly observer: Observer
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called after a receipt was revoked or consumed through the API: cached decisions of the proxy are dropped immediately. */
  readonly receiptChanged: (decisionId: string) => void
  /** Called after an approval was granted or denied, or an exception opened: calls that wait for it check again immediately. */
  readonly approvalDecided: () => void
}
