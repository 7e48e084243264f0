/** When what failed is tried again: the time between two tries doubles, up to a bound. */

const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 15 * 60_000

/** The instant of the next try after `at`; null: it would be later than `giveUpMs` after `since`. Milliseconds. */
export function nextTry(attempts: number, at: number, since: number, giveUpMs: number): number | null {
  const next = at + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts)
  return next - since > giveUpMs ? null : next
}
