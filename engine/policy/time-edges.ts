/** When a condition on `time`, a waiver or a sunset day may answer otherwise: a decision is not valid past that moment. Rather too early than too late. */

const SECOND = 1
const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Member of `time` → seconds in which it stays the same, counted from midnight UTC. Any other use, computed keys among them, may read `unix`. */
const STEPS: ReadonlyMap<string, number> = new Map([
  ['date', DAY],
  ['weekday', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
])

/** What of a policy depends on the time. */
export interface TimeReads {
  /** Members of `time` that conditions read; null: `time` as a whole, or by a computed key. */
  readonly fields: ReadonlySet<string | null>
  /** Seconds since the epoch at which an answer may change: what `time.unix` is compared with, ends of waivers. */
  readonly moments: Iterable<number>
}

/**
 * @param now seconds since the epoch
 * @returns null when nothing depends on the time
 */
export function timeEdge({ fields, moments }: TimeReads, now: number): number | null {
  let edge = Number.POSITIVE_INFINITY
  for (const field of fields) {
    const step = STEPS.get(field ?? '') ?? SECOND
    edge = Math.min(edge, (Math.floor(now / step) + 1) * step)
  }
  // `<` and `>=` change at the moment, `<=`, `>` and `==` one second later.
  for (const moment of moments)
    for (const change of [moment, moment + 1]) if (change > now) edge = Math.min(edge, change)
  return edge === Number.POSITIVE_INFINITY ? null : edge
}
