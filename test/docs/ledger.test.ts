/** docs/reference/ledger.md against the store: its tables are complete, and its programs check a real ledger. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { EFFECTS } from '../../gateway/store/calls.ts'
import { exportLines } from '../../gateway/store/ledger-export.ts'
import { CALL_COLUMNS, PROTECTED } from '../../gateway/store/sql/journal.ts'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { exported, namesIn, namesOf, rowsIn, saveFiles, sectionOf } from './page.ts'

const folder = saveFiles('ledger.md')
const root = mkdtempSync(join(tmpdir(), 'preflight-reference-ledger-'))
after(() => {
  rmSync(folder, { recursive: true })
  rmSync(root, { recursive: true })
})

async function ledger(name: string): Promise<string> {
  const file = join(root, name)
  const store = await openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })
  for (const id of ['a', 'b', 'c'])
    await store.decisions.record(decisionRow({ decisionId: `dec_${id}`, repository: 'größe', supersessionKey: 'one' }))
  await store.receipts.consume(['dec_c'], 5)
  await store.close()
  return file
}

/** Changes a file behind the back of the program. */
function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  for (const { name } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER ${String(name)}`)
  database.exec(sql)
  database.close()
}

suite('the tables of ledger.md', () => {
  test('name every column of a decision, in its order', async () => {
    const database = new DatabaseSync(await ledger('columns.db'))
    const columns = database
      .prepare('PRAGMA table_info(decisions)')
      .all()
      .map(({ name }) => String(name))
    database.close()
    const named = rowsIn(sectionOf('ledger.md', 'decision-rows')).flatMap(([cell]) => namesOf(cell))
    assert.deepEqual(named.slice(0, columns.length), columns)
  })
  test('name the columns of a call in the order of the digest, and every effect', () => {
    const section = sectionOf('ledger.md', 'call-rows')
    assert.deepEqual([...namesIn(section)].slice(0, CALL_COLUMNS.length), [...CALL_COLUMNS])
    assert.deepEqual(
      rowsIn(section).flatMap(([cell]) => namesOf(cell)),
      [...EFFECTS],
    )
  })
  test('name every kind of journal entry with what it covers', () => {
    const rows = new Map(rowsIn(sectionOf('ledger.md', 'journal-entries')).map((row) => [namesOf(row[0])[0], row]))
    for (const { kind, table, key, covered } of PROTECTED) {
      const [, stated, keys, columns] = rows.get(kind) ?? []
      assert.deepEqual([namesOf(stated), namesOf(keys)], [[table], [...key]], kind)
      if (kind !== 'approval') assert.deepEqual(namesOf(columns), [...covered], kind)
    }
    assert.deepEqual(
      new Set(rows.keys()),
      new Set(['accepted', 'calls', 'opened', 'pruned', ...PROTECTED.map(({ kind }) => kind)]),
    )
  })
})

suite('the programs of ledger.md', () => {
  test('find a ledger of the gateway whole', async () => {
    const file = await ledger('whole.db')
    const [brokenDecision, journalReport] = await Promise.all([
      exported(folder, 'verify-decisions.mjs', 'brokenDecision'),
      exported(folder, 'verify-journal.mjs', 'journalReport'),
    ])
    assert.equal(brokenDecision(file), null)
    const store = await openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })
    assert.deepEqual(journalReport(file), { heads: [await store.ledger.head()], faults: [] })
    await store.close()
  })
  test('find an export whole, and a change in it', async () => {
    const file = await ledger('exported.db')
    const store = await openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })
    const lines: string[] = []
    for await (const line of exportLines(store, 1)) lines.push(line)
    await store.close()
    const brokenLine = await exported(folder, 'verify-export.mjs', 'brokenLine')
    const written = join(root, 'export.ndjson')
    writeFileSync(written, lines.join(''))
    assert.equal(brokenLine(written), null)
    writeFileSync(written, lines.map((line) => line.replace('acme', 'other').replace('größe', 'x')).join(''))
    assert.equal(brokenLine(written), 3)
    writeFileSync(written, lines.slice(0, -1).join(''))
    assert.equal(brokenLine(written), lines.length - 1)
  })
  const CHANGES: Readonly<Record<string, readonly [sql: string, row: number | null, faults: number]>> = {
    'a changed decision': [`UPDATE decisions SET envelope = '{}' WHERE sequence = 2`, 2, 0],
    'a changed decision with a changed hash': [`UPDATE decisions SET hash = 'x' WHERE sequence = 2`, 2, 1],
    'a removed decision': [`DELETE FROM receipt_events; DELETE FROM decisions WHERE sequence = 3`, null, 2],
    'a changed entry': [`UPDATE ledger_journal SET digest = 'x' WHERE sequence = 3`, null, 2],
  }
  for (const [what, [sql, row, faults]] of Object.entries(CHANGES))
    test(`find ${what}`, async () => {
      const file = await ledger(`${what.replaceAll(' ', '-')}.db`)
      tamper(file, sql)
      const [brokenDecision, journalReport] = await Promise.all([
        exported(folder, 'verify-decisions.mjs', 'brokenDecision'),
        exported(folder, 'verify-journal.mjs', 'journalReport'),
      ])
      assert.equal(brokenDecision(file), row)
      const report = journalReport(file)
      assert.ok(typeof report === 'object' && report !== null && 'faults' in report && Array.isArray(report.faults))
      assert.equal(report.faults.length, faults, JSON.stringify(report.faults))
    })
})
