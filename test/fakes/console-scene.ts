/** A gateway with something to look at: routes, decisions of every class, requests for approval, a changed contract, an exception. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { at, listAt, textAt } from '../json.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from './gateway.ts'
import { startHttpUpstream } from './http-upstream.ts'
import { run } from './command-io.ts'

const PACK = `apiVersion: preflight.dev/v1
kind: Policy
metadata: { name: shop }
rules:
  - id: breaking-in-production-asks
    when: finding.level == 'breaking' && context.environment == 'production' && context.operation != 'publish'
    then: REQUIRE_APPROVAL
    approvers: [payments]
  - id: breaking-publish-blocks
    when: finding.level == 'breaking' && context.operation == 'publish'
    then: BLOCK
  - id: breaking-elsewhere-asks
    when: finding.level == 'breaking'
    then: REQUIRE_APPROVAL
  - id: dangerous-warns
    when: finding.level == 'dangerous'
    then: WARN
`

const text = { type: 'string' }
const money = {
  type: 'object',
  required: ['amount', 'currency'],
  properties: { amount: { type: 'integer' }, currency: { type: 'string', enum: ['EUR', 'USD', 'GBP'] } },
}
const answer = (schema: object) => ({
  responses: { 200: { description: 'good', content: { 'application/json': { schema } } } },
})
const body = (schema: object) => ({ requestBody: { required: true, content: { 'application/json': { schema } } } })

function document(paths: object, currency: readonly string[] = ['EUR', 'USD', 'GBP']): string {
  const schemas = {
    Money: { ...money, properties: { ...money.properties, currency: { type: 'string', enum: currency } } },
  }
  const whole = {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '2.4.0' },
    servers: [{ url: '/v1' }],
    paths,
    components: { schemas },
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}

const ref = { $ref: '#/components/schemas/Money' }
const order = (further: object = {}) => ({
  type: 'object',
  required: ['id', 'total'],
  properties: { id: text, total: ref, note: text, ...further },
})
const LISTED = {
  '/orders': {
    get: { operationId: 'listOrders', ...answer({ type: 'array', items: order() }) },
    post: { operationId: 'createOrder', ...body(order()), ...answer(order()) },
  },
  '/orders/{id}': {
    get: {
      operationId: 'getOrder',
      parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
      ...answer(order()),
    },
  },
}

export const ORDERS = document(LISTED)
/** A parameter becomes required, a currency goes, an operation goes: breaking for several. */
export const ORDERS_BROKEN = document(
  {
    '/orders': {
      get: {
        operationId: 'listOrders',
        parameters: [{ name: 'region', in: 'query', required: true, schema: text }],
        ...answer({ type: 'array', items: order() }),
      },
      post: {
        operationId: 'createOrder',
        ...body({ ...order({ channel: text }), required: ['id', 'total', 'channel'] }),
        ...answer(order()),
      },
    },
  },
  ['EUR', 'USD'],
)
const ORDERS_WIDER = document({ ...LISTED, '/health': { get: answer(text) } })
const ORDERS_DANGEROUS = document(LISTED, ['EUR', 'USD', 'GBP', 'CHF'])

export interface ConsoleScene {
  readonly gateway: TestGateway
  /** Of the console and the API. */
  readonly url: string
  readonly api: (
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Further keys, made on the data directory. */
  readonly newKey: (name: string, role: string, groups?: string) => Promise<string>
  /** Asks for a change in a context; the answer. */
  readonly ask: (context: object, after?: string, key?: string) => Promise<unknown>
  /** The request that an answer names. */
  readonly requestIn: (answer: unknown) => string
  readonly admin: string
  /** Changes what the upstream of the route `orders` offers, and calls it. */
  readonly change: (text: string) => Promise<Response>
}

export async function startConsoleScene(t: TestContext, config: object = {}): Promise<ConsoleScene> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-console-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const files = {
    pack: join(folder, 'pack.yaml'),
    baseline: join(folder, 'orders.json'),
    current: join(folder, 'offered.json'),
  }
  writeFileSync(files.pack, PACK)
  writeFileSync(files.baseline, ORDERS)
  writeFileSync(files.current, ORDERS)
  const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
  t.after(() => upstream.close())
  const gateway = await startTestGateway(t, {
    policy: files.pack,
    consumers: [
      { name: 'checkout', uses: [{ operation: 'POST /orders' }] },
      { name: 'back-office', uses: [{ operation: 'GET /orders' }] },
    ],
    routes: [
      {
        name: 'orders',
        match: { path: '/' },
        upstream: `${upstream.origin}/v1`,
        protocol: 'http',
        environment: 'production',
        contract: { baseline: { file: files.baseline }, current: { file: files.current }, refresh: 0 },
      },
    ],
    ...config,
  })
  const url = gateway.addresses.api
  const api: ConsoleScene['api'] = async (method, path, sent, key = TEST_KEY) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(sent !== undefined && { 'content-type': 'application/json' }) },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    })
    const parsed: unknown = await response.json()
    return { status: response.status, body: parsed }
  }
  return {
    gateway,
    url,
    api,
    admin: TEST_KEY,
    async newKey(name, role, groups) {
      const argv = ['keys', 'create', '--name', name, '--role', role, '--data-dir', gateway.dataDir]
      const { code, stdout, stderr } = await run([...argv, ...(groups === undefined ? [] : ['--groups', groups])])
      const key = /pf_live_\S+/.exec(stdout)?.[0]
      if (code !== 0 || key === undefined) throw new Error(stdout + stderr)
      return key
    },
    async ask(context, after = ORDERS_BROKEN, key = TEST_KEY) {
      const artifacts = [{ id: 'orders', type: 'openapi', before: ORDERS, after }]
      const { body: made } = await api(
        'POST',
        '/api/v1/preflight',
        { preflight_mode: 'authorize', artifacts, context },
        key,
      )
      return made
    },
    requestIn: (made) => {
      const row = listAt(made, 'decision_result', 'evidence').find((evidence) => at(evidence, 'type') === 'APPROVAL')
      return textAt(row, 'source')
    },
    async change(text) {
      writeFileSync(files.current, text)
      return fetch(`${gateway.addresses.proxy}/orders`)
    },
  }
}

/** Fills the scene as a day of work would. */
export async function fillScene(scene: ConsoleScene): Promise<void> {
  const bot = await scene.newKey('release bot', 'agent')
  const place = { repository: 'acme/orders', environment: 'production' }
  await scene.ask({ operation: 'merge', ...place, pull_request: 41 }, ORDERS_WIDER, bot)
  await scene.ask({ operation: 'deploy', ...place }, ORDERS_DANGEROUS, bot)
  await scene.ask({ operation: 'publish', ...place }, ORDERS_BROKEN, bot)
  await scene.ask({ operation: 'merge', ...place, pull_request: 42 }, ORDERS_BROKEN, bot)
  await scene.ask({ operation: 'deploy', repository: 'acme/orders', environment: 'staging' }, ORDERS_BROKEN, bot)
  for (const wait of [1, 2, 3]) {
    await fetch(`${scene.gateway.addresses.proxy}/orders`)
    await scene.ask({ operation: 'deploy', repository: `acme/shop-${wait}`, environment: 'test' }, ORDERS_WIDER, bot)
  }
  await scene.change(ORDERS_BROKEN)
}
