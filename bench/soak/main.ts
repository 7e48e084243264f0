/**
 * `npm run soak -- [--minutes 60] [--every 10] [--rate 200]`: mixed traffic at a steady rate against a gateway process, with a forced
 * collection every so often. Prints memory, sockets, timers and rows after each, and ends with 1 when memory or handles keep growing.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { startChild, portOf, usageOf } from '../child.ts'
import { startGatewayProcess } from '../gateway.ts'
import { CONTRACT } from '../proxy/payload.ts'
import { table } from '../report.ts'
import { callOf, closeTraffic, type SoakTarget } from './traffic.ts'

const WITNESS = pathToFileURL(join(import.meta.dirname, 'witness.ts')).href
const CONTRACT_FILE = 'contract.json'
/** A call that has to wait for more than these is not sent: the rate is steady, not the backlog. */
const MAX_OPEN = 64
/** Heap that may be added an hour after the first collection: caches that are still filling. */
const MAX_SLOPE_MIB = 8

interface Sample {
  readonly minute: number
  readonly heapMib: number
  readonly externalMib: number
  readonly rssMib: number
  readonly sockets: number
  readonly timers: number
  readonly ledgerMib: number
}

function configOf(upstream: string): object {
  const contract = { file: CONTRACT_FILE }
  return {
    routes: [
      {
        name: 'soak-http',
        match: { path: '/echo' },
        upstream: `${upstream}/echo`,
        protocol: 'http',
        contract: { baseline: contract, current: contract },
      },
      { name: 'soak-mcp', match: { path: '/mcp' }, upstream: `${upstream}/mcp`, protocol: 'mcp' },
    ],
    rate: { per_minute: 1_000_000 },
    log: { level: 'error' },
  }
}

/** Calls by kind and outcome. */
class Outcomes {
  readonly #counts = new Map<string, number>()

  add(name: string, outcome: string): void {
    const key = `${name}\t${outcome}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  rows(): readonly (readonly string[])[] {
    return [...this.#counts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, count]) => [...key.split('\t'), String(count)])
  }
}

async function sendSteadily(target: SoakTarget, rate: number, until: number, outcomes: Outcomes): Promise<void> {
  const open = new Set<Promise<void>>()
  const started = performance.now()
  for (let turn = 0; performance.now() < until; turn += 1) {
    const due = started + (turn * 1000) / rate
    const wait = due - performance.now()
    if (wait > 1) await sleep(wait)
    if (open.size >= MAX_OPEN) continue
    const { name, call } = callOf(turn)
    const sent = call(target, turn)
      .catch(() => 'failed' as const)
      .then((outcome) => outcomes.add(name, outcome))
      .finally(() => open.delete(sent))
    open.add(sent)
  }
  await Promise.all(open)
}

function numberAt(value: unknown, name: string): number {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof found === 'number' ? found : 0
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, one) => sum + one, 0) / list.length
}

/** Slope by least squares, a unit an hour. */
function slopeOf(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const hours = samples.map(({ minute }) => minute / 60)
  const values = samples.map(value)
  const [x, y] = [mean(hours), mean(values)]
  const above = hours.reduce((sum, hour, index) => sum + (hour - x) * ((values[index] ?? y) - y), 0)
  const below = hours.reduce((sum, hour) => sum + (hour - x) ** 2, 0)
  return below === 0 ? 0 : above / below
}

const MIB = 2 ** 20

async function soak(minutes: number, every: number, rate: number): Promise<boolean> {
  const upstream = await startChild('proxy/upstream.ts')
  const lines: string[] = []
  const gateway = await startGatewayProcess(
    configOf(`http://127.0.0.1:${portOf(upstream)}`),
    { [CONTRACT_FILE]: JSON.stringify(CONTRACT) },
    { nodeOptions: ['--import', WITNESS], onLog: (line) => lines.push(line) },
  )
  const samples: Sample[] = []
  const outcomes = new Outcomes()
  const started = performance.now()
  const take = async (): Promise<void> => {
    lines.length = 0
    process.kill(gateway.pid, 'SIGUSR2')
    let line: string | undefined
    for (let turn = 0; line === undefined && turn < 200; turn += 1) {
      await sleep(50)
      line = lines.find((candidate) => candidate.includes('"event":"soak"'))
    }
    const left: unknown = JSON.parse(line ?? '{}')
    const resources: unknown = typeof left === 'object' && left !== null ? Reflect.get(left, 'resources') : {}
    const sample: Sample = {
      minute: (performance.now() - started) / 60_000,
      heapMib: numberAt(left, 'heapUsed') / MIB,
      externalMib: numberAt(left, 'external') / MIB,
      rssMib: (usageOf(gateway.pid)?.rss ?? 0) / MIB,
      sockets: numberAt(resources, 'TCPSocketWrap'),
      timers: numberAt(resources, 'Timeout'),
      ledgerMib: statSync(join(gateway.folder, 'state/ledger.db')).size / MIB,
    }
    samples.push(sample)
    process.stdout.write(`${JSON.stringify(sample)}\n`)
  }
  try {
    const target = { ...gateway.addresses, apiKey: gateway.apiKey }
    for (let at = 0; at < minutes; at += every) {
      await sendSteadily(target, rate, performance.now() + Math.min(every, minutes - at) * 60_000, outcomes)
      await take()
    }
    return report(samples, outcomes)
  } finally {
    await gateway.stop()
    await upstream.stop()
    await closeTraffic()
  }
}

function report(samples: readonly Sample[], outcomes: Outcomes): boolean {
  const head = ['minute', 'heap MiB', 'external MiB', 'resident MiB', 'sockets', 'timers', 'ledger MiB']
  const rows = samples.map((sample) =>
    Object.values(sample).map((value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1))),
  )
  // The first sample is of caches that have just been filled.
  const later = samples.slice(1)
  const heap = slopeOf(later, ({ heapMib, externalMib }) => heapMib + externalMib)
  const sockets = slopeOf(later, ({ sockets: open }) => open)
  const timers = slopeOf(later, ({ timers: open }) => open)
  const slopes = `Slopes after the first collection: heap and external ${heap.toFixed(2)} MiB/h, sockets ${sockets.toFixed(1)}/h, timers ${timers.toFixed(1)}/h.`
  process.stdout.write(
    `\n${table(head, rows)}\n\n${slopes}\n\n${table(['call', 'outcome', 'count'], outcomes.rows())}\n`,
  )
  return heap <= MAX_SLOPE_MIB
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    every: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
  },
})
process.exitCode = (await soak(Number(values.minutes), Number(values.every), Number(values.rate))) ? 0 : 1
