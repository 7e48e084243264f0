/** Sinks on stdout: one object a line on stdout, where the platform's log collector picks it up. Written is acknowledged. */
import type { Writable } from 'node:stream'
import { startSinkCounters } from '../alerted-counters.ts'
import type { Metrics } from '../metrics.ts'
import type { Sink } from './sink.ts'

/** Bytes that may wait for a slow reader of stdout. */
const LONGEST_BACKLOG = 16 * 1024 * 1024

/**
 * @param output default: stdout. A broken stream (EPIPE) unwires the sink permanently, a stream that is not read only until it
 * is read
 */
export function createLogSink(metrics: Metrics, output: Writable, name = 'log'): Sink {
  startSinkCounters(metrics, name)
  let fault: string | null = null
  const onError = (error: Error): void => {
    fault = error.message
    showWired()
  }
  const problem = (): string | null => {
    if (fault !== null) return fault
    if (!output.writable) return 'stdout is closed'
    return output.writableLength < LONGEST_BACKLOG ? null : 'stdout is not read'
  }
  const showWired = (): void => metrics.set('preflight_sink_wired', { sink: name }, problem() === null ? 1 : 0)
  output.on('error', onError)
  showWired()
  const write = (events: readonly object[]): Promise<boolean> =>
    new Promise((resolve) => {
      const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
      output.write(text, (error) => resolve(error == null))
    })
  return {
    state: () => ({ name, isWired: problem() === null, queued: 0, detail: problem() ?? 'writing to stdout' }),
    async accept(events) {
      const isTaken = problem() === null && (await write(events))
      const result = isTaken ? 'acknowledged' : 'refused'
      metrics.count('preflight_sink_events_total', { sink: name, result }, events.length)
      showWired()
      return isTaken
    },
    close(): Promise<void> {
      output.off('error', onError)
      return Promise.resolve()
    },
  }
}
