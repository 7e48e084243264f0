/** The time that the gateway judges by. It never goes back: what has once ended would be valid again. */

interface SetBack {
  /** Milliseconds. */
  readonly by: number
}

/** A step back that is smaller is the business of whoever keeps the clock right. */
const REPORTED_MS = 1000

/** Of the time that passes. So slow is the clock while it waits for the wall clock: what lasts an hour then lasts 6 minutes longer. */
const CATCH_UP = 0.1

/**
 * The wall clock while it goes forward. After a step back, time continues from where it was, a tenth slower, until the wall clock
 * has caught up.
 */
export class SteadyClock {
  readonly #wall: () => number
  readonly #onSetBack: (step: SetBack) => void
  #shown = Number.NEGATIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY
  #ahead = 0

  /**
   * @param wall milliseconds since the epoch
   * @param onSetBack called once for each step back
   */
  constructor(wall: () => number, onSetBack: (step: SetBack) => void) {
    this.#wall = wall
    this.#onSetBack = onSetBack
  }

  /** Milliseconds since the epoch. A member of the object, so that it can be passed. */
  readonly now = (): number => {
    const shown = this.#wall()
    if (shown >= this.#last) this.#ahead = 0
    else if (shown > this.#shown) this.#ahead = Math.max(0, this.#ahead - (shown - this.#shown) * CATCH_UP)
    const by = this.#last - Math.ceil(shown + this.#ahead)
    if (by > 0) this.#ahead = this.#last - shown
    if (by >= REPORTED_MS) this.#onSetBack({ by })
    this.#shown = shown
    this.#last = Math.ceil(shown + this.#ahead)
    return this.#last
  }

  /** Milliseconds that this time is later than the wall clock, which was set back. */
  ahead(): number {
    const now = this.now()
    return Math.max(0, now - Math.ceil(this.#shown))
  }

  /** Time continues from here, if it is not later already. @param time milliseconds since the epoch */
  keep(time: number): void {
    this.#last = Math.max(this.#last, time)
  }
}
