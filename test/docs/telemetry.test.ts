/** docs/reference/telemetry.md against the events that are made: every type, member, outcome and field is on the page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  candidateEvent,
  CANDIDATE_EVENT,
  EVENT_TYPES,
  OUTCOMES,
  resultMembers,
  telemetryEvent,
  VIOLATION_EVENT,
  violationEvent,
  type TelemetryEvent,
} from '../../gateway/telemetry/events.ts'
import { cloudEvents } from '../../gateway/telemetry/sinks/http.ts'
import { logsUrl, otlpLogs } from '../../gateway/telemetry/sinks/otlp.ts'
import { namesIn, namesOf, rowsIn, sectionOf } from './page.ts'

const subject = { correlationId: 'c', decisionId: 'd', route: 'r' }
const [STARTED, FINISHED, CLOSED] = EVENT_TYPES
const result = { outcome: 'FAILED', status: 502, durationMs: 1, bytes: 2, fault: 'UPSTREAM_SILENT' } as const
const violation = { call: 'GET /', effect: 'refused', pattern: null, violations: 'v', occurrences: 1 } as const
const candidate = { route: 'r', digest: 'x', baseline: 'y', type: 'openapi' }

/** One event of each type. */
const EVENTS: Readonly<Record<string, TelemetryEvent>> = {
  [STARTED]: telemetryEvent(STARTED, subject, 0),
  [FINISHED]: telemetryEvent(FINISHED, subject, 0, { members: resultMembers(result) }),
  [CLOSED]: telemetryEvent(CLOSED, subject, 0, { members: { outcome: 'UNKNOWN' } }),
  [VIOLATION_EVENT]: violationEvent({ ...subject, ...violation }, 0),
  [CANDIDATE_EVENT]: candidateEvent(candidate, 0),
}

suite('telemetry.md', () => {
  test('names every event type with the members of its data', () => {
    const rows = rowsIn(sectionOf('telemetry.md', 'event-types'))
    const common = ['correlation_id', 'decision_id', 'route']
    assert.deepEqual(
      rows.map(([type, members]) => [namesOf(type)[0], ...namesOf(members)]),
      [...EVENT_TYPES, VIOLATION_EVENT, CANDIDATE_EVENT].map((type) => [
        type,
        ...Object.keys(EVENTS[type]?.data ?? {}).filter((name) => !common.includes(name)),
      ]),
    )
    const form = namesIn(sectionOf('telemetry.md', 'event-form'))
    for (const name of common) assert.ok(form.has(name), name)
  })
  test('names every attribute of an event', () => {
    const rows = rowsIn(sectionOf('telemetry.md', 'event-form')).flatMap(([cell]) => namesOf(cell))
    assert.deepEqual(rows, Object.keys(EVENTS[STARTED] ?? {}))
  })
  test('names every outcome', () => {
    const rows = rowsIn(sectionOf('telemetry.md', 'outcomes')).flatMap(([cell]) => namesOf(cell))
    assert.deepEqual(rows, [...OUTCOMES])
  })
  test('names the media type of the HTTP sink', () => {
    const { contentType } = cloudEvents({
      type: 'http',
      url: 'http://x.test',
      batch: 1,
      interval: 1,
      timeout: 1,
      retries: 1,
    })
    assert.ok(namesIn(sectionOf('telemetry.md', 'http-sink')).has(contentType))
  })
  test('names every field of an OTLP log record', () => {
    const section = sectionOf('telemetry.md', 'otlp-sink')
    const named = namesIn(section)
    const config = { type: 'otlp', endpoint: 'http://x.test', batch: 1, interval: 1, timeout: 1, retries: 1 } as const
    const batch = Object.values(EVENTS).map((event) => JSON.stringify(event))
    const text = otlpLogs(config, '1').encode(batch)
    const records = [...text.matchAll(/"(timeUnixNano|[a-z]\w+)":/g)].map(([, name = '']) => name)
    const outer = ['resourceLogs', 'resource', 'scopeLogs', 'scope', 'name', 'version', 'logRecords', 'key', 'value']
    const values = ['stringValue', 'intValue', 'doubleValue']
    assert.deepEqual(
      [...new Set(records)].filter((name) => !named.has(name) && !outer.includes(name) && !values.includes(name)),
      [],
    )
    const keys = [...text.matchAll(/"key":"(cloudevents\.\w+|service\.\w+)"/g)].map(([, key = '']) => key)
    assert.deepEqual(
      [...new Set(keys)].filter((key) => !named.has(key)),
      [],
    )
    assert.ok(named.has('preflight.monitoring') && text.includes('"preflight.monitoring"'))
    assert.ok(named.has(new URL(logsUrl('http://x.test')).pathname))
  })
})
