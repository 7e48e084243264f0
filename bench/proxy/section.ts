/**
 * The proxy bench: direct, bare undici-dispatch proxy, http-proxy 1.18.1 and the judged gateway, with the same 1 KiB keep-alive
 * traffic, each in its own process, in turns over several rounds. Machines are noisy: CPU per request leads, and each ratio is
 * the median of the ratios within one round, whose parts ran within seconds of each other.
 */
import { once } from 'node:events'
import { portOf, startChild, usageOf, type Child } from '../child.ts'
import { startGatewayProcess } from '../gateway.ts'
import { milliseconds, table, type Check, type Section } from '../report.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { CONTRACT, TRAFFIC, type Traffic } from './payload.ts'

const CONNECTIONS = 32
const ROUNDS = 5
const SECONDS = 1
/** Enough requests for the compiler to finish with the code of a call: after 20,000 one still costs half as much again. */
const WARMUP_REQUESTS = 60_000
/** Of each later round: the load generator is a new process. */
const REWARM_REQUESTS = 2000
const CONTRACT_FILE = 'contract.json'

const BARE = 'bare undici-dispatch proxy'
const HTTP_PROXY = 'http-proxy 1.18.1'
const JUDGED = 'judged by the gateway'

export interface Subject {
  readonly name: string
  readonly origin: string
  /** Process whose CPU counts; null without a proxy. */
  readonly pid: number | null
}

interface Measurement extends LoadResult {
  readonly name: string
  readonly rate: number
  /** Microseconds of CPU of the subject a request. */
  readonly cpu: number | null
}

function isLoadResult(value: unknown): value is LoadResult {
  return typeof value === 'object' && value !== null && 'requests' in value && 'p99' in value
}

async function measure(subject: Subject, traffic: Traffic, rate: number | null, warmup: number): Promise<Measurement> {
  const order: LoadOrder = {
    origin: subject.origin,
    ...TRAFFIC[traffic],
    connections: rate === null ? CONNECTIONS : 8,
    warmup,
    seconds: SECONDS,
    rate,
  }
  const load = await startChild('proxy/load.ts', order)
  const before = subject.pid === null ? null : usageOf(subject.pid)
  const [result]: unknown[] = await once(load.process, 'message')
  const after = subject.pid === null ? null : usageOf(subject.pid)
  await load.stop()
  if (!isLoadResult(result)) throw new Error(`${subject.name}: the load generator brought no result`)
  if (result.errors > 0)
    throw new Error(`${subject.name}: ${result.errors} of ${result.requests} ${traffic} calls failed`)
  const cpu = before === null || after === null ? null : ((after.cpu - before.cpu) * 1e6) / result.requests
  return { ...result, name: subject.name, rate: result.requests / result.seconds, cpu }
}

export const HEAD = ['', 'CPU µs/request', 'requests/s', 'p50 ms', 'p99 ms']

/** One measurement of each subject. */
export type Round = readonly Measurement[]

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function find(round: Round, name: string): Measurement {
  const found = round.find((measurement) => measurement.name === name)
  if (found === undefined) throw new Error(`${name} was not measured`)
  return found
}

function medianOf(rounds: readonly Round[], name: string, value: (measurement: Measurement) => number): number {
  return median(rounds.map((round) => value(find(round, name))))
}

export function rows(rounds: readonly Round[]): readonly (readonly string[])[] {
  return (rounds[0] ?? []).map(({ name, cpu }) => [
    name,
    cpu === null ? '–' : medianOf(rounds, name, (measured) => measured.cpu ?? Number.NaN).toFixed(0),
    medianOf(rounds, name, ({ rate }) => rate).toFixed(0),
    milliseconds(medianOf(rounds, name, ({ p50 }) => p50)),
    milliseconds(medianOf(rounds, name, ({ p99 }) => p99)),
  ])
}

/** CPU of a request at one subject ÷ at another, in one round. */
export function ratioOf(round: Round, name: string, other: string): number {
  const cpu = (of: string): number => find(round, of).cpu ?? Number.NaN
  return cpu(name) / cpu(other)
}

function ratios(traffic: Traffic, rounds: readonly Round[]): readonly Check[] {
  return [
    {
      threshold: `${traffic}_cpu`,
      measured: median(rounds.map((round) => ratioOf(round, JUDGED, HTTP_PROXY))),
    },
    {
      threshold: `${traffic}_throughput`,
      measured: median(rounds.map((round) => find(round, JUDGED).rate / find(round, BARE).rate)),
    },
  ]
}

export async function measureRounds(
  subjects: readonly Subject[],
  traffic: Traffic,
  rate: number | null,
  count = ROUNDS,
): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let index = 0; index < count; index += 1) {
    const warmup = index === 0 && rate === null ? WARMUP_REQUESTS : REWARM_REQUESTS
    const round: Measurement[] = []
    for (const subject of subjects) round.push(await measure(subject, traffic, rate, warmup))
    rounds.push(round)
  }
  return rounds
}

/** Both at the same rate, half of what the judged one can do: what judging adds when nothing queues. */
async function halfLoad(subjects: readonly Subject[], rate: number): Promise<readonly Round[]> {
  return measureRounds(
    subjects.filter(({ name }) => name === BARE || name === JUDGED),
    'mcp',
    rate,
  )
}

export function gatewayConfig(upstream: string): object {
  const contract = { file: CONTRACT_FILE }
  return {
    routes: [
      {
        name: 'bench-http',
        match: { path: '/echo' },
        upstream: `${upstream}/echo`,
        protocol: 'http',
        contract: { baseline: contract, current: contract },
      },
      { name: 'bench-mcp', match: { path: '/mcp' }, upstream: `${upstream}/mcp`, protocol: 'mcp' },
    ],
    log: { level: 'warn' },
  }
}

async function measureSubjects(upstream: Child, children: Child[]): Promise<Section> {
  const origin = `http://127.0.0.1:${portOf(upstream)}`
  const bare = await startChild('proxy/bare-proxy.ts', origin)
  children.push(bare)
  const peer = await startChild('proxy/http-proxy-1.ts', origin)
  children.push(peer)
  const gateway = await startGatewayProcess(gatewayConfig(origin), { [CONTRACT_FILE]: JSON.stringify(CONTRACT) })
  try {
    const subjects: readonly Subject[] = [
      { name: 'direct', origin, pid: null },
      { name: BARE, origin: `http://127.0.0.1:${portOf(bare)}`, pid: bare.pid },
      { name: HTTP_PROXY, origin: `http://127.0.0.1:${portOf(peer)}`, pid: peer.pid },
      { name: JUDGED, origin: gateway.addresses.proxy, pid: gateway.pid },
    ]
    const http = await measureRounds(subjects, 'http', null)
    const mcp = await measureRounds(subjects, 'mcp', null)
    const rate = Math.round(medianOf(mcp, JUDGED, (measured) => measured.rate) / 2)
    const half = await halfLoad(subjects, rate)
    const added = median(half.map((round) => find(round, JUDGED).p99 - find(round, BARE).p99))
    return {
      markdown: [
        `Closed loop, ${CONNECTIONS} keep-alive connections, 1 KiB each way; in turns, medians of ${ROUNDS} rounds of ${SECONDS} s after ${WARMUP_REQUESTS} requests of warm-up; upstream, proxy and load generator in processes of their own.`,
        '**HTTP route, contract unchanged**',
        table(HEAD, rows(http)),
        '**MCP `tools/call`, manifest unchanged**',
        table(HEAD, rows(mcp)),
        `**MCP at ${rate} requests/s, half of the maximum of the judged route**`,
        table(HEAD, rows(half)),
      ].join('\n\n'),
      checks: [...ratios('http', http), ...ratios('mcp', mcp), { threshold: 'mcp_added_p99_ms', measured: added }],
    }
  } finally {
    await gateway.stop()
  }
}

export async function proxySection(): Promise<Section> {
  const upstream = await startChild('proxy/upstream.ts')
  const children: Child[] = [upstream]
  try {
    return await measureSubjects(upstream, children)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}
