/** Settings of exports to OpenTelemetry. Part of the schema of the configuration; `OTEL_*` variables have precedence. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { seconds, strict } from '../../settings/fields.ts'

export const OtelSettings = strict(
  {
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description:
          'Receiver of traces and metrics: OTLP over HTTP, at /v1/traces and /v1/metrics below this address. Off by default. OTEL_EXPORTER_OTLP_ENDPOINT has precedence.',
      }),
    ),
    protocol: Type.Union([Type.Literal('http/protobuf'), Type.Literal('http/json')], {
      default: 'http/protobuf',
      description: 'Form of the exports. OTEL_EXPORTER_OTLP_PROTOCOL has precedence.',
    }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Further request headers by name, e.g. for authentication.',
      }),
    ),
    traces: Type.Boolean({ default: true, description: 'Spans of sampled requests are exported.' }),
    metrics: Type.Boolean({ default: false, description: 'The metrics of /metrics are exported too.' }),
    ratio: Type.Number({
      default: 1,
      minimum: 0,
      maximum: 1,
      description: 'Share of the traces that begin here which are sampled. OTEL_TRACES_SAMPLER has precedence.',
    }),
    follow_parent: Type.Boolean({
      default: true,
      description:
        'A trace that a caller began is sampled as the caller says. false: the ratio holds for it too, so that no caller chooses the cost.',
    }),
    interval: seconds(60, 'Time between two exports of metrics'),
  },
  'Traces and metrics for OpenTelemetry receivers. Sinks of monitoring.sinks and decision_log.sinks are separate.',
)
export type OtelSettings = Static<typeof OtelSettings>
