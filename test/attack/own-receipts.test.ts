/**
 * A call that has used up its single-use receipt and was not sent yet is judged again when the settings change. The receipt is
 * still its own then, as long as it holds, and it serves no other call.
 */
import assert from 'node:assert/strict'
import { createServer as createHttpsServer } from 'node:https'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { testAuthority } from '../fakes/certificates.ts'
import { boundPort, startGate, type ConnectionGate } from '../fakes/connection-gate.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { until } from '../fakes/until.ts'
import { readFileSync } from 'node:fs'
import { at, textAt } from '../json.ts'

interface Scene {
  readonly gateway: TestGateway
  readonly gate: ConnectionGate
  /** Requests that reached the server. */
  readonly received: readonly string[]
  readonly call: (init?: RequestInit) => Promise<Response>
  readonly preflight: () => Promise<unknown>
  readonly revoke: (decisionId: unknown) => Promise<unknown>
  /** Puts settings in force in which the route has these members too. */
  readonly change: (members?: object) => void
}

const LIST_PETS = 'pets/GET /pets'
const SINGLE_USE = { require: true, consume: true }

async function scene(t: TestContext, receipts: object = SINGLE_USE): Promise<Scene> {
  const authority = await testAuthority()
  const received: string[] = []
  const server = createHttpsServer(await authority.leaf('localhost'), (request, response) => {
    received.push(request.method ?? '')
    request.resume().on('end', () => response.end('good'))
  })
  t.after(() => void server.close())
  const gate = await startGate(t, await boundPort(server))
  gate.close()
  const contract = petContract()
  const first = {
    name: 'pets',
    match: { path: '/' },
    upstream: `https://localhost:${gate.port}/v1`,
    tls: { upstream_ca: authority.file },
    protocol: 'http',
    environment: 'prod',
    contract: { baseline: { file: contract }, current: { file: contract }, refresh: 0 },
    receipts,
  }
  const routes: object[] = [first]
  const gateway = await startTestGateway(t, { routes })
  const api = async (path: string, body: object): Promise<unknown> => {
    const answer = await fetch(gateway.addresses.api + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer.json()
  }
  const text = readFileSync(contract, 'utf8')
  return {
    gateway,
    gate,
    received,
    call: (init = {}) => fetch(`${gateway.addresses.proxy}/pets`, init),
    preflight: () =>
      api('/api/v1/preflight', {
        preflight_mode: 'authorize',
        artifacts: [{ id: LIST_PETS, type: 'openapi', before: text, after: text }],
        context: { operation: 'tool_call', environment: 'prod', target_id: LIST_PETS },
      }),
    revoke: (decisionId) => api('/api/v1/receipts/revoke', { decision_id: decisionId, reason: 'a test' }),
    change(members = {}) {
      const { generation } = gateway.settings()
      routes.splice(0, 1, { ...first, timeout: { idle: generation }, ...members })
      gateway.reload()
      assert.equal(gateway.settings().generation, generation + 1, 'the change is in force')
    },
  }
}

interface Used {
  readonly token: string
  readonly decisionId: unknown
}

/** What happens while the call waits for its connection, its status then, and the reason of a refusal. */
const MEANWHILE: readonly (readonly [
  what: string,
  happens: (scene: Scene, used: Used) => unknown,
  status: number,
  reason?: string,
])[] = [
  ['nothing happens', () => {}, 200],
  ['the settings are read again', ({ change }) => change(), 200],
  [
    'the settings are read again later than a revocation needs',
    async ({ change }) => {
      await pause(1100)
      change()
    },
    200,
  ],
  [
    'the settings are read again sooner than a revocation needs',
    async ({ change }) => {
      change()
      await pause(1100)
    },
    200,
  ],
  ['its route takes a receipt many times', ({ change }) => change({ receipts: { require: true } }), 200],
  ['its route accepts receipts', ({ change }) => change({ receipts: { accept: true, consume: true } }), 200],
  ['its route takes no receipts', ({ change }) => change({ receipts: {} }), 200],
  ['its route serves other tenants', ({ change }) => change({ tenants: ['others'] }), 403, 'tenant_mismatch'],
  [
    'its route is in another environment',
    ({ change }) => change({ environment: 'staging' }),
    403,
    'environment_mismatch',
  ],
  [
    'its receipt is revoked',
    async ({ change, revoke }, { decisionId }) => {
      await revoke(decisionId)
      change()
    },
    403,
    'revoked',
  ],
  [
    'a newer decision replaces its receipt',
    async ({ change, preflight }) => {
      await preflight()
      change()
    },
    403,
    'superseded',
  ],
]

for (const [what, happens, status, reason] of MEANWHILE)
  test(`a call that has used its receipt waits for its connection while ${what}: ${status}`, async (t) => {
    const started = await scene(t)
    const { gate, received, call, preflight } = started
    const issued = await preflight()
    const token = textAt(issued, 'chain_receipt')
    const init = { headers: { 'preflight-receipt': token } }
    const first = call(init)
    await until(() => gate.held === 1, 'the call waits for its connection')
    await happens(started, { token, decisionId: at(issued, 'decision_result', 'decision_id') })
    gate.open()
    const answer = await first
    assert.equal(answer.status, status, await answer.clone().text())
    if (reason !== undefined) assert.equal(at(await answer.json(), 'receipt_required', 'reason'), reason)
    assert.equal(received.length, status === 200 ? 1 : 0)
    // Whatever happened to the first call, the receipt was for one use.
    started.change()
    const again = await call(init)
    assert.equal(again.status, 403)
    assert.equal(received.length, status === 200 ? 1 : 0)
  })

test('a receipt that a waiting call has used serves no other call, before and after the settings change', async (t) => {
  const { gate, received, call, preflight, change } = await scene(t)
  const token = textAt(await preflight(), 'chain_receipt')
  const init = { headers: { 'preflight-receipt': token } }
  const first = call(init)
  await until(() => gate.held === 1, 'the call waits for its connection')
  for (const happens of [() => {}, () => change(), () => change({ receipts: { require: true } })]) {
    happens()
    const other = await call(init)
    assert.equal(at(await other.json(), 'receipt_required', 'reason'), 'consumed')
  }
  gate.open()
  assert.equal((await first).status, 200)
  assert.equal(received.length, 1)
})

test('of calls that wait side by side each keeps its own receipt', async (t) => {
  const { gate, received, call, preflight, change } = await scene(t, { accept: true, consume: true })
  const token = textAt(await preflight(), 'chain_receipt')
  const withReceipt = call({ headers: { 'preflight-receipt': token } })
  await until(() => gate.held === 1, 'the call waits for its connection')
  const without = call({ method: 'GET' })
  await until(() => gate.held === 2, 'both wait')
  change({ receipts: SINGLE_USE })
  gate.open()
  assert.deepEqual([(await withReceipt).status, (await without).status], [200, 403])
  assert.equal(received.length, 1)
})
