/** `preflight store copy`: a ledger moves to PostgreSQL and back, entry by entry, and gateways go on from it. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { openKeyRing, type KeyRing } from '../../../gateway/keys/key-ring.ts'
import { checkpointFile, startCheckpoints } from '../../../gateway/store/checkpoints.ts'
import { continuityProblem } from '../../../gateway/store/opening/continuity.ts'
import { COPIED, NOT_COPIED } from '../../../gateway/store/copy/side.ts'
import { openPostgresStore } from '../../../gateway/store/postgres/store.ts'
import { pruneLedger } from '../../../gateway/store/retention.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { fillStore } from '../../fakes/filled-store.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { interception } from '../../fakes/interception.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { postgresOptions } from '../../fakes/stores.ts'
import { until } from '../../fakes/until.ts'
import { sectionOf } from '../../docs/page.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-copy-'))
after(() => rmSync(root, { recursive: true, force: true }))

let count = 0
const place = (): string => join(root, `data-${(count += 1)}`)
const ledgerOf = (data: string): string => join(data, 'ledger.db')
const openFile = (file: string): Promise<Store> => openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })

async function sign(store: Store, keys: KeyRing, data: string): Promise<void> {
  const metrics = createMetrics()
  const logger = createLogger('silent')
  const file = checkpointFile(data)
  await startCheckpoints({ store, keys, file, interval: 3_600_000, metrics, logger, now: Date.now }).close()
}

/** A data directory with keys and a signed ledger that has rows of every kind. */
async function filled(change: (store: Store, keys: KeyRing) => Promise<unknown> = () => Promise.resolve()) {
  const data = place()
  const keys = await openKeyRing(data)
  const store = await openFile(ledgerOf(data))
  await fillStore(store)
  await sign(store, keys, data)
  await change(store, keys)
  const head = (await store.ledger.head()) ?? assert.fail()
  await store.close()
  return { data, keys, head }
}

async function assertWhole(store: Store): Promise<void> {
  assert.equal(await store.ledger.verifyChain(), null)
  assert.deepEqual((await store.ledger.inspect()).faults, [])
}

const copy = (from: string, to: string) => run(['store', 'copy', '--from', from, '--to', to])

async function joined(t: TestContext, url: string): Promise<Store> {
  const store = await openPostgresStore(postgresOptions(url))
  t.after(() => store.close().catch(() => {}))
  return store
}

suite('preflight store copy', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  test('copies every table, or says why not', async () => {
    const { data } = await filled()
    const database = new DatabaseSync(ledgerOf(data))
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all()
    database.close()
    assert.deepEqual(
      tables.map(({ name }) => String(name)).toSorted(),
      [...COPIED.map(({ name }) => name), ...NOT_COPIED].toSorted(),
    )
  })

  test('moves a ledger to PostgreSQL with its chain, and gateways go on from it', async (t) => {
    const { data, keys, head } = await filled()
    const url = await server.database()
    const { code, stdout, stderr } = await copy(`sqlite:${ledgerOf(data)}`, url)
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`chain ${head.chain}: ${head.sequence} entries, head ${head.hash}`))
    assert.match(stdout, /copied \d+ rows from sqlite .* to postgres .*; both are intact/)
    const [one, two] = [await joined(t, url), await joined(t, url)]
    assert.equal(await one.receipts.state('dec_b'), 'consumed')
    assert.equal(await one.receipts.state('dec_c'), 'revoked')
    assert.equal(await one.receipts.consume(['dec_b'], 9), false, 'what is consumed stays consumed')
    // The checkpoint beside the keys is about an entry of the chain that was copied.
    assert.equal(await continuityProblem({ data_dir: data, store: { url } }, one, keys), null)
    await one.decisions.record(decisionRow({ decisionId: 'next', supersessionKey: 'd' }))
    await two.calls.record(interception('next'))
    await two.approvals.open({ ...(await approvalOf(one)), approvalId: 'apr_2', key: 'k2' })
    assert.equal(await one.receipts.state('dec_d'), 'superseded', 'the scopes of the file go on')
    assert.equal((await one.calls.list({ tenant: 'local', limit: 10 })).rows[0]?.correlationId, 'next')
    await assertWhole(one)
  })

  test('and back, with the chains of all gateways', async (t) => {
    const { data, head } = await filled()
    const url = await server.database()
    assert.equal((await copy(`sqlite:${ledgerOf(data)}`, url)).code, 0)
    const stores = [await joined(t, url), await joined(t, url)]
    const own = place()
    const keys = await openKeyRing(own)
    for (const [n, store] of stores.entries()) {
      await store.decisions.record(decisionRow({ decisionId: `shared_${n}`, supersessionKey: 'shared' }))
      await store.calls.record(interception(`shared_${n}`))
      await store.receipts.revoke('local', n === 0 ? 'dec_d' : 'shared_0', 'leaked', 'v:1', 9)
    }
    const heads = await Promise.all(stores.map((store) => store.ledger.head()))
    const first = stores[0] ?? assert.fail()
    await sign(first, keys, own)
    await Promise.all(stores.map((store) => store.close()))
    const file = ledgerOf(own)
    const { code, stdout, stderr } = await copy(url, `file:${file}`)
    assert.equal(code, 0, stderr)
    for (const { chain, hash } of [head, heads[1] ?? assert.fail()])
      assert.match(stdout, new RegExp(`${chain}: .*${hash}`))
    assert.deepEqual(
      readdirSync(own).filter((name) => name.includes('copying')),
      [],
    )
    const back = await openFile(file)
    assert.equal(await continuityProblem({ data_dir: own, store: {} }, back, keys), null)
    assert.equal(await back.receipts.state('shared_0'), 'revoked')
    for (const id of ['x', 'y']) await back.decisions.record(decisionRow({ decisionId: id, supersessionKey: 'shared' }))
    for (const id of ['x', 'y']) await back.calls.record(interception(id))
    assert.equal(await back.receipts.state('shared_1'), 'superseded')
    await assertWhole(back)
    // And once more to PostgreSQL, with one more chain; then it is pruned.
    await sign(back, keys, own)
    await pruneLedger(Date.now(), { store: back, signer: () => keys.signer(), now: Date.now })
    await assertWhole(back)
    await back.close()
    const again = await server.database()
    const third = await copy(`sqlite:${file}`, again)
    assert.equal(third.code, 0, third.stderr)
    const last = await joined(t, again)
    await last.decisions.record(decisionRow({ decisionId: 'z', supersessionKey: 'shared' }))
    await assertWhole(last)
  })

  test('moves a pruned ledger, and what was removed stays removed', async (t) => {
    const { data } = await filled(async (store, keys) => {
      await pruneLedger(Date.now(), { store, signer: () => keys.signer(), now: Date.now })
    })
    const url = await server.database()
    const { code, stderr } = await copy(`sqlite:${ledgerOf(data)}`, url)
    assert.equal(code, 0, stderr)
    const store = await joined(t, url)
    await store.decisions.record(decisionRow({ decisionId: 'next' }))
    await assertWhole(store)
  })

  test('refuses a ledger that is not intact, and leaves nothing behind', async () => {
    const { data } = await filled()
    const database = new DatabaseSync(ledgerOf(data))
    database.exec("DROP TRIGGER decisions_are_final; UPDATE decisions SET decision = 'BLOCK' WHERE sequence = 2")
    database.close()
    const url = await server.database()
    const { code, stderr } = await copy(`sqlite:${ledgerOf(data)}`, url)
    assert.equal(code, 1)
    assert.match(stderr, /row 2.*was changed.*Nothing was copied/s)
    const tables = await server.sql('SELECT count(*)::int AS n FROM ledger_chains', new URL(url).pathname.slice(1))
    assert.equal(tables[0]?.['n'], 0)
  })

  test('refuses a target that has rows, a store in use, and places that are no store', async (t) => {
    const { data } = await filled()
    const from = `sqlite:${ledgerOf(data)}`
    const used = await server.database()
    const member = await joined(t, used)
    const busy = await copy(from, used)
    assert.equal(busy.code, 2)
    assert.match(busy.stderr, /Gateways use postgres .* now .*stop them first/)
    await member.close()
    const taken = await copy(from, used)
    assert.equal(taken.code, 2)
    assert.match(taken.stderr, /is not empty.*createdb/)
    assert.match((await copy(used, from)).stderr, /exists already/)
    const gateway = await startTestGateway(t)
    const served = await copy(`sqlite:${ledgerOf(gateway.dataDir)}`, await server.database())
    assert.equal(served.code, 2)
    assert.match(served.stderr, /Another gateway serves/)
    assert.match((await copy(from, `file:${join(root, 'other.db')}`)).stderr, /ledger backup/)
    assert.match((await copy(`sqlite:${join(root, 'none.db')}`, used)).stderr, /no store at/)
    assert.match((await copy('mysql://x', used)).stderr, /sqlite:FILE/)
    assert.match((await run(['store', 'copy'])).stderr, /give --from or --to/)
    assert.equal(existsSync(join(root, 'other.db')), false)
  })

  test('the task of docs/operations.md makes many gateways of one, with its receipts and keys', async (t) => {
    const commands = sectionOf('../operations.md', 'from-one-gateway-to-many')
      .split('\n')
      .flatMap((line) => /^\s*\$ preflight (.*)$/.exec(line)?.[1] ?? [])
    assert.deepEqual(commands, ['store copy --from sqlite:/var/lib/preflight/ledger.db'])
    const data = place()
    const single = await startTestGateway(t, { data_dir: data })
    const receipt = await receiptOf(single, 'one')
    await single.close()
    const url = await server.database()
    const environment = { PREFLIGHT_STORE_URL: url, PREFLIGHT_DATA_DIR: data }
    for (const command of [...commands, 'ledger verify']) {
      const { code, stderr } = await run(command.replace('/var/lib/preflight', data).split(' '), { environment })
      assert.equal(code, 0, stderr)
    }
    const store = { url }
    const [one, two] = [await startTestGateway(t, { data_dir: data, store }), await startTestGateway(t, { store })]
    assert.equal(one.keyId, single.keyId)
    await until(
      async () => (await statusOf(two, receipt)) === 'VERIFIED_CURRENT',
      'the keys of the first gateway are known to the other',
    )
    assert.equal(await statusOf(one, receipt), 'VERIFIED_CURRENT')
    assert.equal(await statusOf(two, await receiptOf(one, 'two')), 'VERIFIED_CURRENT')
  })

  test('takes the configured store for the side that is not given', async () => {
    const { data } = await filled()
    const url = await server.database()
    const environment = { PREFLIGHT_STORE_URL: url, PREFLIGHT_DATA_DIR: data }
    const { code, stderr } = await run(['store', 'copy', '--from', `sqlite:${ledgerOf(data)}`], { environment })
    assert.equal(code, 0, stderr)
  })
})

async function approvalOf(store: Store) {
  const found = (await store.approvals.byId('local', 'apr')) ?? assert.fail()
  return { ...found, requester: 'v:2', approvers: [] }
}

async function asked(gateway: TestGateway, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${gateway.addresses.api}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return JSON.parse(await answer.text())
}

async function receiptOf(gateway: TestGateway, target: string): Promise<string> {
  const contract = JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {} })
  const answer = await asked(gateway, '/api/v1/preflight', {
    preflight_mode: 'authorize',
    artifacts: [{ id: 'a', type: 'openapi', before: contract, after: contract }],
    context: { operation: 'merge', target_id: target },
  })
  return String(answer['chain_receipt'])
}

async function statusOf(gateway: TestGateway, receipt: string): Promise<unknown> {
  return (await asked(gateway, '/api/v1/verify-receipt', { token: receipt }))['status']
}
