/** How long the gateway takes until it serves with the default configuration, and what it holds when idle. */
import { setTimeout as sleep } from 'node:timers/promises'
import { usageOf } from './child.ts'
import { startGatewayProcess } from './gateway.ts'
import { mebibytes, milliseconds, table, type Section } from './report.ts'

const RUNS = 3
/** Long enough for what a start leaves behind to be collected. */
const IDLE_MILLISECONDS = 2000

export async function startSection(): Promise<Section> {
  const starts: number[] = []
  let idleRss = 0
  // The first start of a checkout strips the types of every module and leaves them in the compile cache; what counts is every other.
  await (await startGatewayProcess({})).stop()
  for (let run = 0; run < RUNS; run += 1) {
    const gateway = await startGatewayProcess({})
    starts.push(gateway.startMilliseconds)
    await sleep(IDLE_MILLISECONDS)
    idleRss = Math.max(idleRss, usageOf(gateway.pid)?.rss ?? 0)
    await gateway.stop()
  }
  const median = starts.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN
  return {
    markdown: table(
      ['', 'value'],
      [
        [`ready after, median of ${RUNS} (ms)`, milliseconds(median)],
        ['resident when idle (MiB)', mebibytes(idleRss)],
      ],
    ),
    checks: [
      { threshold: 'start_ms', measured: median },
      { threshold: 'idle_rss_mib', measured: idleRss / 2 ** 20 },
    ],
  }
}
