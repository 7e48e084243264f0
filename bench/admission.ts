/**
 * Reviews of an API server: how long the injector and the verifier take over TLS, one after the other, as a client of the API
 * server waits for them. Definitions are compared anew each time, since no two changes are the same.
 */
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistogram, performance } from 'node:perf_hooks'
import { rotatedPair } from '../gateway/kubernetes/webhook-pair.ts'
import { admissionReview, CRD, DEPLOYMENT, POD, type ReviewMembers } from '../test/fakes/admission-review.ts'
import { deployment, widgetCrd } from '../test/fakes/kubernetes-scene.ts'
import { freePort } from '../test/fakes/postgres-server.ts'
import { usageOf } from './child.ts'
import { startGatewayProcess, type GatewayProcess } from './gateway.ts'
import { milliseconds, table, type Section } from './report.ts'

const WARMUP = 30
const REVIEWS = 200
/** Properties of the definition: with their descriptions about 100 KiB, as large ones of operators are. */
const PROPERTIES = 600

interface Measured {
  /** CPU of the gateway for one review. */
  readonly cpu: number
  readonly p50: number
  readonly p99: number
}

type Answer = (path: string, review: object) => Promise<string>

function properties(): Record<string, object> {
  const description = 'States how this part of the resource behaves, and what happens without it. '.repeat(2)
  return Object.fromEntries(
    Array.from({ length: PROPERTIES }, (_, index) => [`field${index}`, { type: 'string', description }]),
  )
}

function reviewer(port: number, ca: string): Answer {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (path, review) =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify(review))
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const options = { host: '127.0.0.1', port, servername: 'localhost', path, method: 'POST', headers, ca, agent }
      request(options, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        answer.on('end', () => resolve(text))
      })
        .on('error', reject)
        .end(body)
    })
}

/** Milliseconds. The review of a round is made before its time begins. */
async function measured(
  { pid }: GatewayProcess,
  answer: Answer,
  path: string,
  expected: RegExp,
  reviewOf: (round: number) => ReviewMembers,
): Promise<Measured> {
  const histogram = createHistogram()
  let cpuBefore = 0
  for (let round = 0; round < WARMUP + REVIEWS; round += 1) {
    const review = admissionReview(reviewOf(round))
    if (round === WARMUP) cpuBefore = usageOf(pid)?.cpu ?? Number.NaN
    const start = performance.now()
    const text = await answer(path, review)
    if (round >= WARMUP) histogram.record(Math.max(1, Math.round((performance.now() - start) * 1000)))
    if (!expected.test(text)) throw new Error(`${path} answers ${text.slice(0, 500)}`)
  }
  const cpu = (((usageOf(pid)?.cpu ?? Number.NaN) - cpuBefore) * 1000) / REVIEWS
  return { cpu, p50: histogram.percentile(50) / 1000, p99: histogram.percentile(99) / 1000 }
}

/** Receipts for one operation each: an admitted write uses its receipt up. */
async function receipts({ addresses, apiKey }: GatewayProcess): Promise<readonly string[]> {
  const artifact = { id: 'values', type: 'json_schema', before: '{"type":"object"}', after: '{"type":"object"}' }
  const found: string[] = []
  for (let round = 0; round < WARMUP + REVIEWS; round += 1) {
    const context = { operation: 'deploy', target_id: `k8s:Deployment:shop/web-${round}` }
    const answer = await fetch(`${addresses.api}/api/v1/preflight`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ preflight_mode: 'authorize', artifacts: [artifact], context }),
    })
    const body: { readonly chain_receipt?: string } = JSON.parse(await answer.text())
    if (body.chain_receipt === undefined) throw new Error(`no receipt: ${answer.status}`)
    found.push(body.chain_receipt)
  }
  return found
}

async function rowsOf(gateway: GatewayProcess, answer: Answer): Promise<readonly (readonly [string, Measured])[]> {
  const admission = '/admission/cluster'
  const before = properties()
  const tokens = await receipts(gateway)
  const pod = { metadata: { name: 'agent' }, spec: { containers: [{ name: 'agent', image: 'agent:1' }] } }
  return [
    [
      'pod injected',
      await measured(gateway, answer, '/injector', /"patch"/, () => ({ of: POD, object: pod, namespace: 'agents' })),
    ],
    [
      'write without a receipt, denied',
      await measured(gateway, answer, admission, /"allowed":false/, () => ({
        of: DEPLOYMENT,
        name: 'web',
        namespace: 'shop',
        object: deployment(),
      })),
    ],
    [
      'write with its receipt, admitted and used up',
      await measured(gateway, answer, admission, /"allowed":true/, (round) => {
        const object = deployment({ 'preflight.dev/receipt': tokens[round] })
        const name = `web-${round}`
        return {
          of: DEPLOYMENT,
          name,
          namespace: 'shop',
          object: { ...object, metadata: { ...Object(object['metadata']), name } },
        }
      }),
    ],
    [
      `change of a definition of ${Math.round(JSON.stringify(before).length / 1024)} KiB, compared`,
      await measured(gateway, answer, admission, /"allowed":true/, (round) => ({
        of: CRD,
        operation: 'UPDATE',
        name: 'widgets.example.com',
        object: widgetCrd({ ...before, [`added${round}`]: { type: 'string' } }),
        oldObject: widgetCrd(before),
      })),
    ],
  ]
}

export async function admissionSection(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'preflight-bench-'))
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  const { texts } = await rotatedPair({}, { hosts: ['localhost'], days: 1, now: Date.now() })
  writeFileSync(files.certificate, texts['tls.crt'] ?? '')
  writeFileSync(files.key, texts['tls.key'] ?? '', { mode: 0o600 })
  const port = await freePort()
  const cluster = {
    name: 'cluster',
    match: { path: '/' },
    upstream: 'https://kubernetes.default.svc',
    protocol: 'kubernetes',
  }
  const gateway = await startGatewayProcess({
    tier: 'verifier',
    log: { level: 'error' },
    rate: { per_minute: 1_000_000 },
    listen: { webhooks: `127.0.0.1:${port}` },
    tls: { listeners: { webhooks: files } },
    injector: { image: 'preflight-gateway:bench' },
    routes: [cluster],
  })
  try {
    const rows = await rowsOf(gateway, reviewer(port, texts['ca.crt'] ?? ''))
    return {
      markdown: table(
        ['review', 'CPU of the gateway (ms)', 'p50 (ms)', 'p99 (ms)'],
        rows.map(([name, { cpu, p50, p99 }]) => [name, milliseconds(cpu), milliseconds(p50), milliseconds(p99)]),
      ),
      checks: [
        { threshold: 'admission_p50_ms', measured: Math.max(...rows.slice(0, -1).map(([, { p50 }]) => p50)) },
        { threshold: 'admission_cpu_ms', measured: Math.max(...rows.map(([, { cpu }]) => cpu)) },
      ],
    }
  } finally {
    await gateway.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
