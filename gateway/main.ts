/**
 * Runs a gateway: parses its settings, wires its parts, listens, and drains at the end. A failed start leaves nothing
 * open.
 */
import type { Writable } from 'node:stream'
import { openSettings, type LiveSettings } from './config/live-settings.ts'
import type { ConfigSource } from './config/load.ts'
import { startReloading } from './config/reloading.ts'
import type { CurrentSettings } from './config/schema.ts'
import { createWarmUp } from './enforce/warm-up.ts'
import { createAdmin } from './listen/admin.ts'
import { openLocalAccess } from './listen/local-access.ts'
import { readinessChecks, showReadiness } from './listen/readiness.ts'
import { listenerEntry } from './listen/secure-entry.ts'
import { FollowedClock } from './runtime/followed-clock.ts'
import { SteadyClock } from './runtime/steady-clock.ts'
import type { Environment } from './settings/environment.ts'
import { startKeyExchange } from './store/key-exchange.ts'
import { isSharedStore } from './store/opening/open.ts'
import { createActLogger } from './telemetry/decision-log/acts.ts'
import type { Inspection } from './telemetry/inspection.ts'
import { servedSettings } from './wiring/served-settings.ts'
import { createLogger, type LogFields, type Logger } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { sampleProcess } from './telemetry/process-metrics.ts'
import { startDeciding, type Deciding, type PartsOptions } from './wiring/deciding.ts'
import { createInspection } from './wiring/inspection.ts'
import { openJudging } from './wiring/judging.ts'
import { openListeners, type BoundAddresses, type Listeners } from './wiring/listeners.ts'
import { logWarnings, pinsWarning } from './wiring/start-warnings.ts'
import { openState, type State } from './wiring/state.ts'
import { createTrafficListeners } from './wiring/traffic-listeners.ts'

export interface Gateway {
  readonly addresses: BoundAddresses
  readonly settings: CurrentSettings
  readonly store: string
  readonly keyId: string
  /** The first admin key, when it has just been created; shown once. */
  readonly bootstrapKey: string | null
  readonly metrics: Metrics
  readonly logger: Logger
  /** Loads what judges calls; /readyz answers 503 until then. Call it once, when the gateway has been announced. */
  warmUp(): Promise<void>
  /** Reads configuration and policy again (SIGHUP). */
  reload(): void
  /** The level `debug`, or back to that of the configuration (SIGUSR2). */
  toggleDebug(): void
  /** Ends readiness first, lets calls in flight finish within `shutdown.drain`, then closes everything. */
  close(): Promise<void>
}

export interface StartOptions {
  /** Where the log sink of telemetry writes; stdout by default. */
  readonly output?: Writable
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly logger?: Logger
  /** Gets the members of each warning, also of those that the level leaves out. */
  readonly onWarning?: (fields: LogFields) => void
}

/** Throws a ConfigError or a StartupError; then nothing is left open. */
export async function startGateway(source: ConfigSource, options: StartOptions = {}): Promise<Gateway> {
  const live = openSettings(source)
  const closers: (() => unknown)[] = []
  try {
    return await listen(await wire(live, source.environment, options, closers))
  } catch (error) {
    for (const close of closers.toReversed()) await close()
    throw error
  }
}

/** What /readyz and /status report of the process itself. */
class ProcessLifecycle {
  isServing = false
  /** Null: the listeners are not open yet. */
  addresses: BoundAddresses | null = null
}

/** Everything that a gateway is made of, before a listener is open. */
interface Wired {
  readonly parts: PartsOptions
  readonly machine: FollowedClock
  readonly deciding: Deciding
  readonly listeners: Listeners
  readonly ownPorts: Set<number>
  readonly lifecycle: ProcessLifecycle
  readonly warmUp: ReturnType<typeof createWarmUp>
  readonly inspection: Inspection
  readonly local: ReturnType<typeof openLocalAccess>
  readonly pins: string | null
}

async function wire(
  live: LiveSettings,
  environment: Environment,
  {
    output = process.stdout,
    now: given,
    logger: written = createLogger(live.current().config.log.level),
    onWarning,
  }: StartOptions,
  closers: (() => unknown)[],
): Promise<Wired> {
  const { config } = live.current()
  const acts = createActLogger(written, onWarning)
  const { logger } = acts
  const machine = openMachineClock(logger)
  const clock = openClock(given ?? (() => machine.now()), logger)
  const { now } = clock
  const metrics = createMetrics()
  const state = await openState({ config, environment, metrics, logger, clock, machine, closers })
  const { store, keys, health, hub, dataDir } = state
  sampleProcess(metrics, dataDir)
  const parts = { state, live, environment, metrics, logger, acts, now, output, closers }
  const deciding = await startDeciding(parts)
  const { monitoring } = deciding
  const ownPorts = new Set<number>()
  const judging = await openJudging(parts, deciding, ownPorts)
  const { proxy } = judging
  const lifecycle = new ProcessLifecycle()
  const pins = pinsWarning(config, environment)
  const warmUp = createWarmUp({ settings: live.current, pipeline: proxy.pipeline, logger })
  const isServing = () => lifecycle.isServing
  const isLoading = () => warmUp.isRunning()
  const checks = readinessChecks({ isServing, isLoading, live, store, health, keys, hub, pins, monitoring, now })
  showReadiness(checks, metrics)
  metrics.sample('preflight_clock_ahead_seconds', () => clock.ahead() / 1000)
  const inspection = createInspection({ ...parts, deciding, proxy, checks, addresses: () => lifecycle.addresses })
  const traffic = await createTrafficListeners(parts, deciding, judging, inspection)
  const headTimeoutMs = config.limits.head_timeout * 1000
  const entry = listenerEntry('admin', { settings: live.current, metrics, logger })
  const local = openLocalAccess(dataDir, live.configFile, { store, now })
  const admin = createAdmin({ checks, metrics, logger, headTimeoutMs, entry, operator: { inspection, ...local } })
  const listeners = { ...traffic, admin }
  return { parts, machine, deciding, listeners, ownPorts, lifecycle, warmUp, inspection, local, pins }
}

/** Its time becomes that of a shared database. */
function openMachineClock(logger: Logger): FollowedClock {
  return new FollowedClock(Date.now, (by) =>
    logger.warn(
      { event: 'clock.differs', by_ms: by },
      by === 0
        ? 'the clock of this machine agrees with that of the database again'
        : 'the clock of this machine differs from that of the database; the gateway uses the time of the database',
    ),
  )
}

function openClock(wall: () => number, logger: Logger): SteadyClock {
  return new SteadyClock(wall, ({ by }) =>
    logger.error(
      { event: 'clock.set_back', by_ms: by },
      'the clock was set back: the gateway keeps the later time until the clock reaches it. If that time is wrong, stop the gateway that keeps the ledger, and run there: preflight ledger accept --reason TEXT',
    ),
  )
}

async function listen(wired: Wired): Promise<Gateway> {
  const { parts, machine, listeners, ownPorts, lifecycle, local, pins } = wired
  const { state, live, metrics, logger, now, closers } = parts
  const { store, keys, hub, dataDir } = state
  const { config } = live.current()
  const addresses = await openListeners(listeners, config, closers, ownPorts)
  lifecycle.addresses = addresses
  const announce = (): void => local.announce(addresses, servedSettings(live.current().config))
  announce()
  closers.push(() => local.close())
  const keysChanged = (): void => {
    listeners.proxy.keysChanged()
    listeners.hub?.keysChanged()
  }
  hub?.onKeys(keysChanged)
  hub?.listen()
  const exchange = isSharedStore(config) ? startKeyExchange({ store, keys, keysChanged, logger, now }) : null
  closers.push(() => exchange?.close())
  await exchange?.sync()
  const ownKeysChanged = (): void => {
    keysChanged()
    void exchange?.sync()
  }
  const clock = () => machine.seconds()
  const onReload = { keysChanged: ownKeysChanged, settingsChanged: announce }
  const reloading = startReloading({ live, keys, ...onReload, dataDir, metrics, logger, clock })
  logWarnings(live, state, pins, logger)
  lifecycle.isServing = true
  return new RunningGateway(wired, addresses, reloading, exchange)
}

/** Its methods are members of the object, so that a caller may copy or pass them. */
class RunningGateway implements Gateway {
  readonly addresses: BoundAddresses
  readonly settings: CurrentSettings
  readonly store: string
  readonly keyId: string
  readonly bootstrapKey: string | null
  readonly metrics: Metrics
  readonly logger: Logger
  readonly #wired: Wired
  readonly #reloading: ReturnType<typeof startReloading>
  readonly #exchange: ReturnType<typeof startKeyExchange> | null
  readonly #levelAtStart: Parameters<Inspection['setLogLevel']>[0]
  /** Null: nobody has closed the gateway. */
  #closing: Promise<void> | null = null

  constructor(
    wired: Wired,
    addresses: BoundAddresses,
    reloading: ReturnType<typeof startReloading>,
    exchange: ReturnType<typeof startKeyExchange> | null,
  ) {
    const { state, live, metrics, logger } = wired.parts
    this.addresses = addresses
    this.settings = live.current
    this.store = state.store.description
    this.keyId = state.keyId
    this.bootstrapKey = state.bootstrap.printed
    this.metrics = metrics
    this.logger = logger
    this.#levelAtStart = live.current().config.log.level
    this.#wired = wired
    this.#reloading = reloading
    this.#exchange = exchange
  }

  readonly warmUp = (): Promise<void> => this.#wired.warmUp.run()

  readonly reload = (): void => this.#reloading.now()

  readonly toggleDebug = (): void => {
    const level = this.#levelAtStart
    const isDebugging = this.logger.level === 'debug' && level !== 'debug'
    this.#wired.inspection.setLogLevel(isDebugging ? level : 'debug', 'signal')
  }

  readonly close = (): Promise<void> => (this.#closing ??= this.#close())

  async #close(): Promise<void> {
    const { parts, deciding, listeners, lifecycle, local } = this.#wired
    lifecycle.isServing = false
    this.#reloading.stop()
    local.close()
    this.#exchange?.close()
    await drain(parts.state, deciding, listeners, parts.live.current().config.shutdown.drain * 1000)
  }
}

/**
 * New calls end first; what writes goes before what it writes to; /readyz answers 503 to the end.
 * @param budget milliseconds that calls under way have
 */
async function drain(
  { store, external, keptTime, checkpoints, retention }: State,
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
  await keptTime.close()
  await store.close()
  await admin.close()
}
