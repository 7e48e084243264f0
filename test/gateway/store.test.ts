import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { apiKeyRow, mintApiKey } from '../../gateway/callers/api-keys.ts'
import { batchedCallRecords } from '../../gateway/store/call-records.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../gateway/store/sqlite/store.ts'
import type { InterceptionRow } from '../../gateway/store/calls.ts'
import type { MonitoringWindowRow } from '../../gateway/store/windows.ts'
import type { Store } from '../../gateway/store/store.ts'
import { decisionRow } from '../fakes/decision-row.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-store-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(directory, `ledger-${++files}.db`)

async function open(context: TestContext, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openSqliteStore({ file: newFile(), calls: 'batched', flushMilliseconds: 5, ...options })
  context.after(() => store.close())
  return store
}

test('a decision is found again by id, fingerprint and idempotency key, and only by its tenant', async (t) => {
  const store = await open(t)
  const row = decisionRow({ idempotency: { key: 'k', bodyDigest: 'sha256:0' }, response: '{}' })
  await store.decisions.record(row)
  const stored = await store.decisions.byId('local', 'dec_1')
  assert.equal(stored?.sequence, 1)
  assert.equal(stored.receiptState, 'current')
  assert.deepEqual({ ...stored, ...row }, stored)
  assert.equal((await store.decisions.byFingerprint('local', row.fingerprint))?.decisionId, 'dec_1')
  assert.equal((await store.decisions.byIdempotencyKey('local', 'k', 1_000))?.decisionId, 'dec_1')
  assert.equal(await store.decisions.byIdempotencyKey('local', 'k', 1_001), null)
  assert.equal(await store.decisions.byId('other', 'dec_1'), null)
  assert.equal(await store.decisions.byFingerprint('other', row.fingerprint), null)
})

test('what was answered is in the file when another process opens it', async (t) => {
  const file = newFile()
  const store = await open(t, { file })
  await store.decisions.record(decisionRow())
  const other = new DatabaseSync(file, { readOnly: true })
  assert.equal(other.prepare('SELECT decision_id FROM decisions').get()?.['decision_id'], 'dec_1')
  other.close()
})

test('a newer decision supersedes the older one of the same tenant and key, and no other', async (t) => {
  const store = await open(t)
  await store.decisions.record(decisionRow({ decisionId: 'old', supersessionKey: 'place' }))
  await store.decisions.record(decisionRow({ decisionId: 'elsewhere', supersessionKey: 'another place' }))
  await store.decisions.record(decisionRow({ decisionId: 'foreign', supersessionKey: 'place', tenant: 'other' }))
  await store.decisions.record(decisionRow({ decisionId: 'new', supersessionKey: 'place' }))
  const states = await Promise.all(['old', 'elsewhere', 'foreign', 'new'].map((id) => store.receipts.state(id)))
  assert.deepEqual(states, ['superseded', 'current', 'current', 'current'])
})

test('a receipt is consumed by exactly one of many concurrent callers', async (t) => {
  const store = await open(t)
  await store.decisions.record(decisionRow())
  const answers = await Promise.all(Array.from({ length: 50 }, () => store.receipts.consume('dec_1', 1_500)))
  assert.equal(answers.filter(Boolean).length, 1)
  assert.equal(await store.receipts.state('dec_1'), 'consumed')
  assert.equal(await store.receipts.consume('never issued', 1_500), false)
})

test('a revoked receipt cannot be consumed any more, and revoking speaks before consuming', async (t) => {
  const store = await open(t)
  await store.decisions.record(decisionRow({ decisionId: 'a' }))
  await store.decisions.record(decisionRow({ decisionId: 'b' }))
  assert.equal(await store.receipts.revoke('local', 'a', 'leaked', 'v:1', 1_100), true)
  assert.equal(await store.receipts.consume('a', 1_200), false)
  assert.equal(await store.receipts.consume('b', 1_200), true)
  assert.equal(await store.receipts.revoke('local', 'b', 'leaked', 'v:1', 1_300), true)
  assert.equal(await store.receipts.revoke('local', 'b', 'again', 'v:1', 1_400), true)
  assert.equal(await store.receipts.state('b'), 'revoked')
  assert.equal(await store.receipts.revoke('other', 'a', 'not mine', 'v:2', 1_400), false)
  assert.equal(await store.receipts.state('never issued'), null)
})

test('the ledger answers newest first, filtered, in pages', async (t) => {
  const store = await open(t)
  for (let n = 1; n <= 5; n += 1)
    await store.decisions.record(
      decisionRow({ decisionId: `dec_${n}`, evaluatedAt: n, operation: n % 2 === 0 ? 'deploy' : 'merge' }),
    )
  const ids = async (filter: object): Promise<readonly string[]> =>
    (await store.decisions.list({ tenant: 'local', limit: 10, ...filter })).map(({ decisionId }) => decisionId)
  assert.deepEqual(await ids({ limit: 2 }), ['dec_5', 'dec_4'])
  assert.deepEqual(await ids({ limit: 2, before: 4 }), ['dec_3', 'dec_2'])
  assert.deepEqual(await ids({ operation: 'deploy' }), ['dec_4', 'dec_2'])
  assert.deepEqual(await ids({ from: 2, to: 4 }), ['dec_3', 'dec_2'])
  assert.deepEqual(await ids({ tenant: 'other' }), [])
})

test('one row that breaks a constraint fails alone, in whatever transaction it was put', async (t) => {
  const store = await open(t)
  const results = await Promise.allSettled([
    store.decisions.record(decisionRow({ decisionId: 'a' })),
    store.decisions.record(decisionRow({ decisionId: 'a' })),
    store.decisions.record(decisionRow({ decisionId: 'b' })),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await store.decisions.byId('local', 'b'))?.sequence, 2)
  assert.equal(await store.ledger.verifyChain(), null)
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

test('calls are read newest first by tenant, route, effect and time, with where they depart from the contract', async (t) => {
  const store = await open(t, { calls: 'durable' })
  const violations = [{ where: 'body#/id', message: 'must be integer' }]
  await store.calls.record(interception('c1'))
  await store.calls.record(interception('c2', { tenant: 'other', at: 2 }))
  await store.calls.record(interception('c3', { effect: 'drifted', violations, decisionId: 'd', at: 3 }))
  await store.calls.record(interception('c4', { effect: 'refused', violations, route: 'pets', at: 4 }))
  const ids = async (filter: object): Promise<readonly string[]> =>
    (await store.calls.list({ tenant: 'local', limit: 10, ...filter })).rows.map(({ correlationId }) => correlationId)
  assert.deepEqual(await ids({}), ['c4', 'c3', 'c1'])
  assert.deepEqual(await ids({ tenant: 'other' }), ['c2'])
  assert.deepEqual(await ids({ route: 'shop' }), ['c3', 'c1'])
  assert.deepEqual(await ids({ effect: 'drifted' }), ['c3'])
  assert.deepEqual(await ids({ effect: 'forwarded' }), ['c1'])
  assert.deepEqual(await ids({ correlationId: 'c3' }), ['c3'])
  assert.deepEqual(await ids({ from: 3, to: 4 }), ['c3'])
  const drifted = interception('c3', { effect: 'drifted', violations, decisionId: 'd', at: 3 })
  assert.deepEqual((await store.calls.list({ tenant: 'local', effect: 'drifted', limit: 1 })).rows, [
    { sequence: 3, ...drifted },
  ])
  const first = await store.calls.list({ tenant: 'local', limit: 2 })
  assert.equal(first.next, 3)
  assert.deepEqual(await store.calls.list({ tenant: 'nobody', limit: 2 }), { rows: [], next: null })
  assert.deepEqual(await ids({ before: 3 }), ['c1'])
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

test('baselines are kept whole and replaced by route and artifact', async (t) => {
  const store = await open(t)
  const row = {
    route: 'shop',
    artifactId: 'tools',
    type: 'mcp_manifest',
    content: '{"tools":[]}',
    digest: 'sha256:1',
    source: 'first_use',
    setBy: 'route',
    setAt: 1,
  } as const
  await store.baselines.set(row)
  await store.baselines.set({ ...row, content: '{}', source: 'promotion' })
  assert.deepEqual(await store.baselines.byRoute('shop', 'tools'), { ...row, content: '{}', source: 'promotion' })
  assert.equal((await store.baselines.list()).length, 1)
  assert.equal(await store.baselines.byRoute('shop', 'none'), null)
})

test('a monitoring window closes once, whoever shares its correlation id', async (t) => {
  const store = await open(t)
  const window: MonitoringWindowRow = {
    windowId: 'w1',
    correlationId: 'c',
    decisionId: 'd',
    tenant: 'local',
    route: null,
    observer: 'caller',
    openedAt: 1,
    closedAt: null,
    outcome: null,
  }
  const other: MonitoringWindowRow = { ...window, windowId: 'w2', observer: 'gateway', openedAt: 2 }
  await store.windows.open(other)
  await store.windows.open(window)
  assert.deepEqual(await store.windows.listOpen(), [window, other])
  assert.equal(await store.windows.close('w1', 'SUCCEEDED', 2), true)
  assert.equal(await store.windows.close('w1', 'FAILED', 3), false)
  assert.deepEqual(await store.windows.listOpen(), [other])
})

test('API keys are found by hash, and revoked once', async (t) => {
  const store = await open(t)
  const key = apiKeyRow({ key: mintApiKey(), name: 'ci', role: 'agent', at: 1 })
  await store.apiKeys.create(key)
  assert.deepEqual(await store.apiKeys.byHash(key.hash), key)
  assert.equal(await store.apiKeys.revoke(key.hash, 5), true)
  assert.equal(await store.apiKeys.revoke(key.hash, 9), true)
  assert.equal((await store.apiKeys.byHash(key.hash))?.revokedAt, 5)
  assert.equal(await store.apiKeys.revoke('unknown', 5), false)
})

test('uses are counted up to the limit of the month, and not past it under concurrency', async (t) => {
  const store = await open(t)
  const counts = await Promise.all(Array.from({ length: 20 }, () => store.quotas.count('local', '2026-01', 5)))
  assert.deepEqual(
    counts.filter((count) => count !== null),
    [1, 2, 3, 4, 5],
  )
  assert.equal(await store.quotas.used('local', '2026-01'), 5)
  assert.equal(await store.quotas.used('local', '2026-02'), 0)
  assert.equal(await store.quotas.count('local', '2026-02', 5), 1)
  assert.equal(await store.quotas.count('other', '2026-01', 0), null)
  assert.equal(await store.quotas.count('local', '2026-03', Number.POSITIVE_INFINITY), 1)
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

function interception(correlationId: string, overrides: Partial<InterceptionRow> = {}): InterceptionRow {
  return {
    correlationId,
    tenant: 'local',
    decisionId: null,
    route: 'shop',
    protocol: 'mcp',
    action: 'tools/call search',
    executionAction: 'CONTINUE',
    enforced: true,
    effect: 'forwarded',
    breakGlassId: null,
    violations: null,
    at: 1,
    ...overrides,
  }
}
