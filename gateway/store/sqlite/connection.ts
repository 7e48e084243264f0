/**
 * Opens the SQLite file durably and brings its schema to the version of this program. Prepares each statement once. Runs in the
 * writer thread only.
 */
import { chmodSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { assertNoSpecialFile } from '../../runtime/regular-file.ts'
import { text } from '../sql/columns.ts'
import { openChain } from '../sql/journal.ts'
import { CHAINED_VERSION, MIGRATIONS } from './migrations.ts'
import { makePrivateDirectory } from '../../runtime/private-file.ts'
import type { Sql } from '../sql/operation.ts'

/** Milliseconds. */
export const BUSY_TIMEOUT = 5000

// synchronous=FULL: a commit in WAL mode returns after its fsync, so a promise that resolved survives a power cut.
// A busy timeout is set, since the command line may write to the same file while the gateway runs.
const PRAGMAS = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
`

/**
 * Throws an Error that names the fault of the file or its directory.
 *
 * @param opensChain false: a new ledger gets no chain, since it is to be a copy
 */
export async function openConnection(file: string, opensChain = true): Promise<DatabaseSync> {
  const isNew = !existsSync(file)
  makePrivateDirectory(dirname(file))
  assertNoSpecialLedger(file)
  const database = new DatabaseSync(file)
  try {
    // Other users of the machine must not read envelopes and key hashes.
    if (isNew) chmodSync(file, 0o600)
    database.exec(PRAGMAS)
    await migrateDatabase(database, file, opensChain)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** SQLite also opens the files beside it. */
export function assertNoSpecialLedger(file: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) assertNoSpecialFile(`${file}${end}`)
}

/** The newest chain of a ledger that was copied from many gateways; null: there is one chain. */
export function ownChain(database: DatabaseSync): string | null {
  const rows = database.prepare('SELECT chain FROM ledger_chains ORDER BY opened_at DESC, chain DESC LIMIT 2').all()
  return rows.length < 2 || rows[0] === undefined ? null : text(rows[0], 'chain')
}

async function migrateDatabase(database: DatabaseSync, file: string, opensChain: boolean): Promise<void> {
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(database, file)
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    if (version < CHAINED_VERSION && opensChain) await openChain(createStatements(database), Date.now())
    // On a full volume a file of this version has to open, so that it can be pruned.
    if (version < MIGRATIONS.length) database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** Throws an Error when a newer version wrote the file. */
function schemaVersion(database: DatabaseSync, file: string): number {
  const row = database.prepare('PRAGMA user_version').get()
  const version = Number(row?.['user_version'] ?? 0)
  if (version > MIGRATIONS.length)
    throw new Error(
      `${file} was written by a newer version (schema ${version}, this program knows ${MIGRATIONS.length}); ` +
        'run that version, or name another data_dir',
    )
  return version
}

/** Whether an opening would migrate it. Throws an Error when a newer version wrote the file. */
export function isOlderSchema(database: DatabaseSync, file: string): boolean {
  return schemaVersion(database, file) < MIGRATIONS.length
}

/** Each text is prepared once for the life of a connection. */
export interface Statements extends Sql {
  /** Rows changed by all runs so far. */
  readonly changed: number
}

/** @param writer the chain that is written, where the ledger has several; null: there is one */
export function createStatements(database: DatabaseSync, writer: string | null = null): Statements {
  const prepared = new Map<string, StatementSync>()
  let changed = 0
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  // Resolved immediately: an operation runs to its end before the thread sees another message.
  return {
    dialect: 'sqlite',
    writer,
    get: async (text, ...values) => prepare(text).get(...values),
    all: async (text, ...values) => prepare(text).all(...values),
    run: async (text, ...values) => {
      const changes = Number(prepare(text).run(...values).changes)
      changed += changes
      return changes
    },
    get changed() {
      return changed
    },
  }
}
