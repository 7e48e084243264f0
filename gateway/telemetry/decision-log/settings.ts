/** Settings of the decision log. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { integer, strict } from '../../settings/fields.ts'
import { DELIVERY, HttpSink, OtlpSink } from '../sinks/settings.ts'

const FileSink = Type.Object(
  {
    type: Type.Literal('file', {
      description:
        'file: lines in a file. stdout: lines on stdout. http: batches as a JSON list. otlp: OpenTelemetry logs. syslog: RFC 5424 over TLS.',
    }),
    path: Type.String({ minLength: 1, description: 'File that entries are appended to, one JSON object a line.' }),
    max_bytes: integer(100_000_000, 'A file of this size is renamed to PATH.1, and a new one begins', 1000),
    files: integer(5, 'Renamed files that are kept', 0),
  },
  { additionalProperties: false },
)

const StdoutSink = Type.Object({ type: Type.Literal('stdout') }, { additionalProperties: false })

const SyslogSink = Type.Object(
  {
    type: Type.Literal('syslog'),
    address: Type.String({
      pattern: '^[^:\\s]+:\\d{1,5}$|^\\[[0-9a-fA-F:]+\\]:\\d{1,5}$',
      description: 'HOST:PORT of a syslog receiver over TLS (RFC 5424, RFC 5425).',
    }),
    ca: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'PEM file of the authorities to trust; default: those that Node.js carries.',
      }),
    ),
    facility: Type.Integer({ default: 13, minimum: 0, maximum: 23, description: 'Syslog facility; 13 is log audit.' }),
    ...DELIVERY,
  },
  { additionalProperties: false },
)

export const DecisionSink = Type.Union([FileSink, StdoutSink, HttpSink, OtlpSink, SyslogSink])
export type DecisionSink = Static<typeof DecisionSink>

const Mask = Type.Object(
  {
    fields: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: 'Members of an entry.' }),
    when: Type.Optional(Type.String({ minLength: 1, description: 'CEL over entry; absent: every entry.' })),
  },
  { additionalProperties: false },
)

export const DecisionLogSettings = strict(
  {
    sinks: Type.Array(DecisionSink, { default: [], description: 'Where entries go; each sink gets all of them.' }),
    on_full: Type.Union([Type.Literal('drop_and_count'), Type.Literal('block')], {
      default: 'drop_and_count',
      description:
        'What happens when a sink takes no entry, for example because its spool is full. drop_and_count: the entry is lost and counted. block: nothing takes effect without a durable entry. Calls and preflights then get 503.',
    }),
    spool: integer(10_000, 'Entries kept on disk for each network sink while its receiver is away'),
    mask: Type.Array(Mask, { default: [], description: 'Members that are replaced by "[masked]".' }),
    drop: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'CEL over entry: an entry for which one of these is true is not written.',
    }),
  },
  'Decision log: an entry for each call, decision and act.',
)
export type DecisionLogSettings = Static<typeof DecisionLogSettings>
