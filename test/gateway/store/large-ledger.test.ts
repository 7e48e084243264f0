/** Searches and look-ups in a ledger with many rows: an index leads to them, and no search keeps decisions from being recorded. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { openPostgresStore } from '../../../gateway/store/postgres/store.ts'
import type { LedgerFilter } from '../../../gateway/store/decisions.ts'
import type { ApprovalFilter } from '../../../gateway/store/approvals.ts'
import { createStatements, openConnection } from '../../../gateway/store/sqlite/connection.ts'
import { OPERATION_BY_NAME } from '../../../gateway/store/sql/operations.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Sql } from '../../../gateway/store/sql/operation.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { postgresMissing, startPostgres } from '../../fakes/postgres-server.ts'
import { postgresOptions } from '../../fakes/stores.ts'

/** Several pages of a search. */
const ROWS = 25_000
const TENANT = 'local'
const RARE = { operation: 'deploy', environment: 'lab', route: 'shop' }
/** Both ends and the borders of pages have a rare row; every second row is of another tenant. */
const RARE_ROWS = [1, 5001, 14_999, 15_001, 24_999]

const rareOr = (value: string): string => `CASE WHEN n IN (${RARE_ROWS.join(', ')}) THEN '${value}' END`
const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})`

/** Written by one statement: through the store it would take minutes. Both databases know its words. */
const fill = (chain: string): readonly string[] => [
  `${NUMBERS} INSERT INTO decisions (sequence, decision_id, tenant, route, decision, execution_action, operation, environment,
     repository, fingerprint, input_fingerprint, evaluated_at, expires_at, supersession_key, envelope, idempotency_key, body_digest,
     previous_hash, hash${chain === '' ? '' : ', chain'})
   SELECT n, 'dec_' || n, CASE WHEN n % 2 = 1 THEN '${TENANT}' ELSE 'other' END, ${rareOr(RARE.route)}, 'ALLOW', 'CONTINUE',
     ${rareOr(RARE.operation)}, ${rareOr(RARE.environment)}, 'acme/shop', 'f' || n, 'i', n, n + 1000, 'scope ' || n, '{}',
     'key ' || n, 'd', 'h', 'h'${chain} FROM numbers`,
  `${NUMBERS} INSERT INTO approvals (approval_id, key, tenant, decision_id, input_fingerprint, policy_hash, summary, risk_score,
     reasons, opened_at, expires_at, approvers, settled_state, settled_by, settled_comment, settled_at, valid_until)
   SELECT 'apr_' || n, 'k' || n, CASE WHEN n % 2 = 1 THEN '${TENANT}' ELSE 'other' END, 'dec_' || n, 'i', 'p', 's', 1, '[]', n,
     ${ROWS * 2}, '[]', CASE WHEN n IN (${RARE_ROWS.join(', ')}) THEN 'denied' ELSE 'granted' END, 'v:1', '', n,
     CASE WHEN n IN (${RARE_ROWS.join(', ')}) THEN NULL ELSE ${ROWS * 2} END FROM numbers ORDER BY n`,
]

interface Large {
  readonly store: Store
  /** The file of SQLite. */
  readonly file: string
}

async function largeSqlite(t: TestContext): Promise<Large> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-large-'))
  const file = join(directory, 'ledger.db')
  const options = { file, calls: 'durable', flushMilliseconds: 5 } as const
  await (await openSqliteStore(options)).close()
  const database = new DatabaseSync(file)
  for (const text of fill('')) database.exec(text)
  database.close()
  const store = await openSqliteStore(options)
  t.after(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { store, file }
}

async function largePostgres(t: TestContext): Promise<Large> {
  const server = await startPostgres()
  const url = await server.database()
  const store = await openPostgresStore(postgresOptions(url))
  t.after(async () => {
    await store.close()
    await server.stop()
  })
  const database = new URL(url).pathname.slice(1)
  for (const text of fill(", 'chn_1'")) await server.sql(text, database)
  return { store, file: '' }
}

/** Filter of decisions → sequences of the rare rows that it finds, newest first. */
const SEARCHES: readonly (readonly [filter: Partial<LedgerFilter>, found: (n: number) => boolean])[] = [
  [{ operation: RARE.operation }, () => true],
  [{ environment: RARE.environment, repository: 'acme/shop' }, () => true],
  [{ route: RARE.route, decision: 'ALLOW' }, () => true],
  [{ operation: RARE.operation, audience: 'v:nobody' }, () => false],
  [{ operation: RARE.operation, traceId: 'none' }, () => false],
  [{ operation: RARE.operation, before: 15_001 }, (n) => n < 15_001],
  [{ operation: RARE.operation, before: 1 }, () => false],
  [{ operation: RARE.operation, from: 5001, to: 24_999 }, (n) => n >= 5001 && n < 24_999],
  [{ operation: 'none' }, () => false],
]

suite('a large ledger', () => {
  for (const [kind, open, missing] of [
    ['SQLite', largeSqlite, () => false],
    ['PostgreSQL', largePostgres, postgresMissing],
  ] as const)
    test(`${kind}: a search finds what matches on any page, newest first`, { skip: missing() }, async (t) => {
      const { store } = await open(t)
      for (const [filter, isFound] of SEARCHES) {
        const rows = await store.decisions.list({ tenant: TENANT, limit: 50, ...filter })
        const expected = RARE_ROWS.filter(isFound).toReversed()
        assert.deepEqual(
          rows.map(({ sequence }) => sequence),
          expected,
          JSON.stringify(filter),
        )
      }
      const two = await store.decisions.list({ tenant: TENANT, limit: 2, operation: RARE.operation })
      assert.deepEqual(
        two.map(({ sequence }) => sequence),
        RARE_ROWS.toReversed().slice(0, 2),
      )
      const listed = (filter: Partial<ApprovalFilter>) =>
        store.approvals
          .list({ tenant: TENANT, limit: 50, now: ROWS, ...filter })
          .then((rows) => rows.map(({ approvalId }) => Number(approvalId.slice(4))))
      assert.deepEqual(await listed({ state: 'denied' }), RARE_ROWS.toReversed())
      assert.deepEqual(await listed({ state: 'denied', before: 'apr_15001' }), [14_999, 5001, 1])
      assert.deepEqual(await listed({ state: 'denied', before: 'apr_unknown' }), [])
      assert.deepEqual(await listed({ state: 'pending' }), [])
      assert.deepEqual(await listed({ requester: 'v:nobody' }), [])
      assert.equal((await listed({})).length, 50)
    })

  test('SQLite: a decision is recorded while a search reads all rows', async (t) => {
    const { store } = await largeSqlite(t)
    for (const [name, search] of [
      ['decisions', () => store.decisions.list({ tenant: TENANT, limit: 50, operation: 'none' })],
      ['approvals', () => store.approvals.list({ tenant: TENANT, limit: 50, requester: 'v:nobody', now: 1 })],
    ] as const) {
      let isOver = false
      const found = search().finally(() => (isOver = true))
      await store.decisions.record(decisionRow({ decisionId: `dec_${name}`, supersessionKey: name }))
      assert.equal(isOver, false, `the search of ${name} kept the decision waiting`)
      assert.deepEqual(await found, [])
    }
  })
})

/** What every decision asks the store, and what pages of the console ask again and again, with the index that leads to the rows. */
const LOOK_UPS: readonly (readonly [operation: string, values: readonly unknown[], plan: RegExp])[] = [
  ['decisions.byFingerprint', [TENANT, 'f1', 'v:1'], /decisions_by_fingerprint \(tenant=\? AND fingerprint=\?\)/],
  [
    'decisions.byIdempotencyKey',
    [TENANT, 'key 1', 0, 'v:1'],
    /decisions_by_idempotency \(tenant=\? AND idempotency_key=\?\)/,
  ],
  [
    'decisions.history',
    [{ tenant: TENANT, supersessionKey: 'scope 1', since: 0, limit: 9 }],
    /decisions_by_scope \(tenant=\? AND supersession_key=\?\)/,
  ],
  [
    'decisions.record',
    [decisionRow({ decisionId: 'dec_new', idempotency: { key: 'key 1', bodyDigest: 'd' }, evaluatedAt: 9e12 })],
    /decisions_by_idempotency \(tenant=\? AND idempotency_key=\?\)/,
  ],
  ['decisions.counts', [{ tenant: TENANT, from: 0, period: 1 }], /decisions_by_time \(tenant=\? AND evaluated_at>\?\)/],
  [
    'decisions.page',
    [{ tenant: TENANT, limit: 9, decision: 'BLOCK', from: 1 }],
    /decisions_by_decision \(tenant=\? AND decision=\? AND sequence>\? AND sequence<\?\)/,
  ],
  [
    'decisions.page',
    [{ tenant: TENANT, limit: 9, repository: 'acme/shop', decision: 'BLOCK' }],
    /decisions_by_repository \(tenant=\? AND repository=\? AND sequence>\? AND sequence<\?\)/,
  ],
  [
    'decisions.page',
    [{ tenant: TENANT, limit: 9, audience: 'v:1', decision: 'BLOCK' }],
    /decisions_by_audience \(tenant=\? AND audience=\? AND sequence>\? AND sequence<\?\)/,
  ],
  [
    'decisions.page',
    [{ tenant: TENANT, limit: 9, audience: 'v:1', traceId: 't' }],
    /decisions_by_trace \(tenant=\? AND trace_id=\? AND sequence>\? AND sequence<\?\)/,
  ],
  [
    'decisions.page',
    [{ tenant: TENANT, limit: 9, operation: 'x' }],
    /sequence>\? AND sequence<\?|rowid>\? AND rowid<\?/,
  ],
  ['approvals.page', [{ tenant: TENANT, limit: 9, state: 'pending', now: 1 }, null], /approvals_waiting \(tenant=\?/],
  [
    'approvals.page',
    [{ tenant: TENANT, limit: 9, state: 'denied', now: 1 }, null],
    /rowid>\? AND rowid<\?|sequence>\?/,
  ],
  ['approvals.pending', [{ tenant: TENANT, limit: 9, now: 1 }], /approvals_by_expiry \(tenant=\? AND expires_at>\?\)/],
  ['approvals.endExpired', [1], /approvals_by_end \(<expr><\?\)/],
  ['approvals.waiting', [1], /INDEX approvals_/],
  ['approvals.remind', [1, 2], /approvals_not_ended \(expires_at<\?\)/],
  ['receipts.state', ['dec_1'], /INDEX \S+ \(decision_id=\?\)/],
]

test('SQLite: an index leads to what a decision looks up, and to what a page shows', async (t) => {
  const { file } = await largeSqlite(t)
  const database = await openConnection(file)
  t.after(() => database.close())
  const sql = createStatements(database)
  for (const [name, values, plan] of LOOK_UPS) {
    const texts = new Set<string>()
    const note = (text: string): string => {
      texts.add(text)
      return text
    }
    const given: never[] = []
    database.exec('BEGIN')
    const noting: Sql = {
      ...sql,
      get: (text, ...bound) => sql.get(note(text), ...bound),
      all: (text, ...bound) => sql.all(note(text), ...bound),
      run: (text, ...bound) => sql.run(note(text), ...bound),
    }
    await OPERATION_BY_NAME.get(name)?.run(noting, ...Object.assign(given, values))
    // The newest row of a table is found without a condition.
    const plans = [...texts]
      .filter((text) => text.includes('WHERE'))
      .flatMap((text) => database.prepare(`EXPLAIN QUERY PLAN ${text}`).all())
      .map(({ detail }) => String(detail))
    database.exec('ROLLBACK')
    assert.match(plans.join('\n'), plan, `${name} ${JSON.stringify(values)}`)
    for (const one of plans)
      assert.doesNotMatch(one, /^SCAN (?:d|a|decisions|approvals)\b(?! USING INDEX approvals_)/, `${name}: ${one}`)
  }
})
