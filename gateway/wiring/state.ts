/**
 * State that outlives the process, opened before everything else: the data directory, the store in it, and the signing
 * keys.
 */
import { resolve } from 'node:path'
import { variable, type Environment } from '../settings/environment.ts'
import type { Config } from '../config/schema.ts'
import { bootstrapKey } from '../callers/api-keys.ts'
import { signingProblem } from '../keys/self-test.ts'
import { openExternalSigner, type ExternalSigner } from '../keys/external-signer.ts'
import { openKeyRing, type KeyRing } from '../keys/key-ring.ts'
import type { FollowedClock } from '../runtime/followed-clock.ts'
import { checkpointFile, startCheckpoints, type Checkpoints } from '../store/checkpoints.ts'
import { startKeptTime, storedTime, type KeptTime } from '../store/kept-time.ts'
import { startRetention, type Retention } from '../store/retention.ts'
import { requireContinuity, requireKnownLedger } from '../store/opening/continuity.ts'
import { GatewayError } from '../errors/errors.ts'
import { messageOf, StartupError } from '../errors/startup-error.ts'
import { openStoreToServe } from '../store/opening/open.ts'
import type { HubConnection } from '../store/hub/connection.ts'
import type { HubStore, RefusedCallRecord } from '../store/hub/store.ts'
import { isHubUrl } from '../store/settings.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { SteadyClock } from '../runtime/steady-clock.ts'
import { makePrivateDirectory } from '../runtime/private-file.ts'

export interface State {
  readonly dataDir: string
  readonly store: Store
  /** Null: keys of the data directory sign receipts. */
  readonly external: ExternalSigner | null
  readonly keys: KeyRing
  readonly keyId: string
  readonly keptTime: KeptTime
  /** Null: a hub has the ledger. */
  readonly checkpoints: Checkpoints | null
  readonly retention: Retention | null
  /** Null: this gateway has a store of its own. */
  readonly hub: HubLink | null
  /** False from a failed write until one succeeds. */
  readonly health: { readonly isWritable: boolean }
  readonly bootstrap: Awaited<ReturnType<typeof bootstrapKey>>
}

/** What a sidecar uses of its hub besides the store. */
interface HubLink extends Pick<HubStore, 'recording'> {
  readonly connection: HubConnection
  /** Called when the hub published other receipt keys. */
  readonly onKeys: (listener: () => void) => void
  /** Begins to listen to changes: every cache in front of the store has subscribed. */
  readonly listen: () => void
}

interface StateOptions {
  readonly config: Config
  readonly environment: Environment
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Follows the time of a shared database. Receipt keys begin and end by it. */
  readonly machine: FollowedClock
  /** Receives what closes each part, as soon as it is open. */
  readonly closers: (() => unknown)[]
}

/** Throws a StartupError that says what to change. */
export async function openState(options: StateOptions): Promise<State> {
  const { config, environment, metrics, logger, clock, machine, closers } = options
  const { now } = clock
  const dataDir = makeDataDirectory(config.data_dir)
  if (isHubUrl(config.store.url)) return openHubState(options, dataDir, config.store.url)
  requireKnownLedger(config)
  const health = { isWritable: true }
  const store = await openStoreToServe(config, {
    ...storeEvents(metrics, logger, health),
    onTime: (time) => machine.follow(time),
  })
  closers.push(() => store.close())
  sampleLag(metrics, store)
  const external = await openExternalSigner(config.signer)
  if (external !== null) closers.push(() => external.close())
  const keys = await openKeyRing(dataDir, () => machine.seconds(), external)
  const keyId = signingKeyId(keys)
  await requireSigning(keys, machine.seconds())
  await requireContinuity(config, store, keys)
  clock.keep(await storedTime(store))
  const keptTime = await startKeptTime({ store, clock })
  closers.push(() => keptTime.close())
  const bootstrap = await bootstrapKey(store, variable(environment, 'PREFLIGHT_BOOTSTRAP_KEY'), now())
  const file = checkpointFile(dataDir)
  const interval = config.ledger.checkpoint * 1000
  const checkpoints = startCheckpoints({ store, keys, file, interval, metrics, logger, now })
  closers.push(() => checkpoints.close())
  const settings = () => config.ledger.retention
  const retention = startRetention({ store, signer: () => keys.signer(), settings, metrics, logger, now })
  closers.push(() => retention.close())
  return { dataDir, store, external, keys, keyId, bootstrap, keptTime, checkpoints, retention, health, hub: null }
}

/** A sidecar has no ledger and no keys: the hub keeps both. */
async function openHubState(
  { config, metrics, logger, clock, closers }: StateOptions,
  dataDir: string,
  url: string,
): Promise<State> {
  const { now } = clock
  const [{ connectToHub }, { afterHubTime }, { hubChanges }, { openHubStore }, { openHubKeys }] = await Promise.all([
    import('../store/hub/connection.ts'),
    import('../store/hub/hub-time.ts'),
    import('../store/hub/stream.ts'),
    import('../store/hub/store.ts'),
    import('../store/hub/keys.ts'),
  ])
  const health = { isWritable: true }
  const events = storeEvents(metrics, logger, health)
  const connection = afterHubTime(connectToHub(url, config.store.hub, events, now), clock)
  const changes = hubChanges({ connection, bound: config.store.in_force_within, onLive: events.onLive })
  const { calls, flush } = config.ledger
  const maxAge = config.store.hub.max_age * 1000
  const terms = { calls, flushMilliseconds: flush * 1000, maxAge, onFault: events.onFault, now }
  const onRefusedCall = ({ correlationId, route, reason }: RefusedCallRecord): void => {
    metrics.count('preflight_call_records_refused_total', { route })
    logger.error(
      { event: 'call.record_refused', correlation_id: correlationId, route, reason },
      'the hub refused a call record: it is not in the ledger',
    )
  }
  const { store, recording } = openHubStore({ connection, changes, ...terms, onRefusedCall })
  closers.push(() => store.close())
  sampleLag(metrics, store)
  const keptTime = await startKeptTime({ store, clock })
  closers.push(() => keptTime.close())
  const hubKeys = await openHubKeys({ connection, changes, access: config.store.hub, logger, now })
  closers.push(() => hubKeys.close())
  const hub = {
    connection,
    recording,
    onKeys: (listener: () => void) => hubKeys.onChange(listener),
    listen: () => changes.start(),
  }
  const bootstrap = { printed: null, warning: null }
  const none = { external: null, checkpoints: null, retention: null }
  return { dataDir, store, keys: hubKeys.keys, keyId: 'at the hub', bootstrap, keptTime, health, hub, ...none }
}

/** NaN: changes of others are not received, so each reuse of a decision is looked up. */
function sampleLag(metrics: Metrics, { changes }: Pick<Store, 'changes'>): void {
  metrics.sample('preflight_store_listener_lag_seconds', () => (changes.lag() ?? Number.NaN) / 1000)
}

/** A gateway that cannot sign cannot decide: reported at the start instead of at every call. */
function signingKeyId(keys: KeyRing): string {
  try {
    return keys.signer().keyId
  } catch (error) {
    const reason = error instanceof Error ? messageOf(error.cause) : ''
    throw new StartupError(
      `No receipt key is in force: ${reason}. If all are retired or revoked, create one with: preflight keys rotate --overlap 0`,
      { cause: error },
    )
  }
}

/**
 * A remote signer may be unreachable at the start, which readiness reports. A signer whose signatures do not verify
 * prevents the start.
 */
async function requireSigning(keys: KeyRing, now: number): Promise<void> {
  let problem: string | null
  try {
    problem = await signingProblem(keys, now)
  } catch {
    return
  }
  if (problem !== null) throw new StartupError(`Receipts would not verify. ${problem}`)
}

function makeDataDirectory(configured: string): string {
  const directory = resolve(configured)
  try {
    makePrivateDirectory(directory)
    return directory
  } catch (error) {
    throw new StartupError(
      `The data directory ${directory} cannot be created: ${messageOf(error)}. ` +
        'Name one that this user can write to with data_dir or PREFLIGHT_DATA_DIR.',
      { cause: error },
    )
  }
}

/** What failed, below the answers for callers that it is wrapped in. */
function innermost(error: unknown): unknown {
  return error instanceof GatewayError && error.cause !== undefined ? innermost(error.cause) : error
}

function storeEvents(metrics: Metrics, logger: Logger, health: { isWritable: boolean }) {
  metrics.sample('preflight_store_writable', () => (health.isWritable ? 1 : 0))
  return {
    onWritable: (isWritable: boolean, cause?: unknown): void => {
      if (isWritable !== health.isWritable)
        logger[isWritable ? 'info' : 'error'](
          isWritable ? { event: 'store.writable' } : { event: 'store.unwritable', reason: messageOf(innermost(cause)) },
          isWritable
            ? 'store accepts writes again'
            : 'store could not be written: the gateway is not ready until a write succeeds',
        )
      health.isWritable = isWritable
    },
    onCall: (operation: string, seconds: number, isGood: boolean): void => {
      metrics.observe('preflight_store_seconds', { operation }, seconds)
      if (!isGood) metrics.count('preflight_store_failures_total', { operation })
    },
    onLive: (isLive: boolean, error?: unknown): void => {
      metrics.set('preflight_store_listening', {}, isLive ? 1 : 0)
      if (isLive) logger.info({ event: 'store.listening' }, 'changes of other gateways are announced to this one')
      else
        logger.warn(
          { event: 'store.not_listening', err: error },
          'changes of other gateways are not announced to this one: each reuse of a decision checks the store',
        )
    },
    onFault: (error: Error): void => logger.error({ event: 'store.failed', err: error }, 'store failed'),
  }
}
