/** What traces cost a call: the same gateway with a receiver that gets one of 100 requests, and without one, in turns. */
import { portOf, startChild, type Child } from '../child.ts'
import { startGatewayProcess, type GatewayProcess } from '../gateway.ts'
import { table, type Section } from '../report.ts'
import { CONTRACT } from './payload.ts'
import { gatewayConfig, HEAD, measureRounds, median, ratioOf, rows, type Subject } from './section.ts'

/** CPU time comes in steps of 10 ms: more rounds than where the difference is large. */
const ROUNDS = 15
const RATIO = 0.01

const OFF = 'without a receiver'
const ON = `with a receiver, ${RATIO * 100} % sampled`

async function start(upstream: Child, otel: object): Promise<GatewayProcess> {
  const config = { ...gatewayConfig(`http://127.0.0.1:${portOf(upstream)}`), ...otel }
  return startGatewayProcess(config, { 'contract.json': JSON.stringify(CONTRACT) })
}

export async function tracingSection(): Promise<Section> {
  const upstream = await startChild('proxy/upstream.ts')
  const receiver = await startChild('proxy/otlp-receiver.ts')
  const endpoint = `http://127.0.0.1:${portOf(receiver)}`
  const gateways = [await start(upstream, {}), await start(upstream, { otel: { endpoint, ratio: RATIO } })]
  try {
    const subjects = gateways.map(({ addresses, pid }, index): Subject => {
      return { name: index === 0 ? OFF : ON, origin: addresses.proxy, pid }
    })
    const rounds = await measureRounds(subjects, 'http', null, ROUNDS)
    const measured = median(rounds.map((round) => ratioOf(round, ON, OFF)))
    return { markdown: table(HEAD, rows(rounds)), checks: [{ threshold: 'tracing_cpu', measured }] }
  } finally {
    for (const gateway of gateways) await gateway.stop()
    await Promise.all([upstream.stop(), receiver.stop()])
  }
}
