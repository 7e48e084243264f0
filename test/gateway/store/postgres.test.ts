/** What only a shared store has: several gateways on one database, its faults, and a pooler in between. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../../gateway/store/postgres/migrate.ts'
import { MIGRATIONS } from '../../../gateway/store/postgres/migrations.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../../../gateway/store/postgres/store.ts'
import type { Change } from '../../../gateway/store/changes.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { interception } from '../../fakes/interception.ts'
import { pgbouncerMissing, startPgbouncer } from '../../fakes/pgbouncer.ts'
import { freePort, postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { postgresOptions } from '../../fakes/stores.ts'
import { until } from '../../fakes/until.ts'

/** Long after every decision of these tests. */
const LATER = 9_000_000_000_000

const open = async (t: TestContext, url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = await openPostgresStore(postgresOptions(url, options))
  t.after(() => store.close())
  return store
}

/** The store does not open, and neither does a gateway with it. Neither message has the password. */
const refused = async (url: string, message: RegExp): Promise<void> => {
  await assert.rejects(openPostgresStore(postgresOptions(url)), (error: unknown) => {
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'StartupError')
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /ss%2Fword|ss\/word/)
    return true
  })
  const data = mkdtempSync(join(tmpdir(), 'preflight-refused-'))
  const ports = {
    PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
    PREFLIGHT_API_LISTEN: '127.0.0.1:0',
    PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
  }
  const served = await run(['serve'], { environment: { PREFLIGHT_DATA_DIR: data, PREFLIGHT_STORE_URL: url, ...ports } })
  rmSync(data, { recursive: true })
  assert.equal(served.code, 2, served.stderr)
  assert.match(served.stderr, message)
  assert.doesNotMatch(served.stderr, /ss%2Fword|ss\/word/)
}

interface OpeningFault {
  readonly what: string
  /** @param directory for files */
  readonly url: (server: PostgresServer, directory: string) => Promise<string>
  readonly reports: RegExp
}

const OPENING_FAULTS: readonly OpeningFault[] = [
  {
    what: 'nobody listens there',
    url: async () => `postgres://u:p@127.0.0.1:${await freePort()}/d`,
    reports: /ECONNREFUSED.*start the database/s,
  },
  { what: 'there is no such host', url: async () => 'postgres://u:p@no-such-host.invalid/d', reports: /No such host/ },
  {
    what: 'the password is wrong',
    url: async (server) => (await server.database()).replace(/:p[^@]*@/, ':wrong@'),
    reports: /correct user and password/,
  },
  {
    what: 'the account is wrong',
    url: async (server) => (await server.database()).replace(/\/\/\w+:/, '//nobody_known:'),
    reports: /correct user and password/,
  },
  {
    what: 'the certificate of the server does not verify',
    url: (server) => server.database('sslmode=verify-full'),
    reports: /sslrootcert=FILE/,
  },
  {
    what: 'the certificate of the server is for another name',
    url: async (server) => (await server.database()).replace('@127.0.0.1:', '@preflight-other.localhost:'),
    reports: /does not match|altnames|No such host/,
  },
  {
    what: 'a certificate file is missing',
    url: async (server, directory) => `${await server.database()}&sslcert=${directory}/none.crt`,
    reports: /none\.crt.*sslrootcert, sslcert or sslkey/s,
  },
  {
    what: 'the server wants TLS, and the URL does not',
    url: (server) => server.database('sslmode=disable'),
    reports: /sslmode=verify-full/,
  },
  {
    what: 'there is no such database',
    url: async (server) => (await server.database()).replace(/\/preflight_\d+\?/, '/none?'),
    reports: /createdb/,
  },
  {
    what: 'the account may not create tables',
    url: async (server) => {
      const url = await server.database()
      await server.sql(`ALTER DATABASE ${new URL(url).username} OWNER TO root_of_tests`)
      return url
    },
    reports: /GRANT USAGE, CREATE ON SCHEMA public/,
  },
  {
    what: 'the tables belong to another account',
    url: async (server) => {
      const url = await server.database()
      await (await openPostgresStore(postgresOptions(url))).close()
      const name = new URL(url).username
      await server.sql(`CREATE ROLE other_${name} LOGIN PASSWORD 'p'`)
      return url.replace(/\/\/\w+:[^@]*@/, `//other_${name}:p@`)
    },
    reports: /lacks a right/,
  },
  {
    what: 'a newer version has migrated it',
    url: async (server) => {
      const url = await server.database()
      await (await openPostgresStore(postgresOptions(url))).close()
      await server.sql('UPDATE preflight_schema SET version = 999', new URL(url).pathname.slice(1))
      return url
    },
    reports: /schema 999.*newer version/s,
  },
  {
    what: 'a parameter of the URL is mistyped',
    url: async () => 'postgres://u:p@h/d?sslmod=require',
    reports: /unknown parameter sslmod/,
  },
  {
    what: 'the URL asks for a replica',
    url: async () => 'postgres://u:p@h/d?target_session_attrs=standby',
    reports: /cannot be written to/,
  },
]

suite('a PostgreSQL store', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  test('is migrated once when ten gateways start at the same time', async (t) => {
    const url = await server.database()
    const stores = await Promise.all(Array.from({ length: 10 }, () => open(t, url, { pool: 2 })))
    await Promise.all(stores.map((store, n) => store.decisions.record(decisionRow({ decisionId: `d${n}` }))))
    const [first] = stores
    const report = await first?.ledger.inspect()
    assert.equal(report?.heads.length, 10)
    assert.deepEqual(report.faults, [])
  })

  test('has the tables and columns of SQLite, and a few of its own', async (t) => {
    const url = await server.database()
    await open(t, url)
    const directory = mkdtempSync(join(tmpdir(), 'preflight-columns-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'ledger.db')
    await (await openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })).close()
    const embedded = new DatabaseSync(file)
    const tables = embedded
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
    const wanted = tables.flatMap(({ name }) =>
      embedded
        .prepare(`SELECT name FROM pragma_table_xinfo('${String(name)}')`)
        .all()
        .map((column) => `${String(name)}.${String(column['name'])}`),
    )
    embedded.close()
    const rows = await server.sql(
      "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
      new URL(url).pathname.slice(1),
    )
    const present = new Set(rows.map(({ name }) => String(name)))
    const missing = wanted.filter((name) => !present.has(name))
    assert.deepEqual(missing, [], 'a migration of one store belongs into the other')
  })

  test('is exact among gateways: one consumption, one head of a scope, a quota, one key', async (t) => {
    const url = await server.database()
    const stores = await Promise.all([open(t, url), open(t, url), open(t, url)])
    const onEach = <Result>(work: (store: Store, n: number) => Promise<Result>) =>
      Promise.all(
        Array.from({ length: 60 }, (_, n) => stores[n % 3]).map((store, n) => work(store ?? assert.fail(), n)),
      )
    await stores[0].decisions.record(decisionRow({ decisionId: 'used', supersessionKey: 'own' }))
    const consumed = await onEach((store) => store.receipts.consume(['used'], 5))
    assert.equal(consumed.filter(Boolean).length, 1)
    await onEach((store, n) => store.decisions.record(decisionRow({ decisionId: `s${n}`, supersessionKey: 'scope' })))
    const states = await onEach((store, n) => store.receipts.state(`s${n}`))
    assert.equal(states.filter((state) => state === 'current').length, 1)
    assert.equal(states.filter((state) => state === 'superseded').length, 59)
    const counts = await onEach((store) => store.quotas.count('local', '2026-01', 25))
    assert.deepEqual(
      counts.filter((count) => count !== null).sort((a, b) => a - b),
      Array.from({ length: 25 }, (_, n) => n + 1),
    )
    await onEach(async (store, n) => store.calls.record(interception(`c${n}`)))
    const found = await stores[1].calls.list({ tenant: 'local', limit: 100 })
    assert.equal(found.rows.length, 60)
    assert.equal(await stores[0].ledger.verifyChain(), null)
    assert.deepEqual((await stores[0].ledger.inspect()).faults, [])
  })

  test('finds a row that was changed, removed or taken back to what another gateway wrote', async (t) => {
    const url = await server.database()
    const database = new URL(url).pathname.slice(1)
    const [one, two] = await Promise.all([open(t, url), open(t, url)])
    const key = {
      hash: 'h',
      audience: 'v:1',
      tenant: 'local',
      name: 'n',
      role: 'agent',
      plan: 'p',
      expiresAt: null,
      owner: null,
      usedAt: null,
    } as const
    await one.apiKeys.create({ ...key, groups: [], createdAt: 1, revokedAt: null })
    await two.apiKeys.revoke('h', 9)
    for (const n of [1, 2, 3]) await one.decisions.record(decisionRow({ decisionId: `d${n}` }))
    await one.calls.record(interception('c'))
    const faultsAfter = async (statement: string): Promise<readonly string[]> => {
      await server.sql(`SET session_replication_role = replica; ${statement}`, database)
      return (await one.ledger.inspect()).faults
    }
    assert.deepEqual((await one.ledger.inspect()).faults, [])
    assert.match((await faultsAfter('UPDATE api_keys SET revoked_at = NULL')).join(), /api key h was changed/)
    assert.match((await faultsAfter("UPDATE interceptions SET action = 'x'")).join(), /call records/)
    await server.sql("SET session_replication_role = replica; DELETE FROM decisions WHERE decision_id = 'd2'", database)
    assert.notEqual(await one.ledger.verifyChain(), null)
  })

  test('tells other gateways what changed, and does not trust a cache while it hears nothing', async (t) => {
    const url = await server.database()
    const heard: Change[] = []
    const live: boolean[] = []
    const one = await open(t, url)
    const two = await open(t, url, { listens: true, bound: 0.5, onLive: (isLive) => live.push(isLive) })
    two.changes.subscribe((change) => heard.push(change))
    await until(() => live.at(-1) === true, 'it receives changes')
    const anyRow: readonly Change[] = heard.splice(0)
    assert.deepEqual(
      new Set(anyRow.map(({ key }) => key.length)),
      new Set([0]),
      'what was read before may have changed',
    )
    const read = () => two.changes.mark(two.changes.begin(Date.now()), Date.now())
    const mark = read()
    assert.equal(two.changes.isFresh(mark, Date.now()), true)
    await one.decisions.record(decisionRow({ decisionId: 'old', supersessionKey: 'k', expiresAt: LATER }))
    await one.decisions.record(decisionRow({ decisionId: 'new', supersessionKey: 'k', expiresAt: LATER }))
    await one.receipts.revoke('local', 'new', 'leaked', 'v:1', 5)
    await until(() => heard.length === 2, 'two changes')
    assert.deepEqual(heard, [
      { kind: 'receipt_event', key: ['old', 'superseded'] },
      { kind: 'receipt_event', key: ['new', 'revoked'] },
    ])
    await server.sql(
      // The last statements of a heartbeat.
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'pg_notify|FROM ledger_chains$' AND pid <> pg_backend_pid()",
    )
    await until(() => live.at(-1) === false, 'the cut is seen')
    assert.equal(two.changes.isFresh(mark, Date.now()), false)
    await until(() => live.at(-1) === true, 'it receives changes')
    assert.deepEqual(heard.slice(2), anyRow, 'others are told so')
    // What was read before the cut is read again, since a change in between was not heard.
    assert.equal(two.changes.isFresh(mark, Date.now()), false)
    assert.equal(two.changes.isFresh(read(), Date.now()), true)
  })

  test('takes the host that accepts writes, and the next one when it is gone', async (t) => {
    const url = new URL(await server.database())
    const dead = await freePort()
    const several = url.href.replace('127.0.0.1:', `127.0.0.1:${dead},localhost:`)
    const store = await open(t, several)
    await store.decisions.record(decisionRow())
    assert.equal(await store.receipts.state('dec_1'), 'current')
  })

  test('keeps what it answered when the server is killed, and recovers by itself', async (t) => {
    const own = await startPostgres()
    t.after(() => own.stop())
    const events: boolean[] = []
    const options = { onWritable: (isWritable: boolean) => void events.push(isWritable), connectTimeout: 1000 }
    const store = await open(t, await own.database(), options)
    const answered: string[] = []
    let next = 0
    for (let round = 0; round < 3; round += 1) {
      const life = { isUp: true }
      const writing = Array.from({ length: 8 }, async () => {
        while (life.isUp) {
          const decisionId = `d${(next += 1)}`
          await store.decisions.record(decisionRow({ decisionId, supersessionKey: `k${next % 5}` })).then(
            () => answered.push(decisionId),
            () => {},
          )
        }
      })
      await new Promise((resolve) => setTimeout(resolve, 150))
      await own.kill()
      await assert.rejects(store.decisions.record(decisionRow({ decisionId: `lost${round}` })), {
        code: 'STORE_UNAVAILABLE',
      })
      life.isUp = false
      await Promise.all(writing)
      await own.start()
      await until(
        () =>
          store.probe().then(
            () => true,
            () => false,
          ),
        'it can be written again',
      )
    }
    assert.ok(answered.length > 3, `${answered.length} were answered`)
    for (const id of answered) assert.notEqual(await store.receipts.state(id), null, id)
    assert.equal(await store.ledger.verifyChain(), null)
    assert.deepEqual((await store.ledger.inspect()).faults, [])
    assert.equal(events.at(-1), true)
  })

  suite('behind pgbouncer in transaction mode', { skip: pgbouncerMissing() }, () => {
    test('serves, and receives changes over its own connection', async (t) => {
      const direct = await server.database()
      const pooler = await startPgbouncer(direct)
      t.after(() => pooler.stop())
      const live: boolean[] = []
      const options = { listenUrl: direct, listens: true, onLive: (isLive: boolean) => void live.push(isLive) }
      const stores = await Promise.all([open(t, pooler.url, options), open(t, pooler.url, { listenUrl: direct })])
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          stores[n % 2 === 0 ? 0 : 1]?.decisions.record(decisionRow({ decisionId: `d${n}`, supersessionKey: 'one' })),
        ),
      )
      await stores[0]?.apiKeys.list()
      await stores[1]?.receipts.revoke('local', 'd1', 'leaked', 'v:1', 5)
      await until(() => live.at(-1) === true, 'it receives changes')
      assert.deepEqual((await stores[0]?.ledger.inspect())?.faults, [])
    })
  })

  suite('that cannot be opened says what to do, and a gateway ends with exit code 2', () => {
    for (const { what, url, reports } of OPENING_FAULTS)
      test(what, async (t) => {
        const directory = mkdtempSync(join(tmpdir(), 'preflight-opening-'))
        t.after(() => rmSync(directory, { recursive: true }))
        await refused(await url(server, directory), reports)
      })
  })

  test('of an older schema is migrated from every version', async (t) => {
    for (let version = 1; version < MIGRATIONS.length; version += 1) {
      const url = await server.database()
      const older = new Client({ connectionString: url.replace(/\?.*/, ''), ssl: { rejectUnauthorized: false } })
      await older.connect()
      await migrate(older, Date.now(), MIGRATIONS.slice(0, version))
      await older.end()
      const store = await open(t, url, { pool: 1 })
      await store.decisions.record(decisionRow())
      assert.deepEqual((await store.ledger.inspect()).faults, [], `from ${version}`)
    }
  })
})
