/**
 * Webhooks of source-control platforms on the API listener, and the queue behind them. Everything else is loaded with the first
 * delivery, or with the first look at the queue of a gateway that accepts deliveries.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasCredential, type ScmSettings } from '../scm/settings.ts'
import { PLATFORMS, type PlatformId } from '../scm/platform.ts'
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

type MergeChecksDeps = QueueDeps & Omit<ReceiveDeps, 'accepted'> & { readonly store: StorePart<'webhooks.backlog'> }

const LOOK_MS = 1000

export function createMergeChecks(deps: MergeChecksDeps): MergeChecks {
  const { settings, logger } = deps
  const rounds = new DeliveryRounds(deps)
  return {
    takes: (target) => {
      const platform = platformAt(target)
      return platform !== null && settings().config.scm[PLATFORMS[platform].name].webhook !== undefined
    },
    async serve(request, response) {
      try {
        const { receive } = await import('./receive.ts')
        const accepted = (): void => rounds.beginNow()
        await receive(platformAt(request.url ?? '') ?? 'scm_a', request, response, { ...deps, accepted })
      } catch (error) {
        logger.error({ event: 'webhook.failed', err: error }, 'a delivery could not be answered')
        response.destroy()
      }
    },
    start: () => rounds.start(),
    stop: () => rounds.stop(),
  }
}

/** Rounds over the deliveries that the store has, one after the other. */
class DeliveryRounds {
  readonly #deps: MergeChecksDeps
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #look: (() => Promise<boolean>) | null = null
  #isStopped = true
  #backlog: WebhookBacklog = { waiting: 0, oldestAt: null }

  constructor(deps: MergeChecksDeps) {
    this.#deps = deps
    const { metrics, now } = deps
    metrics.sample('preflight_webhook_waiting', () => this.#backlog.waiting)
    metrics.sample('preflight_webhook_oldest_seconds', () => {
      const { oldestAt } = this.#backlog
      return oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1000
    })
  }

  start(): void {
    this.#isStopped = false
    this.#begin(LOOK_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#running
  }

  /** A round that is under way looks again before it ends. */
  beginNow(): void {
    if (this.#timer === null || this.#isStopped) return
    clearTimeout(this.#timer)
    // The round is about all tasks, not about the delivery that began it.
    withTrace(null, () => this.#begin(0))
  }

  #begin(delay: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#running = this.#round().finally(() => {
        if (!this.#isStopped) this.#begin(LOOK_MS)
      })
    }, delay)
    this.#timer.unref()
  }

  async #round(): Promise<void> {
    const { settings, store, logger } = this.#deps
    if (!isConfigured(settings().config.scm)) return
    try {
      this.#look ??= (await import('./queue.ts')).createQueue(this.#deps)
      let hasMore = true
      while (hasMore) hasMore = (await this.#look()) && !this.#isStopped
      this.#backlog = await store.webhooks.backlog()
    } catch (error) {
      logger.warn({ event: 'webhook.look_failed', err: error }, 'deliveries of webhooks could not be read or stored')
    }
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
