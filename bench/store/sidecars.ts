/**
 * Simulated sidecars on two hubs and one PostgreSQL: decisions and calls a second, and the processor time and memory of a hub.
 * `node bench/store/sidecars.ts [SIDECARS] [SECONDS]`. docs/scale.md has figures.
 */
import { performance } from 'node:perf_hooks'
import { startCrowd } from '../../test/fakes/crowd-scene.ts'
import { metricOf } from '../../test/fakes/hub-process.ts'
import { until } from '../../test/fakes/until.ts'

/** Mean milliseconds between two calls of an agent. */
const EVERY = 1000
/** Milliseconds until all sidecars are served; they share the machine with the hubs. */
const PATIENCE = 180_000

const [count = '200', seconds = '20'] = process.argv.slice(2)
const scene = await startCrowd({ sidecars: Number(count), every: EVERY, access: { timeout: 20 } })
try {
  const { crowd, hubs } = scene
  const started = performance.now()
  // Not that all are live at one moment: proofs of changes come late while one process is 200 clients.
  await until(() => crowd.isServedSince(started), 'all sidecars are served', PATIENCE)
  const waited = performance.now() - started
  const decided = () => crowd.sidecars.reduce((sum, { issued }) => sum + issued.length, 0)
  const processor = () => Promise.all(hubs.map((hub) => metricOf(hub, 'process_cpu_seconds_total')))
  const before = {
    at: performance.now(),
    served: crowd.counts.served,
    decided: decided(),
    processor: await processor(),
  }
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000))
  const lasted = (performance.now() - before.at) / 1000
  const used = (await processor()).map((value, hub) => value - (before.processor[hub] ?? 0))
  const memory = await Promise.all(hubs.map((hub) => metricOf(hub, 'process_resident_memory_bytes')))
  const streams = await Promise.all(hubs.map((hub) => metricOf(hub, 'preflight_hub_streams')))
  console.table({
    sidecars: Number(count),
    'seconds until all are served': Math.round(waited / 1000),
    'calls/s': Math.round((crowd.counts.served - before.served) / lasted),
    'decisions/s': Math.round((decided() - before.decided) / lasted),
    'calls refused': crowd.counts.refused,
    'hub CPU ms/s': used.map((value) => Math.round((value * 1000) / lasted)).join(' + '),
    'hub MiB': memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(' + '),
    'streams of each hub': streams.join(' + '),
  })
} finally {
  await scene.close()
}
