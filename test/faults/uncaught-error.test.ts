/** An error that nobody catches ends the process, and its last log line says so. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startKillable } from '../fakes/killable-gateway.ts'

/** Throws in the gateway when it gets the signal. */
const FAULT = `data:text/javascript,${encodeURIComponent(
  `process.on('SIGWINCH', () => { throw Object.assign(new Error('nobody expected this'), { token: 'secret' }) })`,
)}`

test('the log of a process that ends by an error has the error as its last record', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-uncaught-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const gateway = await startKillable(folder, {}, { nodeOptions: ['--import', FAULT] })
  await gateway.end('SIGWINCH')
  const records = gateway.log.filter((line) => line.startsWith('{')).map((line): unknown => JSON.parse(line))
  const { level, event, err }: Record<string, unknown> = Object(records.at(-1))
  assert.deepEqual([level, event], ['error', 'process.failed'])
  assert.match(JSON.stringify(err), /nobody expected this.*data:/)
  assert.ok(!gateway.log.join('').includes('"token":"secret"'))
})
