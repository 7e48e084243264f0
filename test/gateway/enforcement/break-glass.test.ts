/** Break-glass: who may open it, what goes on while it is open, what stays closed, and what is left of it afterwards. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import type { StoreFaults } from '../../fakes/store-faults.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import { startApi } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { breakListing, startPetRoute } from '../../fakes/pet-route.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { at, listAt, numberAt, textAt } from '../../json.ts'

const REASON = 'incident 4711: the shop is down'
const PATH = '/api/v1/break-glass'

test('while it is open a stopped call goes on, marked as what it is; closed again, it is stopped', async (t) => {
  const { call, change, api, upstream, gateway } = await startPetRoute(t)
  assert.equal((await call()).status, 200)
  change(breakListing)
  assert.equal((await call()).status, 403)

  const { status, body } = await api('POST', PATH, { route: 'pets', reason: REASON, duration: 600 })
  assert.equal(status, 200)
  const id = textAt(body, 'break_glass', 'id')
  const through = await call()
  assert.equal(through.status, 200)
  assert.equal(through.headers.get('preflight-action'), 'STOP')
  assert.equal(through.headers.get('preflight-break-glass'), id)
  const decision = await api('GET', `/api/v1/decisions/${through.headers.get('preflight-decision-id')}`)
  assert.equal(at(decision.body, 'decision'), 'BLOCK')
  assert.equal(upstream.requests.at(-1)?.headers['preflight-receipt'], undefined)
  const metrics = await gateway.metrics.text()
  assert.match(metrics, /preflight_break_glass_open 1/)
  assert.match(metrics, /preflight_break_glass_calls_total\{route="pets"\} 1/)
  assert.match(metrics, /preflight_calls_total\{route="pets",outcome="break_glass"\} 1/)
  const errors = gateway.log.filter(({ level, break_glass_id }) => level === 'error' && break_glass_id === id)
  assert.equal(errors.length, 2, 'the opening and the call are logged as errors')

  const closed = await api('DELETE', `${PATH}/${id}`)
  assert.equal(at(closed.body, 'break_glass', 'state'), 'closed')
  assert.equal(at(closed.body, 'break_glass', 'calls'), 1)
  assert.equal((await call()).status, 403)
  const list = await api('GET', PATH)
  assert.deepEqual(at(list.body, 'break_glass'), [at(closed.body, 'break_glass')])
  assert.deepEqual(at((await api('GET', `${PATH}?state=open`)).body, 'break_glass'), [])
})

test('a call that needs an approval, or a receipt, goes on too', async (t) => {
  const { call, api } = await startPetRoute(t, { receipts: { require: true } })
  assert.equal((await call()).status, 403)
  await api('POST', PATH, { route: 'pets', reason: REASON, duration: 600 })
  assert.equal((await call()).status, 200)
})

test('is for admins of the own tenant, a known route, a reason, and no longer than configured', async (t) => {
  const route = { name: 'pets', match: {}, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }
  const api = await startApi({ config: { routes: [route], break_glass: { maximum: 60 } } })
  t.after(() => api.close())
  const admin = await api.newKey('admin')
  const good = { route: 'pets', reason: REASON, duration: 60 }
  const open = (body: object, key: string) => api.post(PATH, body, { authorization: `Bearer ${key}` })
  for (const [body, key, status] of [
    [good, api.key, 403],
    [good, await api.newKey('approver'), 403],
    [good, await api.newKey('admin', { tenant: 'elsewhere' }), 403],
    [{ ...good, route: 'dogs' }, admin, 404],
    [{ ...good, duration: 61 }, admin, 400],
    [{ ...good, reason: 'because' }, admin, 400],
    [{ ...good, duration: 0 }, admin, 400],
    [good, admin, 200],
  ] as const) {
    assert.equal((await open(body, key)).status, status, JSON.stringify(body))
  }
  const rows = await api.store.breakGlass.list({ limit: 10 })
  assert.equal(rows.length, 1)
  assert.match(rows[0]?.openedBy ?? '', /^v:[0-9a-f]{12}$/)
  const remove = await fetch(`${api.url}${PATH}/bg_none`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${admin}` },
  })
  assert.equal(remove.status, 404)
})

test('roles that the configuration names may open one', async (t) => {
  const route = { name: 'pets', match: {}, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }
  const api = await startApi({ config: { routes: [route], break_glass: { roles: ['approver'] } } })
  t.after(() => api.close())
  const body = { route: 'pets', reason: REASON, duration: 60 }
  const as = async (role: 'approver' | 'admin') => ({ authorization: `Bearer ${await api.newKey(role)}` })
  assert.equal((await api.post(PATH, body, await as('approver'))).status, 200)
  assert.equal((await api.post(PATH, body, await as('admin'))).status, 403)
})

async function petProxy(
  t: { after(end: () => Promise<void>): void },
  options: Partial<Parameters<typeof startProxy>[0]>,
) {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const route = { name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }
  const proxy = await startProxy({ routes: [route], ...options })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream }
}

const down = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'))

const OPENED = {
  id: 'bg_1',
  route: 'pets',
  reason: REASON,
  openedBy: 'v:000000000000',
  closedBy: null,
  closedAt: null,
  endedAt: null,
  calls: 0,
}

const openOn = (proxy: ProxyUnderTest, openedAt: number, expiresAt: number) =>
  proxy.store.breakGlass.open({ ...OPENED, openedAt, expiresAt })

test('ends by itself', async (t) => {
  let clock = Date.now()
  const { proxy } = await petProxy(t, { decide: () => 'BLOCK', now: () => clock })
  await openOn(proxy, clock, clock + 60_000)
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
  clock += 60_000
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 403)
  const effects = proxy.interceptions.map(({ effect, breakGlassId }) => [effect, breakGlassId])
  assert.deepEqual(effects, [
    ['break_glass', 'bg_1'],
    ['stopped', null],
  ])
})

for (const [what, code, status] of [
  ['the store is down', 'STORE_UNAVAILABLE', 503],
  ['the contract cannot be read', 'PREFLIGHT_UNDECIDED', 200],
] as const) {
  test(`a call that could not be decided because ${what} is answered ${status}`, async (t) => {
    const { proxy, upstream } = await petProxy(t, {
      decide: () => {
        throw new GatewayError(code)
      },
    })
    await openOn(proxy, Date.now(), Date.now() + 60_000)
    assert.equal((await fetch(`${proxy.url}/pets`)).status, status)
    assert.equal(upstream.requests.length, status === 200 ? 1 : 0)
  })
}

const FAULTS: Readonly<Record<string, StoreFaults>> = {
  'breakGlass.use': { breakGlass: { use: down } },
  'calls.record': { calls: { record: down } },
}

for (const [fault, storeFaults] of Object.entries(FAULTS)) {
  test(`a call whose use of it cannot be recorded (${fault}) stays stopped`, async (t) => {
    const { proxy, upstream } = await petProxy(t, { decide: () => 'BLOCK', storeFaults })
    await openOn(proxy, Date.now(), Date.now() + 60_000)
    const { status } = await fetch(`${proxy.url}/pets`)
    assert.ok(status === 403 || status === 503, String(status))
    assert.equal(upstream.requests.length, 0)
  })
}

test('is opened, listed and closed on the command line, and survives a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-glass-'))
  const config = join(directory, 'preflight.json')
  const route = { name: 'pets', match: {}, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }
  writeFileSync(config, JSON.stringify({ data_dir: directory, routes: [route] }))
  const openStore = () =>
    openSqliteStore({ file: join(directory, 'ledger.db'), calls: 'batched', flushMilliseconds: 10 })
  await (await openStore()).close()
  const cli = (...args: readonly string[]) => run(['break-glass', ...args, '--config', config])
  assert.equal((await cli('open', 'pets', '--duration', '60')).code, 2)
  assert.equal((await cli('open', 'dogs', '--duration', '60', '--reason', REASON)).code, 2)
  assert.equal((await cli('open', 'pets', '--duration', '99999', '--reason', REASON)).code, 1)
  assert.equal((await cli('open', 'pets', '--duration', '60', '--reason', REASON)).code, 0)
  const listed = await cli('list', '--open', '--format', 'json')
  const rows: unknown = JSON.parse(listed.stdout)
  const id = textAt(listAt(rows)[0], 'id')
  assert.match(textAt(listAt(rows)[0], 'opened_by'), /^cli:/)
  assert.equal(numberAt(listAt(rows)[0], 'calls'), 0)
  const store = await openStore()
  assert.equal((await store.breakGlass.use('pets', Date.now()))?.calls, 1)
  await store.close()
  assert.equal((await cli('close', id)).code, 0)
  assert.equal((await cli('close', 'bg_none')).code, 1)
  assert.match((await cli('list')).stdout, /closed/)
})

test('who opened an exception, why and for how long cannot be changed or deleted in the ledger', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-glass-')), 'ledger.db')
  const store = await openSqliteStore({ file, calls: 'batched', flushMilliseconds: 10 })
  await store.breakGlass.open({ ...OPENED, openedAt: 1, expiresAt: 2 })
  await store.close()
  const database = new DatabaseSync(file)
  for (const tampering of [
    "UPDATE break_glass SET reason = 'none'",
    'UPDATE break_glass SET expires_at = 99',
    "UPDATE break_glass SET opened_by = 'nobody'",
    'DELETE FROM break_glass',
  ]) {
    assert.throws(() => database.exec(tampering), /final|kept/, tampering)
  }
  database.close()
})
