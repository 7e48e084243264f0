/**
 * The series of one metric, found by their label values. Their number is bounded: further label values share one series, so
 * totals stay right and memory stays small.
 */
export type Labels = Readonly<Record<string, string>>

/** Most series of one metric. A gateway of 500 routes stays below it. */
export const MOST_SERIES = 5000
/** Value of every label of the series that takes all beyond the limit. */
export const OVERFLOW = 'overflow'

interface Branch<Series> {
  readonly next: Map<string, Branch<Series>>
  series: Series | null
}

interface SeriesOptions<Series> {
  readonly labels: readonly string[]
  readonly make: (labels: Labels) => Series
  /** Called for each look-up that the limit sends to the shared series. */
  readonly onOverflow: () => void
}

/** A tree with one level a label: a look-up makes no key. */
export class SeriesTable<Series> {
  readonly #options: SeriesOptions<Series>
  #root: Branch<Series> = branch()
  #all: Series[] = []
  #overflow: Series | null = null

  constructor(options: SeriesOptions<Series>) {
    this.#options = options
    this.clear()
  }

  of(labels: Labels): Series {
    let at = this.#root
    for (const name of this.#options.labels) {
      const next = at.next.get(labels[name] ?? '')
      if (next === undefined) return this.#add(labels)
      at = next
    }
    return at.series ?? this.#add(labels)
  }

  all(): readonly Series[] {
    return this.#all
  }

  /** A metric without labels keeps its only series, which begins anew. */
  clear(): void {
    this.#root = branch()
    this.#all = []
    this.#overflow = null
    if (this.#options.labels.length === 0) this.of({})
  }

  #add(labels: Labels): Series {
    if (this.#all.length >= MOST_SERIES) return this.#overflowing()
    let at = this.#root
    for (const name of this.#options.labels) {
      const value = labels[name] ?? ''
      const next = at.next.get(value) ?? branch()
      at.next.set(value, next)
      at = next
    }
    const made = this.#make(labels)
    at.series = made
    return made
  }

  #overflowing(): Series {
    this.#options.onOverflow()
    this.#overflow ??= this.#make(Object.fromEntries(this.#options.labels.map((name) => [name, OVERFLOW])))
    return this.#overflow
  }

  #make(labels: Labels): Series {
    const made = this.#options.make(labels)
    this.#all.push(made)
    return made
  }
}

function branch<Series>(): Branch<Series> {
  return { next: new Map(), series: null }
}
