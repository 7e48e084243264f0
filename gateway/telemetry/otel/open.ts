/** Opens the exports that are configured. Loaded only then: the SDK costs time and memory. */
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { SpanExport } from '../observer.ts'
import { startMetricExport } from './metric-export.ts'
import type { StoreServer } from './attributes.ts'
import { createSpanExport } from './spans.ts'
import type { OtelTerms } from './terms.ts'
import { createOtlpTransport } from './transport.ts'

export interface Otel {
  readonly spans: SpanExport | null
  /** Exports what waits, and stops. */
  close(): Promise<void>
}

interface OtelDeps {
  readonly terms: OtelTerms
  readonly version: string
  readonly database: StoreServer
  readonly metrics: Metrics
  readonly logger: Logger
}

export function openOtel({ terms, version, database, metrics, logger }: OtelDeps): Otel {
  const { traces, metrics: target, sampler, batch, resource } = terms
  const transportOf = { metrics, logger }
  const spans =
    traces === null
      ? null
      : createSpanExport({
          target: traces,
          transport: createOtlpTransport('traces', traces, transportOf),
          sampler,
          batch,
          resource,
          version,
          database,
        })
  const exported =
    target === null
      ? null
      : startMetricExport({
          target,
          transport: createOtlpTransport('metrics', target, transportOf),
          resource,
          version,
          metrics,
        })
  return {
    spans,
    async close() {
      await Promise.all([spans?.close(), exported?.close()])
    },
  }
}
