/** The whole ledger of a running gateway: exported, verified and pruned over its API, by administrators of the operator only. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkpointFile, startCheckpoints } from '../../../gateway/store/checkpoints.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { startApi } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { startConsoleScene } from '../../fakes/console-scene.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { at, textAt } from '../../json.ts'

const BEFORE = { before: '2026-01-31T00:00:00Z' }

function entries(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith('{"line":"entry"'))
}

test('an administrator exports and verifies over the API what the command line reads from the disk', async (t) => {
  const scene = await startConsoleScene(t)
  await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' })
  const environment = { PREFLIGHT_API_KEY: scene.admin }
  const file = join(scene.gateway.dataDir, 'export.ndjson')
  const exported = await run(['ledger', 'export', '--url', scene.url, '--output', file], { environment })
  assert.equal(exported.code, 0, exported.stderr)
  const keys = join(scene.gateway.dataDir, 'jwks.json')
  writeFileSync(keys, await (await fetch(`${scene.url}/.well-known/jwks.json`)).text())
  const offline = await run(['ledger', 'verify', '--export', file, '--keys', keys])
  assert.equal(offline.code, 0, offline.stderr)
  const here = await run(['ledger', 'export', '--data-dir', scene.gateway.dataDir])
  const remote = entries(readFileSync(file, 'utf8'))
  assert.ok(remote.length > 3)
  assert.deepEqual(entries(here.stdout).slice(0, remote.length), remote)
  const verified = await run(['ledger', 'verify', '--url', scene.url], { environment })
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /The export is intact/)
  const again = await run(['ledger', 'export', '--url', scene.url, '--output', file], { environment })
  assert.equal(again.code, 2, 'a file is never overwritten')
})

test('nobody else gets it, or removes any of it', async (t) => {
  const scene = await startConsoleScene(t)
  for (const role of ['viewer', 'agent', 'approver', 'operator']) {
    const key = await scene.newKey(role, role)
    assert.equal((await scene.api('GET', '/api/v1/ledger/export', undefined, key)).status, 403, role)
    assert.equal((await scene.api('POST', '/api/v1/ledger/prune', BEFORE, key)).status, 403, role)
  }
  const made = await scene.api('POST', '/api/v1/keys', { name: 'theirs', role: 'admin', tenant: 'acme' })
  const theirs = textAt(made.body, 'api_key')
  for (const answer of [
    await scene.api('GET', '/api/v1/ledger/export', undefined, theirs),
    await scene.api('POST', '/api/v1/ledger/prune', BEFORE, theirs),
  ]) {
    assert.equal(answer.status, 403)
    assert.match(textAt(answer.body, 'message'), /rows of all tenants/)
  }
  const refused = await run(['ledger', 'verify', '--url', scene.url], { environment: { PREFLIGHT_API_KEY: theirs } })
  assert.notEqual(refused.code, 0)
})

test('an administrator prunes a ledger that is larger than what one request removes, and the rest verifies', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const [day, count] = [86_400_000, 12_000]
  const record = (n: number) =>
    api.store.decisions.record(decisionRow({ decisionId: `dec_${n}`, evaluatedAt: n * day, expiresAt: n * day + 1 }))
  for (let n = 0; n < count; n += 1000) await Promise.all(Array.from({ length: 1000 }, (_, more) => record(n + more)))
  const { store, keys, metrics } = api
  const file = checkpointFile(api.directory)
  const deps = { store, keys, file, interval: 3_600_000, metrics, logger: createLogger('silent'), now: Date.now }
  await startCheckpoints(deps).close()
  const environment = { PREFLIGHT_API_KEY: await api.newKey('admin') }
  const before = new Date((count - 10) * day).toISOString()
  const prune = () => run(['ledger', 'prune', '--before', before, '--url', api.url], { environment })
  const pruned = await prune()
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.match(pruned.stdout, /^removed 2\d{4} rows; the ledger begins at entry \d+$/m)
  const left = await store.decisions.list({ tenant: 'local', limit: 100 })
  assert.deepEqual([left.length, left.at(-1)?.decisionId], [10, `dec_${count - 10}`])
  assert.match((await prune()).stdout, /Nothing is old enough/)
  const verified = await run(['ledger', 'verify', '--url', api.url], { environment })
  assert.equal(verified.code, 0, verified.stderr)

  const acts = api.log
    .filter((line) => line.includes('"event":"ledger.pruned"'))
    .map((line): unknown => JSON.parse(line))
  assert.ok(acts.length >= 2, 'each request is an act')
  for (const act of acts) {
    assert.match(textAt(act, 'by'), /^v:[0-9a-f]{12}$/)
    assert.equal(at(act, 'before'), before)
  }
})

test('a time that is none, or that is missing, removes nothing', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const headers = { authorization: `Bearer ${await api.newKey('admin')}` }
  for (const body of [{}, { before: 'yesterday' }, { before: 0 }, { ...BEFORE, force: true }])
    assert.equal((await api.post('/api/v1/ledger/prune', body, headers)).status, 400, JSON.stringify(body))
})
