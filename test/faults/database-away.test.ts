/**
 * The database of a gateway is away for some time: its network swallows everything, or its disk is full. Meanwhile nothing is
 * allowed, afterwards nothing is lost, and nobody restarts the gateway. AWAY=60 takes the network away for a minute.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import type { Store } from '../../gateway/store/store.ts'
import { startCuttingProxy } from '../fakes/cutting-proxy.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { pets, PETS_REORDERED } from '../fakes/contracts.ts'
import { postgresMissing, startPostgres, type PostgresFolders } from '../fakes/postgres-server.ts'
import { smallVolume, type SmallVolume } from '../fakes/small-volume.ts'
import { postgresOptions } from '../fakes/stores.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

/** Seconds that the network is away. */
const AWAY = Number(process.env['AWAY'] ?? 2)

interface Scene {
  readonly gateway: TestGateway
  /** Calls that the upstream got. */
  readonly forwarded: () => number
  /** Another gateway's view of the database, on a way of its own. */
  readonly direct: () => Promise<Store>
}

/** @param direct reaches the database past the fault */
async function scene(t: TestContext, url: string, direct: string): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
  t.after(() => upstream.close())
  const contract = { current: { file: petContract() } }
  const routes = [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }]
  const limits = { connect_timeout: 4, statement_timeout: 3, lock_timeout: 3, in_force_within: 0.5 }
  const gateway = await startTestGateway(t, { routes, rate: { per_minute: 1_000_000 }, store: { url, ...limits } })
  return {
    gateway,
    forwarded: () => upstream.requests.length,
    direct: async () => {
      const store = await openPostgresStore(postgresOptions(direct))
      t.after(() => store.close())
      return store
    },
  }
}

const call = async ({ addresses }: TestGateway): Promise<number> => {
  const answer = await fetch(`${addresses.proxy}/pets`)
  await answer.arrayBuffer()
  return answer.status
}

/** A new decision: the id of one that is allowed, or the code of the error. */
const decide = async ({ addresses }: TestGateway): Promise<string> => {
  const context = { operation: 'merge', target_id: `t-${Math.random()}` }
  const answer = await fetch(`${addresses.api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ preflight_mode: 'authorize', artifacts: [pets(PETS_REORDERED)], context }),
  })
  const body: unknown = await answer.json()
  if (answer.status !== 200) return String(at(body, 'error'))
  assert.equal(at(body, 'execution_action'), 'CONTINUE')
  return String(at(body, 'decision_result', 'decision_id'))
}

const isReady = async ({ addresses }: TestGateway): Promise<boolean> =>
  (await fetch(`${addresses.admin}/readyz`)).status === 200

/** Asks for as long as the fault lasts. Nothing is decided, and no call is forwarded. */
async function assertNothingAllowed({ gateway, forwarded }: Scene, seconds: number): Promise<void> {
  const before = forwarded()
  const end = performance.now() + seconds * 1000
  let asked = 0
  do {
    assert.equal(await call(gateway), 503)
    assert.equal(await decide(gateway), 'STORE_UNAVAILABLE')
    assert.equal(await isReady(gateway), false)
    asked += 1
  } while (performance.now() < end)
  assert.ok(asked > 0)
  assert.equal(forwarded(), before)
  assert.equal((await fetch(`${gateway.addresses.admin}/livez`)).status, 200)
}

/**
 * While the database can be read, a decision in use stays in use, and the records of its calls wait. Nothing new is decided.
 * @returns decisions that were answered before that: pages and log segments that are there already take some rows more
 */
async function assertNothingDecided({ gateway }: Scene): Promise<readonly string[]> {
  const answered: string[] = []
  for (let refusals = 0; refusals < 5; refusals += 1) {
    const id = await decide(gateway)
    if (id.startsWith('dec_')) {
      answered.push(id)
      refusals = -1
      continue
    }
    assert.equal(id, 'STORE_UNAVAILABLE')
    assert.equal(await isReady(gateway), false)
  }
  return answered
}

async function assertRecovered({ gateway, forwarded, direct }: Scene, answered: readonly string[]): Promise<void> {
  await until(() => isReady(gateway), 'it is ready again by itself', 60_000)
  await until(async () => (await call(gateway)) === 200, 'it forwards again', 30_000)
  assert.match(await decide(gateway), /^dec_/)
  const store = await direct()
  for (const id of answered) assert.equal(await store.receipts.state(id), 'current', id)
  const recorded = async () => {
    const { rows } = await store.calls.list({ tenant: 'local', limit: 1000, route: 'pets' })
    return rows.filter(({ effect }) => effect === 'forwarded').length
  }
  await until(async () => (await recorded()) >= forwarded(), 'the records of all forwarded calls are there')
  assert.deepEqual((await store.ledger.inspect()).faults, [])
}

const reasonsIn = ({ log }: TestGateway): string =>
  log
    .filter(({ event }) => event === 'store.unwritable')
    .map((line) => JSON.stringify(line))
    .join('\n')

suite('a database that is away', { skip: postgresMissing() }, () => {
  test('for some time: nothing is allowed, nothing is lost, and the gateway recovers by itself', async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const direct = await server.database()
    const proxy = await startCuttingProxy(server.port)
    t.after(() => proxy.close())
    const own = await scene(t, direct.replace(`:${server.port}/`, `:${proxy.port}/`), direct)
    const { gateway } = own
    assert.equal(await call(gateway), 200)
    const answered = [await decide(gateway), await decide(gateway)]
    proxy.cut = 'all'
    // A decision in use is used until the bound of `in_force_within` has ended.
    await until(async () => (await call(gateway)) === 503, 'calls are refused', 30_000)
    await assertNothingAllowed(own, AWAY)
    proxy.heal()
    await assertRecovered(own, answered)
  })

  for (const full of ['files', 'log'] as const)
    test(`because its volume of the ${full} is full: the reason is in the log, and room is all that it needs`, async (t) => {
      const volume = smallVolume(t, full === 'files' ? 160 : 80)
      if (volume === null) return
      const { server, own } = await onVolume(t, full, volume)
      const { gateway } = own
      assert.equal(await call(gateway), 200)
      const answered = [await decide(gateway)]
      volume.fill()
      answered.push(...(await assertNothingDecided(own)))
      // The server says why while it runs; without room for its log it ends.
      assert.match(
        reasonsIn(gateway),
        full === 'files' ? /No space left on device/ : /No space left on device|terminat/,
      )
      volume.makeRoom()
      if (full === 'log') await server.sql('SELECT 1').catch(() => server.start())
      await assertRecovered(own, answered)
    })
})

async function onVolume(t: TestContext, full: keyof PostgresFolders, volume: SmallVolume) {
  const other = mkdtempSync(join(tmpdir(), 'preflight-other-volume-'))
  t.after(() => rmSync(other, { recursive: true, force: true }))
  const folders = full === 'files' ? { files: volume.folder, log: other } : { files: other, log: volume.folder }
  const server = await startPostgres({ wal_recycle: 'off', min_wal_size: '32MB', max_wal_size: '48MB' }, folders)
  t.after(() => server.stop())
  const url = await server.database()
  return { server, own: await scene(t, url, url) }
}
