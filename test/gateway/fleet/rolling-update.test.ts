/** Gateways of one PostgreSQL are replaced one by one behind a load balancer, under load, as the chart does it. No call is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayProcess, type GatewayProcess } from '../../../bench/gateway.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { postgresMissing, startPostgres } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'
import { BALANCED_SERVERS, startBalancer } from '../../fakes/web-servers.ts'

/** Stands for the time until the endpoints of a Service are removed everywhere. */
const ENDPOINTS_MS = 300
const CLIENTS = 8

interface Load {
  /** What was not answered with 200. */
  readonly failures: string[]
  readonly answered: () => number
  stop(): Promise<void>
}

/** Clients that send one call after the other on connections that they keep. */
function startLoad(url: string): Load {
  const failures: string[] = []
  const end = new AbortController()
  let answered = 0
  const client = async (): Promise<void> => {
    while (!end.signal.aborted) {
      try {
        const answer = await fetch(url)
        const text = await answer.text()
        if (answer.status === 200) answered += 1
        else failures.push(`${answer.status} ${text.slice(0, 200)}`)
      } catch (error) {
        failures.push(String(error))
      }
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  return {
    failures,
    answered: () => answered,
    async stop() {
      end.abort()
      await Promise.all(clients)
    },
  }
}

async function isReady({ addresses }: GatewayProcess): Promise<boolean> {
  const answer = await fetch(`${addresses.admin}/readyz`).catch(() => null)
  return answer?.status === 200
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

test(
  'two gateways are replaced one after the other, and every call is answered',
  { skip: postgresMissing() },
  async (t) => {
    const balancer = await startBalancer(t)
    if (balancer === null) return
    const postgres = await startPostgres()
    t.after(() => postgres.stop())
    // Slow enough that calls are in flight whenever a gateway gets SIGTERM.
    const upstream = await startHttpUpstream((_request, response) => void setTimeout(() => response.end('good'), 150))
    t.after(() => upstream.close())
    const contract = petContract()
    const config = {
      log: { level: 'warn' },
      store: { url: await postgres.database() },
      shutdown: { drain: 10 },
      routes: [
        {
          name: 'pets',
          match: { path: '/' },
          upstream: `${upstream.origin}/v1`,
          protocol: 'http',
          contract: { baseline: { file: contract }, current: { file: contract } },
        },
      ],
    }
    const running: GatewayProcess[] = []
    t.after(() => Promise.all(running.map((gateway) => gateway.stop())))
    const start = async (): Promise<GatewayProcess> => {
      const gateway = await startGatewayProcess(config)
      running.push(gateway)
      return gateway
    }
    const [s1, s2, ...others] = BALANCED_SERVERS
    const olds = [
      { name: s1, gateway: await start() },
      { name: s2, gateway: await start() },
    ]
    for (const { name, gateway } of olds) await balancer.add(name, gateway.addresses.proxy)
    const load = startLoad(`${balancer.url}/pets?limit=1`)
    t.after(() => load.stop())
    await pause(ENDPOINTS_MS)
    for (const [index, { name, gateway }] of olds.entries()) {
      const next = await start()
      await until(() => isReady(next), 'the new gateway is ready')
      await balancer.add(others[index] ?? s1, next.addresses.proxy)
      // The preStop pause: the pod still serves while its endpoint is removed.
      await pause(ENDPOINTS_MS)
      await balancer.remove(name)
      await pause(ENDPOINTS_MS)
      running.splice(running.indexOf(gateway), 1)
      assert.equal(await gateway.stop(), 0)
    }
    await pause(ENDPOINTS_MS)
    const before = load.answered()
    await pause(ENDPOINTS_MS)
    await load.stop()
    assert.deepEqual(load.failures, [])
    assert.ok(load.answered() > before, 'the new gateways answer')
    assert.equal(running.length, 2)
  },
)
