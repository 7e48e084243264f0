/**
 * How an `otlp` sink is spoken to: one OpenTelemetry log record an event, in the JSON form of OTLP over HTTP. The form is a fixed
 * mapping of a protobuf message (64-bit integers are strings), so it takes no library: docs/decisions/0020.
 */
import { jsonOrNull, recordIn } from '../../json/unchecked-json.ts'
import type { SinkConfig } from './settings.ts'
import { VIOLATION_EVENT, type TelemetryEvent } from '../events.ts'
import type { Acknowledgement, ReceiverProtocol } from './receiver.ts'

type OtlpSinkConfig = Extract<SinkConfig, { readonly type: 'otlp' }>

/** @param version of the gateway, as `service.version` */
export function otlpLogs(config: OtlpSinkConfig, version: string): ReceiverProtocol {
  return otlpProtocol(config, { name: 'preflight.monitoring', version }, (line) => logRecord(parsedEvent(line)))
}

/** Entries of the decision log, one record each. */
export function otlpEntries(config: OtlpSinkConfig, version: string): ReceiverProtocol {
  return otlpProtocol(config, { name: 'preflight.decision-log', version }, entryRecord)
}

function otlpProtocol(
  { endpoint, headers = {} }: OtlpSinkConfig,
  scope: { readonly name: string; readonly version: string },
  recordOf: (line: string) => Readonly<Record<string, unknown>>,
): ReceiverProtocol {
  const attributes = [attribute('service.name', 'preflight-gateway'), attribute('service.version', scope.version)]
  return {
    url: logsUrl(endpoint),
    contentType: 'application/json',
    headers,
    encode(batch) {
      const logRecords = batch.map(recordOf)
      return JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ scope, logRecords }] }] })
    },
    read: acknowledgementIn,
  }
}

const REFUSED: ReadonlySet<unknown> = new Set(['BLOCK', 'REQUIRE_APPROVAL', 'receipt_required', 'undecided'])

/** The entry is the body, and what one searches by are attributes too. */
function entryRecord(line: string): Readonly<Record<string, unknown>> {
  const entry: Readonly<Record<string, unknown>> = JSON.parse(line)
  const time = `${Date.parse(String(entry['time']))}000000`
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    ...(REFUSED.has(entry['decision']) ? WARN : INFO),
    eventName: `preflight.${String(entry['kind'])}`,
    body: { stringValue: line },
    ...(typeof entry['trace_id'] === 'string' && { traceId: entry['trace_id'] }),
    attributes: Object.entries(entry).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [attribute(`preflight.${name}`, value)] : [],
    ),
  }
}

/** The specification of OTLP over HTTP gives logs a path of their own below the base address of a receiver. */
export function logsUrl(endpoint: string): string {
  const url = new URL(endpoint)
  if (url.pathname === '/') url.pathname = '/v1/logs'
  return url.href
}

type AnyValue = { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number }
interface Attribute {
  readonly key: string
  readonly value: AnyValue
}

/** Severity numbers of the OpenTelemetry log data model. */
const INFO = { severityNumber: 9, severityText: 'INFO' } as const
const WARN = { severityNumber: 13, severityText: 'WARN' } as const
const ALARMING: ReadonlySet<unknown> = new Set(['FAILED', 'UNKNOWN'])

function logRecord(event: TelemetryEvent): Readonly<Record<string, unknown>> {
  const time = `${Date.parse(event.time)}000000`
  const { outcome } = event.data
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    ...(ALARMING.has(outcome) || event.type === VIOLATION_EVENT ? WARN : INFO),
    eventName: event.type,
    body: { stringValue: [event.type, outcome, event.subject].filter((part) => part !== undefined).join(' ') },
    attributes: [
      attribute('cloudevents.event_id', event.id),
      attribute('cloudevents.event_source', event.source),
      attribute('cloudevents.event_spec_version', event.specversion),
      attribute('cloudevents.event_type', event.type),
      attribute('cloudevents.event_subject', event.subject),
      ...Object.entries(event.data).flatMap(([name, value]) =>
        value === null ? [] : [attribute(`preflight.${name}`, value)],
      ),
    ],
  }
}

function attribute(key: string, value: string | number): Attribute {
  if (typeof value === 'string') return { key, value: { stringValue: value } }
  return { key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } }
}

function parsedEvent(line: string): TelemetryEvent {
  const event: TelemetryEvent = JSON.parse(line)
  return event
}

/**
 * A partial success (`ExportLogsPartialSuccess`) names how many records were not taken, and must not be sent again.
 * A receiver may answer in protobuf or with nothing: a 2xx acknowledges all.
 */
function acknowledgementIn(body: string): Acknowledgement {
  const partial = recordIn(recordIn(jsonOrNull(body))['partialSuccess'])
  const rejected = Number(partial['rejectedLogRecords'] ?? 0)
  const why = partial['errorMessage']
  return {
    rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    why: typeof why === 'string' && why !== '' ? why.slice(0, 500) : null,
  }
}
