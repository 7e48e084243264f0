/** Settings that need a program which the machine does not have: a mistake at the start, and at a reload, with its place. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSettings } from '../../gateway/config/live-settings.ts'
import { ConfigError } from '../../gateway/errors/mistake.ts'

test('a repository is a mistake where git cannot be run, at the start and at a reload', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-programs-'))
  const path = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = path
    rmSync(directory, { recursive: true, force: true })
  })
  execFileSync('git', ['init', '--quiet', directory])
  const file = join(directory, 'config.json')
  const route = {
    name: 'shop',
    match: { path: '/' },
    upstream: 'http://127.0.0.1:9',
    protocol: 'http',
    contract: { baseline: { git: 'HEAD:openapi.json' }, current: { url: 'http://127.0.0.1:9/openapi.json' } },
  }
  const config = JSON.stringify({ diff: { repository: directory }, routes: [route] })
  const plain = JSON.stringify({ policy: 'strict' })
  writeFileSync(file, config)
  const { current } = openSettings({ file, environment: {} })
  assert.equal(current().config.routes.length, 1)

  process.env['PATH'] = directory
  assert.throws(
    () => openSettings({ file, environment: {} }),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(
        error.mistakes.map((mistake) => mistake.path),
        ['diff.repository'],
      )
      assert.match(error.message, /the program git cannot be run \(ENOENT\)/)
      return true
    },
  )
  writeFileSync(file, plain)
  const live = openSettings({ file, environment: {} })
  writeFileSync(file, config)
  assert.equal(live.reload().result, 'refused')
  assert.equal(live.current().config.routes.length, 0)
  assert.equal(live.pendingMistakes().length, 1)
})
