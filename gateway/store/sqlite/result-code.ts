/** The cause of an error of SQLite, or of the lock next to it. */

/** `code` of the error when another gateway serves. */
export const HELD_ELSEWHERE = 'HELD_ELSEWHERE'

/** Primary result code (the low byte of the extended one): https://sqlite.org/rescode.html. Null for other errors. */
export function primaryCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null
}
