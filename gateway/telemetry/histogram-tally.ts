/**
 * A histogram whose observations are counted in place and rendered at each scrape: calls observe far more often than that. Each
 * bucket keeps the trace of its last observation as an exemplar.
 */
import type { Exemplar, ReadMetric, ReadValue } from './prometheus.ts'
import { SeriesTable, type Labels } from './series.ts'

interface Series {
  readonly labels: Labels
  /** Observations by bucket; the last one has no upper bound. */
  readonly counts: number[]
  readonly exemplars: (Exemplar | undefined)[]
  sum: number
}

interface HistogramOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
  readonly onOverflow: () => void
}

export class HistogramTally {
  readonly #options: HistogramOptions
  readonly #series: SeriesTable<Series>

  constructor(options: HistogramOptions) {
    this.#options = options
    const { labels, buckets, onOverflow } = options
    const size = buckets.length + 1
    const make = (of: Labels): Series => ({
      labels: of,
      counts: Array.from({ length: size }, () => 0),
      exemplars: [],
      sum: 0,
    })
    this.#series = new SeriesTable({ labels, make, onOverflow })
  }

  /** @param traceId of a sampled trace; null: none */
  observe(labels: Labels, value: number, traceId: string | null): void {
    const series = this.#series.of(labels)
    const bucket = this.#bucketOf(value)
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
    if (traceId !== null)
      series.exemplars[bucket] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 }
  }

  read(): ReadMetric {
    const { name, help } = this.#options
    return { name, help, type: 'histogram', values: this.#series.all().flatMap((one) => this.#valuesOf(one)) }
  }

  #bucketOf(value: number): number {
    const { buckets } = this.#options
    let bucket = 0
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1
    return bucket
  }

  #valuesOf({ labels, counts, exemplars, sum }: Series): readonly ReadValue[] {
    const { name, buckets } = this.#options
    let total = 0
    const rows: ReadValue[] = counts.map((count, index) => {
      total += count
      const exemplar = exemplars[index]
      const row = { labels: { le: buckets[index] ?? '+Inf', ...labels }, value: total, metricName: `${name}_bucket` }
      return exemplar === undefined ? row : { ...row, exemplar }
    })
    return [
      ...rows,
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: total, metricName: `${name}_count` },
    ]
  }
}
