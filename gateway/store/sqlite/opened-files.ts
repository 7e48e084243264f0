/**
 * Whether the files of the ledger are still those that were opened. SQLite goes on writing to files that were removed or replaced: what
 * is written there is lost with the process, and a copy in their place is older.
 */
import { statSync } from 'node:fs'

/** Device and number of a file; null: there is none. */
export type FileIdentity = string | null

export function identityOf(file: string): FileIdentity {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

/** What a connection writes to. */
export interface OpenedFiles {
  readonly file: string
  readonly ledger: FileIdentity
  /** Its write-ahead log; null where the file system allows none. */
  readonly log: FileIdentity
}

/** Of a file that a connection has read: it has its log then. */
export function openedFiles(file: string): OpenedFiles {
  return { file, ledger: identityOf(file), log: identityOf(`${file}-wal`) }
}

/** Throws if one of them is not the opened one any more. */
export function requireOpened({ file, ledger, log }: OpenedFiles): void {
  requireLedger(file, ledger)
  if (log !== null && identityOf(`${file}-wal`) !== log) throw movedError(`${file}-wal`)
}

/** @param opened the file that was opened first; a connection to another one would serve other rows */
export function requireLedger(file: string, opened: FileIdentity): void {
  if (identityOf(file) !== opened) throw movedError(file)
}

function movedError(file: string): Error {
  return new Error(`${file} was removed or replaced while the gateway runs; put it back, or restart the gateway`)
}
