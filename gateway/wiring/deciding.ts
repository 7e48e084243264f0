/** The parts that decide, record and monitor, made in the order in which they need each other. */
import type { ArtifactType } from '../../engine/internal.ts'
import { protocolSettings } from '../protocols/settings.ts'
import type { Protocol } from '../routing/route.ts'
import type { Writable } from 'node:stream'
import { RouteBaselines, type BaselineService } from '../baselines/baselines.ts'
import { startWatcher, type Watcher } from '../baselines/watcher.ts'
import { createBreakGlass, type BreakGlass } from '../break-glass/break-glass.ts'
import type { LiveSettings } from '../config/live-settings.ts'
import { createConsumerObserver, type ConsumerObserver } from '../consumers/observer.ts'
import { createFlow } from '../flow/authorize.ts'
import type { Flow } from '../flow/flow.ts'
import { startFleetReports, type FleetReports } from '../fleet/reports.ts'
import { createInputKeeper, type InputKeeper } from '../flow/input-store.ts'
import { createMemoryBudget, type MemoryBudget } from '../runtime/memory-budget.ts'
import { releaseMemoryAfterBursts } from '../runtime/free-memory.ts'
import { createNotifier, type Notifier } from '../notifications/notifier.ts'
import { createRecorder, type DecisionRecorder } from '../flow/recorder.ts'
import type { State } from './state.ts'
import type { CandidateAnnouncement } from '../telemetry/events.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ActLogger } from '../telemetry/decision-log/acts.ts'
import { NO_DECISION_LOG, type DecisionLog } from '../telemetry/decision-log/decision-log.ts'
import type { Environment } from '../settings/environment.ts'
import { packageVersion } from '../runtime/package-files.ts'
import type { Otel } from '../telemetry/otel/open.ts'
import { showPendingApprovals } from '../approvals/request.ts'
import { startActRelay, type ActRelay } from '../store/act-relay.ts'
import { isHubUrl } from '../store/settings.ts'
import { isSharedStore } from '../store/opening/open.ts'
import { createObserver, type Observer } from '../telemetry/observer.ts'
import { createMonitoring, type Monitoring } from '../monitoring/monitoring.ts'
import type { Config } from '../config/schema.ts'

export interface PartsOptions {
  readonly state: State
  readonly live: LiveSettings
  readonly environment: Environment
  readonly metrics: Metrics
  readonly logger: Logger
  /** Absent: acts are not written to the decision log. */
  readonly acts?: ActLogger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Where the log sink of telemetry writes. */
  readonly output: Writable
  /** Gets what closes each part, as soon as it runs. */
  readonly closers: (() => unknown)[]
}

/** The decision and monitoring modules, shared by every listener. */
export interface Deciding {
  readonly memory: MemoryBudget
  readonly inputs: InputKeeper
  readonly consumers: ConsumerObserver
  readonly flow: Flow
  readonly recorder: DecisionRecorder
  readonly monitoring: Monitoring
  readonly baselines: BaselineService
  readonly watcher: Watcher
  readonly breakGlass: BreakGlass
  readonly fleet: FleetReports
  readonly notifier: Notifier
  readonly observer: Observer
  /** Null: nothing is exported to OpenTelemetry. */
  readonly otel: Otel | null
  readonly decisionLog: DecisionLog
  /** Null: acts are not written to the decision log. */
  readonly actRelay: ActRelay | null
}

export async function startDeciding(options: PartsOptions): Promise<Deciding> {
  const { state, live, metrics, logger, now, closers } = options
  const { store, dataDir } = state
  const settings = live.current
  const memory = createMemoryBudget()
  closers.push(releaseMemoryAfterBursts(memory))
  sampleMemory(metrics, memory)
  const inputs = createInputKeeper({ settings, store, memory, logger, now })
  closers.push(() => inputs.close())
  const consumers = await createConsumerObserver({ settings, store, logger, now })
  closers.push(() => consumers.close())
  const recorder = await openRecorder(options)
  const decisionLog = await openDecisionLog(options)
  closers.push(() => decisionLog.close())
  const actRelay = options.acts === undefined ? null : startActRelay({ store, acts: options.acts, logger, now })
  closers.push(() => actRelay?.close())
  const flow = createFlow({ decisionLog, settings, store, recorder, memory, inputs, metrics, logger, now })
  closers.push(() => flow.close())
  const place = placeOfStore(settings().config)
  const monitoring = await startMonitoring(options, place)
  const announce = (candidate: CandidateAnnouncement) => monitoring.announce(candidate)
  const baselines = new RouteBaselines({ settings, flow, store, metrics, logger, now, announce })
  const watcher = startWatcher({ settings, contractTypeOf, baselines, flow, metrics, logger, now })
  closers.push(() => watcher.close())
  const breakGlass = createBreakGlass({ store, metrics, logger, now })
  closers.push(() => breakGlass.close())
  await breakGlass.start()
  const otel = await openExports(options)
  if (otel !== null) closers.push(() => otel.close())
  const observer = createObserver({
    metrics,
    spans: otel?.spans ?? null,
    requests: { logger, share: () => settings().config.log.requests },
  })
  // A sidecar does not see the requests of others; its hub shows them.
  if (!isHubUrl(settings().config.store.url)) showPendingApprovals({ store, metrics, now })
  const notifier = createNotifier({ settings, store, metrics, logger, now })
  closers.push(() => notifier.close())
  notifier.start()
  const fleet = startFleetReports({ settings, dataDir, store, place, now })
  closers.push(() => fleet.close())
  return {
    memory,
    inputs,
    consumers,
    recorder,
    flow,
    monitoring,
    baselines,
    watcher,
    breakGlass,
    fleet,
    notifier,
    observer,
    otel,
    decisionLog,
    actRelay,
  }
}

/** Whose the store is: this gateway's alone, shared by several, or a hub's. */
function placeOfStore(config: Config): 'own' | 'shared' | 'hub' {
  if (isHubUrl(config.store.url)) return 'hub'
  return isSharedStore(config) ? 'shared' : 'own'
}

async function startMonitoring(options: PartsOptions, place: 'own' | 'shared' | 'hub'): Promise<Monitoring> {
  const { live, state, closers, metrics, logger, now, output } = options
  const { config } = live.current()
  const isShared = place !== 'own' || config.listen.hub !== undefined
  const { store, dataDir } = state
  const monitoring = createMonitoring({
    config: config.monitoring,
    dataDir,
    store,
    metrics,
    logger,
    now,
    output,
    isShared,
  })
  closers.push(() => monitoring.close())
  await monitoring.start()
  return monitoring
}

function contractTypeOf(protocol: Protocol): ArtifactType | undefined {
  return protocolSettings(protocol).contractType
}

function sampleMemory(metrics: Metrics, memory: MemoryBudget): void {
  metrics.sample('preflight_memory_budget_bytes', () => memory.capacity)
  metrics.sample('preflight_memory_held_bytes', () => memory.held('body') + memory.held('analysis'))
  metrics.sample('preflight_memory_waiting', () => memory.waiting())
}

/** Acts are written to it from here on. */
async function openDecisionLog({
  live,
  state,
  metrics,
  logger,
  now,
  output,
  acts,
}: PartsOptions): Promise<DecisionLog> {
  const settings = live.current().config.decision_log
  if (settings.sinks.length === 0) return NO_DECISION_LOG
  const { createDecisionLog } = await import('../telemetry/decision-log/open.ts')
  const log = createDecisionLog({ settings, dataDir: state.dataDir, metrics, logger, now, output })
  acts?.attach(log)
  return log
}

/** Null, and nothing of it is loaded, where no receiver is configured. */
async function openExports({ live, environment, state, metrics, logger }: PartsOptions): Promise<Otel | null> {
  const { otel } = live.current().config
  const isNamed = otel.endpoint !== undefined || Object.keys(environment).some((name) => name.startsWith('OTEL_'))
  if (!isNamed) return null
  const { otelTerms } = await import('../telemetry/otel/terms.ts')
  const terms = otelTerms(otel, environment)
  if (terms.traces === null && terms.metrics === null) return null
  const { openOtel } = await import('../telemetry/otel/open.ts')
  const { storeServer } = await import('../telemetry/otel/attributes.ts')
  const database = storeServer(state.store.description)
  return openOtel({ terms, version: packageVersion(), database, metrics, logger })
}

/** Signs and stores here, or asks the hub to. */
async function openRecorder({ state, live, now }: PartsOptions): Promise<DecisionRecorder> {
  const { hub, store, keys } = state
  if (hub === null) return createRecorder({ settings: live.current, store, signer: () => keys.signer(), now })
  const { createRemoteRecorder } = await import('../hub/remote-recorder.ts')
  return createRemoteRecorder(hub.connection, hub)
}
