/** The ledger in other hands: whatever is changed, removed, added or put in its place shows, and a start does not go over it. */
import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { checkpointFile, startCheckpoints } from '../../../gateway/store/checkpoints.ts'
import { startGateway } from '../../../gateway/main.ts'
import { MIGRATIONS } from '../../../gateway/store/sqlite/migrations.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'
import { fillStore } from '../../fakes/filled-store.ts'
import { tamper } from '../../fakes/stores.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-integrity-'))
after(() => rmSync(root, { recursive: true, force: true }))

let count = 0
function place(): string {
  count += 1
  return join(root, `data-${count}`)
}

const open = (data: string): Promise<Store> =>
  openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })

/** A filled ledger with its keys and one checkpoint, closed. */
async function written(): Promise<string> {
  template ??= fillNew()
  const data = place()
  cpSync(await template, data, { recursive: true })
  return data
}

let template: Promise<string> | null = null

async function fillNew(): Promise<string> {
  const data = place()
  const store = await open(data)
  await fillStore(store)
  const keys = await openKeyRing(data)
  const deps = { store, keys, metrics: createMetrics(), logger: createLogger('silent'), now: Date.now }
  await startCheckpoints({ ...deps, file: checkpointFile(data), interval: 3_600_000 }).close()
  await store.close()
  return data
}

const verify = (data: string, ...more: readonly string[]) => run(['ledger', 'verify', '--data-dir', data, ...more])

const DECISION_COLUMNS =
  'sequence, decision_id, tenant, route, decision, execution_action, operation, environment, repository, fingerprint, ' +
  'input_fingerprint, evaluated_at, expires_at, supersession_key, envelope, response, idempotency_key, body_digest, ' +
  'previous_hash, hash, status_list, status_index, chain, trace_id'

/** Table → a copy of one of its rows under another key. */
const COPIES: Readonly<Record<string, string>> = {
  decisions: copyOf('decisions', "decision_id = 'zz', sequence = 900"),
  receipt_events: copyOf('receipt_events', "decision_id = 'dec_d'"),
  interceptions: copyOf('interceptions', 'sequence = 900'),
  approvals: copyOf('approvals', "approval_id = 'zz', sequence = 900"),
  approval_requesters: copyOf('approval_requesters', "audience = 'zz'"),
  baselines: copyOf('baselines', "route = 'zz'"),
  api_keys: copyOf('api_keys', "hash = 'zz'"),
  break_glass: copyOf('break_glass', "id = 'zz'"),
  bindings: copyOf('bindings', "tenant = 'zz'"),
}

/** Columns that are computed cannot be written. */
function copyOf(table: string, change: string): string {
  const drop = table === 'decisions' ? 'ALTER TABLE extra DROP COLUMN audience;' : ''
  const columns = table === 'decisions' ? `(${DECISION_COLUMNS})` : ''
  return `CREATE TEMP TABLE extra AS SELECT * FROM ${table} LIMIT 1; ${drop}
    UPDATE extra SET ${change}; INSERT INTO ${table} ${columns} SELECT * FROM extra`
}

suite('preflight ledger verify', () => {
  test('a ledger that nobody touched is whole, also while a gateway writes to it', async () => {
    const data = await written()
    const { code, stdout, stderr } = await verify(data)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /1 checkpoint\n.*intact/s)
  })

  const TABLES: readonly (readonly [table: string, change: string, copy: string])[] = [
    ['decisions', "decision = 'ALLOW', expires_at = 0", 'decision_id'],
    ['receipt_events', 'at = 77', 'state'],
    ['interceptions', "effect = 'stopped'", 'sequence'],
    ['approvals', "settled_comment = 'other'", 'approval_id'],
    ['approval_requesters', "audience = 'v:9'", 'audience'],
    ['baselines', "content = '[]'", 'route'],
    ['api_keys', "role = 'admin', revoked_at = NULL", 'hash'],
    ['break_glass', 'closed_at = NULL, closed_by = NULL', 'id'],
    ['bindings', "proven_by = 'v:7'", 'tenant'],
    ['supersession_heads', "decision_id = 'dec_a'", 'supersession_key'],
  ]
  for (const [table, change, key] of TABLES) {
    const lastRow = `SELECT max(${key}) FROM ${table}`
    const attacks: Readonly<Record<string, string>> = {
      changed: `UPDATE ${table} SET ${change}`,
      'the last row removed': `DELETE FROM ${table} WHERE ${key} = (${lastRow})`,
      'all rows removed': `DELETE FROM ${table}`,
      ...(table !== 'supersession_heads' && {
        'a row added': COPIES[table] ?? '',
      }),
    }
    for (const [what, statements] of Object.entries(attacks))
      test(`${table}: ${what} is found`, async () => {
        const data = await written()
        tamper(data, statements)
        const { code, stderr } = await verify(data)
        assert.equal(code, 1)
        assert.match(stderr, /The ledger is not intact\.\n$/)
      })
  }

  test('a receipt that was moved to another place of a status list is found', async () => {
    const data = await written()
    tamper(data, "UPDATE decisions SET status_list = 'other', status_index = 7 WHERE decision_id = 'dec_c'")
    const { code, stderr } = await verify(data)
    assert.equal(code, 1)
    assert.match(stderr, /row 3/)
  })

  const JOURNAL: Readonly<Record<string, string>> = {
    'an entry changed': "UPDATE ledger_journal SET digest = 'x' WHERE sequence = 3",
    'an entry removed': 'DELETE FROM ledger_journal WHERE sequence = 3',
    'the end of the journal cut off': 'DELETE FROM ledger_journal WHERE sequence > 4',
    'all entries removed': 'DELETE FROM ledger_journal',
    'the chain removed': 'DELETE FROM ledger_chains',
    'a checkpoint changed': 'UPDATE ledger_checkpoints SET sequence = 1',
    'a checkpoint forged': "UPDATE ledger_checkpoints SET token = 'a.b.c'",
  }
  for (const [what, statements] of Object.entries(JOURNAL))
    test(`${what} is found`, async () => {
      const data = await written()
      tamper(data, statements)
      assert.equal((await verify(data)).code, 1)
    })

  test('a ledger that was taken back to an earlier state is found by its checkpoint, wherever that was kept', async () => {
    const data = place()
    const store = await open(data)
    await store.decisions.record(decisionRow({ decisionId: 'dec_0' }))
    await store.close()
    copyFileSync(join(data, 'ledger.db'), join(data, 'old.db'))
    const later = await open(data)
    await later.receipts.consume(['dec_0'], 1)
    const keys = await openKeyRing(data)
    const log: string[] = []
    const logger = createLogger('info', { write: (line) => void log.push(line) })
    const metrics = createMetrics()
    const deps = { store: later, keys, metrics, logger, now: Date.now }
    await startCheckpoints({ ...deps, file: checkpointFile(data), interval: 3_600_000 }).close()
    await later.close()
    copyFileSync(join(data, 'old.db'), join(data, 'ledger.db'))
    assert.equal((await verify(data)).code, 1)
    rmSync(checkpointFile(data))
    assert.equal((await verify(data)).code, 0, 'nothing is left that knows better')
    writeFileSync(join(data, 'gateway.log'), log.join(''))
    const { code, stderr } = await verify(data, '--checkpoint', join(data, 'gateway.log'))
    assert.equal(code, 1)
    assert.match(stderr, /does not contain entry 3/)
    assert.match(await metrics.text(), /preflight_ledger_checkpoint_sequence 3\n/)
  })

  test('JSON says the same', async () => {
    const data = await written()
    const whole: { whole: boolean; chains: { entries: number }[] } = JSON.parse(
      (await verify(data, '--format', 'json')).stdout,
    )
    assert.equal(whole.whole, true)
    assert.ok((whole.chains[0]?.entries ?? 0) > 15)
  })
})

test('a ledger of a version without a chain is taken over with all that is in it', async () => {
  const data = await written()
  const file = join(data, 'ledger.db')
  const old = new DatabaseSync(file)
  const version = MIGRATIONS.findIndex((text) => text.includes('ledger_chains'))
  old.exec(`DROP TABLE ledger_chains; DROP TABLE ledger_journal; DROP TABLE ledger_checkpoints; DROP TABLE signups;
    DROP INDEX decisions_by_audience; ALTER TABLE decisions DROP COLUMN audience; DROP TABLE status_lists;
    DROP TRIGGER IF EXISTS decisions_stay; DROP TABLE ledger_cuts;
    DROP TABLE IF EXISTS api_key_terms; DROP TABLE IF EXISTS api_key_uses;
    DROP TABLE notices; DROP TABLE deliveries; DROP TABLE approval_steps; DROP TABLE receipt_keys; DROP TABLE IF EXISTS fleet_members;
    DROP TABLE acts; DROP TABLE latest_time; DROP INDEX api_keys_by_audience;
    DROP INDEX approvals_by_end; DROP INDEX approvals_waiting; DROP INDEX approvals_by_expiry;
    DROP TABLE approval_delegations; DROP TABLE webhook_deliveries; DROP TABLE merge_checks;
    DROP INDEX decisions_by_time; DROP INDEX decisions_by_decision; DROP INDEX decisions_by_repository;
    DROP INDEX decisions_by_trace; ALTER TABLE decisions DROP COLUMN trace_id;
    DROP INDEX interceptions_by_trace; ALTER TABLE interceptions DROP COLUMN trace_id;
    ALTER TABLE interceptions DROP COLUMN trace_is_sampled;
    ALTER TABLE approvals DROP COLUMN opened_in; ALTER TABLE approvals DROP COLUMN settled_in;
    DROP INDEX decisions_by_status; ALTER TABLE decisions DROP COLUMN status_list;
    ALTER TABLE decisions DROP COLUMN status_index; DROP INDEX decisions_by_chain;
    ALTER TABLE decisions DROP COLUMN chain; ALTER TABLE interceptions DROP COLUMN chain;
    PRAGMA user_version = ${version}`)
  old.close()
  rmSync(checkpointFile(data))
  const { code, stderr } = await verify(data)
  assert.equal(code, 0, stderr)
  tamper(data, 'DELETE FROM receipt_events')
  assert.equal((await verify(data)).code, 1)
})

const start = (data: string) =>
  startGateway(
    { value: { listen: FREE_PORTS, data_dir: data }, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } },
    { output: devNull(), logger: createLogger('silent') },
  )
const ledgerOf = (data: string): string => join(data, 'ledger.db')
async function served(): Promise<string> {
  const data = place()
  await (await start(data)).close()
  return data
}
const removeAll = (data: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(ledgerOf(data) + end, { force: true })
}

suite('a start', () => {
  const LOSSES: Readonly<Record<string, (data: string) => Promise<void> | void>> = {
    'a ledger that is gone': removeAll,
    'a ledger without a byte': (data) => {
      removeAll(data)
      writeFileSync(ledgerOf(data), '')
    },
    'a ledger that was cut to nothing': (data) => truncateSync(ledgerOf(data), 0),
    'a new ledger in its place': async (data) => {
      removeAll(data)
      await (await open(data)).close()
    },
    'a ledger without its last entries': (data) =>
      tamper(data, 'DELETE FROM ledger_journal WHERE sequence = (SELECT max(sequence) FROM ledger_journal)'),
    'a ledger without entries': (data) => tamper(data, 'DELETE FROM ledger_journal'),
    'a ledger without a chain': (data) => tamper(data, 'DELETE FROM ledger_chains; DELETE FROM ledger_journal'),
    'a forged checkpoint': (data) => {
      const [head, claims] = readFileSync(checkpointFile(data), 'utf8').split('.')
      writeFileSync(checkpointFile(data), `${head}.${claims}.${'A'.repeat(86)}`)
    },
  }
  for (const [what, lose] of Object.entries(LOSSES))
    test(`${what} stops it, with what to do`, async () => {
      const data = await served()
      await lose(data)
      await assert.rejects(start(data), { name: 'StartupError', message: /preflight ledger accept --reason/ })
      await assert.rejects(start(data), { name: 'StartupError' }, 'trying again changes nothing')
    })

  test('a ledger that a person accepted is served again', async () => {
    const data = await served()
    truncateSync(ledgerOf(data), 0)
    assert.equal((await run(['keys', 'create', '--name', 'x', '--data-dir', data])).code, 2)
    await assert.rejects(start(data))
    assert.equal((await run(['ledger', 'accept', '--data-dir', data])).code, 2, 'not without a reason')
    assert.equal((await run(['ledger', 'accept', '--reason', 'disk lost', '--data-dir', data])).code, 0)
    await (await start(data)).close()
    assert.equal((await verify(data)).code, 0)
  })

  test('an untouched ledger is served again, also after its keys were replaced or revoked', async () => {
    const data = await served()
    await (await start(data)).close()
    const keys = await openKeyRing(data)
    const first = keys.signer().keyId
    await keys.rotate(0)
    keys.revoke(first)
    await (await start(data)).close()
    rmSync(join(data, 'receipt-keys.json'))
    await (await start(data)).close()
    assert.equal((await verify(data)).code, 0)
  })
})
