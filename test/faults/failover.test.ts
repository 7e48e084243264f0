/** The primary dies under load, and a streaming replica takes over. Gateways that name both hosts go on by themselves. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import type { Change } from '../../gateway/store/changes.ts'
import type { Store } from '../../gateway/store/store.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { postgresMissing, startPostgres } from '../fakes/postgres-server.ts'
import { postgresOptions } from '../fakes/stores.ts'
import { until } from '../fakes/until.ts'

/** Long after every decision of this test. */
const LATER = 9_000_000_000_000

interface Opened {
  readonly store: Store
  readonly heard: Change[]
  readonly live: boolean[]
}

async function opened(t: TestContext, url: string): Promise<Opened> {
  const live: boolean[] = []
  const heard: Change[] = []
  const limits = { connectTimeout: 4000, statementTimeout: 4000, listens: true, bound: 0.5 }
  const onLive = (isLive: boolean): void => void live.push(isLive)
  const store = await openPostgresStore(postgresOptions(url, { ...limits, onLive }))
  t.after(() => store.close())
  store.changes.subscribe((change) => heard.push(change))
  await until(() => live.at(-1) === true, 'it receives changes')
  return { store, heard, live }
}

/** Writers that note what was answered. */
function startWriters(stores: readonly Store[], answered: string[], consumed: string[]): () => Promise<void> {
  const life = { isOver: false }
  const writing = stores.flatMap((store, place) =>
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; !life.isOver; n += 1) {
        const decisionId = `${place}-${writer}-${n}`
        try {
          await store.decisions.record(decisionRow({ decisionId, expiresAt: LATER }))
          answered.push(decisionId)
          if (n % 3 === 0 && (await store.receipts.consume([decisionId], 5))) consumed.push(decisionId)
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    }),
  )
  return async () => {
    life.isOver = true
    await Promise.all(writing)
  }
}

test(
  'a replica is promoted while two gateways write: nothing that was answered is lost',
  { skip: postgresMissing() },
  async (t) => {
    const primary = await startPostgres()
    t.after(() => primary.stop())
    const replica = await primary.standby()
    t.after(() => replica.stop())
    // Without it the server answers before the replica has the row.
    await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await primary.sql('SELECT pg_reload_conf()')
    await until(
      async () => (await primary.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 1,
      'the replica is synchronous',
    )
    const single = await primary.database()
    const url = single.replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${replica.port}/`)
    const [one, two] = await Promise.all([opened(t, url), opened(t, url)])
    const [answered, consumed]: [string[], string[]] = [[], []]
    const stop = startWriters([one.store, two.store], answered, consumed)
    await until(() => answered.length > 100 && consumed.length > 10, 'they write')

    await primary.kill()
    const before = answered.length
    await replica.promote()
    await until(() => answered.length > before + 100, 'they write to the new primary', 30_000)
    await stop()

    for (const { live } of [one, two]) await until(() => live.at(-1) === true, 'it receives changes again')
    for (const id of answered) assert.notEqual(await one.store.receipts.state(id), null, id)
    for (const id of consumed) assert.equal(await two.store.receipts.consume([id], 6), false, id)
    for (const { store } of [one, two]) assert.equal(await store.ledger.verifyChain(), null)
    assert.deepEqual((await one.store.ledger.inspect()).faults, [])
    // Changes of one reach the other over the new primary.
    await one.store.receipts.revoke('local', answered.at(-1) ?? '', 'leaked', 'v:1', 7)
    await until(
      () => two.heard.some(({ kind, key }) => kind === 'receipt_event' && key[1] === 'revoked'),
      'it is heard',
    )
  },
)
