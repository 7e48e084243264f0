/** Exports the metrics of /metrics over OTLP at an interval: the same counts, read the same way. */
import { ValueType, type Attributes, type HrTime } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { Metrics } from '../metrics.ts'
import type { ReadMetric, ReadValue } from '../prometheus.ts'
import type { OtelTerms } from './terms.ts'
import type { OtlpTransport } from './transport.ts'

interface MetricExportOptions {
  readonly target: NonNullable<OtelTerms['metrics']>
  readonly transport: OtlpTransport
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
  readonly metrics: Metrics
}

interface MetricExport {
  /** Exports once more and stops. */
  close(): Promise<void>
}

export function startMetricExport({
  target,
  transport,
  resource,
  version,
  metrics,
}: MetricExportOptions): MetricExport {
  const serializer = target.form === 'json' ? JsonMetricsSerializer : ProtobufMetricsSerializer
  const shared = {
    resource: resourceFromAttributes({ ...resource, 'service.version': version }),
    scope: { name: 'preflight-gateway', version },
  }
  const startTime = hrTime(performance.timeOrigin)
  let underWay: Promise<void> = Promise.resolve()
  const send = async (): Promise<void> => {
    const read = metrics.read()
    const endTime = hrTime(performance.timeOrigin + performance.now())
    const data = read.filter(({ values }) => values.length > 0).map((metric) => dataOf(metric, { startTime, endTime }))
    const { resource: described, scope } = shared
    const body = serializer.serializeRequest({ resource: described, scopeMetrics: [{ scope, metrics: data }] })
    if (body !== undefined) await transport.send(body, data.length)
  }
  const timer = setInterval(() => {
    underWay = underWay.then(send)
  }, target.interval)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await underWay
      await send()
      await transport.close()
    },
  }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

function dataOf({ name, help, type, values }: ReadMetric, times: Times): MetricData {
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE }
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  if (type === 'histogram')
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(name, values, times) }
  const dataPoints = values.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }))
  return type === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** The values of one series come in order: its buckets, its sum, its count. */
function histogramPoints(name: string, values: readonly ReadValue[], times: Times) {
  const points: {
    readonly startTime: HrTime
    readonly endTime: HrTime
    readonly attributes: Attributes
    readonly value: { readonly buckets: { boundaries: number[]; counts: number[] }; sum: number; count: number }
  }[] = []
  let buckets = { boundaries: [] as number[], counts: [] as number[] }
  let total = 0
  let sum = 0
  for (const { labels, value, metricName } of values) {
    if (metricName === `${name}_bucket`) {
      if (labels['le'] !== '+Inf') buckets.boundaries.push(Number(labels['le']))
      buckets.counts.push(value - total)
      total = value
    } else if (metricName === `${name}_sum`) sum = value
    else {
      points.push({ ...times, attributes: attributesOf(labels), value: { buckets, sum, count: value } })
      buckets = { boundaries: [], counts: [] }
      total = 0
    }
  }
  return points
}

function attributesOf(labels: ReadValue['labels']): Attributes {
  return { ...labels }
}

function unitOf(name: string): string {
  if (name.includes('_seconds')) return 's'
  return name.includes('_bytes') ? 'By' : '1'
}

function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
