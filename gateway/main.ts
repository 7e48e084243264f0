/** Wires the gateway: settings, store and keys first, then the road, then the listeners; and takes it down in the opposite order. */
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { createApi } from './api/listener.ts'
import type { GrpcAuthz, GrpcAuthzDeps } from './authz/grpc.ts'
import { createHttpAuthz } from './authz/http.ts'
import { createBaselines } from './baselines/baselines.ts'
import { startWatcher, type Watcher } from './baselines/watcher.ts'
import { createBreakGlass, type BreakGlass } from './break-glass/break-glass.ts'
import { variable } from './config/environment.ts'
import { openSettings, type LiveSettings } from './config/live.ts'
import type { ConfigSource } from './config/load.ts'
import { formatMistake } from './config/mistake.ts'
import { createConsumerObserver, type ConsumerObserver } from './consumers/observer.ts'
import { createFlow } from './flow/authorize.ts'
import type { Flow } from './flow/flow.ts'
import { createInputKeeper, type InputKeeper } from './flow/input-keeper.ts'
import { bootstrapKey } from './keys/bootstrap.ts'
import { openExternalSigner, type ExternalSigner } from './keys/external-signer.ts'
import { keyFile } from './keys/key-file.ts'
import { openKeyRing, systemClock, type KeyRing } from './keys/key-ring.ts'
import { openListeners, type Addresses, type Listeners } from './listeners.ts'
import { exposedFiles } from './private-file.ts'
import { createProxy } from './proxy/proxy.ts'
import { readinessChecks } from './readiness.ts'
import { createScmAccess } from './scm/access.ts'
import type { CurrentSettings } from './settings.ts'
import { startReloading } from './reloading.ts'
import { messageOf, StartupError } from './startup-error.ts'
import { openStoreToServe } from './store/open.ts'
import type { Store } from './store/store.ts'
import { createAdmin } from './telemetry/admin.ts'
import { createLogger, type Logger } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createMonitoring, type Monitoring } from './telemetry/monitoring.ts'
import { sampleProcess } from './telemetry/process-metrics.ts'
import { authorityFile } from './tls/authority-file.ts'
import { createAuthorities } from './tls/authorities.ts'

export interface Gateway {
  readonly addresses: Addresses
  readonly settings: CurrentSettings
  readonly store: string
  readonly keyId: string
  /** The first admin key, when one was made just now; shown once. */
  readonly bootstrapKey: string | null
  readonly metrics: Metrics
  readonly logger: Logger
  /** Reads configuration and policy again (SIGHUP). */
  reload(): void
  /** Readiness goes first, calls under way finish within `shutdown.drain`, then everything is closed. */
  close(): Promise<void>
}

export interface StartOptions {
  /** Where the log sink of telemetry writes; stdout unless told. */
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
  { output = process.stdout, now = Date.now, logger = createLogger(live.current().config.log.level) }: StartOptions,
  closers: (() => unknown)[],
): Promise<Gateway> {
  const { config } = live.current()
  const metrics = createMetrics()
  const dataDir = makeDataDirectory(config.data_dir)
  sampleProcess(metrics, dataDir)
  const store = await openStoreToServe(config, storeEvents(metrics, logger))
  closers.push(() => store.close())
  const external = await openExternalSigner(config.signer)
  if (external !== null) closers.push(() => external.close())
  const keys = await openKeyRing(dataDir, systemClock, external)
  const keyId = signingKeyId(keys)
  const bootstrap = await bootstrapKey(store, variable(environment, 'PREFLIGHT_BOOTSTRAP_KEY'), now())

  const settings = live.current
  const inputs = createInputKeeper({ settings, store, logger, now })
  closers.push(() => inputs.close())
  const consumers = await createConsumerObserver({ settings, store, logger, now })
  closers.push(() => consumers.close())
  const flow = createFlow({ settings, store, signer: () => keys.signer(), inputs, metrics, logger, now })
  closers.push(() => flow.close())
  const monitoring = createMonitoring({ config: config.monitoring, dataDir, store, metrics, logger, now, output })
  closers.push(() => monitoring.close())
  await monitoring.start()
  const baselines = createBaselines({ settings, flow, store, metrics, logger, now })
  const watcher = startWatcher({ settings, baselines, flow, metrics, logger, now })
  closers.push(() => watcher.close())
  const breakGlass = createBreakGlass({ store, metrics, logger, now })
  closers.push(() => breakGlass.close())
  await breakGlass.start()
  const shared = { settings, flow, store, keys, baselines, consumers, monitoring, metrics, logger, now }
  const authorities = createAuthorities({ dataDir, ca: config.tls.ca, now })
  const ownPorts = new Set<number>()
  const proxy = createProxy({ ...shared, breakGlass, authorities, ownPorts: () => ownPorts })
  const told = {
    receiptChanged: (decisionId: string) => proxy.receiptChanged(decisionId),
    wordGiven: () => proxy.road.waitingRoom.look(),
  }
  const authz = { settings, road: proxy.road, metrics, logger }
  const apiDeps = {
    settings,
    store,
    flow,
    keys,
    monitoring,
    baselines,
    scm: createScmAccess({ settings, flow, now }),
    breakGlass,
    authorities,
    metrics,
    logger,
    now,
    ...told,
  }
  const api = createApi(apiDeps, createHttpAuthz(authz))
  const grpcAuthz = config.listen.ext_authz === undefined ? null : await openGrpc(authz)
  let isServing = false
  const checks = readinessChecks({ isServing: () => isServing, live, store, keys, monitoring, now })
  const admin = createAdmin({ checks, metrics, logger })

  const parts: Parts = {
    live,
    store,
    inputs,
    consumers,
    flow,
    monitoring,
    watcher,
    breakGlass,
    external,
    proxy,
    api,
    grpcAuthz,
    admin,
  }
  const addresses = await openListeners(parts, config, closers, ownPorts)
  const reloading = startReloading({ live, keys, dataDir, metrics, logger })
  for (const warning of live.warnings) logger.warn(formatMistake(warning))
  if (bootstrap.warning !== null) logger.warn(bootstrap.warning)
  for (const file of exposedFiles([keyFile(dataDir), authorityFile(dataDir)]))
    logger.warn({ file }, 'every user of this machine may read these private keys: chmod 600')
  isServing = true
  return {
    addresses,
    settings,
    store: store.description,
    keyId,
    bootstrapKey: bootstrap.printed,
    metrics,
    logger,
    reload: () => reloading.now(),
    close: once(async () => {
      isServing = false
      reloading.stop()
      await drain(parts)
    }),
  }
}

interface Parts extends Listeners {
  readonly live: LiveSettings
  readonly store: Store
  readonly inputs: InputKeeper
  readonly consumers: ConsumerObserver
  readonly flow: Flow
  readonly monitoring: Monitoring
  readonly breakGlass: BreakGlass
  readonly watcher: Watcher
  readonly external: ExternalSigner | null
}

/** New calls end first; what writes goes before what it writes to; /readyz answers 503 to the end. */
async function drain(parts: Parts): Promise<void> {
  const {
    live,
    store,
    inputs,
    consumers,
    flow,
    monitoring,
    watcher,
    breakGlass,
    external,
    proxy,
    api,
    grpcAuthz,
    admin,
  } = parts
  const budget = live.current().config.shutdown.drain * 1000
  await Promise.all([proxy.close(budget), api.close(budget), grpcAuthz?.close(budget)])
  await watcher.close()
  await flow.close()
  await Promise.all([inputs.close(), consumers.close()])
  await external?.close()
  await monitoring.close()
  breakGlass.close()
  await store.close()
  await admin.close()
}

/** Loaded only where it is wanted: an idle sidecar stays small. */
async function openGrpc(deps: GrpcAuthzDeps): Promise<GrpcAuthz> {
  const { openGrpcAuthz } = await import('./authz/grpc.ts')
  return openGrpcAuthz(deps)
}

/** A gateway that cannot sign cannot decide: better said at the start than at every call. */
function signingKeyId(keys: KeyRing): string {
  try {
    return keys.signer().keyId
  } catch (error) {
    throw new StartupError(
      'No receipt key is in force: all are retired or revoked. Make one with: preflight keys rotate --overlap 0',
      { cause: error },
    )
  }
}

function makeDataDirectory(configured: string): string {
  const directory = resolve(configured)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return directory
  } catch (error) {
    throw new StartupError(
      `The data directory ${directory} cannot be made: ${messageOf(error)}. ` +
        'Name one that this user can write to with data_dir or PREFLIGHT_DATA_DIR.',
      { cause: error },
    )
  }
}

function storeEvents(metrics: Metrics, logger: Logger) {
  return {
    onCall: (operation: string, seconds: number, isGood: boolean): void => {
      metrics.observe('preflight_store_seconds', { operation }, seconds)
      if (!isGood) metrics.count('preflight_store_failures_total', { operation })
    },
    onFault: (error: Error): void => logger.error({ err: error }, 'the store has a fault'),
  }
}

function once(act: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= act())
}
