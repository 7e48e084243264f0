/** The time that the gateway judges by. It never goes back while the process runs: what has once ended would be valid again. */

interface SetBack {
  /** Milliseconds. */
  readonly by: number
}

/** A step back that is smaller is the business of whoever keeps the clock right. */
const REPORTED_MS = 1000

/**
 * The wall clock while it goes forward. After a step back, time continues from where it was until the wall clock has caught up.
 * A restart takes the wall clock as it is, and finds the ends that were recorded.
 * @param wall milliseconds since the epoch
 * @param onSetBack called once for each step back
 */
export function steadyClock(wall: () => number, onSetBack: (step: SetBack) => void): () => number {
  let last = Number.NEGATIVE_INFINITY
  let ahead = 0
  return () => {
    const shown = wall()
    if (shown >= last) ahead = 0
    else if (shown + ahead < last) {
      const by = last - (shown + ahead)
      ahead = last - shown
      if (by >= REPORTED_MS) onSetBack({ by })
    }
    last = shown + ahead
    return last
  }
}
