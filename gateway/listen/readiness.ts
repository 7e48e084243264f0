/**
 * The checks of /readyz: each part that a decision needs, by name. A refused reload is reported and does not make the
 * gateway unready.
 */
import type { KeyRing } from '../keys/key-ring.ts'
import { signingProblem } from '../keys/self-test.ts'
import { atMostEvery } from '../runtime/at-most-every.ts'
import type { Store } from '../store/store.ts'
import { resultsOf, type ReadinessCheck, type Checks } from './admin.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** The settings in force, and what of the files on disk is not. */
interface FollowedSettings {
  readonly current: () => { readonly generation: number; readonly policy: { readonly name: string } }
  pendingMistakes(): readonly unknown[]
  pendingRestart(): readonly string[]
}

interface ReadinessDeps {
  readonly isServing: () => boolean
  /** True while what judges calls is being loaded: a call would wait for it. */
  readonly isLoading: () => boolean
  readonly live: FollowedSettings
  readonly store: Store
  readonly health: { readonly isWritable: boolean }
  readonly keys: KeyRing
  /** Null: this gateway signs. */
  readonly hub: object | null
  /** What is wrong with the pins of this sidecar; null: nothing. It does not make the gateway unready. */
  readonly pins: string | null
  readonly monitoring: Monitoring
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * The store is actually written and the key actually signs, but not more often than this: anybody can request /readyz.
 */
const PROBE_INTERVAL = 1000

export function readinessChecks(deps: ReadinessDeps): Checks {
  const { isServing, isLoading, live, store, health, keys, hub, pins, monitoring, now } = deps
  const probeSigner = atMostEvery(PROBE_INTERVAL, now, async () => {
    const problem = await signingProblem(keys, Math.floor(now() / 1000))
    if (problem !== null) throw new Error(problem)
  })
  return {
    lifecycle: () => lifecycleCheck(isServing(), isLoading()),
    store: storeCheck({ store, health, now }),
    signer: async () => {
      if (hub !== null) return { ready: keys.keySet().size > 0, detail: 'the hub signs' }
      await probeSigner()
      return { ready: true, detail: `key ${keys.signer().keyId}` }
    },
    settings: () => settingsCheck(live),
    ...(pins !== null && { pins: () => ({ ready: true, detail: pins }) }),
    monitoring: () => ({
      ready: true,
      detail: monitoring.isWired() ? 'wired' : 'no monitoring is wired: CONTINUE_WITH_MONITORING is refused',
    }),
  }
}

function lifecycleCheck(isServing: boolean, isLoading: boolean): ReadinessCheck {
  if (!isServing) return { ready: false, detail: 'starting or stopping' }
  return isLoading
    ? { ready: false, detail: 'loading the engine and the recognisers' }
    : { ready: true, detail: 'serving' }
}

/** Not ready from a failed write until one succeeds, whether it is the probe's own or another. */
export function storeCheck({
  store,
  health,
  now,
}: Pick<ReadinessDeps, 'health' | 'now'> & {
  readonly store: Pick<Store, 'probe' | 'description'>
}): () => Promise<ReadinessCheck> {
  const probe = atMostEvery(PROBE_INTERVAL, now, () => store.probe())
  return async () => {
    await probe()
    // Another write may have failed since that probe.
    return health.isWritable
      ? { ready: true, detail: store.description }
      : { ready: false, detail: 'the last write failed; ready again once one succeeds' }
  }
}

function settingsCheck(live: FollowedSettings): ReadinessCheck {
  const { generation, policy } = live.current()
  const mistakes = live.pendingMistakes().length
  const restart = live.pendingRestart()
  const facts = [
    `generation ${generation}, policy ${policy.name}`,
    ...(mistakes === 0 ? [] : [`the files on disk have ${mistakes} mistake(s) and are not in force`]),
    ...(restart.length === 0 ? [] : [`changes of ${restart.join(', ')} wait for a restart`]),
  ]
  return { ready: true, detail: facts.join('; ') }
}

/** The checks as a metric. They run at a scrape, for the next one: a check that waits does not delay the scrape. */
export function showReadiness(checks: Checks, metrics: Pick<Metrics, 'set' | 'beforeRead'>): void {
  let isRunning = false
  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    const results = await resultsOf(checks)
    for (const [check, { ready }] of Object.entries(results)) metrics.set('preflight_ready', { check }, ready ? 1 : 0)
    isRunning = false
  }
  metrics.beforeRead(() => void run())
}
