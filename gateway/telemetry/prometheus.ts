/**
 * The text forms of prom-client, imported alone. The whole package also loads a push gateway, with HTTPS and all root
 * certificates, and default metrics, with OpenTelemetry: 80 modules that nothing here calls.
 */
import { createRequire } from 'node:module'
import type { MetricSpec } from './metric-table.ts'
import type { Registry as PrometheusRegistry } from 'prom-client'

const require = createRequire(import.meta.url)

/** The trace that an observation belongs to, in the form of OpenMetrics. */
export interface Exemplar {
  readonly labelSet: Readonly<Record<string, string>>
  readonly value: number
  /** Seconds since the epoch. */
  readonly timestamp: number
}

export interface ReadValue {
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly value: number
  /** Where it differs from the name of the metric: `NAME_bucket`, `NAME_sum`, `NAME_count`. */
  readonly metricName?: string | undefined
  readonly exemplar?: Exemplar
}

/** One metric with its values, as a scrape reads it. */
export interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly type: MetricSpec['type']
  readonly values: readonly ReadValue[]
}

/** What a registry renders. It may rename a counter on its own copy of the name. */
interface RegisteredMetric {
  name: string
  readonly type: ReadMetric['type']
  get(): Promise<ReadMetric>
}

/** Renders metrics in one text form. */
interface MetricRegistry {
  readonly contentType: string
  registerMetric(metric: RegisteredMetric): void
  metrics(): Promise<string>
}

export const Registry: (new (contentType: string) => MetricRegistry) &
  Pick<
    typeof PrometheusRegistry,
    'PROMETHEUS_CONTENT_TYPE' | 'OPENMETRICS_CONTENT_TYPE'
  > = require('prom-client/lib/registry.js')
