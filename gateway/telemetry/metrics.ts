/**
 * The metrics of one gateway: counted and observed by name, read by scrapes and exports. The table of all of them is
 * metric-table.ts.
 */
import { HistogramTally } from './histogram-tally.ts'
import { METRICS, type MetricSpec } from './metric-table.ts'
import { Counter, Gauge, Registry, type ReadMetric } from './prometheus.ts'

type MetricRow = (typeof METRICS)[number]
type NameOf<Type extends MetricSpec['type']> = Extract<MetricRow, { readonly type: Type }>['name']
type Sampled = Extract<MetricRow, { readonly type: 'gauge' | 'counter'; readonly labels: readonly [] }>['name']
type LabelsOf<Name extends MetricRow['name']> = Readonly<
  Record<Extract<MetricRow, { readonly name: Name }>['labels'][number], string>
>

/** The text forms of a scrape. Only OpenMetrics carries exemplars. */
export type MetricsForm = 'prometheus' | 'openmetrics'

export const METRICS_TYPES: Readonly<Record<MetricsForm, string>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
}

/** Counts by name: a name or label outside the table does not compile. */
export interface Metrics {
  count<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void
  set<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  add<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, by: number): void
  /** Sets the only series of a gauge to 1: those that named what was before end. */
  setOnly<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>): void
  /** For a value that changes far more often than it is scraped: read at each scrape. */
  sample(name: Sampled, read: () => number): void
  /** Called at the begin of each scrape, to set values that are read then. */
  beforeRead(act: () => void): void
  /**
   * @param seconds what was measured
   * @param traceId of a sampled trace, for an exemplar; null: none
   */
  observe<Name extends NameOf<'histogram'>>(
    name: Name,
    labels: LabelsOf<Name>,
    seconds: number,
    traceId?: string | null,
  ): void
  /** The text form. */
  text(form?: MetricsForm): Promise<string>
  /** Every metric with its values. */
  read(): Promise<readonly ReadMetric[]>
}

/** Separate for each gateway: two in one process (tests, the demo) do not mix. */
export function createMetrics(): Metrics {
  const counters = new Map<string, Tally>()
  const gauges = new Map<string, Gauge>()
  const histograms = new Map<string, HistogramTally>()
  const samples = new Map<string, () => number>()
  const readers: (() => void)[] = []
  const all: (() => Promise<ReadMetric>)[] = []
  const rows: readonly MetricSpec[] = METRICS
  for (const { name, help, type, labels, buckets = [] } of rows) {
    const shared = { name, help, labelNames: [...labels], registers: [] }
    if (type === 'counter') {
      const tally = new Tally(shared)
      counters.set(name, tally)
      all.push(() => tally.read())
    } else if (type === 'gauge') {
      const gauge = new Gauge(shared)
      gauges.set(name, gauge)
      all.push(async () => ({ ...(await gauge.get()), type }))
    } else {
      const histogram = new HistogramTally({ name, help, labels, buckets })
      histograms.set(name, histogram)
      all.push(() => Promise.resolve(histogram.read()))
    }
  }
  const takeSamples = (): void => {
    for (const act of readers) act()
    for (const [name, read] of samples) {
      gauges.get(name)?.set(read())
      counters.get(name)?.replace(read())
    }
  }
  const read = (): Promise<readonly ReadMetric[]> => {
    takeSamples()
    return Promise.all(all.map((one) => one()))
  }
  return {
    count: (name, labels, by = 1) => counters.get(name)?.add(labels, by),
    set: (name, labels, value) => gauges.get(name)?.set(labels, value),
    add: (name, labels, by) => gauges.get(name)?.inc(labels, by),
    setOnly(name, labels) {
      gauges.get(name)?.reset()
      gauges.get(name)?.set(labels, 1)
    },
    observe: (name, labels, seconds, traceId = null) => histograms.get(name)?.observe(labels, seconds, traceId),
    sample: (name, sampled) => samples.set(name, sampled),
    beforeRead: (act) => readers.push(act),
    text: async (form = 'prometheus') => render(await read(), METRICS_TYPES[form]),
    read,
  }
}

/** A registry for one scrape: it renames counters in the OpenMetrics form, and keeps nothing. */
function render(metrics: readonly ReadMetric[], contentType: string): Promise<string> {
  const registry = new Registry(contentType)
  for (const metric of metrics) registry.registerMetric(new RenderedMetric(metric))
  return registry.metrics()
}

class RenderedMetric {
  name: string
  readonly type: ReadMetric['type']
  readonly #metric: ReadMetric

  constructor(metric: ReadMetric) {
    this.name = metric.name
    this.type = metric.type
    this.#metric = metric
  }

  get(): Promise<ReadMetric> {
    return Promise.resolve({ ...this.#metric, name: this.name })
  }
}

type Labels = Readonly<Record<string, string>>

/** A counter whose increments are stored by label values and added at each read: calls count far more often than that. */
class Tally {
  readonly #counter: Counter
  readonly #labelNames: readonly string[]
  readonly #pending = new Map<string, { readonly labels: Labels; value: number }>()

  constructor(options: ConstructorParameters<typeof Counter>[0] & { readonly labelNames: string[] }) {
    this.#labelNames = options.labelNames
    this.#counter = new Counter({ ...options, collect: () => this.#handOver() })
  }

  add(labels: Labels, by: number): void {
    let key = ''
    for (const name of this.#labelNames) key += `${labels[name]}\n`
    const known = this.#pending.get(key)
    if (known === undefined) this.#pending.set(key, { labels, value: by })
    else known.value += by
  }

  replace(value: number): void {
    this.#counter.reset()
    this.#counter.inc(value)
  }

  async read(): Promise<ReadMetric> {
    return { ...(await this.#counter.get()), type: 'counter' }
  }

  #handOver(): void {
    for (const { labels, value } of this.#pending.values()) this.#counter.inc(labels, value)
    this.#pending.clear()
  }
}

const KNOWN_OPERATIONS: ReadonlySet<string> = new Set(['tool_call', 'merge', 'deploy', 'publish', 'register'])

/** The operation as a label: callers choose the text, so an unknown operation is one value. */
export function operationLabel(operation: string | null): string {
  return operation !== null && KNOWN_OPERATIONS.has(operation) ? operation : 'other'
}
