/** Sinks of execution telemetry in the configuration: where events go, and how they are delivered. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { integer, seconds } from '../../settings/fields.ts'

/** The same for every sink that delivers over the network. */
export const DELIVERY = {
  batch: integer(100, 'Maximum number of events in a batch'),
  interval: seconds(1, 'Maximum delay before a batch is sent', 0.01),
  timeout: seconds(10, 'One delivery'),
  retries: integer(5, 'Further tries of one batch', 0),
} as const

const LogSink = Type.Object(
  {
    type: Type.Literal('log', {
      description:
        'log: lines on stdout. http: batches of CloudEvents to an address. otlp: OpenTelemetry logs over HTTP.',
    }),
  },
  { additionalProperties: false },
)

export const HttpSink = Type.Object(
  {
    type: Type.Literal('http'),
    url: Type.String({
      pattern: '^https?://',
      description: 'Takes batches as a JSON list, gzip; 2xx acknowledges. Monitoring sends CloudEvents.',
    }),
    ...DELIVERY,
    header: Type.Optional(
      Type.String({ minLength: 1, description: 'One more request header, "Name: value", e.g. for authentication.' }),
    ),
  },
  { additionalProperties: false },
)

export const OtlpSink = Type.Object(
  {
    type: Type.Literal('otlp'),
    endpoint: Type.String({
      pattern: '^https?://',
      description:
        'Takes OpenTelemetry logs over HTTP as JSON (OTLP), gzip. An address without a path means /v1/logs of it.',
    }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Further request headers by name, e.g. for authentication.',
      }),
    ),
    ...DELIVERY,
  },
  { additionalProperties: false },
)

export const SinkConfig = Type.Union([LogSink, HttpSink, OtlpSink])
export type SinkConfig = Static<typeof SinkConfig>
