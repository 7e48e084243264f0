/**
 * What traces cost a call: the same gateway with a receiver that gets one of 100 requests, and without one, in turns. A round
 * has a gateway without a receiver before and one after, and compares with both: a machine that grows slower favours neither.
 */
import { once } from 'node:events'
import { portOf, startChild, type Child } from '../child.ts'
import { startGatewayProcess, type GatewayProcess } from '../gateway.ts'
import { table, type Section } from '../report.ts'
import type { LoadOrder } from './load.ts'
import { CONTRACT, TRAFFIC } from './payload.ts'
import { gatewayConfig, HEAD, measureRounds, median, ratioOf, rows, type Round, type Subject } from './section.ts'

/** Two processes of one program differ by some percent for as long as they run: each set of rounds has its own. */
const SETS = 5
/** CPU time comes in steps of 10 ms: more rounds than where the difference is large. */
const ROUNDS = 4
const RATIO = 0.01

/** Of one sampled call in 100, too few come for the compiler: these are sampled by their caller. */
const SAMPLED_WARMUP = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
const SAMPLED_REQUESTS = 10_000

const OFF = 'without a receiver'
const CONTROL = 'without a receiver, another process'
const ON = `with a receiver, ${RATIO * 100} % sampled`

async function start(upstream: Child, otel: object): Promise<GatewayProcess> {
  const config = { ...gatewayConfig(`http://127.0.0.1:${portOf(upstream)}`), ...otel }
  return startGatewayProcess(config, { 'contract.json': JSON.stringify(CONTRACT) })
}

async function warmUp(origin: string): Promise<void> {
  const order: LoadOrder = {
    origin,
    ...TRAFFIC.http,
    headers: SAMPLED_WARMUP,
    connections: 32,
    warmup: SAMPLED_REQUESTS,
    seconds: 0,
    rate: null,
  }
  const load = await startChild('proxy/load.ts', order)
  await once(load.process, 'message')
  await load.stop()
}

/** The rounds of three gateways that were started for them. */
async function measureSet(upstream: Child, endpoint: string): Promise<readonly Round[]> {
  const kinds = { [OFF]: {}, [ON]: { otel: { endpoint, ratio: RATIO } }, [CONTROL]: {} }
  const gateways = await Promise.all(Object.values(kinds).map((otel) => start(upstream, otel)))
  try {
    const subjects = gateways.map(({ addresses, pid }, index): Subject => {
      return { name: Object.keys(kinds)[index] ?? '', origin: addresses.proxy, pid }
    })
    for (const { origin } of subjects) await warmUp(origin)
    return await measureRounds(subjects, 'http', null, ROUNDS)
  } finally {
    for (const gateway of gateways) await gateway.stop()
  }
}

export async function tracingSection(): Promise<Section> {
  const upstream = await startChild('proxy/upstream.ts')
  const receiver = await startChild('proxy/otlp-receiver.ts')
  try {
    const rounds: Round[] = []
    for (let set = 0; set < SETS; set += 1)
      rounds.push(...(await measureSet(upstream, `http://127.0.0.1:${portOf(receiver)}`)))
    // The ratio to the mean of both.
    const measured = median(rounds.map((round) => 2 / (1 / ratioOf(round, ON, OFF) + 1 / ratioOf(round, ON, CONTROL))))
    const noise = median(rounds.map((round) => ratioOf(round, CONTROL, OFF)))
    const control = `Two gateways without a receiver: CPU of a request in the ratio ${noise.toFixed(2)}.`
    return {
      markdown: [table(HEAD, rows(rounds)), control].join('\n\n'),
      checks: [{ threshold: 'tracing_cpu', measured }],
    }
  } finally {
    await Promise.all([upstream.stop(), receiver.stop()])
  }
}
