/** The way to a shared database fails, or its schema changes, while gateways write. */
import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../gateway/store/postgres/migrate.ts'
import { MIGRATIONS } from '../../gateway/store/postgres/migrations.ts'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import type { Store } from '../../gateway/store/store.ts'
import { startCuttingProxy } from '../fakes/cutting-proxy.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../fakes/postgres-server.ts'
import { postgresOptions } from '../fakes/stores.ts'
import { until } from '../fakes/until.ts'

suite('a shared database', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  const throughProxy = async (t: TestContext, url: string) => {
    const proxy = await startCuttingProxy(server.port)
    t.after(() => proxy.close())
    const limits = { connectTimeout: 1000, statementTimeout: 1000 }
    const store = await opened(t, url.replace(`:${server.port}/`, `:${proxy.port}/`), limits)
    return { proxy, store }
  }

  test('whose answers are lost: the decision is refused, its row is there once, and nothing else is lost', async (t) => {
    const url = await server.database()
    const { proxy, store } = await throughProxy(t, url)
    await store.decisions.record(decisionRow({ decisionId: 'before' }))
    await store.receipts.state('before')
    proxy.cut = 'answers'
    await assert.rejects(store.decisions.record(decisionRow({ decisionId: 'unknown' })), { code: 'STORE_UNAVAILABLE' })
    await assert.rejects(store.receipts.consume(['before'], 5), { code: 'STORE_UNAVAILABLE' })
    proxy.heal()
    await until(() => isWritable(store), 'it recovers by itself')
    const other = await opened(t, url)
    await until(async () => (await other.receipts.state('unknown')) === 'current', 'the row is there')
    assert.equal(await store.receipts.consume(['unknown'], 6), true)
    assert.equal(await other.receipts.consume(['unknown'], 7), false)
    await assertWhole(other)
  })

  test('that cannot be reached: nothing is decided, other gateways go on, and it recovers by itself', async (t) => {
    const url = await server.database()
    const { proxy, store } = await throughProxy(t, url)
    const other = await opened(t, url)
    await store.decisions.record(decisionRow({ decisionId: 'before' }))
    proxy.cut = 'all'
    const refused = ['a', 'b', 'c'].map((id) =>
      assert.rejects(store.decisions.record(decisionRow({ decisionId: id })), { code: 'STORE_UNAVAILABLE' }),
    )
    await other.decisions.record(decisionRow({ decisionId: 'meanwhile' }))
    await Promise.all(refused)
    proxy.heal()
    await until(() => isWritable(store), 'it recovers by itself')
    assert.equal(await store.receipts.state('meanwhile'), 'current')
    await assertWhole(other)
  })

  test('that a newer version migrates while this one writes: no decision is lost, and an older one does not start', async (t) => {
    const url = await server.database()
    const store = await opened(t, url)
    const life = { isOver: false }
    const answered: string[] = []
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; !life.isOver; n += 1) {
        await store.decisions.record(decisionRow({ decisionId: `${writer}-${n}` }))
        answered.push(`${writer}-${n}`)
      }
    })
    await until(() => answered.length > 8, 'it writes')
    const newer = new Client({ connectionString: url.replace(/\?.*/, ''), ssl: { rejectUnauthorized: false } })
    await newer.connect()
    await migrate(newer, Date.now(), [...MIGRATIONS, 'ALTER TABLE decisions ADD COLUMN extra text'])
    await newer.end()
    const reached = answered.length
    await until(() => answered.length > reached + 8, 'it goes on')
    life.isOver = true
    await Promise.all(writing)
    for (const id of answered) assert.equal(await store.receipts.state(id), 'current', id)
    await assertWhole(store)
    await assert.rejects(openPostgresStore(postgresOptions(url)), /newer version/)
  })
})

async function opened(t: TestContext, url: string, limits: object = {}): Promise<Store> {
  const store = await openPostgresStore(postgresOptions(url, limits))
  t.after(() => store.close().catch(() => {}))
  return store
}

async function isWritable(store: Store): Promise<boolean> {
  try {
    await store.probe()
    return true
  } catch {
    return false
  }
}

async function assertWhole(store: Store): Promise<void> {
  assert.equal(await store.ledger.verifyChain(), null)
  assert.deepEqual((await store.ledger.inspect()).faults, [])
}
