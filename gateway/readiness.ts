/** What /readyz asks: each part that a decision needs, by name. A refused reload is told and does not take the gateway out. */
import type { LiveSettings } from './config/live-settings.ts'
import type { KeyRing } from './keys/key-ring.ts'
import { signingProblem } from './keys/self-test.ts'
import type { Store } from './store/store.ts'
import type { ReadinessCheck, Checks } from './listen/admin.ts'
import type { Monitoring } from './monitoring/monitoring.ts'

interface ReadinessDeps {
  readonly isServing: () => boolean
  /** True while what judges calls is being loaded: a call would wait for it. */
  readonly isLoading: () => boolean
  readonly live: LiveSettings
  readonly store: Store
  readonly health: { readonly isWritable: boolean }
  readonly keys: KeyRing
  readonly monitoring: Monitoring
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The store is really written to and the key really signs, but not more often than this: /readyz answers anyone. */
const PROBE_INTERVAL = 1000

export function readinessChecks(deps: ReadinessDeps): Checks {
  const { isServing, isLoading, live, store, health, keys, monitoring, now } = deps
  const probeSigner = atMostEvery(PROBE_INTERVAL, now, async () => {
    const problem = await signingProblem(keys, Math.floor(now() / 1000))
    if (problem !== null) throw new Error(problem)
  })
  return {
    lifecycle: () => lifecycleCheck(isServing(), isLoading()),
    store: storeCheck({ store, health, now }),
    signer: async () => {
      await probeSigner()
      return { ready: true, detail: `key ${keys.signer().keyId}` }
    },
    settings: () => settingsCheck(live),
    monitoring: () => ({
      ready: true,
      detail: monitoring.isWired() ? 'wired' : 'nothing is wired: CONTINUE_WITH_MONITORING does not proceed',
    }),
  }
}

function lifecycleCheck(isServing: boolean, isLoading: boolean): ReadinessCheck {
  if (!isServing) return { ready: false, detail: 'starting or stopping' }
  return isLoading ? { ready: false, detail: 'loading what judges calls' } : { ready: true, detail: 'serving' }
}

/** Not ready from the first write that failed until one succeeds, the probe's own or any other. */
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
    // A write may have failed since that probe.
    return health.isWritable
      ? { ready: true, detail: store.description }
      : { ready: false, detail: 'the last write failed; ready again once one succeeds' }
  }
}

function settingsCheck(live: LiveSettings): ReadinessCheck {
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

function atMostEvery(interval: number, now: () => number, act: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | null = null
  return () => {
    if (last === null || now() - last.at >= interval) last = { at: now(), outcome: act() }
    return last.outcome
  }
}
