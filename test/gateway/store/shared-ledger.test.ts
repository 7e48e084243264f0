/** The ledger of several gateways on one PostgreSQL over time: every chain is pruned, partitions come and go, and the rest verifies. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { apiKeyRow, mintApiKey } from '../../../gateway/callers/api-keys.ts'
import type { KeySet } from '../../../engine/internal.ts'
import { parseKeySet } from '../../../gateway/keys/jwks.ts'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { checkpointFile, startCheckpoints } from '../../../gateway/store/checkpoints.ts'
import { continuityProblem } from '../../../gateway/store/opening/continuity.ts'
import { readPostgresUrl } from '../../../gateway/store/postgres/address.ts'
import { openConnections } from '../../../gateway/store/postgres/connections.ts'
import { exportLines, verifyExport, type ExportReport } from '../../../gateway/store/ledger-export.ts'
import { makePartitions } from '../../../gateway/store/postgres/migrate.ts'
import { statementsOn } from '../../../gateway/store/postgres/statements.ts'
import { openPostgresStore } from '../../../gateway/store/postgres/store.ts'
import type { SqlValue } from '../../../gateway/store/sql/columns.ts'
import { OPERATION_BY_NAME } from '../../../gateway/store/sql/operations.ts'
import { pruneLedger, startRetention } from '../../../gateway/store/retention.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { interception } from '../../fakes/interception.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { postgresOptions } from '../../fakes/stores.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-shared-ledger-'))
after(() => rmSync(root, { recursive: true, force: true }))

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
const day = (n: number) => START + n * DAY
const logger = createLogger('silent')

interface Member {
  readonly data: string
  readonly store: Store
  readonly keys: Awaited<ReturnType<typeof openKeyRing>>
  sign(): Promise<void>
}

const KEY = { tenant: 'local', name: 'n', role: 'agent', plan: 'pro', groups: [], owner: null } as const

/** The published keys of several gateways, as each of them publishes those of all. */
function keySetOf(members: readonly Member[]): KeySet {
  const keys = parseKeySet({ keys: members.flatMap((each) => each.keys.published().keys) })
  assert.ok(keys.ok)
  return keys.value
}

async function check(lines: readonly string[], keys: KeySet): Promise<ExportReport> {
  async function* given() {
    yield* lines
  }
  return verifyExport(given(), keys)
}

let count = 0
async function member(t: TestContext, url: string): Promise<Member> {
  const data = join(root, `data-${(count += 1)}`)
  const keys = await openKeyRing(data)
  const store = await openPostgresStore(postgresOptions(url))
  t.after(() => store.close())
  const sign = async () => {
    const metrics = createMetrics()
    const deps = { store, keys, file: checkpointFile(data), interval: 3_600_000, metrics, logger, now: Date.now }
    await startCheckpoints(deps).close()
  }
  return { data, store, keys, sign }
}

const prune = ({ store, keys }: Member, before: number) =>
  pruneLedger(before, { store, signer: () => keys.signer(), now: () => day(400) })

const ids = async (store: Store) =>
  (await store.decisions.list({ tenant: 'local', limit: 100 })).map(({ decisionId }) => decisionId).toReversed()

const faults = async (store: Store) => {
  assert.equal(await store.ledger.verifyChain(), null)
  return (await store.ledger.inspect()).faults
}

/** From day `from` on, a decision and a call each, in turn by one gateway and the other; each supersedes one of the other. */
async function days(members: readonly Member[], from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const { store } = members[n % members.length] ?? assert.fail()
    const times = { evaluatedAt: day(n), expiresAt: day(n) + 3_600_000 }
    const scope = `scope-${Math.floor(n / 2)}`
    await store.decisions.record(decisionRow({ decisionId: `dec_${n}`, supersessionKey: scope, ...times }))
    await store.calls.record({ ...interception(`c-${n}`), at: day(n) })
  }
  for (const each of members) await each.sign()
}

suite('the ledger of two gateways', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  const inDatabase = (url: string, statement: string) => server.sql(statement, new URL(url).pathname.slice(1))

  test('is pruned by one of them, in every chain, again and again, and still verifies', async (t) => {
    const url = await server.database()
    const members = [await member(t, url), await member(t, url)] as const
    const [one, two] = members
    await one.store.apiKeys.create(apiKeyRow({ key: mintApiKey(), name: 'k', role: 'agent', at: 1 }))
    await days(members, 0, 10)
    // Its decision is in the chain of the other.
    await two.store.receipts.revoke('local', 'dec_4', 'leaked', 'v:1', day(9))
    await two.sign()
    const { cuts, rows } = await prune(one, day(5))
    assert.equal(cuts.length, 2)
    assert.ok(rows > 0)
    assert.deepEqual(await ids(one.store), ['dec_5', 'dec_6', 'dec_7', 'dec_8', 'dec_9'])
    assert.deepEqual(await faults(two.store), [])
    for (const { data, store, keys } of members)
      assert.equal(await continuityProblem({ data_dir: data, store: { url } }, store, keys), null)
    // The entries of the first cuts are themselves behind the next ones.
    await days(members, 10, 14)
    await prune(two, day(12))
    await days(members, 14, 16)
    await prune(one, day(13))
    assert.deepEqual(await ids(one.store), ['dec_13', 'dec_14', 'dec_15'])
    assert.equal((await one.store.apiKeys.list()).length, 1, 'rows that last are kept')
    assert.deepEqual(await faults(two.store), [])
    assert.deepEqual((await one.store.calls.list({ tenant: 'local', limit: 100 })).rows.length, 3)
    const [kept] = await inDatabase(url, 'SELECT count(*)::int AS n FROM supersession_heads')
    assert.equal(kept?.['n'], 2)
  })

  test('is pruned to nothing when all is old, and both go on', async (t) => {
    const url = await server.database()
    const members = [await member(t, url), await member(t, url)] as const
    const [one, two] = members
    await days(members, 0, 6)
    await prune(two, day(300))
    assert.deepEqual(await ids(one.store), [])
    assert.deepEqual(await faults(one.store), [])
    for (const { data, store, keys } of members)
      assert.equal(await continuityProblem({ data_dir: data, store: { url } }, store, keys), null)
    await days(members, 301, 305)
    assert.deepEqual(await faults(one.store), [])
    assert.equal((await ids(one.store)).length, 4)
  })

  test('cut at the same time by both, it is cut once', async (t) => {
    const url = await server.database()
    const members = [await member(t, url), await member(t, url)] as const
    await days(members, 0, 12)
    await Promise.all(members.map((each) => prune(each, day(8))))
    assert.deepEqual(await faults(members[0].store), [])
    assert.deepEqual((await ids(members[0].store))[0], 'dec_8')
  })

  test('keeps a receipt that is valid, and what happened to it in another chain', async (t) => {
    const url = await server.database()
    const [one, two] = [await member(t, url), await member(t, url)]
    await one.store.decisions.record(decisionRow({ decisionId: 'long', evaluatedAt: day(0), expiresAt: day(900) }))
    await two.store.receipts.revoke('local', 'long', 'leaked', 'v:1', day(1))
    await days([two], 2, 6)
    await one.sign()
    await prune(two, day(300))
    assert.equal(await one.store.receipts.state('long'), 'revoked')
    assert.deepEqual(await faults(one.store), [])
  })

  test('finds a cut that was moved, and a row that was removed without one', async (t) => {
    const url = await server.database()
    const members = [await member(t, url), await member(t, url)] as const
    await days(members, 0, 10)
    await prune(members[0], day(5))
    await assert.rejects(inDatabase(url, "DELETE FROM decisions WHERE decision_id = 'dec_7'"), /append-only/)
    await inDatabase(url, 'UPDATE ledger_cuts SET call = call + 1')
    assert.match((await faults(members[1].store)).join(), /begins has no entry/)
  })

  test('drops the partition of a month whose calls are all too old, and makes those of the next months', async (t) => {
    const url = await server.database()
    const members = [await member(t, url), await member(t, url)] as const
    const own = new Client({ connectionString: url.replace(/\?.*/, ''), ssl: { rejectUnauthorized: false } })
    await own.connect()
    t.after(() => own.end())
    await makePartitions(own, day(0))
    const partitions = async () =>
      (
        await inDatabase(
          url,
          "SELECT relname FROM pg_class WHERE relname ~ '^interceptions_2026_0[1-4]$' AND relkind = 'r' ORDER BY relname",
        )
      ).map(({ relname }) => String(relname).slice(-2))
    assert.deepEqual(await partitions(), ['01', '02', '03'])
    await days(members, 20, 40)
    await makePartitions(own, day(31))
    assert.deepEqual(await partitions(), ['01', '02', '03', '04'])
    const [other] = await inDatabase(url, 'SELECT count(*)::int AS n FROM interceptions_other')
    assert.equal(other?.['n'], 0)
    await prune(members[0], day(33))
    // Of the months that are over, one has calls that are kept.
    assert.deepEqual(await partitions(), ['02'])
    assert.deepEqual(await faults(members[1].store), [])
    // A call of a month whose partition is gone is not lost.
    await members[0].store.calls.record({ ...interception('late'), at: day(3) })
    assert.equal((await members[0].store.calls.list({ tenant: 'local', limit: 100 })).rows.length, 8)
    assert.deepEqual(await faults(members[1].store), [])
  })

  test('no partition is made or dropped while a long query reads the calls, and writers do not wait for it', async (t) => {
    const url = await server.database()
    const [one] = [await member(t, url)]
    const reader = new Client({ connectionString: url.replace(/\?.*/, ''), ssl: { rejectUnauthorized: false } })
    const maker = new Client({ connectionString: url.replace(/\?.*/, ''), ssl: { rejectUnauthorized: false } })
    await Promise.all([reader.connect(), maker.connect()])
    t.after(() => Promise.all([reader.end(), maker.end()]))
    await reader.query('BEGIN; SELECT count(*) FROM interceptions')
    await makePartitions(maker, day(0))
    await one.store.calls.record({ ...interception('meanwhile'), at: day(0) })
    await reader.query('COMMIT')
    assert.equal((await one.store.calls.list({ tenant: 'local', limit: 100 })).rows.length, 1)
  })

  test('is exported with all of its chains, and verifies without the store', async (t) => {
    const url = await server.database()
    const [one, two, three] = [await member(t, url), await member(t, url), await member(t, url)]
    const members = [one, two, three]
    const key = apiKeyRow({ ...KEY, key: mintApiKey('live'), at: day(0), expiresAt: null })
    await one.store.apiKeys.create(key)
    await days(members, 0, 12)
    // Rows of one chain that another one changes, both ways in the order of the chains.
    await two.store.apiKeys.revoke(key.hash, day(12))
    await three.store.receipts.revoke('local', 'dec_0', 'leaked', 'v:1', day(12))
    await one.store.receipts.revoke('local', 'dec_11', 'leaked', 'v:1', day(12))
    await prune(two, day(4))
    for (const each of members) await each.sign()
    const keys = keySetOf(members)
    const lines: string[] = []
    for await (const text of exportLines(one.store, day(12))) lines.push(text)
    const report = await check(lines, keys)
    assert.deepEqual(report.faults, [])
    assert.equal(report.chains.length, 3)
    assert.ok(report.chains.every(({ entries, signed }) => signed === entries))
    assert.deepEqual([report.decisions, report.calls], [8, 8])

    const rows = lines.map((text) => text.trimEnd())
    const chain = report.chains[1]?.chain ?? ''
    const place = rows.findIndex((text) => text.includes('"kind":"decision"'))
    const attacks: Readonly<Record<string, readonly string[]>> = {
      'a changed decision': rows.map((text) => text.replace('"ALLOW"', '"BLOCK"')),
      'an entry in another chain': rows.map((text, n) => (n === place ? text.replace(/chn_\w+/, chain) : text)),
      'a removed entry': rows.toSpliced(place, 1),
      'a removed chain': rows.filter((text, n) => n === 0 || text.includes('"end"') || !text.includes(chain)),
      'a revoked key that is not': rows.map((text) => text.replace(`,${day(12)}]`, ',null]')),
      'another order of all entries': rows.map((text, n) =>
        n === place ? text.replace(/"ordinal":\d+/, '"ordinal":1') : text,
      ),
      'no end': rows.slice(0, -1),
    }
    for (const [name, attack] of Object.entries(attacks))
      assert.notDeepEqual((await check(attack, keys)).faults, [], name)
  })

  test('is checked and exported with no more statements for more decisions of a page', async (t) => {
    const url = await server.database()
    const one = await member(t, url)
    const read = readPostgresUrl(url)
    assert.ok(read.ok)
    const connections = openConnections(read.address, { ...postgresOptions(url), isPooled: false })
    t.after(() => connections.close())
    const counted = (name: string, ...values: readonly unknown[]): Promise<number> =>
      connections.use(async (connection) => {
        const sql = statementsOn(connection, 'none')
        let statements = 0
        const all = (text: string, ...given: readonly SqlValue[]) => ((statements += 1), sql.all(text, ...given))
        const get = (text: string, ...given: readonly SqlValue[]) => ((statements += 1), sql.get(text, ...given))
        const given: never[] = []
        await OPERATION_BY_NAME.get(name)?.run({ ...sql, all, get }, ...Object.assign(given, values))
        return statements
      })
    const record = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, async (_, n) => {
          await one.store.decisions.record(decisionRow({ decisionId: `dec_${from + n}`, supersessionKey: `${n % 9}` }))
          await one.store.calls.record(interception(`c_${from + n}`))
        }),
      )
    await record(0, 20)
    const few = [await counted('ledger.inspect'), await counted('ledger.entries', {}, 1000)]
    await record(20, 220)
    assert.deepEqual([await counted('ledger.inspect'), await counted('ledger.entries', {}, 1000)], few)
  })

  test('ledger.retention keeps it under its size, and young enough', async (t) => {
    const url = await server.database()
    const one = await member(t, url)
    const envelope = JSON.stringify({ text: Array.from({ length: 900 }, () => Math.random()).join() })
    const times = { evaluatedAt: day(1), expiresAt: day(1) }
    await Promise.all(
      Array.from({ length: 3000 }, (_, n) =>
        one.store.decisions.record(
          decisionRow({ decisionId: `dec_${n}`, supersessionKey: `${n}`, envelope, ...times }),
        ),
      ),
    )
    await one.sign()
    const used = await one.store.ledger.usedBytes()
    const size = 16 * 1024 * 1024
    assert.ok(used > size, `${used} bytes`)
    const retention = (settings: object) =>
      startRetention({
        store: one.store,
        signer: () => one.keys.signer(),
        settings: () => ({ interval: 3600, ...settings }),
        metrics: createMetrics(),
        logger,
        now: () => day(10),
      })
    const bySize = retention({ size })
    await bySize.run()
    await bySize.close()
    const after = await one.store.ledger.usedBytes()
    assert.ok(after < size && after > size / 2, `${after} bytes are used`)
    await days([one], 5, 9)
    const byAge = retention({ age: 3 })
    await byAge.run()
    await byAge.close()
    assert.deepEqual(await ids(one.store), ['dec_7', 'dec_8'])
    assert.deepEqual(await faults(one.store), [])
  })
})
