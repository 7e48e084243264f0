/**
 * The metrics of one gateway: counted and observed by name, read by scrapes and exports. The table of all of them is
 * metric-table.ts.
 */
import { HistogramTally } from './histogram-tally.ts'
import { METRICS, type MetricSpec } from './metric-table.ts'
import { Registry, type ReadMetric } from './prometheus.ts'
import { SeriesTable, type Labels } from './series.ts'

type MetricRow = (typeof METRICS)[number]
type NameOf<Type extends MetricSpec['type']> = Extract<MetricRow, { readonly type: Type }>['name']
type Sampled = Extract<MetricRow, { readonly type: 'gauge' | 'counter'; readonly labels: readonly [] }>['name']
type LabelsOf<Name extends MetricRow['name']> = Readonly<
  Record<Extract<MetricRow, { readonly name: Name }>['labels'][number], string>
>

/** The text forms of a scrape. Only OpenMetrics carries exemplars. */
type MetricsForm = 'prometheus' | 'openmetrics'

export const METRICS_TYPES: Readonly<Record<MetricsForm, string>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
}

/** Counts by name: a name or label outside the table does not compile. */
export interface Metrics {
  count<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void
  set<Name extends NameOf<'gauge' | 'summary'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  add<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, by: number): void
  /** Sets the only series of a gauge to 1: those that named what was before end. */
  setOnly<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>): void
  /** For a value that changes far more often than it is scraped: read at each scrape. */
  sample(name: Sampled, read: () => number): void
  /** Called at the start of each scrape, to set values that are read then. */
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
  read(): readonly ReadMetric[]
}

/** Separate for each gateway: two in one process (tests, the demo) do not mix. */
export function createMetrics(): Metrics {
  const values = new Map<string, ValueTally>()
  const histograms = new Map<string, HistogramTally>()
  const samples = new Map<string, () => number>()
  const readers: (() => void)[] = []
  const all: (() => ReadMetric)[] = []
  const rows: readonly MetricSpec[] = METRICS
  for (const { name, help, type, labels, buckets = [] } of rows) {
    const onOverflow = (): void => values.get('preflight_metric_overflows_total')?.add({ metric: name }, 1)
    if (type === 'histogram') {
      const histogram = new HistogramTally({ name, help, labels, buckets, onOverflow })
      histograms.set(name, histogram)
      all.push(() => histogram.read())
    } else {
      const tally = new ValueTally({ name, help, type, labels, onOverflow })
      values.set(name, tally)
      all.push(() => tally.read())
    }
  }
  const takeSamples = (): void => {
    for (const act of readers) act()
    for (const [name, read] of samples) values.get(name)?.set({}, read())
  }
  const read = (): readonly ReadMetric[] => {
    takeSamples()
    return all.map((one) => one())
  }
  return {
    count: (name, labels, by = 1) => values.get(name)?.add(labels, by),
    set: (name, labels, value) => values.get(name)?.set(labels, value),
    add: (name, labels, by) => values.get(name)?.add(labels, by),
    setOnly(name, labels) {
      values.get(name)?.clear()
      values.get(name)?.set(labels, 1)
    },
    observe: (name, labels, seconds, traceId = null) => histograms.get(name)?.observe(labels, seconds, traceId),
    sample: (name, sampled) => samples.set(name, sampled),
    beforeRead: (act) => readers.push(act),
    text: (form = 'prometheus') => renderMetrics(read(), METRICS_TYPES[form]),
    read,
  }
}

/** A registry for one scrape: it renames counters in the OpenMetrics form, and keeps nothing. */
function renderMetrics(metrics: readonly ReadMetric[], contentType: string): Promise<string> {
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

interface ValueOptions {
  readonly name: string
  readonly help: string
  readonly type: Exclude<MetricSpec['type'], 'histogram'>
  readonly labels: readonly string[]
  readonly onOverflow: () => void
}

/** A counter, gauge or summary, counted in place and rendered at each scrape. */
class ValueTally {
  readonly #options: ValueOptions
  readonly #series: SeriesTable<{ readonly labels: Labels; value: number }>

  constructor(options: ValueOptions) {
    this.#options = options
    const { labels, onOverflow } = options
    this.#series = new SeriesTable({ labels, make: (of) => ({ labels: of, value: 0 }), onOverflow })
  }

  add(labels: Labels, by: number): void {
    this.#series.of(labels).value += by
  }

  set(labels: Labels, value: number): void {
    this.#series.of(labels).value = value
  }

  clear(): void {
    this.#series.clear()
  }

  read(): ReadMetric {
    const { name, help, type } = this.#options
    return { name, help, type, values: this.#series.all() }
  }
}

const KNOWN_OPERATIONS: ReadonlySet<string> = new Set(['tool_call', 'merge', 'deploy', 'publish', 'register'])

/** The operation as a label: callers choose the text, so an unknown operation is one value. */
export function operationLabel(operation: string | null): string {
  return operation !== null && KNOWN_OPERATIONS.has(operation) ? operation : 'other'
}
