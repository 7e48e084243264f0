/** What the process itself costs and has left, asked for at each scrape: no timer runs for it in an idle gateway. */
import { statfsSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

const MICROSECONDS = 1e6
const MILLISECONDS = 1e3

/** @param dataDir whose volume is looked at */
export function sampleProcess(metrics: Metrics, dataDir: string): void {
  const startedAt = performance.timeOrigin / MILLISECONDS
  metrics.sample('process_start_time_seconds', () => startedAt)
  metrics.sample('process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.sample('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / MICROSECONDS
  })
  metrics.sample(
    'preflight_event_loop_busy_seconds_total',
    () => performance.eventLoopUtilization().active / MILLISECONDS,
  )
  metrics.sample('preflight_data_dir_free_bytes', () => freeBytes(dataDir))
}

/** NaN (no telling) when the volume cannot be asked, so that one metric does not cost the others. */
function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return Number.NaN
  }
}
