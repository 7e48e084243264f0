/**
 * The clock of this machine, set to that of the database which several gateways share. Their clocks may differ; what ends for
 * one of them has to end for all.
 */

/** Milliseconds. A smaller difference is the noise of the measurement. */
const NOISE_MS = 250
/** Milliseconds. From here on an operator should set the clock. */
const REPORTED_MS = 2000

export class FollowedClock {
  readonly #wall: () => number
  readonly #onDifference: (milliseconds: number) => void
  #difference = 0
  #reported = 0

  /**
   * @param wall milliseconds since the epoch
   * @param onDifference called when the machine's clock is found to be wrong, and when it is right again
   */
  constructor(wall: () => number, onDifference: (milliseconds: number) => void) {
    this.#wall = wall
    this.#onDifference = onDifference
  }

  now(): number {
    return this.#wall() + this.#difference
  }

  /** Whole seconds since the epoch. */
  seconds(): number {
    return Math.floor(this.now() / 1000)
  }

  /** @param time of the database, milliseconds since the epoch; it was read now */
  follow(time: number): void {
    const difference = time - this.#wall()
    if (Math.abs(difference - this.#difference) < NOISE_MS) return
    this.#difference = Math.abs(difference) < NOISE_MS ? 0 : difference
    if (Math.abs(difference - this.#reported) < REPORTED_MS) return
    this.#reported = Math.abs(difference) < REPORTED_MS ? 0 : difference
    this.#onDifference(this.#reported)
  }
}
