/**
 * The proxy bench: direct, bare undici-dispatch proxy, http-proxy 1.18.1 and the judged gateway, with the same 1 KiB keep-alive
 * traffic, each in its own process. CPU per request stands beside rate and latency, because machines are noisy.
 */
import { once } from 'node:events'
import { portOf, startChild, usageOf, type Child } from '../child.ts'
import { startGatewayProcess } from '../gateway.ts'
import { milliseconds, table, type Check, type Section } from '../report.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { CONTRACT, TRAFFIC, type Traffic } from './payload.ts'

const CONNECTIONS = 32
const WARMUP_SECONDS = 1
const SECONDS = 2
const CONTRACT_FILE = 'contract.json'

const BARE = 'bare undici-dispatch proxy'
const HTTP_PROXY = 'http-proxy 1.18.1'
const JUDGED = 'judged by the gateway'

interface Subject {
  readonly name: string
  readonly origin: string
  /** Process whose CPU counts; null for the direct road. */
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

async function measure(subject: Subject, traffic: Traffic, rate: number | null): Promise<Measurement> {
  const order: LoadOrder = {
    origin: subject.origin,
    ...TRAFFIC[traffic],
    connections: rate === null ? CONNECTIONS : 8,
    warmup: WARMUP_SECONDS,
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

function rowOf({ name, rate, cpu, p50, p99 }: Measurement): readonly string[] {
  return [name, rate.toFixed(0), cpu === null ? '–' : cpu.toFixed(0), milliseconds(p50), milliseconds(p99)]
}

const HEAD = ['', 'requests/s', 'CPU µs/request', 'p50 ms', 'p99 ms']

function find(measurements: readonly Measurement[], name: string): Measurement {
  const found = measurements.find((measurement) => measurement.name === name)
  if (found === undefined) throw new Error(`${name} was not measured`)
  return found
}

function ratios(traffic: Traffic, measurements: readonly Measurement[]): readonly Check[] {
  const judged = find(measurements, JUDGED)
  const unjudged = find(measurements, HTTP_PROXY)
  return [
    { threshold: `${traffic}_throughput`, measured: judged.rate / find(measurements, BARE).rate },
    { threshold: `${traffic}_cpu`, measured: (judged.cpu ?? Number.NaN) / (unjudged.cpu ?? Number.NaN) },
  ]
}

async function measureAll(subjects: readonly Subject[], traffic: Traffic): Promise<readonly Measurement[]> {
  const measurements: Measurement[] = []
  for (const subject of subjects) measurements.push(await measure(subject, traffic, null))
  return measurements
}

/** Both at the same rate, half of what the judged one can do: what judging adds when nothing queues. */
async function halfLoad(subjects: readonly Subject[], judged: Measurement): Promise<readonly Measurement[]> {
  const rate = Math.round(judged.rate / 2)
  const measurements: Measurement[] = []
  for (const subject of subjects.filter(({ name }) => name === BARE || name === JUDGED)) {
    measurements.push(await measure(subject, 'mcp', rate))
  }
  return measurements
}

function gatewayConfig(upstream: string): unknown {
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
    const http = await measureAll(subjects, 'http')
    const mcp = await measureAll(subjects, 'mcp')
    const half = await halfLoad(subjects, find(mcp, JUDGED))
    const added = find(half, JUDGED).p99 - find(half, BARE).p99
    return {
      markdown: [
        `Closed loop, ${CONNECTIONS} keep-alive connections, 1 KiB each way, ${SECONDS} s after ${WARMUP_SECONDS} s of warm-up; upstream, proxy and load generator in processes of their own.`,
        '**HTTP route, contract unchanged**',
        table(HEAD, http.map(rowOf)),
        '**MCP `tools/call`, manifest unchanged**',
        table(HEAD, mcp.map(rowOf)),
        `**MCP at ${Math.round(find(mcp, JUDGED).rate / 2)} requests/s, half of what the judged road carries**`,
        table(HEAD, half.map(rowOf)),
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
