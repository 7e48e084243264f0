/** Pages of the console after a day of work: how long each takes to be made, and how large the first visit is. */
import { ORDERS, ORDERS_BROKEN } from '../test/fakes/console-scene.ts'
import { visitorWith, type ConsoleVisitor } from '../test/fakes/console-visitor.ts'
import { startGatewayProcess, type GatewayProcess } from './gateway.ts'
import { milliseconds, table, type Section } from './report.ts'

const REQUESTS = 200
const VISITS = 40
const PAGES = [
  '',
  '/approvals',
  '/ledger',
  '/ledger?records=calls',
  '/routes',
  '/contracts',
  '/policies',
  '/monitoring',
  '/break-glass',
  '/fleet',
  '/notifications',
  '/keys',
] as const

export async function consoleSection(): Promise<Section> {
  const gateway = await startGatewayProcess({ policy: 'default', rate: { per_minute: 100_000 } })
  try {
    await fill(gateway)
    const visitor = await visitorWith(gateway.addresses.api, gateway.apiKey)
    const request = /\/approvals\/apr_[0-9a-f]+/.exec(await textOf(visitor, '/approvals'))?.[0]
    const decision = /\/decisions\/dec_[0-9a-f]+/.exec(await textOf(visitor, '/ledger'))?.[0]
    if (request === undefined || decision === undefined) throw new Error('the console lists no request or no decision')
    const rows: (readonly [path: string, p50: number, p95: number, bytes: number])[] = []
    for (const path of [...PAGES, request, decision]) rows.push(await measured(visitor, path))
    const first = await firstVisit(visitor, gateway.addresses.api)
    return {
      markdown: table(
        ['page', 'p50 (ms)', 'p95 (ms)', 'KB'],
        rows.map(([path, p50, p95, bytes]) => [
          `/console${path.replace(/_[0-9a-f]{32}$/, '_…')}`,
          milliseconds(p50),
          milliseconds(p95),
          (bytes / 1000).toFixed(1),
        ]),
      ),
      checks: [
        { threshold: 'console_p95_ms', measured: Math.max(...rows.map(([, , p95]) => p95)) },
        { threshold: 'console_first_visit_kb', measured: first / 1000 },
      ],
    }
  } finally {
    await gateway.stop()
  }
}

/** A breaking change to register asks for an approval under the default pack. */
async function fill({ addresses, apiKey }: GatewayProcess): Promise<void> {
  for (let n = 0; n < REQUESTS; n += 1) {
    const answer = await fetch(`${addresses.api}/api/v1/preflight`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        preflight_mode: 'authorize',
        artifacts: [{ id: 'orders', type: 'openapi', before: ORDERS, after: ORDERS_BROKEN }],
        context: { operation: n % 2 === 0 ? 'register' : 'merge', repository: `acme/shop-${n}` },
      }),
    })
    if (answer.status !== 200) throw new Error(`a preflight was answered ${answer.status}: ${await answer.text()}`)
  }
}

async function textOf(visitor: ConsoleVisitor, path: string): Promise<string> {
  const answer = await visitor.get(`/console${path}`)
  if (answer.status !== 200) throw new Error(`/console${path} was answered ${answer.status}`)
  return answer.text()
}

async function measured(visitor: ConsoleVisitor, path: string) {
  // The first visit loads the modules of the page, once in the life of a gateway.
  let bytes = (await textOf(visitor, path)).length
  const times: number[] = []
  for (let visit = 0; visit < VISITS; visit += 1) {
    const startedAt = performance.now()
    bytes = Buffer.byteLength(await textOf(visitor, path))
    times.push(performance.now() - startedAt)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(VISITS * share) - 1] ?? Number.NaN
  return [path, at(0.5), at(0.95), bytes] as const
}

/** Bytes of the overview with its style, script and picture. */
async function firstVisit(visitor: ConsoleVisitor, url: string): Promise<number> {
  const page = await textOf(visitor, '')
  let bytes = Buffer.byteLength(page)
  for (const [, path = ''] of page.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g))
    bytes += (await (await fetch(url + path)).arrayBuffer()).byteLength
  return bytes
}
