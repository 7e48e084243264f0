/** What the process itself costs and has left, asked for at each scrape: no timer runs for it in an idle gateway. */
import { readdirSync, statfsSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'
import { stderrLines } from './log-lines.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

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
  metrics.sample('process_open_fds', openDescriptors)
  metrics.sample('process_max_fds', mostDescriptors)
  metrics.sample('preflight_data_dir_free_bytes', () => freeDiskBytes(dataDir))
  metrics.sample('preflight_log_lines_lost_total', () => stderrLines().lost)
  sampleDelay(metrics)
}

const NANOSECONDS = 1e9
/** Milliseconds between two measurements. */
const DELAY_RESOLUTION = 10

/** Measured from the first scrape on: its timer wakes a process that nobody scrapes for nothing. */
function sampleDelay(metrics: Metrics): void {
  let delays: ReturnType<typeof monitorEventLoopDelay> | null = null
  metrics.beforeRead(() => {
    const isFirst = delays === null
    delays ??= monitorEventLoopDelay({ resolution: DELAY_RESOLUTION })
    for (const quantile of ['0.5', '0.99', '1']) {
      // The histogram holds intervals: the delay is what exceeds the resolution.
      const late = delays.percentile(Number(quantile) * 100) / NANOSECONDS - DELAY_RESOLUTION / MILLISECONDS
      metrics.set('preflight_event_loop_delay_seconds', { quantile }, isFirst ? 0 : Math.max(0, late))
    }
    delays.reset()
    if (isFirst) delays.enable()
  })
}

/** NaN (unknown) when the volume cannot be asked, so that one metric does not cost the others. */
function freeDiskBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return Number.NaN
  }
}

/** File descriptors in use; NaN (unknown) where the system has no list of them. */
function openDescriptors(): number {
  try {
    // Reading the list takes one more.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return Number.NaN
  }
}

function mostDescriptors(): number {
  try {
    const [, most = 'NaN'] = /^Max open files\s+(\S+)/m.exec(readRegularFile('/proc/self/limits', 'utf8')) ?? []
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most)
  } catch {
    return Number.NaN
  }
}
