/** Reads a ledger file without a change of it: for checks that may run next to a gateway of another version. */
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../errors/startup-error.ts'
import { ledger } from '../sql/inspection.ts'
import type { StorePart } from '../store.ts'
import { assertNoSpecialLedger, createStatements, isOlderSchema, ownChain } from './connection.ts'
import { sqliteOpeningFault } from './opening-fault.ts'

export type LedgerReads = StorePart<'ledger.head' | 'ledger.entryHash' | 'ledger.newestCheckpoint'>

/**
 * Throws a StartupError that names the file when it cannot be read.
 *
 * @returns null for a ledger of an older version: a start migrates it first
 */
export async function readLedgerFile<T>(file: string, work: (reads: LedgerReads) => Promise<T>): Promise<T | null> {
  assertNoSpecialLedger(file)
  const database = openReadOnly(file)
  try {
    if (isOlderSchema(database, file)) return null
    const sql = createStatements(database, ownChain(database))
    return await work({
      ledger: {
        head: () => ledger.head.run(sql),
        entryHash: (chain, sequence) => ledger.entryHash.run(sql, chain, sequence),
        newestCheckpoint: (chain) => ledger.newestCheckpoint.run(sql, chain),
      },
    })
  } catch (error) {
    throw error instanceof StartupError ? error : new StartupError(sqliteOpeningFault(file, error), { cause: error })
  } finally {
    database.close()
  }
}

function openReadOnly(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly: true })
  } catch (error) {
    throw new StartupError(sqliteOpeningFault(file, error), { cause: error })
  }
}
