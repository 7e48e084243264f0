/** A SQLite file as one end of a copy. A target is written beside its place and takes it when it is complete. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../errors/startup-error.ts'
import { integer, text, type SqlRow, type SqlValue } from '../sql/columns.ts'
import { joinLedger, newChain } from '../sql/journal.ts'
import { openConnection, ownChain, createStatements } from '../sqlite/connection.ts'
import { sqliteOpeningFault } from '../sqlite/opening-fault.ts'
import { holdServingLock } from '../sqlite/serving-lock.ts'
import type { Side, Source, Target } from './side.ts'

export async function sqliteSource(file: string): Promise<Source> {
  if (!existsSync(file)) throw new StartupError(`There is no store at ${file}: correct the path.`)
  const lock = heldLock(file)
  const database = await openedDatabase(file)
  database.exec('BEGIN')
  return {
    ...sqliteSide(database, file, ownChain(database)),
    async *rows({ name, step }) {
      let page: SqlRow[] = []
      for (const row of database.prepare(`SELECT * FROM ${name}`).iterate()) {
        page.push(row)
        if (page.length < step) continue
        yield page
        page = []
      }
      if (page.length > 0) yield page
    },
    close: async () => {
      database.close()
      lock.close()
    },
  }
}

export async function sqliteTarget(file: string): Promise<Target> {
  if (existsSync(file)) throw new StartupError(`${file} exists already: name a new file. A copy never adds to a store.`)
  const part = `${file}.copying`
  const ends = ['', '-wal', '-shm', '.lock']
  const remove = (): void => ends.forEach((end) => rmSync(`${part}${end}`, { force: true }))
  remove()
  const lock = heldLock(part)
  const database = await openedDatabase(part, false)
  // One transaction from here on: what is not complete is not there.
  database.exec('BEGIN IMMEDIATE')
  const chain = newChain()
  const side = sqliteSide(database, file, chain)
  let isComplete = false
  return {
    ...side,
    prepare: () => Promise.resolve(),
    async add(table, columns, rows) {
      const insert = database.prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...columns.map((column) => columnValue(row[column])))
    },
    async finish() {
      const newest = await side.sql.get('SELECT coalesce(max(opened_at), 0) AS at FROM ledger_chains')
      // The gateway goes on in a chain of its own, which is the newest.
      await joinLedger(side.sql, chain, Math.max(Date.now(), integer(newest ?? {}, 'at') + 1))
    },
    commit: async () => {
      database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
      isComplete = true
    },
    close: async () => {
      database.close()
      lock.close()
      if (isComplete) renameSync(part, file)
      remove()
    },
  }
}

function sqliteSide(database: DatabaseSync, file: string, writer: string | null): Omit<Side, 'close'> {
  return {
    description: `sqlite ${file}`,
    sql: createStatements(database, writer),
    columns: async (table) =>
      database
        .prepare(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`)
        .all()
        .map((row) => text(row, 'name')),
  }
}

function heldLock(file: string): DatabaseSync {
  try {
    return holdServingLock(`${file}.lock`)
  } catch (error) {
    throw new StartupError(sqliteOpeningFault(file, error), { cause: error })
  }
}

async function openedDatabase(file: string, opensChain = true): Promise<DatabaseSync> {
  try {
    return await openConnection(file, opensChain)
  } catch (error) {
    throw new StartupError(sqliteOpeningFault(file, error), { cause: error })
  }
}

function columnValue(value: unknown): SqlValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array)
    return value
  throw new TypeError(`a column holds a value that SQLite cannot store: ${typeof value}`)
}
