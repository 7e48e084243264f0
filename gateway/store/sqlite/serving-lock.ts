/**
 * One gateway serves from a data directory: two would not see each other's revocations, and would write the same spool. The
 * lock is that of an empty SQLite file, which the system releases when the process ends, in whatever way. The command line
 * takes no lock.
 */
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assertNoSpecialFile } from '../../runtime/regular-file.ts'
import { HELD_ELSEWHERE, primaryCode } from './opening-fault.ts'
import { makePrivateDirectory } from '../../runtime/private-file.ts'

/** Milliseconds that another gateway has to finish its shutdown. */
const PATIENCE = 2000

const SQLITE_BUSY = 5

/**
 * Holds the lock until the returned value is closed. Throws an Error with the code HELD_ELSEWHERE when another process has it,
 * and the error of SQLite when the file cannot be made.
 */
export function holdServingLock(file: string): DatabaseSync {
  makePrivateDirectory(dirname(file))
  assertNoSpecialFile(file)
  const database = new DatabaseSync(file, { timeout: PATIENCE })
  try {
    // Nothing is ever written to it; a journal in memory leaves no second file behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (primaryCode(error) !== SQLITE_BUSY) throw error
    throw Object.assign(new Error(`another gateway holds ${file}`, { cause: error }), { code: HELD_ELSEWHERE })
  }
}
