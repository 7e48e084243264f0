/** The whole ledger of a running gateway: exported and verified over its API, by administrators of the operator only. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../fakes/command-io.ts'
import { startConsoleScene } from '../fakes/console-scene.ts'
import { textAt } from '../json.ts'

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

test('nobody else gets it', async (t) => {
  const scene = await startConsoleScene(t)
  for (const role of ['viewer', 'agent', 'approver', 'operator']) {
    const answer = await scene.api('GET', '/api/v1/ledger/export', undefined, await scene.newKey(role, role))
    assert.equal(answer.status, 403, role)
  }
  const made = await scene.api('POST', '/api/v1/keys', { name: 'theirs', role: 'admin', tenant: 'acme' })
  const theirs = textAt(made.body, 'api_key')
  const answer = await scene.api('GET', '/api/v1/ledger/export', undefined, theirs)
  assert.equal(answer.status, 403)
  assert.match(textAt(answer.body, 'message'), /rows of all tenants/)
  const refused = await run(['ledger', 'verify', '--url', scene.url], { environment: { PREFLIGHT_API_KEY: theirs } })
  assert.notEqual(refused.code, 0)
})
