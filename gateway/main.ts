/**
 * Starts the gateway: settings first, then state that outlives the process, then what decides, then the listeners. A
 * failed start leaves nothing open.
 */
import type { Writable } from 'node:stream'
import { openSettings, type LiveSettings } from './config/live-settings.ts'
import type { ConfigSource } from './config/load.ts'
import { formatMistake } from './errors/mistake.ts'
import { keyFile } from './keys/key-file.ts'
import { openListeners, type BoundAddresses } from './listeners.ts'
import { createTrafficListeners, drain, startDeciding } from './wiring.ts'
import { exposedFiles } from './runtime/private-file.ts'
import { readinessChecks } from './readiness.ts'
import { FollowedClock } from './runtime/followed-clock.ts'
import { steadyClock } from './runtime/steady-clock.ts'
import { startReloading } from './config/reloading.ts'
import type { CurrentSettings } from './config/settings.ts'
import { createInspection } from './inspection.ts'
import { openState, type State } from './persistence.ts'
import { createAdmin } from './listen/admin.ts'
import { openLocalAccess } from './listen/local-access.ts'
import { entryOf } from './listen/secure-entry.ts'
import { createActLogger } from './telemetry/decision-log/acts.ts'
import { startKeyExchange } from './store/key-exchange.ts'
import { isSharedStore } from './store/opening/open.ts'
import { createLogger, type Logger } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { sampleProcess } from './telemetry/process-metrics.ts'
import { authorityFile } from './tls/authority-file.ts'
import { pinsWarning } from './pins-warning.ts'
import { createWarmUp } from './warm-up.ts'

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
}

/** Throws a ConfigError or a StartupError; then nothing is left open. */
export async function startGateway(source: ConfigSource, options: StartOptions = {}): Promise<Gateway> {
  const live = openSettings(source)
  const closers: (() => unknown)[] = []
  try {
    return await start(live, source, options, closers)
  } catch (error) {
    for (const close of closers.toReversed()) await close()
    throw error
  }
}

async function start(
  live: LiveSettings,
  { environment }: ConfigSource,
  {
    output = process.stdout,
    now: given,
    logger: written = createLogger(live.current().config.log.level),
  }: StartOptions,
  closers: (() => unknown)[],
): Promise<Gateway> {
  const { config } = live.current()
  const acts = createActLogger(written)
  const { logger } = acts
  const machine = new FollowedClock(Date.now, (by) =>
    logger.warn(
      { event: 'clock.differs', by_ms: by },
      by === 0
        ? 'the clock of this machine agrees with that of the database again'
        : 'the clock of this machine differs from that of the database; the gateway uses the time of the database',
    ),
  )
  const now = steadyClock(given ?? (() => machine.now()), ({ by }) =>
    logger.error(
      { event: 'clock.set_back', by_ms: by },
      'the clock was set back; the gateway keeps the later time until the clock reaches it, or until a restart',
    ),
  )
  const metrics = createMetrics()
  const state = await openState({ config, environment, metrics, logger, now, machine, closers })
  sampleProcess(metrics, state.dataDir)
  const options = { state, live, environment, metrics, logger, acts, now, output, closers }
  const deciding = await startDeciding(options)
  const ownPorts = new Set<number>()
  let bound: BoundAddresses | null = null
  const inspection = createInspection({
    ...options,
    deciding,
    proxy: () => trafficListeners.proxy,
    checks: () => checks,
    addresses: () => bound,
  })
  const trafficListeners = await createTrafficListeners({ ...options, inspection }, deciding, ownPorts)
  let isServing = false
  const { store, keys, health, hub } = state
  const { monitoring } = deciding
  const pins = pinsWarning(config, environment)
  const warmUp = createWarmUp({ settings: live.current, pipeline: trafficListeners.proxy.pipeline, logger })
  const isLoading = () => warmUp.isRunning()
  const checks = readinessChecks({
    isServing: () => isServing,
    isLoading,
    live,
    store,
    health,
    keys,
    hub,
    pins,
    monitoring,
    now,
  })
  const headTimeoutMs = config.limits.head_timeout * 1000
  const entry = entryOf('admin', { settings: live.current, metrics, logger })
  const local = openLocalAccess(state.dataDir, { store, now })
  const admin = createAdmin({ checks, metrics, logger, headTimeoutMs, entry, operator: { inspection, ...local } })
  const listeners = { ...trafficListeners, admin }
  const addresses = await openListeners(listeners, config, closers, ownPorts)
  bound = addresses
  local.announce(addresses)
  closers.push(() => local.close())
  const keysChanged = (): void => {
    trafficListeners.proxy.keysChanged()
    trafficListeners.hub?.keysChanged()
  }
  hub?.onKeys(keysChanged)
  hub?.listen()
  const exchange = isSharedStore(config) ? startKeyExchange({ store, keys, keysChanged, logger, now }) : null
  closers.push(() => exchange?.close())
  await exchange?.sync()
  const reloading = startReloading({
    live,
    keys,
    keysChanged: () => {
      keysChanged()
      void exchange?.sync()
    },
    dataDir: state.dataDir,
    metrics,
    logger,
    clock: () => machine.seconds(),
  })
  warn(live, state, pins, logger)
  isServing = true
  return {
    addresses,
    settings: live.current,
    store: store.description,
    keyId: state.keyId,
    bootstrapKey: state.bootstrap.printed,
    metrics,
    logger,
    warmUp: () => warmUp.run(),
    reload: () => reloading.now(),
    toggleDebug() {
      const level = config.log.level
      inspection.setLogLevel(logger.level === 'debug' && level !== 'debug' ? level : 'debug', 'signal')
    },
    close: once(async () => {
      isServing = false
      reloading.stop()
      local.close()
      exchange?.close()
      await drain(state, deciding, listeners, live.current().config.shutdown.drain * 1000)
    }),
  }
}

/** Logs problems that do not prevent the start. */
function warn({ warnings }: LiveSettings, { bootstrap, dataDir }: State, pins: string | null, logger: Logger): void {
  if (pins !== null) logger.warn({ event: 'gateway.warning' }, pins)
  for (const warning of warnings) logger.warn({ event: 'settings.warning' }, formatMistake(warning))
  if (bootstrap.warning !== null) logger.warn({ event: 'gateway.warning' }, bootstrap.warning)
  for (const file of exposedFiles([keyFile(dataDir), authorityFile(dataDir)]))
    logger.warn(
      { event: 'keys.readable_by_all', file },
      'every user of this machine can read these private keys: chmod 600',
    )
}

function once(act: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= act())
}
