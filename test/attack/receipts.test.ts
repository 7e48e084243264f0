/** Receipts, keys and exceptions in the hands of somebody who wants more of them than there is: races, replays, restarts, other tenants. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { startGateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { apiKeyRow, mintApiKey } from '../../gateway/callers/api-keys.ts'
import { startApi } from '../fakes/api.ts'
import { FREE_PORTS, TEST_KEY } from '../fakes/gateway.ts'
import { grpcAsker } from '../fakes/ext-authz-client.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { issuedReceipt } from '../fakes/issued-receipt.ts'
import { LIST_PETS, startPetRoute } from '../fakes/pet-route.ts'
import { statusOf } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { openConnect, readHead } from '../fakes/through-proxy.ts'
import { at } from '../json.ts'

const ONCE = { receipts: { require: true, consume: true } }
const CONTEXT = { operation: 'tool_call', environment: 'prod', target_id: LIST_PETS }

test('a single-use receipt that is presented to every listener concurrently is used once', async (t) => {
  const scene = await startPetRoute(t, ONCE, { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } })
  const { addresses } = scene.gateway
  const grpc = grpcAsker(addresses.ext_authz?.replace('http://', '') ?? '')
  t.after(() => grpc.close())
  const token = await scene.receipt()
  const headers = { 'preflight-receipt': token }
  const asked = { method: 'GET', path: '/pets', host: 'a', scheme: 'http', size: 0, headers }
  const attempts = Array.from({ length: 100 }, async (_, index) => {
    if (index % 4 === 0) return (await scene.call({ headers })).status === 200
    if (index % 4 === 1) return (await fetch(`${addresses.api}/authz/pets`, { headers })).status === 200
    if (index % 4 === 2) return (at(await grpc.check(asked), 'status', 'code') ?? 0) === 0
    const { body } = await scene.api('POST', '/api/v1/verify-receipt', { token, context: CONTEXT, consume: true })
    return at(body, 'currently_authorized') === true
  })
  assert.equal((await Promise.all(attempts)).filter(Boolean).length, 1)
  assert.ok(scene.upstream.requests.length <= 1)
})

/** A gateway whose data outlives it. */
async function lasting(t: TestContext, route: object) {
  const dataDir = mkdtempSync(join(tmpdir(), 'preflight-lasting-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 9 }))
  const value = { listen: FREE_PORTS, data_dir: dataDir, routes: [route], break_glass: { maximum: 60 } }
  return () =>
    startGateway(
      { value, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } },
      { output: new Writable({ write: (_chunk, _encoding, done) => done() }), logger: createLogger('silent') },
    )
}

test('a receipt that was used stays used when the gateway starts again, whatever became of the call', async (t) => {
  const upstream = await startHttpUpstream((request) => request.socket.destroy())
  t.after(() => upstream.close())
  const route = {
    name: 'ops',
    match: { path: '/' },
    upstream: upstream.origin,
    protocol: 'mapped',
    map: [{ when: "request.path == '/rollout'", action: 'receipt', operation: 'deploy', target: "'app:shop'" }],
    receipts: { consume: true },
  }
  const start = await lasting(t, route)
  const first = await start()
  const token = await issuedReceipt(first, { operation: 'deploy', target_id: 'app:shop' })
  const use = (address: string) =>
    fetch(`${address}/rollout`, { method: 'POST', headers: { 'preflight-receipt': token } })
  assert.equal((await use(first.addresses.proxy)).status, 502, 'it was sent, and nobody knows what came of it')
  await first.close()
  const second = await start()
  t.after(() => second.close())
  const replayed = await use(second.addresses.proxy)
  assert.equal(replayed.status, 403)
  assert.equal(at(await replayed.json(), 'receipt_required', 'reason'), 'consumed')
  assert.equal(upstream.seen.length, 1)
})

test('a receipt for one target is none for another, nor for another operation on it', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end())
  t.after(() => upstream.close())
  const map = [
    {
      when: "request.method == 'DELETE'",
      action: 'receipt',
      operation: 'delete',
      target: "'app:' + request.segments[0]",
    },
    { action: 'receipt', operation: 'deploy', target: "'app:' + request.segments[0]" },
  ]
  const start = await lasting(t, {
    name: 'ops',
    match: { path: '/' },
    upstream: upstream.origin,
    protocol: 'mapped',
    map,
  })
  const gateway = await start()
  t.after(() => gateway.close())
  const token = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'app:shop' })
  const send = async (method: string, path: string, receipts = token) => {
    const answer = await fetch(gateway.addresses.proxy + path, { method, headers: { 'preflight-receipt': receipts } })
    return answer.status
  }
  assert.equal(await send('POST', '/bank'), 403)
  assert.equal(await send('DELETE', '/shop'), 403)
  assert.equal(await send('POST', '/shop', Array(17).fill(token).join(', ')), 403, 'too many to look at')
  assert.equal(await send('POST', '/shop', `${token}x`), 403)
  assert.equal(await send('POST', '/shop', `forged, ${token}`), 200)
  assert.equal(upstream.requests.length, 1)
})

test('a key that is revoked ends what it opened: no further request inside its CONNECT', async (t) => {
  let clock = Date.now()
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { host: '127.0.0.1' }, protocol: 'http', contract }],
    config: { proxy_auth: 'required' },
    now: () => clock,
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const key = mintApiKey()
  const row = apiKeyRow({ key, name: 'pod', role: 'agent', at: clock })
  await proxy.store.apiKeys.create(row)
  const { host } = new URL(upstream.origin)
  const { socket, head } = await openConnect(proxy.url, host, [`Proxy-Authorization: Bearer ${key}`])
  assert.equal(statusOf(head), 200)
  const ask = async (): Promise<number> => {
    socket.write(`GET /pets HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const answer = statusOf(await readHead(socket))
    socket.read()
    return answer
  }
  assert.equal(await ask(), 200)
  clock += 5000
  assert.equal(await ask(), 200, 'the key still holds')
  await proxy.store.apiKeys.revoke(row.hash, clock)
  clock += 5000
  assert.equal(await ask(), 407)
  assert.equal(upstream.requests.length, 2)
  socket.destroy()
})

test('exceptions to enforcement are hidden from other tenants', async (t) => {
  const routes = [{ name: 'pets', match: {}, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }]
  const api = await startApi({ config: { routes } })
  t.after(() => api.close())
  const path = '/api/v1/break-glass'
  const as = async (role: 'admin' | 'approver', tenant?: string) => ({
    authorization: `Bearer ${await api.newKey(role, tenant === undefined ? {} : { tenant })}`,
  })
  const body = { route: 'pets', reason: 'incident 4711: the bank is down', duration: 60 }
  assert.equal((await api.post(path, body, await as('admin'))).status, 200)
  for (const role of ['approver', 'admin'] as const) {
    const foreign = await api.get(path, await as(role, 'elsewhere'))
    assert.equal(foreign.status, 403)
    assert.doesNotMatch(foreign.text, /the bank is down/)
  }
  assert.match((await api.get(path, await as('approver'))).text, /the bank is down/)
})
