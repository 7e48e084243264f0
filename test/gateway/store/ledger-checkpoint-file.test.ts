/** The signed head beside the ledger: when it is gone, or older than what the ledger holds, a start stops until a person accepts it. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkpointFile } from '../../../gateway/store/checkpoints.ts'
import { startGateway } from '../../../gateway/main.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-checkpoint-'))
after(() => rmSync(root, { recursive: true, force: true }))

let count = 0
function place(): string {
  count += 1
  return join(root, `data-${count}`)
}

const open = (data: string): Promise<Store> =>
  openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })

const verify = (data: string) => run(['ledger', 'verify', '--data-dir', data])

const start = (data: string) =>
  startGateway(
    { value: { listen: FREE_PORTS, data_dir: data }, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } },
    { output: devNull(), logger: createLogger('silent') },
  )

async function served(): Promise<string> {
  const data = place()
  await (await start(data)).close()
  return data
}

/** As somebody with the file does it, without the program. */
function tamper(data: string, statements: string): void {
  const intruder = new DatabaseSync(join(data, 'ledger.db'))
  for (const row of intruder.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    intruder.exec(`DROP TRIGGER ${String(row['name'])}`)
  intruder.exec(statements)
  intruder.close()
}

const CUT = 'DELETE FROM ledger_journal WHERE sequence = (SELECT max(sequence) FROM ledger_journal)'

async function signedSequence(directory: string): Promise<number> {
  const gateway = await start(directory)
  let found: RegExpExecArray | null = null
  while (found === null) {
    const text = await (await fetch(new URL('/metrics', gateway.addresses.admin))).text()
    found = /^preflight_ledger_checkpoint_sequence (\d+)$/m.exec(text)
  }
  await gateway.close()
  return Number(found[1])
}

const LOSSES: Readonly<Record<string, (data: string) => Promise<void> | void>> = {
  'a checkpoint file that is gone': (data) => rmSync(checkpointFile(data)),
  'a checkpoint file that is gone, and a ledger that was cut': (data) => {
    rmSync(checkpointFile(data))
    tamper(data, CUT)
  },
  'a checkpoint file from before the last checkpoint of the ledger': async (data) => {
    const older = readFileSync(checkpointFile(data))
    const store = await open(data)
    await store.decisions.record(decisionRow({ decisionId: 'dec_later' }))
    await store.close()
    await (await start(data)).close()
    writeFileSync(checkpointFile(data), older)
  },
  'a ledger whose last signed entry is not there, beside an older checkpoint file': async (data) => {
    const older = readFileSync(checkpointFile(data))
    const store = await open(data)
    await store.decisions.record(decisionRow({ decisionId: 'dec_later' }))
    await store.close()
    await (await start(data)).close()
    writeFileSync(checkpointFile(data), older)
    tamper(data, CUT)
  },
}
for (const [what, lose] of Object.entries(LOSSES))
  test(`${what} stops a start, with what to do`, async () => {
    const data = await served()
    await lose(data)
    await assert.rejects(start(data), { name: 'StartupError', message: /preflight ledger accept --reason/ })
    await assert.rejects(start(data), { name: 'StartupError' }, 'trying again changes nothing')
    assert.equal((await verify(data)).code, 1)
  })

test('a ledger whose checkpoint file is gone is served again once a person accepted it, and signed anew', async () => {
  const data = await served()
  rmSync(checkpointFile(data))
  await assert.rejects(start(data), { name: 'StartupError', message: /ledger-checkpoint\.jwt is missing/ })
  assert.match((await verify(data)).stderr, /ledger-checkpoint\.jwt is missing/)
  assert.equal((await run(['ledger', 'accept', '--reason', 'file lost', '--data-dir', data])).code, 0)
  await (await start(data)).close()
  rmSync(checkpointFile(data))
  await assert.rejects(start(data), { name: 'StartupError' }, 'an acceptance counts until the next checkpoint')
})

test('a stop between the file and the row of a checkpoint is no reason to stop a start', async () => {
  const data = await served()
  tamper(data, 'DELETE FROM ledger_checkpoints')
  await (await start(data)).close()
  assert.equal((await verify(data)).code, 0)
})

test('an equally old copy of the ledger and its file starts, and its metric falls', async () => {
  const data = await served()
  const copy = place()
  cpSync(data, copy, { recursive: true })
  const store = await open(data)
  for (const id of ['1', '2', '3']) await store.decisions.record(decisionRow({ decisionId: `dec_${id}` }))
  await store.close()
  const newest = await signedSequence(data)
  const older = await signedSequence(copy)
  assert.ok(older < newest, `${older} < ${newest}`)
})
