/** Delivers events from a spool to a receiver: one batch at a time, in order, repeated until it is acknowledged. */
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Delivered, Receiver } from './receiver.ts'
import type { Spool } from './spool.ts'

/** Of the configuration. Times are seconds. */
export interface DeliveryConfig {
  readonly batch: number
  readonly interval: number
  readonly timeout: number
  readonly retries: number
}

interface DeliveryDeps {
  /** Of the sink. */
  readonly name: string
  readonly config: DeliveryConfig
  readonly spool: Spool
  readonly receiver: Receiver
  readonly metrics: Metrics
  readonly logger: Logger
  /** Called when the length of the spool may have changed. */
  readonly onChange: () => void
}

interface Delivery {
  /** There may be something to send. */
  wake(): void
  /** Why the last delivery was not acknowledged; null when it was. */
  lastFault(): string | null
  close(): Promise<void>
}

const FIRST_BACKOFF_MS = 200
/**
 * Calls may wait for the receiver (MONITORING_UNWIRED), so a receiver that is back is found within five seconds, whatever pause
 * it requested. One batch every few seconds does not overload it.
 */
const LONGEST_BACKOFF_MS = 4000

export function startDelivery(deps: DeliveryDeps): Delivery {
  const pump = new Pump(deps)
  pump.wake()
  return pump
}

class Pump implements Delivery {
  readonly #deps: DeliveryDeps
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | null = null
  #underWay: Promise<void> | null = null
  #failures = 0
  #wait: number | null = null
  #fault: string | null = null
  /** Events that the receiver takes in one batch, as far as is known. */
  #limit: number

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#limit = deps.config.batch
  }

  lastFault(): string | null {
    return this.#fault
  }

  wake(): void {
    const { spool } = this.#deps
    if (this.#stop.signal.aborted || this.#underWay !== null || this.#timer !== null || spool.length === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#underWay = this.#send().finally(() => {
        this.#underWay = null
        this.wake()
      })
    }, this.#delay())
    this.#timer.unref()
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    // What is queued gets one last try; the rest waits in the spool for the next start.
    await this.#underWay
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#deps.spool.length > 0 && this.#fault === null) await this.#send()
    this.#stop.abort()
    await this.#deps.receiver.close()
  }

  /** Doubling while `retries` last, then the longest pause: the batch is kept, the receiver is not hammered. */
  #delay(): number {
    const { config, spool } = this.#deps
    if (this.#failures === 0) return spool.length >= this.#limit ? 0 : config.interval * 1000
    const isWorthATry = this.#failures <= config.retries
    const pause = isWorthATry ? FIRST_BACKOFF_MS * 2 ** (this.#failures - 1) : LONGEST_BACKOFF_MS
    return Math.min(Math.max(pause, this.#wait ?? 0), LONGEST_BACKOFF_MS)
  }

  async #send(): Promise<void> {
    const { spool, receiver } = this.#deps
    const batch = spool.head(this.#limit)
    if (batch.length === 0) return
    const delivered = await receiver.deliver(batch, this.#stop.signal)
    if (delivered.kind === 'acknowledged') this.#acknowledged(batch.length, delivered)
    else if (!this.#stop.signal.aborted) this.#refused(batch.length, delivered)
  }

  #acknowledged(count: number, { rejected, why }: Extract<Delivered, { readonly kind: 'acknowledged' }>): void {
    const { name, spool, metrics, logger, onChange } = this.#deps
    spool.drop(count)
    const lost = Math.min(rejected, count)
    metrics.count('preflight_sink_events_total', { sink: name, result: 'acknowledged' }, count - lost)
    if (lost > 0) {
      metrics.count('preflight_sink_events_total', { sink: name, result: 'rejected' }, lost)
      logger.error(
        { event: 'sink.events_rejected', sink: name, rejected: lost, of: count, why },
        'telemetry sink rejected events of a batch',
      )
    }
    if (this.#fault !== null) logger.info({ event: 'sink.recovered', sink: name }, 'telemetry sink takes events again')
    this.#failures = 0
    this.#wait = null
    this.#fault = null
    onChange()
  }

  #refused(count: number, delivered: Extract<Delivered, { readonly kind: 'refused' }>): void {
    const { name, config, spool, metrics, logger } = this.#deps
    const { problem, retryAfter, isTooLarge } = delivered
    this.#failures += 1
    this.#wait = retryAfter
    this.#fault = problem
    if (isTooLarge) this.#limit = Math.max(1, Math.floor(count / 2))
    if (this.#failures === 1 || this.#failures === config.retries + 1)
      logger.warn({ event: 'sink.failed', sink: name, queued: spool.length }, problem)
    metrics.count('preflight_sink_delivery_failures_total', { sink: name })
  }
}
