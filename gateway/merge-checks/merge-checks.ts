/**
 * Webhooks of source-control platforms on the API listener, and the queue behind them. Everything else is loaded with the first
 * delivery, or with the first look at the queue of a gateway that accepts deliveries.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasCredential } from '../scm/credential.ts'
import { PLATFORMS, type PlatformId } from '../scm/platform.ts'
import type { ScmSettings } from '../scm/settings.ts'
import type { StorePart } from '../store/store.ts'
import type { WebhookBacklog } from '../store/webhooks.ts'
import { withTrace } from '../telemetry/trace-context.ts'
import type { QueueDeps } from './queue.ts'
import type { ReceiveDeps } from './receive.ts'

export interface MergeChecks {
  /** True for the paths of configured platforms. */
  takes(target: string): boolean
  /** Answers; never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  start(): void
  /** Resolves when nothing is under way. */
  stop(): Promise<void>
}

export type MergeChecksDeps = QueueDeps &
  Omit<ReceiveDeps, 'accepted'> & { readonly store: StorePart<'webhooks.backlog'> }

const LOOK_MS = 1000

export function createMergeChecks(deps: MergeChecksDeps): MergeChecks {
  const { settings, store, metrics, logger, now } = deps
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> = Promise.resolve()
  let look: (() => Promise<boolean>) | null = null
  let isStopped = true
  let backlog: WebhookBacklog = { waiting: 0, oldestAt: null }
  metrics.sample('preflight_webhook_waiting', () => backlog.waiting)
  metrics.sample('preflight_webhook_oldest_seconds', () =>
    backlog.oldestAt === null ? 0 : Math.max(0, now() - backlog.oldestAt) / 1000,
  )

  const isEnding = (): boolean => isStopped
  const round = async (): Promise<void> => {
    if (!isConfigured(settings().config.scm)) return
    try {
      look ??= (await import('./queue.ts')).createQueue(deps)
      let hasMore = true
      while (hasMore) hasMore = (await look()) && !isEnding()
      backlog = await store.webhooks.backlog()
    } catch (error) {
      logger.warn({ event: 'webhook.look_failed', err: error }, 'deliveries of webhooks could not be read or stored')
    }
  }
  const next = (delay: number): void => {
    timer = setTimeout(() => {
      timer = null
      running = round().finally(() => {
        if (!isStopped) next(LOOK_MS)
      })
    }, delay)
    timer.unref()
  }
  const accepted = (): void => {
    // A round that is under way looks again before it ends.
    if (timer === null || isStopped) return
    clearTimeout(timer)
    // The round is about all tasks, not about the delivery that began it.
    withTrace(null, () => next(0))
  }
  return {
    takes: (target) => {
      const platform = platformAt(target)
      return platform !== null && settings().config.scm[PLATFORMS[platform].name].webhook !== undefined
    },
    async serve(request, response) {
      try {
        const { receive } = await import('./receive.ts')
        await receive(platformAt(request.url ?? '') ?? 'scm_a', request, response, { ...deps, accepted })
      } catch (error) {
        logger.error({ event: 'webhook.failed', err: error }, 'a delivery could not be answered')
        response.destroy()
      }
    },
    start() {
      isStopped = false
      next(LOOK_MS)
    },
    async stop() {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      timer = null
      await running
    },
  }
}

const PATH = /^\/webhooks\/(github|gitlab|bitbucket)(?:\?|$)/
const IDS: readonly PlatformId[] = ['scm_a', 'scm_b', 'scm_c']

function platformAt(target: string): PlatformId | null {
  const name = PATH.exec(target)?.[1]
  return IDS.find((id) => PLATFORMS[id].name === name) ?? null
}

/** With a webhook, deliveries are judged; with a credential alone, held merges are shown. */
function isConfigured(scm: ScmSettings): boolean {
  return IDS.some((id) => scm[PLATFORMS[id].name].webhook !== undefined || hasCredential(scm, id))
}
