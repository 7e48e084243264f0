/** The thread that owns the ledger dies: every caller gets an error, nothing half-written stays, and the next call has a new thread. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startClient } from '../../gateway/store/sqlite/client.ts'
import { decisionRow } from '../fakes/decision-row.ts'

test('a thread that dies fails the calls under way, and a new one takes over', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-thread-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'ledger.db')
  const faults: string[] = []
  const writer = new URL('../fakes/dying-writer.ts', import.meta.url)
  const client = await startClient({ file, locks: [] }, { onFault: (error) => faults.push(error.message) }, writer)
  t.after(() => client.close())
  await client.call('decisions.record', [decisionRow()])

  const killed = await Promise.allSettled([client.call('health.probe', []), client.call('receipts.state', ['dec_1'])])
  assert.ok(killed.every((result) => result.status === 'rejected' && result.reason.code === 'STORE_UNAVAILABLE'))
  assert.deepEqual(faults, ['the store thread ended'])
  await assert.rejects(client.call('receipts.state', ['dec_1']), { code: 'STORE_UNAVAILABLE' }, 'no new thread at once')

  const state = await untilAnswered(() => client.call('receipts.state', ['dec_1']))
  assert.equal(state, 'current')
  await client.call('decisions.record', [decisionRow({ decisionId: 'dec_2' })])
})

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
