/** The SQLite store: durable answers, the hash chain, and records of calls. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { batchedCallRecords } from '../../../gateway/store/sql/call-records.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { interception } from '../../fakes/interception.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-store-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(directory, `ledger-${++files}.db`)

async function open(context: TestContext, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openSqliteStore({ file: newFile(), calls: 'batched', flushMilliseconds: 5, ...options })
  context.after(() => store.close())
  return store
}

test('what was answered is in the file when another process opens it', async (t) => {
  const file = newFile()
  const store = await open(t, { file })
  await store.decisions.record(decisionRow())
  const other = new DatabaseSync(file, { readOnly: true })
  assert.equal(other.prepare('SELECT decision_id FROM decisions').get()?.['decision_id'], 'dec_1')
  other.close()
})

test('the hash chain names the first row that was changed, removed or moved behind its back', async (t) => {
  const tampering = {
    "UPDATE decisions SET decision = 'ALLOW' WHERE sequence = 1200": 1200,
    'DELETE FROM decisions WHERE sequence = 700': 700,
    'UPDATE decisions SET sequence = 9000 WHERE sequence = 3': 3,
  }
  for (const [statement, firstBroken] of Object.entries(tampering)) {
    const file = newFile()
    const store = await open(t, { file })
    await Promise.all(
      Array.from({ length: 1_500 }, (_, n) =>
        store.decisions.record(decisionRow({ decisionId: `d${n}`, decision: 'BLOCK', executionAction: 'STOP' })),
      ),
    )
    assert.equal(await store.ledger.verifyChain(), null)
    const intruder = new DatabaseSync(file)
    assert.throws(() => intruder.exec(statement), /append-only/)
    intruder.exec('PRAGMA foreign_keys = OFF; DROP TRIGGER decisions_are_final; DROP TRIGGER decisions_stay')
    intruder.exec(statement)
    intruder.close()
    assert.equal(await store.ledger.verifyChain(), firstBroken)
  }
})

test('call records are in the file after the flush, and what waits is written by close', async () => {
  const file = newFile()
  const store = await openSqliteStore({ file, calls: 'batched', flushMilliseconds: 3_600_000 })
  for (let n = 0; n < 3; n += 1) await store.calls.record(interception(`c${n}`))
  await store.close()
  const reader = new DatabaseSync(file, { readOnly: true })
  assert.equal(reader.prepare('SELECT count(*) AS n FROM interceptions').get()?.['n'], 3)
  reader.close()
})

test('a page of calls looks at so many and no more, and the next one goes on where it ended', async (t) => {
  const file = newFile()
  const store = await open(t, { file, calls: 'durable' })
  const violations = [{ where: 'status', message: 'is not described' }]
  await store.calls.record(interception('oldest', { tenant: 'rare', effect: 'drifted', violations }))
  const bulk = new DatabaseSync(file)
  bulk.exec(`INSERT INTO interceptions (correlation_id, route, protocol, action, execution_action, enforced, effect, at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
    SELECT 'c' || i, 'shop', 'mcp', 'tools/call search', 'CONTINUE', 1, 'forwarded', i FROM n`)
  bulk.close()
  const first = await store.calls.list({ tenant: 'rare', limit: 10 })
  assert.deepEqual(first.rows, [])
  assert.ok(first.next !== null)
  const second = await store.calls.list({ tenant: 'rare', limit: 10, before: first.next })
  assert.deepEqual(
    second.rows.map(({ correlationId }) => correlationId),
    ['oldest'],
  )
  assert.equal(second.next, null)
  // By its index, however long ago.
  assert.equal((await store.calls.list({ tenant: 'rare', effect: 'drifted', limit: 10 })).rows.length, 1)
})

test('a ledger of a newer version is refused with what to do', async () => {
  const file = newFile()
  const newer = new DatabaseSync(file)
  newer.exec('PRAGMA user_version = 999')
  newer.close()
  await assert.rejects(openSqliteStore({ file, calls: 'batched', flushMilliseconds: 5 }), /newer version.*data_dir/s)
})

test('a store that is closed refuses calls', async () => {
  const store = await openSqliteStore({ file: newFile(), calls: 'durable', flushMilliseconds: 5 })
  await store.close()
  await assert.rejects(store.probe(), { code: 'STORE_UNAVAILABLE' })
})

test('batches that cannot be written keep their rows in order, and calls are refused once too many wait', async () => {
  const written: string[] = []
  let isBroken = true
  const records = batchedCallRecords((rows) => {
    if (isBroken) return Promise.reject(new Error('disk full'))
    written.push(...rows.map(({ correlationId }) => correlationId))
    return Promise.resolve()
  }, 1)
  for (let n = 0; n < 10_000; n += 1) await records.add(interception(`c${n}`))
  assert.throws(() => records.add(interception('too many')), { code: 'STORE_UNAVAILABLE' })
  isBroken = false
  assert.equal(await records.close(), 0)
  assert.deepEqual(
    written,
    Array.from({ length: 10_000 }, (_, n) => `c${n}`),
  )
})

test('a healthy store takes a burst of calls that is larger than the queue', async () => {
  let count = 0
  const records = batchedCallRecords(async (rows) => {
    await new Promise((resolve) => setImmediate(resolve))
    count += rows.length
  }, 3_600_000)
  for (let n = 0; n < 30_000; n += 1) {
    await records.add(interception('c'))
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await records.close(), 0)
  assert.equal(count, 30_000)
})

test('what could not be written by the end is counted', async () => {
  const records = batchedCallRecords(() => Promise.reject(new Error('disk full')), 3_600_000)
  await records.add(interception('lost'))
  assert.equal(await records.close(), 1)
})
