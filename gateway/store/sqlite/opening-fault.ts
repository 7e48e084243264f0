/** The cause of an error of SQLite, and why a ledger cannot be opened: each result code has another remedy. */
import { dirname } from 'node:path'
import { errorCode, messageOf } from '../../errors/startup-error.ts'

/** `code` of the error when another gateway serves. */
export const HELD_ELSEWHERE = 'HELD_ELSEWHERE'

/** Primary result code (the low byte of the extended one): https://sqlite.org/rescode.html. Null for other errors. */
export function primaryCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null
}

const ANOTHER_PLACE =
  'name another directory with data_dir (PREFLIGHT_DATA_DIR), or another file with store.url: file:PATH'

/** One row for each group of primary result codes; the first that has the code applies. */
const REMEDIES: readonly { readonly codes: readonly number[]; readonly remedy: string }[] = [
  {
    codes: [3 /* PERM */, 8 /* READONLY */, 14 /* CANTOPEN */, 23 /* AUTH */],
    remedy: `Its directory must exist or be creatable, and be writable by this user; ${ANOTHER_PLACE}.`,
  },
  {
    codes: [10 /* IOERR */, 13 /* FULL */],
    remedy: `The disk is full or faulty: make room on it, or ${ANOTHER_PLACE}.`,
  },
  {
    codes: [11 /* CORRUPT */, 26 /* NOTADB */],
    remedy:
      'It is damaged, or not a ledger: restore it from a backup. To start over, without its decisions, approvals and ' +
      'API keys, move it away.',
  },
  {
    codes: [5 /* BUSY */, 6 /* LOCKED */],
    remedy: 'Another program has been writing to it for several seconds: wait until it has finished.',
  },
]

/** Why a gateway with a shared database cannot have its data directory. */
export function directoryFault(directory: string, error: unknown): string {
  return errorCode(error) === HELD_ELSEWHERE
    ? `Another gateway serves from ${directory}: each has receipt keys and a chain of the ledger of its own. Stop the other one, or name another directory with data_dir (PREFLIGHT_DATA_DIR).`
    : `The lock of the data directory ${directory} cannot be made: ${messageOf(error)}.`
}

/** @returns a message for the operator: fault, cause and fix */
export function sqliteOpeningFault(file: string, error: unknown): string {
  if (errorCode(error) === HELD_ELSEWHERE)
    return (
      `Another gateway serves from ${dirname(file)}: two on one ledger would not see each other's revocations. Stop the ` +
      `other one, or ${ANOTHER_PLACE}.`
    )
  const code = primaryCode(error)
  const remedy = REMEDIES.find(({ codes }) => code !== null && codes.includes(code))?.remedy
  return `The ledger ${file} cannot be opened: ${messageOf(error)}.${remedy === undefined ? '' : ` ${remedy}`}`
}
