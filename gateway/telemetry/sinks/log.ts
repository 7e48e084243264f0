/** The `log` sink: one CloudEvent a line on stdout, where the platform's log collector picks it up. Written is acknowledged. */
import type { Writable } from 'node:stream'
import type { TelemetryEvent } from '../events.ts'
import type { Metrics } from '../metrics.ts'
import type { Sink } from './sink.ts'

/** @param output stdout unless told; a stream that broke (EPIPE) unwires the sink for good */
export function createLogSink(metrics: Metrics, output: Writable): Sink {
  const name = 'log'
  let fault: string | null = null
  const onError = (error: Error): void => {
    fault = error.message
  }
  output.on('error', onError)
  const isWired = (): boolean => fault === null && output.writable
  return {
    state: () => ({ name, isWired: isWired(), queued: 0, detail: fault ?? 'writing to stdout' }),
    accept(events: readonly TelemetryEvent[]): boolean {
      const result = isWired() ? 'acknowledged' : 'refused'
      metrics.count('preflight_sink_events_total', { sink: name, result }, events.length)
      if (result === 'refused') return false
      output.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      return true
    },
    close(): Promise<void> {
      output.off('error', onError)
      return Promise.resolve()
    },
  }
}
