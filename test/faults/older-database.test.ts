/** PostgreSQL comes back in an older state, or forgets commits that it answered: nothing that was used or revoked is valid again. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import { newChain } from '../../gateway/store/sql/journal.ts'
import type { Store } from '../../gateway/store/store.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../fakes/postgres-server.ts'
import { postgresOptions } from '../fakes/stores.ts'
import { until } from '../fakes/until.ts'

const LATER = 9_000_000_000_000

/** A gateway's store that has heard the database at least once. */
async function opened(t: TestContext, url: string, writer = newChain()) {
  const life = { beats: 0, isWritable: true }
  const store = await openPostgresStore(
    postgresOptions(url, {
      writer,
      listens: true,
      bound: 0.3,
      onTime: () => (life.beats += 1),
      onWritable: (isWritable) => (life.isWritable = isWritable),
    }),
  )
  t.after(() => store.close())
  return { store, life, writer }
}

async function heard({ life }: { readonly life: { readonly beats: number } }): Promise<void> {
  const before = life.beats
  await until(() => life.beats > before + 2, 'it has heard the database')
}

/** A copy of its files, taken while it is stopped. */
async function backedUp(server: PostgresServer): Promise<() => Promise<void>> {
  const files = join(server.folder, 'files')
  const copy = join(server.folder, 'backup')
  await server.kill()
  execFileSync('cp', ['-a', files, copy])
  await server.start()
  return async () => {
    await server.kill()
    rmSync(files, { recursive: true })
    execFileSync('cp', ['-a', copy, files])
    await server.start()
  }
}

const recorded = (store: Store, decisionId: string) =>
  store.decisions.record(decisionRow({ decisionId, expiresAt: LATER, supersessionKey: decisionId }))

async function eventually(work: () => Promise<unknown>, what: string): Promise<void> {
  await until(
    () =>
      work().then(
        () => true,
        () => false,
      ),
    what,
    20_000,
  )
}

suite('a database that comes back', { skip: postgresMissing() }, () => {
  test('as an older backup is not used by gateways that have seen the newer state', async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const url = await server.database()
    const [one, two] = [await opened(t, url), await opened(t, url)]
    await recorded(one.store, 'dec_1')
    await recorded(one.store, 'dec_2')
    const restore = await backedUp(server)
    await eventually(() => one.store.probe(), 'the first one goes on after a mere restart')
    await eventually(() => two.store.probe(), 'the second one goes on after a mere restart')
    assert.equal(await two.store.receipts.consume(['dec_1'], 5), true)
    assert.equal(await two.store.receipts.revoke('local', 'dec_2', 'leaked', 'v:1', 6), true)
    await Promise.all([heard(one), heard(two)])
    await restore()
    for (const { store, life } of [one, two]) {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        await assert.rejects(store.receipts.consume(['dec_1'], 7), { code: 'STORE_UNAVAILABLE' })
        await assert.rejects(store.receipts.state('dec_2'), { code: 'STORE_UNAVAILABLE' })
        await assert.rejects(recorded(store, `dec_new_${attempt}`), { code: 'STORE_UNAVAILABLE' })
        await pause(50)
      }
      assert.equal(life.isWritable, false)
    }
    // Another run of the second one writes on: the state that was seen does not come back by that.
    const again = await opened(t, url, two.writer)
    for (let n = 0; n < 5; n += 1) await recorded(again.store, `dec_later_${n}`)
    await assert.rejects(one.store.receipts.state('dec_2'), { code: 'STORE_UNAVAILABLE' })
    await assert.rejects(two.store.receipts.state('dec_2'), { code: 'STORE_UNAVAILABLE' })
  })

  test('with the same state is used again, and is writable', async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const one = await opened(t, await server.database())
    for (let n = 0; n < 5; n += 1) await recorded(one.store, `dec_${n}`)
    await heard(one)
    await server.kill()
    await server.start()
    await eventually(() => recorded(one.store, `dec_after_${Date.now()}`), 'it records again')
    assert.equal(await one.store.receipts.consume(['dec_1'], 5), true)
    await heard(one)
    assert.equal(one.life.isWritable, true)
  })
})

suite('a query that is refused', { skip: postgresMissing() }, () => {
  test('is no reason to take the gateway for one that cannot write', async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const url = await server.database()
    const life: boolean[] = []
    const onWritable = (isWritable: boolean): void => void life.push(isWritable)
    const store = await openPostgresStore(postgresOptions(url, { lockTimeout: 200, onWritable }))
    t.after(() => store.close())
    const database = new URL(url).pathname.slice(1)
    const locking = server.sql(
      'BEGIN; LOCK TABLE approvals IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3); COMMIT',
      database,
    )
    await until(
      () =>
        store.approvals.list({ tenant: 'local', limit: 1, now: 1 }).then(
          () => false,
          () => true,
        ),
      'a query is refused',
    )
    assert.ok(!life.includes(false))
    await store.probe()
    await locking
  })
})

async function startLazily(t: TestContext) {
  const server = await startPostgres({ wal_writer_delay: '10s', autovacuum: 'off' })
  t.after(() => server.stop())
  const url = await server.database()
  await server.sql(`ALTER ROLE ${new URL(url).username} SET synchronous_commit = off`)
  return { server, url }
}

suite('a database whose account does not wait for the disk', { skip: postgresMissing() }, () => {
  test('loses no decision that was answered', async (t) => {
    const { server, url } = await startLazily(t)
    const { store } = await opened(t, url)
    await recorded(store, 'dec_1')
    assert.equal(await store.receipts.consume(['dec_1'], 5), true)
    await server.kill()
    await server.start()
    await eventually(() => store.probe(), 'it recovers')
    assert.equal(await store.receipts.state('dec_1'), 'consumed')
  })

  test('is refused behind a pooler, with what to do', async (t) => {
    const { url } = await startLazily(t)
    await assert.rejects(
      openPostgresStore(postgresOptions(url, { listenUrl: url })),
      /ALTER ROLE .* synchronous_commit/,
    )
  })
})
