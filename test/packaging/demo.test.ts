/** The demo as a visitor runs it: everything it tells has to happen, with the real server from the registry and the real engine. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const DEMO = join(import.meta.dirname, '../../docs/demo/main.ts')

test('the demo ends with 0, stops the two changed tools, lets the others go on, and leaves no process behind', async () => {
  const demo = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', DEMO], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  // Both streams end only when no child of the demo holds them any more.
  const [reported, complaints] = await Promise.all([text(demo.stdout), text(demo.stderr), once(demo, 'exit')])
  assert.equal(demo.exitCode, 0, `${reported}\n${complaints}`)
  assert.match(reported, /get-structured-content +STOP/)
  assert.match(reported, /get-annotated-message +STOP/)
  assert.match(reported, /echo is untouched and goes on/)
  assert.match(reported, /the receipt verifies offline/)
  assert.match(reported, /the receipt of the stop is genuine and authorizes nothing/)
  assert.match(reported, /preflight_calls_total\{[^}]*outcome="stopped"[^}]*\}/)
  assert.doesNotMatch(reported, /✗/)
})
