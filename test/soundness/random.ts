/** Reproducible choices: a seed and an index give the same pair on every machine and in every thread. */

export class Random {
  #state: number

  /** Mixes both numbers, so that neighbouring indices share no sequence. */
  constructor(seed: number, index = 0) {
    this.#state = mixed(Math.imul(mixed(seed), 0x9e3779b1) + mixed(index + 0x632be5ab))
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    return Math.floor((mixed(this.#state) / 2 ** 32) * count)
  }

  /** True in `share` of all cases. */
  chance(share: number): boolean {
    return this.below(1_000_000) < share * 1_000_000
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    const rest = [...list]
    for (let last = rest.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1)
      const [a, b] = [rest[last], rest[other]]
      if (a === undefined || b === undefined) continue
      rest[last] = b
      rest[other] = a
    }
    return rest
  }

  /** `least` to `most` different items. */
  some<T>(list: readonly T[], least: number, most: number): readonly T[] {
    return this.shuffled(list).slice(0, this.between(least, Math.min(most, list.length)))
  }
}

/** The finaliser of MurmurHash3: every bit of the input reaches every bit of the result. */
function mixed(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
