/**
 * A sink at the other end of the network: events are on disk before they count as taken, and are delivered from there. An
 * outage of the receiver is bridged until the spool is full; from then on the sink counts as unwired.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { startSinkCounters } from '../alerted-counters.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { startDelivery, type DeliveryConfig } from './delivery.ts'
import type { Receiver } from './receiver.ts'
import type { Sink } from './sink.ts'
import { openSpool } from './spool.ts'

export interface SpooledSinkDeps {
  readonly dataDir: string
  /** Events kept while the receiver is away. */
  readonly bound: number
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The sink's name: stable across restarts and reordering of the configuration, since it names the spool file. */
export function sinkName(type: 'http' | 'otlp' | 'syslog', url: string): string {
  return `${type}-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

export function createSpooledSink(
  name: string,
  receiver: Receiver,
  config: DeliveryConfig,
  { dataDir, bound, metrics, logger }: SpooledSinkDeps,
): Sink {
  startSinkCounters(metrics, name)
  const spool = openSpool(join(dataDir, 'spool', `${name}.ndjson`), bound)
  const isWired = (): boolean => spool.length < bound
  const onChange = (): void => {
    metrics.set('preflight_sink_queue_events', { sink: name }, spool.length)
    metrics.set('preflight_sink_wired', { sink: name }, isWired() ? 1 : 0)
  }
  const delivery = startDelivery({ name, config, spool, receiver, metrics, logger, onChange })
  onChange()
  metrics.beforeRead(() => metrics.set('preflight_sink_backlog_age_seconds', { sink: name }, ageOf(spool.head(1))))
  return {
    state: () => ({ name, isWired: isWired(), queued: spool.length, detail: delivery.lastFault() ?? 'delivering' }),
    async accept(events, isOwed) {
      const isKept = await spool.append(
        events.map((event) => JSON.stringify(event)),
        isOwed,
      )
      metrics.count(
        'preflight_sink_events_total',
        { sink: name, result: isKept ? 'spooled' : 'refused' },
        events.length,
      )
      if (isKept) delivery.wake()
      onChange()
      return isKept
    },
    async close() {
      await delivery.close()
      await spool.close()
    },
  }
}

/** Seconds since the oldest event was made; 0: none waits. */
function ageOf([oldest]: readonly string[]): number {
  if (oldest === undefined) return 0
  const { time }: { readonly time?: unknown } = JSON.parse(oldest)
  const made = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(made) ? 0 : Math.max(0, Date.now() - made) / 1000
}
