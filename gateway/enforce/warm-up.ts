/**
 * Loads what judges calls right after a start with routes or sidecars, so that no call waits for it: the engine, the policy, the
 * recognisers, the outbound connections. Runs in steps; between them the event loop handles pending requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { releaseFreeMemory } from '../runtime/free-memory.ts'
import { loadDispatchers } from '../network/undici.ts'
import { engine } from '../loading/lazy-engine.ts'
import { recognisers } from '../protocols/lazy-registry.ts'
import type { Logger } from '../telemetry/log.ts'

interface WarmUpDeps {
  readonly settings: () => {
    readonly config: { readonly routes: readonly unknown[]; readonly listen: { readonly hub?: string } }
    readonly policy: { readonly onIncomplete: unknown }
  }
  /** The recognisers of the proxy, created when they are first read. */
  readonly pipeline: { readonly recognisers: unknown }
  readonly logger: Logger
}

interface WarmUp {
  /** True while something remains to be loaded. */
  isRunning(): boolean
  /** Never rejects: what could not be loaded now is loaded with the first call. */
  run(): Promise<void>
}

export function createWarmUp({ settings, pipeline, logger }: WarmUpDeps): WarmUp {
  let running = false
  const deciding: readonly (() => unknown)[] = [
    engine,
    // A shipped pack is compiled when it is first used.
    () => settings().policy.onIncomplete,
  ]
  const steps: readonly (() => unknown)[] = [
    ...deciding,
    recognisers,
    () => pipeline.recognisers,
    loadDispatchers,
    // Loading grew the heap; /readyz still answers 503, so the pause of a collection delays no call.
    releaseFreeMemory,
  ]
  return {
    isRunning: () => running,
    async run() {
      const { routes, listen } = settings().config
      // A hub issues decisions of sidecars.
      if (routes.length === 0 && listen.hub === undefined) return
      running = true
      try {
        for (const step of routes.length === 0 ? deciding : steps) {
          await nextTurn()
          step()
        }
      } catch (error) {
        logger.warn(
          { event: 'gateway.preload_failed', err: error },
          'preload failed; the first call loads what is missing',
        )
      } finally {
        running = false
      }
    },
  }
}
