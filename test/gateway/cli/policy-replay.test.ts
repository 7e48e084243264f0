/** Logged decisions made again under another policy: exactly, from what was kept of them, or with a plain word on why not. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { compilePolicy, type CompiledPolicy } from '../../../engine/internal.ts'
import { replay } from '../../../gateway/flow/replay.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'
import { elementsOf } from '../../xml.ts'

const HEAD = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' } }
const BREAKING = { id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }
const LOOKS_BACK = {
  id: 'retried',
  for: 'change_set',
  when: "history.same_input >= 1 || 'billing' in change_set.consumers || context.target_uri == 'https://t'",
  then: 'REQUIRE_APPROVAL',
}
const CONSUMERS = [{ name: 'billing', uses: [{ operation: 'DELETE /pets/{id}' }] }]

function policyOf(pack: object): CompiledPolicy {
  const compiled = compilePolicy({ ...HEAD, rules: [BREAKING], ...pack }, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

async function started(t: TestContext, options: Parameters<typeof startApi>[0] = {}): Promise<ApiFake> {
  const api = await startApi({ policy: policyOf({}), ...options })
  t.after(() => api.close())
  return api
}

const request = (after: string, context: object = { operation: 'merge' }) => ({
  preflight_mode: 'authorize',
  artifacts: [pets(after)],
  context,
})

async function decided(api: ApiFake, after: string, context?: object): Promise<string> {
  const { body } = await api.post('/api/v1/preflight', request(after, context))
  await api.inputs.close()
  return textAt(body, 'decision_result', 'decision_id')
}

/** The pack as a file, so that the command line reads it. */
function packFile(t: TestContext, pack: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-replay-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pack.yaml')
  writeFileSync(file, JSON.stringify({ ...HEAD, rules: [BREAKING], ...pack }))
  return file
}

const cli = (api: ApiFake, ...words: readonly string[]) =>
  run(['policy', 'replay', ...words, '--ledger', '--data-dir', api.directory])

test('under its own policy every decision comes out with the fingerprint that it had', async (t) => {
  const policy = policyOf({ rules: [BREAKING, LOOKS_BACK], waivers: [], levels: { 'endpoint-added': 'dangerous' } })
  const api = await started(t, { policy, config: { consumers: CONSUMERS } })
  const ids = [
    await decided(api, PETS_WITH_POST),
    await decided(api, PETS_WITH_POST),
    await decided(api, PETS_WITHOUT_DELETE, { operation: 'deploy', environment: 'prod', pull_request: 7 }),
    await decided(api, PETS_WITH_POST, { operation: 'publish', target_uri: 'https://t' }),
    await decided(api, '{'),
  ]
  for (const id of ids) {
    const row = await api.store.decisions.byId('local', id)
    assert.ok(row)
    const again = await replay({ ...row, policyHash: policy.hash }, { policy, flow: api.flow, store: api.store })
    assert.ok(again.ok, again.ok ? '' : again.problem)
    assert.equal(again.value.fingerprint, row.fingerprint)
    assert.equal(again.value.decision, row.decision)
    const kept: unknown = JSON.parse(row.envelope)
    if (row.decision !== 'REQUIRE_APPROVAL') assert.deepEqual(again.value.evidence, at(kept, 'evidence'))
    assert.deepEqual(again.value.blocking_reasons, at(kept, 'blocking_reasons'))
  }
})

test('the command line says what would change, and which way', async (t) => {
  const api = await started(t)
  const [blocked, allowed] = [await decided(api, PETS_WITHOUT_DELETE), await decided(api, PETS_WITH_POST)]
  const same = await cli(api, packFile(t, {}))
  assert.equal(same.code, 0, same.stderr)
  assert.match(same.stdout, /p on 2 logged decisions: 2 unchanged, 0 stricter, 0 laxer, 0 could not be replayed/)
  const other = packFile(t, {
    rules: [
      { ...BREAKING, then: 'WARN' },
      { id: 'notable', when: "finding.rule == 'endpoint-added'", then: 'REQUIRE_APPROVAL' },
    ],
  })
  const { code, stdout } = await cli(api, other, '--format', 'json')
  assert.equal(code, 1)
  const view: unknown = JSON.parse(stdout)
  assert.deepEqual(at(view, 'counts'), { decisions: 2, same: 0, stricter: 1, laxer: 1, unknown: 0 })
  assert.deepEqual(
    listAt(view, 'decisions').map((row) => [
      at(row, 'decision_id'),
      at(row, 'was'),
      at(row, 'would'),
      at(row, 'change'),
    ]),
    [
      [allowed, 'ALLOW', 'REQUIRE_APPROVAL', 'stricter'],
      [blocked, 'BLOCK', 'WARN', 'laxer'],
    ],
  )
  assert.match((await cli(api, other)).stdout, new RegExp(`BLOCK +WARN +API_REMOVED_WITHOUT_DEPRECATION +${blocked}`))
  const few = JSON.parse((await cli(api, other, '--format', 'json', '--limit', '1')).stdout)
  assert.equal(listAt(few, 'decisions').length, 1)
  const blocks = JSON.parse((await cli(api, other, '--format', 'json', '--decision', 'BLOCK')).stdout)
  assert.deepEqual(at(blocks, 'counts', 'laxer'), 1)
})

test('the policy of the configuration is replayed when none is named', async (t) => {
  const api = await started(t)
  await decided(api, PETS_WITHOUT_DELETE)
  const { code, stdout } = await cli(api)
  assert.equal(code, 0)
  assert.match(stdout, /^default on 1 logged decision: 1 unchanged/m)
})

test('JUnit names each decision, fails those that change and skips those that cannot be decided', async (t) => {
  const api = await started(t)
  const id = await decided(api, PETS_WITHOUT_DELETE)
  const { stdout } = await cli(api, packFile(t, { rules: [{ ...BREAKING, then: 'WARN' }] }), '--format', 'junit')
  const cases = elementsOf(stdout).filter(({ name }) => name === 'testcase')
  assert.equal(cases.length, 1)
  assert.match(cases[0]?.attributes['name'] ?? '', new RegExp(`^${id} .* merge$`))
  assert.match(stdout, /decision: want BLOCK, got WARN/)
})

test('what was not kept, or is no longer, is said and never guessed', async (t) => {
  const none = await started(t, { config: { ledger: { inputs: 0 } } })
  await decided(none, PETS_WITHOUT_DELETE)
  const unkept = await cli(none, packFile(t, {}))
  assert.equal(unkept.code, 3)
  assert.match(unkept.stdout, /its input was not kept/)

  const little = await started(t, { config: { ledger: { inputs: 10 } } })
  await decided(little, PETS_WITHOUT_DELETE)
  assert.match((await cli(little, packFile(t, {}))).stdout, /is no longer kept/)
  assert.match((await cli(little, packFile(t, {}), '--format', 'junit')).stdout, /<skipped message="the contract of /)
})

test('texts are kept once, and the least recently used give way', async (t) => {
  const api = await started(t)
  await decided(api, PETS_WITHOUT_DELETE)
  await decided(api, PETS_WITH_POST)
  const database = new DatabaseSync(join(api.directory, 'ledger.db'), { readOnly: true })
  t.after(() => database.close())
  const held = () =>
    database
      .prepare('SELECT digest, size FROM kept_contents ORDER BY used_at, digest')
      .all()
      .map(({ digest, size }) => ({ digest, size: Number(size) }))
  const texts = held()
  assert.equal(texts.length, 3)
  const bound = texts.reduce((sum, { size }) => sum + size, 0)
  const packed = new Uint8Array(texts[0]?.size ?? 0)
  await api.store.inputs.keepContent({ digest: 'sha256:new', packed }, Date.now(), bound)
  assert.equal(held().length, 3)
  assert.equal(held().at(-1)?.digest, 'sha256:new')
  assert.deepEqual(held().slice(0, 2), texts.slice(1))
})

test('a text that was changed in the store is not an input', async (t) => {
  const api = await started(t)
  await decided(api, PETS_WITHOUT_DELETE)
  const database = new DatabaseSync(join(api.directory, 'ledger.db'))
  database.exec('UPDATE kept_contents SET packed = (SELECT packed FROM kept_contents ORDER BY digest LIMIT 1)')
  database.close()
  assert.equal((await cli(api, packFile(t, {}))).code, 3)
})

test('an input that cannot be kept holds up no decision', async (t) => {
  const api = await started(t, {
    storeFaults: () => ({ inputs: { keep: () => Promise.reject(new Error('the disk is gone')) } }),
  })
  const { status, body } = await api.post('/api/v1/preflight', request(PETS_WITH_POST))
  assert.equal(status, 200)
  assert.equal(at(body, 'decision'), 'ALLOW')
  await api.inputs.close()
  assert.ok(api.log.some((line) => line.includes('input.store_failed')))
})

test('a grant counts in the replay of its own policy, and under another it does not', async (t) => {
  const asks = { rules: [{ ...BREAKING, then: 'REQUIRE_APPROVAL' }] }
  const api = await started(t, { policy: policyOf(asks) })
  await decided(api, PETS_WITHOUT_DELETE)
  const [row] = await api.store.approvals.list({ tenant: 'local', limit: 1, now: Date.now() })
  const approver = await api.newKey('approver')
  await api.post(`/api/v1/approvals/${row?.approvalId}/grant`, {}, { authorization: `Bearer ${approver}` })
  await decided(api, PETS_WITHOUT_DELETE)
  const [newest] = listAt(JSON.parse((await cli(api, packFile(t, asks), '--format', 'json')).stdout), 'decisions')
  assert.deepEqual([at(newest, 'was'), at(newest, 'would')], ['WARN', 'WARN'])
  const other = packFile(t, { ...asks, ttl: { default: 60 } })
  const [asked] = listAt(JSON.parse((await cli(api, other, '--format', 'json')).stdout), 'decisions')
  assert.deepEqual([at(asked, 'was'), at(asked, 'would')], ['WARN', 'REQUIRE_APPROVAL'])
})
