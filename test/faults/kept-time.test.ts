/** A gateway whose clock was ahead is killed, and starts under the right clock: its time goes on from the latest that it had, until a person accepts the ledger. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { run } from '../fakes/command-io.ts'
import { pets, PETS } from '../fakes/contracts.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { startKillable } from '../fakes/killable-gateway.ts'
import { until } from '../fakes/until.ts'
import { textAt } from '../json.ts'

const AHEAD_MS = 40 * 24 * 3600 * 1000
/** Milliseconds. More than a start takes, and much less than the difference. */
const EXACT_MS = 120_000

function keptTime(folder: string): number {
  const database = new DatabaseSync(join(folder, 'state', 'ledger.db'), { readOnly: true })
  try {
    return Number(database.prepare('SELECT at FROM latest_time').get()?.['at'])
  } finally {
    database.close()
  }
}

/** The time by which a gateway decides, less that of this machine. @param how it ends afterwards */
async function differenceOf(folder: string, clockAhead: number, how: NodeJS.Signals): Promise<number> {
  const gateway = await startKillable(folder, {}, { clockAhead })
  try {
    const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ preflight_mode: 'authorize', artifacts: [pets(PETS)], context: { operation: 'merge' } }),
    })
    const body: unknown = await answer.json()
    assert.equal(answer.status, 200, JSON.stringify(body))
    if (clockAhead > 0) {
      const first = keptTime(folder)
      await until(() => keptTime(folder) > first, 'the time is kept again', 15_000)
    }
    return Date.parse(textAt(body, 'timestamp')) - Date.now()
  } finally {
    await gateway.end(how)
  }
}

function near(difference: number, expected: number, what: string): void {
  assert.ok(Math.abs(difference - expected) < EXACT_MS, `${what}: ${difference} ms`)
}

test('time does not go back with a restart, nor when the kept time is removed, until a person accepts the ledger', async (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-kept-time-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  near(await differenceOf(folder, 0, 'SIGTERM'), 0, 'at first')
  near(await differenceOf(folder, AHEAD_MS, 'SIGKILL'), AHEAD_MS, 'ahead')
  near(await differenceOf(folder, 0, 'SIGKILL'), AHEAD_MS, 'after a restart')
  const database = new DatabaseSync(join(folder, 'state', 'ledger.db'))
  database.exec('DELETE FROM latest_time')
  database.close()
  near(await differenceOf(folder, 0, 'SIGTERM'), AHEAD_MS, 'by the signed checkpoint')
  const accept = ['ledger', 'accept', '--reason', 'the clock was wrong', '--data-dir', join(folder, 'state')]
  assert.equal((await run(accept)).code, 0)
  near(await differenceOf(folder, 0, 'SIGTERM'), 0, 'accepted')
  near(await differenceOf(folder, 0, 'SIGTERM'), 0, 'and again')
})
