/**
 * The files of the ledger are removed or replaced while the gateway runs. Nothing that is written to them counts, no older copy is
 * served, and no new ledger is made. The rows are there again when the files are put back.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClient, type Client } from '../../gateway/store/sqlite/client.ts'
import { decisionRow } from '../fakes/decision-row.ts'

const FILES = ['ledger.db', 'ledger.db-wal', 'ledger.db-shm']

interface Scene {
  readonly file: string
  /** As the ledger was with its first decision. */
  readonly older: string
  /** Where the files of the ledger in force are moved to. */
  readonly aside: string
  readonly client: Client
}

async function scene(t: TestContext, module?: URL): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-replaced-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const [data, older, aside] = [join(directory, 'data'), join(directory, 'older'), join(directory, 'aside')]
  mkdirSync(aside)
  const file = join(data, 'ledger.db')
  const client = await startClient({ file, locks: [] }, {}, module)
  t.after(() => client.close())
  await record(client, 'dec_1')
  cpSync(data, older, { recursive: true })
  await record(client, 'dec_2')
  return { file, older, aside, client }
}

function record(client: Client, decisionId: string): Promise<unknown> {
  return client.call('decisions.record', [decisionRow({ decisionId })])
}

function folderOf({ file }: Scene): string {
  return join(file, '..')
}

const CHANGES: Readonly<Record<string, (scene: Scene) => void>> = {
  'all of them are removed': (one) => move(FILES, folderOf(one), one.aside),
  'the file is removed': (one) => move(['ledger.db'], folderOf(one), one.aside),
  'the log is removed': (one) => move(['ledger.db-wal'], folderOf(one), one.aside),
  'an older copy takes the place of all': (one) => {
    move(FILES, folderOf(one), one.aside)
    move(FILES, one.older, folderOf(one))
  },
  'an older copy takes the place of the file': (one) => {
    move(['ledger.db'], folderOf(one), one.aside)
    move(['ledger.db'], one.older, folderOf(one))
  },
  'the log of an older copy takes the place of the log': (one) => {
    move(['ledger.db-wal'], folderOf(one), one.aside)
    move(['ledger.db-wal'], one.older, folderOf(one))
  },
}

function move(names: readonly string[], from: string, to: string): void {
  for (const name of names) if (existsSync(join(from, name))) renameSync(join(from, name), join(to, name))
}

for (const [what, change] of Object.entries(CHANGES))
  test(`${what}: no write counts until they are put back`, async (t) => {
    const one = await scene(t)
    change(one)
    const wasThere = existsSync(one.file)
    for (const id of ['dec_3', 'dec_4']) await assert.rejects(record(one.client, id), { code: 'STORE_UNAVAILABLE' })
    await assert.rejects(one.client.call('health.probe', []), { code: 'STORE_UNAVAILABLE' })
    assert.equal(existsSync(one.file), wasThere, 'no new ledger is made')

    move(FILES, one.aside, folderOf(one))
    await one.client.call('health.probe', [])
    await record(one.client, 'dec_5')
    for (const id of ['dec_1', 'dec_2', 'dec_5'])
      assert.equal(await one.client.call('receipts.state', [id]), 'current', id)
    for (const id of ['dec_3', 'dec_4'])
      assert.equal(
        await one.client.call('receipts.state', [id]),
        null,
        `${id} was refused: whoever sends it again would write it twice`,
      )
  })

test('a new thread does not serve an older copy', async (t) => {
  const one = await scene(t, new URL('../fakes/dying-writer.ts', import.meta.url))
  await assert.rejects(one.client.call('health.probe', []), 'the thread dies')
  CHANGES['an older copy takes the place of all']?.(one)
  for (let count = 0; count < 3; count += 1) {
    await sleep(600)
    await assert.rejects(one.client.call('receipts.state', ['dec_1']), { code: 'STORE_UNAVAILABLE' })
  }
  for (const name of FILES) rmSync(join(folderOf(one), name), { force: true })
  move(FILES, one.aside, folderOf(one))
  await sleep(600)
  assert.equal(await one.client.call('receipts.state', ['dec_2']), 'current')
})
