/** The ledger over time, in one file: what is old is removed and the rest verifies, exports verify without the store, backups restore. */
import assert from 'node:assert/strict'
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, test } from 'node:test'
import { apiKeyRow, mintApiKey } from '../../../gateway/callers/api-keys.ts'
import { backUpStore } from '../../../gateway/cli/ledger-keep.ts'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { checkpointFile, startCheckpoints } from '../../../gateway/store/checkpoints.ts'
import { continuityProblem } from '../../../gateway/store/opening/continuity.ts'
import { pruneLedger, startRetention } from '../../../gateway/store/retention.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { tamper } from '../../fakes/stores.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-pruning-'))
after(() => rmSync(root, { recursive: true, force: true }))

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
const day = (n: number) => START + n * DAY
const logger = createLogger('silent')

let count = 0
interface Ledger {
  readonly data: string
  readonly store: Store
  readonly keys: Awaited<ReturnType<typeof openKeyRing>>
  /** Signs the head, as the gateway does at intervals. */
  readonly sign: () => Promise<void>
}

async function openLedger(): Promise<Ledger> {
  const data = join(root, `data-${(count += 1)}`)
  const keys = await openKeyRing(data)
  const file = join(data, 'ledger.db')
  const store = await openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })
  const sign = async () => {
    const metrics = createMetrics()
    const deps = { store, keys, file: checkpointFile(data), interval: 3_600_000, metrics, logger, now: Date.now }
    await startCheckpoints(deps).close()
  }
  return { data, store, keys, sign }
}

const call = (at: number) =>
  ({
    correlationId: `c-${at}`,
    tenant: 'local',
    decisionId: null,
    route: 'shop',
    protocol: 'http',
    action: 'GET /',
    executionAction: 'CONTINUE',
    enforced: true,
    effect: 'forwarded',
    breakGlassId: null,
    traceId: null,
    violations: null,
    at,
  }) as const

/** Ten days, a decision and a call each; the decision of day 2 is superseded on day 8, that of day 3 revoked on day 9. */
async function tenDays(ledger: Ledger): Promise<void> {
  const { store } = ledger
  const key = apiKeyRow({ key: mintApiKey(), name: 'k', role: 'agent', at: 1 })
  await store.apiKeys.create(key)
  const baseline = { route: 'shop', artifactId: 'shop', type: 'openapi', content: '{}', digest: 'd' } as const
  await store.baselines.set({ ...baseline, source: 'file', setBy: 'x', setAt: 1 }, null)
  for (let n = 0; n < 10; n += 1) {
    const scope = n === 2 || n === 8 ? 'same' : `scope-${n}`
    const times = { evaluatedAt: day(n), expiresAt: day(n) + 3_600_000 }
    await store.decisions.record(decisionRow({ decisionId: `dec_${n}`, supersessionKey: scope, ...times }))
    await store.calls.record(call(day(n)))
  }
  await store.receipts.revoke('local', 'dec_3', 'leaked', 'v:1', day(9))
  await ledger.sign()
}

const prune = (ledger: Ledger, before: number) =>
  pruneLedger(before, { store: ledger.store, signer: () => ledger.keys.signer(), now: () => day(20) })
const ids = async (store: Store) =>
  (await store.decisions.list({ tenant: 'local', limit: 100 })).map(({ decisionId }) => decisionId).toReversed()
const verify = (data: string, ...more: readonly string[]) => run(['ledger', 'verify', '--data-dir', data, ...more])

suite('a pruned ledger', () => {
  test('has what is young enough, and still verifies', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    const { cuts, rows } = await prune(ledger, day(5))
    assert.ok(cuts.length === 1 && rows > 0)
    assert.deepEqual(await ids(ledger.store), ['dec_5', 'dec_6', 'dec_7', 'dec_8', 'dec_9'])
    assert.equal((await ledger.store.calls.list({ tenant: 'local', limit: 100 })).rows.length, 5)
    assert.equal(await ledger.store.ledger.verifyChain(), null)
    assert.equal(await continuityProblem({ data_dir: ledger.data, store: {} }, ledger.store, ledger.keys), null)
    await ledger.store.close()
    const { code, stdout, stderr } = await verify(ledger.data)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /pruned: the ledger begins at entry \d+, decision 6, call 6/)
  })

  test('goes on: decisions follow, and it is pruned again', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    await prune(ledger, day(4))
    await ledger.store.decisions.record(
      decisionRow({ decisionId: 'dec_new', evaluatedAt: day(11), expiresAt: day(12) }),
    )
    await ledger.store.calls.record(call(day(11)))
    await ledger.sign()
    await prune(ledger, day(9))
    assert.deepEqual(await ids(ledger.store), ['dec_9', 'dec_new'])
    assert.notEqual(await ledger.store.baselines.byRoute('shop', 'shop'), null, 'rows that last are kept')
    await ledger.store.close()
    const { code, stderr } = await verify(ledger.data)
    assert.equal(code, 0, stderr)
  })

  test('keeps receipts that are valid, the newest decision, and entries after the newest checkpoint', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    await pruneLedger(day(100), {
      store: ledger.store,
      signer: () => ledger.keys.signer(),
      now: () => day(6) + 1,
    })
    assert.equal((await ids(ledger.store))[0], 'dec_6')
    await prune(ledger, day(100))
    assert.deepEqual(await ids(ledger.store), ['dec_9'])
    await ledger.store.close()
    assert.equal((await verify(ledger.data)).code, 0)
  })

  test('is whole too while rows behind the cut are still being removed', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    const { store, keys } = ledger
    let left = 2
    const interrupted = {
      ...store.ledger,
      removeBehindCuts: async () => ((left -= 1) > 0 ? store.ledger.removeBehindCuts(1) : 0),
    }
    await pruneLedger(day(5), { store: { ledger: interrupted }, signer: () => keys.signer(), now: () => day(20) })
    const during = await verify(ledger.data)
    assert.equal(during.code, 0, during.stderr)
    await prune(ledger, day(5))
    assert.deepEqual((await ids(store))[0], 'dec_5')
    await store.close()
    assert.equal((await verify(ledger.data)).code, 0)
  })

  const ATTACKS: Readonly<Record<string, string>> = {
    'a decision removed': "DELETE FROM decisions WHERE decision_id = 'dec_5'",
    'a decision changed': "UPDATE decisions SET decision = 'BLOCK' WHERE decision_id = 'dec_7'",
    'the event of a kept decision removed': "DELETE FROM receipt_events WHERE decision_id = 'dec_9'",
    'the cut moved': 'UPDATE ledger_cuts SET decision = decision + 1',
    'the cut moved with its rows':
      'UPDATE ledger_cuts SET decision = decision + 1; DELETE FROM decisions WHERE sequence = (SELECT min(sequence) FROM decisions)',
    'the cut removed': 'DELETE FROM ledger_cuts',
    'another hash in the cut': "UPDATE ledger_cuts SET hash = 'sha256:00'",
    'the entry of the cut removed': "DELETE FROM ledger_journal WHERE kind = 'pruned'",
    'a baseline changed': "UPDATE baselines SET content = '[]'",
    'a key removed': 'DELETE FROM api_keys',
    'the first kept entry removed':
      'DELETE FROM ledger_journal WHERE sequence = (SELECT min(sequence) FROM ledger_journal)',
    'a call removed': 'DELETE FROM interceptions WHERE sequence = (SELECT max(sequence) FROM interceptions)',
  }
  for (const [name, statements] of Object.entries(ATTACKS))
    test(`does not hide ${name}`, async () => {
      const ledger = await openLedger()
      await tenDays(ledger)
      await ledger.store.receipts.revoke('local', 'dec_9', 'leaked', 'v:1', day(9))
      await prune(ledger, day(5))
      await ledger.store.close()
      tamper(ledger.data, statements)
      const { code, stderr } = await verify(ledger.data)
      assert.equal(code, 1)
      assert.match(stderr, /not intact/)
    })

  test('does not let rows go that are not behind a cut', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    await prune(ledger, day(5))
    await ledger.store.close()
    const other = new DatabaseSync(join(ledger.data, 'ledger.db'))
    assert.throws(() => other.exec('DELETE FROM decisions'), /append-only/)
    assert.throws(() => other.exec('DELETE FROM ledger_journal'), /append-only/)
    other.close()
  })

  test('proves the checkpoints that were kept elsewhere, also those from before the cut', async () => {
    const ledger = await openLedger()
    await ledger.store.decisions.record(decisionRow({ decisionId: 'dec_first', evaluatedAt: START, expiresAt: START }))
    await ledger.sign()
    const early = readFileSync(checkpointFile(ledger.data), 'utf8').trim()
    await tenDays(ledger)
    const late = readFileSync(checkpointFile(ledger.data), 'utf8').trim()
    await prune(ledger, day(5))
    await ledger.store.close()
    const { code, stderr } = await verify(ledger.data, '--checkpoint', early, '--checkpoint', late)
    assert.equal(code, 0, stderr)
  })
})

suite('ledger.retention', () => {
  test('removes what is older than its age', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    const retention = startRetention({
      store: ledger.store,
      signer: () => ledger.keys.signer(),
      settings: () => ({ age: 3, interval: 3600 }),
      metrics: createMetrics(),
      logger,
      now: () => day(10),
    })
    await retention.run()
    await retention.close()
    assert.deepEqual(await ids(ledger.store), ['dec_7', 'dec_8', 'dec_9'])
    await ledger.store.close()
  })

  test('removes keys of sign-ins a month after their end, once a day, and the ledger verifies', async () => {
    const ledger = await openLedger()
    const { store } = ledger
    const signIn = async (end: number) => {
      const terms = { owner: 'oidc:corp:ana', expiresAt: end }
      const row = apiKeyRow({ key: mintApiKey(), name: 'Ana', role: 'approver', at: START, ...terms })
      await store.apiKeys.create(row)
    }
    for (const end of [1, 2, 12]) await signIn(day(end))
    await ledger.sign()
    let now = day(40)
    const clock = () => now
    const metrics = createMetrics()
    const deps = { store, signer: () => ledger.keys.signer(), settings: () => ({ interval: 3600 }), metrics, logger }
    const retention = startRetention({ ...deps, now: clock })
    const left = async (at: number) => {
      now = at
      await retention.run()
      return (await store.apiKeys.list()).length
    }
    assert.deepEqual([await left(day(40)), await left(day(40.9)), await left(day(43))], [1, 1, 0])
    await retention.close()
    await pruneLedger(day(44), { store, signer: () => ledger.keys.signer(), now: () => day(44) })
    await store.close()
    assert.equal((await verify(ledger.data)).code, 0)
  })

  test('a sign-in key that another program removes is found', async () => {
    const ledger = await openLedger()
    const terms = { owner: 'oidc:corp:ana', expiresAt: day(1) }
    await ledger.store.apiKeys.create(apiKeyRow({ key: mintApiKey(), name: 'Ana', role: 'viewer', at: 1, ...terms }))
    await ledger.sign()
    await ledger.store.close()
    tamper(ledger.data, 'DELETE FROM api_keys; DELETE FROM api_key_terms')
    const { code, stderr } = await verify(ledger.data)
    assert.equal(code, 1)
    assert.match(stderr, /The api key [0-9a-f]{64} is missing/)
  })

  test('counts only what can go: entries of rows that stay do not use up its bound', async (t) => {
    const { data, store, keys, sign } = await openLedger()
    t.after(() => store.close())
    for (let n = 0; n < 5; n += 1) {
      const row = apiKeyRow({ key: mintApiKey(), name: `key ${n}`, role: 'viewer', at: START })
      await store.apiKeys.create(row)
    }
    for (let n = 0; n < 5; n += 1)
      await store.decisions.record(
        decisionRow({ decisionId: `dec_${n}`, supersessionKey: `${n}`, evaluatedAt: day(n), expiresAt: day(n) }),
      )
    await sign()
    const [cut] = await store.ledger.proposeCuts({ before: day(9), now: day(9), entries: 2 })
    assert.deepEqual([cut?.decision, cut?.entries], [2, 2])
    const deps = { store, signer: () => keys.signer(), now: () => day(9) }
    const pruned = await pruneLedger(day(9), deps, 3)
    assert.ok(pruned.cuts.length > 0 && pruned.rows > 0)
    assert.equal((await verify(data)).code, 0)
  })

  test('keeps the store under its size, and the space is used again', async () => {
    const ledger = await openLedger()
    const envelope = JSON.stringify({ text: 'x'.repeat(20_000) })
    const record = (n: number) =>
      ledger.store.decisions.record(
        decisionRow({ decisionId: `dec_${n}`, supersessionKey: `${n}`, envelope, evaluatedAt: n, expiresAt: n }),
      )
    await Promise.all(Array.from({ length: 3000 }, (_, n) => record(n)))
    await ledger.sign()
    const size = 16 * 1024 * 1024
    const used = await ledger.store.ledger.usedBytes()
    assert.ok(used > size)
    const metrics = createMetrics()
    const signer = () => ledger.keys.signer()
    const settings = () => ({ size, interval: 3600 })
    const retention = startRetention({ store: ledger.store, signer, settings, metrics, logger, now: Date.now })
    await retention.run()
    await retention.close()
    const left = await ledger.store.ledger.usedBytes()
    assert.ok(left < size && left > size / 2, `${left} bytes are used`)
    assert.match(await metrics.text(), /preflight_ledger_bytes [1-9]/)
    await ledger.store.close()
    assert.equal((await verify(ledger.data)).code, 0)
  })
})

suite('the command line', () => {
  test('prunes next to a gateway, and says what it did', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    const nothing = await run(['ledger', 'prune', '--before', '2025-01-01', '--data-dir', ledger.data])
    assert.match(nothing.stdout, /Nothing is old enough/)
    const done = await run(['ledger', 'prune', '--before', '2026-01-06', '--data-dir', ledger.data])
    assert.match(done.stdout, /removed \d+ rows; the ledger begins at entry \d+/)
    assert.deepEqual((await ids(ledger.store))[0], 'dec_5')
    await ledger.store.close()
    assert.equal((await run(['ledger', 'prune', '--before', 'soon', '--data-dir', ledger.data])).code, 2)
  })

  test('signs the head on demand, and shows a decision', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    await ledger.store.close()
    const { stdout } = await run(['ledger', 'checkpoint', '--data-dir', ledger.data])
    assert.equal((await verify(ledger.data, '--checkpoint', stdout.trim())).code, 0)
    const shown = await run(['ledger', 'show', 'dec_3', '--data-dir', ledger.data])
    assert.equal(JSON.parse(shown.stdout).receiptState, 'revoked')
    assert.equal((await run(['ledger', 'show', 'dec_none', '--data-dir', ledger.data])).code, 1)
  })
})

async function exported(change: (ledger: Ledger) => Promise<unknown> = () => Promise.resolve()) {
  const ledger = await openLedger()
  await tenDays(ledger)
  await change(ledger)
  const jwks = join(ledger.data, 'jwks.json')
  writeFileSync(jwks, JSON.stringify(ledger.keys.published()))
  await ledger.store.close()
  const file = join(ledger.data, 'export.ndjson')
  const { code, stderr } = await run(['ledger', 'export', '--output', file, '--data-dir', ledger.data])
  assert.equal(code, 0, stderr)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const check = (text: readonly string[]) => {
    writeFileSync(file, `${text.join('\n')}\n`)
    return run(['ledger', 'verify', '--export', file, '--keys', jwks])
  }
  return { lines, check }
}

const change = (text: string, from: string, to: string): string => text.replace(from, to)

suite('an export', () => {
  test('verifies without the store', async () => {
    const { lines, check } = await exported()
    const { code, stdout, stderr } = await check(lines)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /\d+ entries, 10 decisions, 10 calls; signed up to entry [1-9]/)
  })

  test('of a pruned ledger verifies too', async () => {
    const { lines, check } = await exported((ledger) => prune(ledger, day(5)))
    const { code, stdout, stderr } = await check(lines)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /5 decisions, 5 calls/)
  })

  const ATTACKS: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
    'a changed decision': (lines) => lines.map((text) => change(text, '"ALLOW"', '"BLOCK"')),
    'a changed envelope': (lines) => lines.map((text) => change(text, '\\"ALLOW\\"', '\\"WARN\\"')),
    'a changed call': (lines) => lines.map((text) => change(text, '"GET /"', '"PUT /"')),
    'a changed baseline': (lines) => lines.map((text) => change(text, '"{}"', '"[]"')),
    'a removed line': (lines) => lines.toSpliced(5, 1),
    'lines in another order': (lines) => [...lines.slice(0, 4), lines[5] ?? '', lines[4] ?? '', ...lines.slice(6)],
    'a cut end': (lines) => lines.slice(0, -4),
    'an end that says less': (lines) => [...lines.slice(0, -4), '{"line":"end","entries":5}'],
    'no checkpoints': (lines) => lines.filter((text) => !text.startsWith('{"line":"checkpoint"')),
    'a line of something else': (lines) => [...lines.slice(0, 3), 'not json', ...lines.slice(3)],
    'another beginning': (lines) => lines.slice(1),
    'nothing at all': () => [''],
  }
  for (const [name, attack] of Object.entries(ATTACKS))
    test(`with ${name} does not verify`, async () => {
      const { lines, check } = await exported()
      const { code, stderr } = await check(attack(lines))
      assert.equal(code, 1)
      assert.match(stderr, /not intact/)
    })
})

suite('a backup', () => {
  test('is made while the store is written to, and a restored one starts where the checkpoint was signed', async () => {
    const ledger = await openLedger()
    await tenDays(ledger)
    const backup = join(ledger.data, 'copy.db')
    await ledger.sign()
    const made = await run(['ledger', 'backup', backup, '--data-dir', ledger.data])
    assert.equal(made.code, 0, made.stderr)
    for (const file of [backup, `${backup}.checkpoint.jwt`])
      assert.equal(statSync(file).mode & 0o777, 0o600, 'for this user only')
    // The gateway goes on, and signs what the copy does not have.
    await ledger.store.calls.record(call(day(11)))
    await ledger.sign()
    const restored = join(root, `data-${(count += 1)}`)
    cpSync(join(ledger.data, 'receipt-keys.json'), join(restored, 'receipt-keys.json'))
    copyFileSync(backup, join(restored, 'ledger.db'))
    copyFileSync(checkpointFile(ledger.data), checkpointFile(restored))
    assert.match((await verify(restored)).stderr, /its end was cut off, or it is an older copy/)
    copyFileSync(`${backup}.checkpoint.jwt`, checkpointFile(restored))
    const { code, stderr } = await verify(restored)
    assert.equal(code, 0, stderr)
    assert.equal((await run(['ledger', 'backup', backup, '--data-dir', ledger.data])).code, 2, 'no file is overwritten')
    await ledger.store.close()
  })

  test('of which nothing was signed has no checkpoint file, and a copy that fails leaves no file', async () => {
    const ledger = await openLedger()
    await ledger.store.calls.record(call(day(1)))
    const backup = join(ledger.data, 'copy.db')
    assert.equal((await run(['ledger', 'backup', backup, '--data-dir', ledger.data])).stdout, `wrote ${backup}\n`)
    await assert.rejects(backUpStore({ backUp: () => Promise.reject(new Error('full')) }, `${backup}.2`), /full/)
    assert.equal(existsSync(`${backup}.2`), false)
    await ledger.store.close()
  })
})

test('a checkpoint that a command signed is also in the file, so that a start after a crash finds it there', async () => {
  const ledger = await openLedger()
  await tenDays(ledger)
  await ledger.sign()
  await ledger.store.calls.record(call(day(11)))
  assert.equal((await run(['ledger', 'checkpoint', '--data-dir', ledger.data])).code, 0)
  const config = { data_dir: ledger.data, store: {} }
  assert.equal(await continuityProblem(config, ledger.store, ledger.keys), null)
  await ledger.store.close()
})
