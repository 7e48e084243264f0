/**
 * Loads what judges calls right after a start with routes, so that no call waits for it: the engine, the policy, the recognisers,
 * the outbound connections. Done in steps, between which the event loop serves whatever has come.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { releaseFreeMemory } from './runtime/free-memory.ts'
import { loadDispatchers } from './network/undici.ts'
import { engine } from './loading/lazy-engine.ts'
import { recognisers } from './protocols/lazy-registry.ts'
import type { CurrentSettings } from './config/settings.ts'
import type { Logger } from './telemetry/log.ts'

interface WarmUpDeps {
  readonly settings: CurrentSettings
  /** The recognisers of the proxy, made when they are first read. */
  readonly pipeline: { readonly recognisers: unknown }
  readonly logger: Logger
}

interface WarmUp {
  /** True while something is still to be loaded. */
  isRunning(): boolean
  /** Never rejects: what could not be loaded now is loaded with the first call. */
  run(): Promise<void>
}

export function createWarmUp({ settings, pipeline: road, logger }: WarmUpDeps): WarmUp {
  let running = false
  const steps: readonly (() => unknown)[] = [
    engine,
    // A shipped pack is compiled when it is first asked.
    () => settings().policy.onIncomplete,
    recognisers,
    () => road.recognisers,
    loadDispatchers,
    // Loading grew the heap; /readyz still waits, so the pause of a collection delays nobody's call.
    releaseFreeMemory,
  ]
  return {
    isRunning: () => running,
    async run() {
      if (settings().config.routes.length === 0) return
      running = true
      try {
        for (const step of steps) {
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
