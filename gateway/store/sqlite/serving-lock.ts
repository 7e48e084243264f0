/**
 * One gateway serves from a data directory: two would not see each other's revocations, and would write the same spool. The
 * lock is that of an empty SQLite file, which the system releases when the process ends, in whatever way. The command line
 * takes no lock.
 */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assertNoSpecialFile } from '../../runtime/regular-file.ts'
import { assertNoSpecialLedger } from './connection.ts'
import { HELD_ELSEWHERE, primaryCode } from './opening-fault.ts'
import { identityOf, type FileIdentity } from './opened-files.ts'
import { makePrivateDirectory } from '../../runtime/private-file.ts'
import { sha256Hex } from '../../runtime/hash.ts'

/** Milliseconds that another gateway has to finish its shutdown. */
const PATIENCE = 2000

const SQLITE_BUSY = 5

/**
 * Holds the lock until the returned value is closed. Throws an Error with the code HELD_ELSEWHERE when another process has it,
 * and the error of SQLite when the file cannot be made.
 */
export function holdServingLock(file: string, patience = PATIENCE): DatabaseSync {
  makePrivateDirectory(dirname(file))
  assertNoSpecialFile(file)
  const database = new DatabaseSync(file, { timeout: patience })
  try {
    // A journal in memory leaves no second file behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (primaryCode(error) !== SQLITE_BUSY) throw error
    throw heldElsewhere(file, error)
  }
}

function heldElsewhere(file: string, cause: unknown): Error {
  return Object.assign(new Error(`another gateway holds ${file}`, { cause }), { code: HELD_ELSEWHERE })
}

/** The locks of a gateway. */
export interface ServingLocks {
  /** Holds a lock again whose file was removed or replaced. Throws if another process has it by now. */
  readonly require: () => void
  readonly close: () => void
}

/**
 * Holds all of them. A file that is missing or replaced may have been lost while a gateway runs, so the ledger may not be open
 * elsewhere then. Throws as `holdServingLock` does.
 * @param ledger null: it is no file, so a gateway whose locks were lost is not noticed
 */
export function holdServingLocks(files: readonly string[], ledger: string | null): ServingLocks {
  if (ledger !== null && !files.every(isMarked)) requireUnopened(ledger)
  const locks = new Map(files.map((file) => [file, heldLock(file, PATIENCE)]))
  return {
    require() {
      for (const [file, { database, identity }] of locks) {
        if (identity !== null && identityOf(file) === identity) continue
        locks.set(file, heldLock(file, 0))
        database.close()
      }
    },
    close: () => locks.forEach(({ database }) => database.close()),
  }
}

interface HeldLock {
  readonly database: DatabaseSync
  readonly identity: FileIdentity
}

function heldLock(file: string, patience: number): HeldLock {
  const database = holdServingLock(file, patience)
  database.exec(`PRAGMA user_version = ${markOf(file)}; COMMIT; BEGIN EXCLUSIVE`)
  return { database, identity: identityOf(file) }
}

/** A number that a copy of a lock file, or one of another place, does not have. */
function markOf(file: string): number {
  return Number.parseInt(sha256Hex(`${resolve(file)}\n${identityOf(file)}`).slice(0, 7), 16)
}

/** The file that a gateway has held here before. */
function isMarked(file: string): boolean {
  if (!existsSync(file)) return false
  assertNoSpecialFile(file)
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    return database.prepare('PRAGMA user_version').get()?.['user_version'] === markOf(file)
  } catch (error) {
    // It is held, or is no lock: whoever takes it learns that.
    return primaryCode(error) === SQLITE_BUSY
  } finally {
    database.close()
  }
}

/** SQLite gives the exclusive mode only to the one connection of a file. Other faults are reported when the ledger is opened. */
function requireUnopened(ledger: string): void {
  if (!existsSync(ledger)) return
  assertNoSpecialLedger(ledger)
  const database = new DatabaseSync(ledger, { timeout: PATIENCE })
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
  } catch (error) {
    if (primaryCode(error) === SQLITE_BUSY) throw heldElsewhere(ledger, error)
  } finally {
    database.close()
  }
}
