/** The parts of a gateway, made in the order in which they need each other, and taken down in the opposite one. */
import type { ArtifactType } from '../engine/internal.ts'
import { protocolSettings } from './protocols/settings.ts'
import type { Protocol } from './routing/route.ts'
import type { Writable } from 'node:stream'
import { createApi } from './api/serving/listener.ts'
import type { GrpcAuthzDeps } from './ext-authz/grpc.ts'
import type { GrpcListener } from './ext-authz/grpc-listener.ts'
import { createHttpAuthz } from './ext-authz/http.ts'
import { Baselines, type BaselineService } from './baselines/baselines.ts'
import { startWatcher, type Watcher } from './baselines/watcher.ts'
import { bodyPace, createBodies } from './listen/bodies.ts'
import { createBreakGlass, type BreakGlass } from './break-glass/break-glass.ts'
import { createConsole } from './console/serving/console.ts'
import { configInputSchema } from './config/input-schema.ts'
import type { LiveSettings } from './config/live-settings.ts'
import { createConsumerObserver, type ConsumerObserver } from './consumers/observer.ts'
import { createFlow } from './flow/authorize.ts'
import type { Flow } from './flow/flow.ts'
import { startFleetReports, type FleetReports } from './fleet/reports.ts'
import { createInputKeeper, type InputKeeper } from './flow/input-store.ts'
import type { Webhooks, WebhooksDeps } from './kubernetes/webhooks.ts'
import { sniffing } from './protocols/kubernetes/sniff.ts'
import type { Listeners } from './listeners.ts'
import { noteHeldMerges } from './merge-checks/held-merges.ts'
import { createMergeChecks } from './merge-checks/merge-checks.ts'
import { createMemoryBudget, type MemoryBudget } from './runtime/memory-budget.ts'
import { releaseMemoryAfterBursts } from './runtime/free-memory.ts'
import { createNotifier, type Notifier } from './notifications/notifier.ts'
import { createProxy } from './proxy.ts'
import { createRecorder, type DecisionRecorder } from './flow/recorder.ts'
import type { Hub, HubDeps } from './hub/listener.ts'
import { createStatusPublisher } from './status-lists/publisher.ts'
import { createScmAccess } from './scm/access.ts'
import type { State } from './persistence.ts'
import type { CandidateAnnouncement } from './telemetry/events.ts'
import type { Inspection } from './telemetry/inspection.ts'
import type { Logger } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { ActLogger } from './telemetry/decision-log/acts.ts'
import { NO_DECISION_LOG, type DecisionLog } from './telemetry/decision-log/decision-log.ts'
import type { Environment } from './settings/environment.ts'
import { packageVersion } from './runtime/package-files.ts'
import type { Otel } from './telemetry/otel/open.ts'
import { showPendingApprovals } from './approvals/pending-gauge.ts'
import { startActRelay, type ActRelay } from './store/act-relay.ts'
import { isHubUrl } from './store/settings.ts'
import { isSharedStore } from './store/opening/open.ts'
import { createObserver, type Observer } from './telemetry/observer.ts'
import { createMonitoring, type Monitoring } from './monitoring/monitoring.ts'
import { createAuthorities, type Authorities } from './tls/authorities.ts'
import { entryOf } from './listen/secure-entry.ts'
import type { SecureListener } from './tls/settings.ts'

interface PartsOptions {
  readonly state: State
  readonly live: LiveSettings
  readonly environment: Environment
  readonly metrics: Metrics
  readonly logger: Logger
  /** Absent: acts are not written to the decision log. */
  readonly acts?: ActLogger
  /** Absent: nobody looks at this gateway. */
  readonly inspection?: Inspection
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

/** The listeners of calls and checks. The admin listener, which reports on all of them, is made separately. */
type TrafficListeners = Omit<Listeners, 'admin'>

export async function startDeciding(options: PartsOptions): Promise<Deciding> {
  const { state, live, metrics, logger, now, output, closers } = options
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
  const config = settings().config.monitoring
  const { config: places } = settings()
  const place = isHubUrl(places.store.url) ? 'hub' : isSharedStore(places) ? 'shared' : 'own'
  const isShared = place !== 'own' || places.listen.hub !== undefined
  const monitoring = createMonitoring({ config, dataDir, store, metrics, logger, now, output, isShared })
  closers.push(() => monitoring.close())
  await monitoring.start()
  const announce = (candidate: CandidateAnnouncement) => monitoring.announce(candidate)
  const baselines = new Baselines({ settings, flow, store, metrics, logger, now, announce })
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

/** @param ownPorts ports of this gateway's own listeners, which are never a destination */
export async function createTrafficListeners(
  { state, live, metrics, logger, now, closers, inspection }: PartsOptions,
  deciding: Deciding,
  ownPorts: ReadonlySet<number>,
): Promise<TrafficListeners> {
  const { store, keys, dataDir } = state
  const settings = live.current
  const { config } = settings()
  const { memory, flow, baselines, consumers, monitoring, breakGlass, observer, decisionLog } = deciding
  const onUnusable = (file: string, reason: string): void =>
    logger.error(
      { event: 'interception.authority_unusable', file, reason },
      'the changed authority cannot be used; the one before it stays in force',
    )
  const authorities = createAuthorities({ dataDir, ca: config.tls.ca, now, onUnusable })
  const bundle = await openBundleFile(config.tls.bundle_file, authorities, logger)
  if (bundle !== null) closers.push(() => bundle.stop())
  const bodies = createBodies(memory, () => bodyPace(settings().config.limits))
  const judging = { settings, flow, store, keys, baselines, monitoring, breakGlass, bodies, observer, decisionLog }
  const shared = { ...judging, authorities, metrics, logger, now }
  const entry = (name: SecureListener) => entryOf(name, { settings, metrics, logger })
  const noteHeldCall = noteHeldMerges({ settings, store, logger, now })
  const proxy = createProxy({ ...shared, noteHeldCall, entry: entry('proxy'), consumers, ownPorts: () => ownPorts })
  const statusLists = createStatusPublisher({
    store,
    signer: () => keys.signer(),
    config: () => settings().config,
    now,
  })
  store.changes.subscribe(({ kind }) => {
    if (kind === 'approval') proxy.wordGiven()
  })
  const startReport = {
    receiptChanged: (decisionId: string) => {
      proxy.receiptChanged(decisionId)
      statusLists.changed()
    },
    wordGiven: () => proxy.wordGiven(),
  }
  const authz = { settings, pipeline: proxy.pipeline, observer, metrics, logger }
  const scm = createScmAccess({ settings, flow, now })
  const apiDeps = {
    ...shared,
    fleet: deciding.fleet,
    inspection: inspection ?? null,
    configSchema: configInputSchema,
    scm,
    statusLists,
    ...startReport,
  }
  const console = createConsole({ ...shared, ...startReport, fleet: deciding.fleet, notifier: deciding.notifier })
  const mergeChecks = createMergeChecks({ ...shared, scm, receiptChanged: startReport.receiptChanged })
  closers.push(() => mergeChecks.stop())
  mergeChecks.start()
  const api = createApi(apiDeps, [createHttpAuthz(authz), console, mergeChecks], entry('api'))
  const grpcAuthz =
    config.listen.ext_authz === undefined ? null : await openGrpc({ ...authz, entry: entry('ext_authz') })
  const webhooks =
    config.listen.webhooks === undefined
      ? null
      : await openWebhooks({
          ...authz,
          injector: () => settings().config.injector,
          bodies,
          sniff: sniffing(flow),
          entry: entry('webhooks'),
        })
  const { receiptChanged } = startReport
  const hub =
    config.listen.hub === undefined
      ? null
      : await openHub({ ...shared, recorder: deciding.recorder, receiptChanged, entry: entry('hub') })
  return { proxy, api, grpcAuthz, webhooks, hub, mergeChecks, bundle }
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
  const { createDecisionLog } = await import('./telemetry/decision-log/open.ts')
  const log = createDecisionLog({ settings, dataDir: state.dataDir, metrics, logger, now, output })
  acts?.attach(log)
  return log
}

/** Null, and nothing of it is loaded, where no receiver is configured. */
async function openExports({ live, environment, state, metrics, logger }: PartsOptions): Promise<Otel | null> {
  const { otel } = live.current().config
  const isNamed = otel.endpoint !== undefined || Object.keys(environment).some((name) => name.startsWith('OTEL_'))
  if (!isNamed) return null
  const { otelTerms } = await import('./telemetry/otel/terms.ts')
  const terms = otelTerms(otel, environment)
  if (terms.traces === null && terms.metrics === null) return null
  const { openOtel } = await import('./telemetry/otel/open.ts')
  const { storeServer } = await import('./telemetry/otel/attributes.ts')
  const database = storeServer(state.store.description)
  return openOtel({ terms, version: packageVersion(), database, metrics, logger })
}

/** Loaded only where it is wanted: an idle sidecar stays small. */
async function openGrpc(deps: GrpcAuthzDeps): Promise<GrpcListener> {
  const { openGrpcAuthz } = await import('./ext-authz/grpc.ts')
  return openGrpcAuthz(deps)
}

async function openBundleFile(
  file: string | undefined,
  authorities: Authorities,
  logger: Logger,
): Promise<{ stop(): void } | null> {
  if (file === undefined) return null
  const { startBundleFile } = await import('./tls/bundle-file.ts')
  return startBundleFile({ file, authorities, logger })
}

/** Signs and stores here, or asks the hub to. */
async function openRecorder({ state, live, now }: PartsOptions): Promise<DecisionRecorder> {
  const { hub, store, keys } = state
  if (hub === null) return createRecorder({ settings: live.current, store, signer: () => keys.signer(), now })
  const { createRemoteRecorder } = await import('./hub/remote-recorder.ts')
  return createRemoteRecorder(hub.connection, hub)
}

async function openHub(deps: HubDeps): Promise<Hub> {
  const { createHub } = await import('./hub/listener.ts')
  return createHub(deps)
}

async function openWebhooks(deps: WebhooksDeps): Promise<Webhooks> {
  const { createWebhooks } = await import('./kubernetes/webhooks.ts')
  return createWebhooks(deps)
}

/**
 * New calls end first; what writes goes before what it writes to; /readyz answers 503 to the end.
 * @param budget milliseconds that calls under way have
 */
export async function drain(
  { store, external, checkpoints, retention }: State,
  { inputs, consumers, flow, monitoring, watcher, breakGlass, fleet, notifier, otel, decisionLog, actRelay }: Deciding,
  { proxy, api, grpcAuthz, webhooks, hub, mergeChecks, bundle, admin }: Listeners,
  budget: number,
): Promise<void> {
  await Promise.all([proxy.close(budget), api.close(budget), grpcAuthz?.close(budget), webhooks?.close(budget)])
  await hub?.close(budget)
  await mergeChecks.stop()
  bundle?.stop()
  await watcher.close()
  await flow.close()
  await Promise.all([inputs.close(), consumers.close()])
  await actRelay?.close()
  await Promise.all([monitoring.close(), decisionLog.close(), otel?.close()])
  breakGlass.close()
  await retention?.close()
  await notifier.close()
  await checkpoints?.close()
  await external?.close()
  await fleet.close()
  await store.close()
  await admin.close()
}
