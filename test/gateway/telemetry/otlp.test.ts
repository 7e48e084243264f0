/** The `otlp` sink: OpenTelemetry logs over HTTP as a collector takes them, refused and acknowledged as OTLP has it. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { createServer, type OutgoingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { telemetryEvent, violationEvent } from '../../../gateway/telemetry/events.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { logsUrl, otlpLogs } from '../../../gateway/telemetry/sinks/otlp.ts'
import { createReceiver } from '../../../gateway/telemetry/sinks/receiver.ts'
import { createSpooledSink, sinkName } from '../../../gateway/telemetry/sinks/spooled.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt } from '../../json.ts'

interface Reply {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Answers with `replies` in order; the last one repeats. */
async function scene(t: TestContext, replies: Reply[]) {
  const requests: { readonly url: string; readonly key: unknown; readonly body: unknown }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8'))
      requests.push({ url: request.url ?? '', key: request.headers['api-key'], body })
      const reply = replies.length > 1 ? replies.shift() : replies[0]
      response.writeHead(reply?.status ?? 200, reply?.headers ?? {}).end(reply?.body ?? '{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const config = { batch: 4, interval: 0.01, timeout: 5, retries: 5 }
  const endpoint = `http://127.0.0.1:${port}`
  const metrics = createMetrics()
  const sink = createSpooledSink(
    sinkName('otlp', endpoint),
    createReceiver(otlpLogs({ type: 'otlp', endpoint, headers: { 'api-key': 'k' }, ...config }, '1.2.3'), 5000),
    config,
    { dataDir: mkdtempSync(join(tmpdir(), 'preflight-otlp-')), bound: 100, metrics, logger: createLogger('silent') },
  )
  t.after(async () => {
    await sink.close()
    server.closeAllConnections()
    server.close()
  })
  return { requests, sink, metrics }
}

const subject = { correlationId: 'run-1', decisionId: 'dec_1', route: 'tools' }
const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const event = (outcome: string) =>
  telemetryEvent('preflight.execution.finished', subject, AT, {
    members: { outcome, status: 200, duration_ms: 12 },
    id: `e-${outcome}`,
  })
const recordsOf = (body: unknown) => listAt(body, 'resourceLogs', 0, 'scopeLogs', 0, 'logRecords')
const attributesOf = (holder: unknown) =>
  Object.fromEntries(listAt(holder, 'attributes').map((one) => [String(at(one, 'key')), at(one, 'value')]))

test('a departure from the contract is a warning, with what departs and how often', async (t) => {
  const { requests, sink } = await scene(t, [{ status: 200 }])
  const violation = {
    ...subject,
    call: 'tools/call search',
    effect: 'drifted',
    pattern: 'TOOL_RESULT_SHAPE_DRIFT',
    violations: 'structuredContent is missing',
    occurrences: 3,
  } as const
  await sink.accept([violationEvent(violation, AT)], false)
  await until(() => sink.state().queued === 0, 'the batch is acknowledged')
  const [record] = recordsOf(requests[0]?.body)
  assert.equal(at(record, 'severityText'), 'WARN')
  assert.equal(at(record, 'eventName'), 'preflight.contract.violated')
  const attributes = attributesOf(record)
  assert.deepEqual(attributes['preflight.pattern'], { stringValue: 'TOOL_RESULT_SHAPE_DRIFT' })
  assert.deepEqual(attributes['preflight.occurrences'], { intValue: '3' })
  assert.deepEqual(attributes['preflight.decision_id'], { stringValue: 'dec_1' })
})

test('an event is a log record with its ids, route and outcome as attributes', async (t) => {
  const { requests, sink } = await scene(t, [{ status: 200 }])
  await sink.accept([event('SUCCEEDED'), event('FAILED')], false)
  await until(() => sink.state().queued === 0, 'the batch is acknowledged')
  const [request] = requests
  assert.equal(request?.url, '/v1/logs')
  assert.equal(request?.key, 'k')
  assert.deepEqual(attributesOf(at(request?.body, 'resourceLogs', 0, 'resource')), {
    'service.name': { stringValue: 'preflight-gateway' },
    'service.version': { stringValue: '1.2.3' },
  })
  const [good, bad] = recordsOf(request?.body)
  assert.equal(at(good, 'timeUnixNano'), `${AT}000000`)
  assert.equal(at(good, 'eventName'), 'preflight.execution.finished')
  assert.equal(at(good, 'severityText'), 'INFO')
  assert.equal(at(bad, 'severityText'), 'WARN')
  const attributes = attributesOf(good)
  assert.deepEqual(attributes['cloudevents.event_id'], { stringValue: 'e-SUCCEEDED' })
  assert.deepEqual(attributes['preflight.correlation_id'], { stringValue: 'run-1' })
  assert.deepEqual(attributes['preflight.decision_id'], { stringValue: 'dec_1' })
  assert.deepEqual(attributes['preflight.route'], { stringValue: 'tools' })
  assert.deepEqual(attributes['preflight.outcome'], { stringValue: 'SUCCEEDED' })
  assert.deepEqual(attributes['preflight.status'], { intValue: '200' })
})

for (const status of [429, 502, 503, 504, 400, 401]) {
  test(`a batch that is answered ${status} is kept and sent again`, async (t) => {
    const { requests, sink } = await scene(t, [{ status, headers: { 'retry-after': '0' } }, { status: 200 }])
    await sink.accept([event('SUCCEEDED')], false)
    await until(() => requests.length === 2, 'it is sent again')
    await until(() => sink.state().queued === 0, 'it is acknowledged')
    assert.deepEqual(requests[1]?.body, requests[0]?.body)
  })
}

test('a receiver that asks to be left alone is, and is asked again within five seconds all the same', async (t) => {
  const { requests, sink } = await scene(t, [{ status: 503, headers: { 'retry-after': '600' } }, { status: 200 }])
  await sink.accept([event('SUCCEEDED')], false)
  await until(() => sink.state().detail.includes('503'), 'the refusal is told')
  await new Promise((resolve) => setTimeout(resolve, 500))
  assert.equal(requests.length, 1)
  await until(() => sink.state().queued === 0, 'it is asked again, and takes the batch')
})

test('a batch that is too large is sent in smaller ones', async (t) => {
  const { requests, sink } = await scene(t, [{ status: 413 }, { status: 200 }])
  await sink.accept([event('A'), event('B'), event('C'), event('D')], false)
  await until(() => sink.state().queued === 0, 'all are acknowledged')
  assert.deepEqual(
    requests.map(({ body }) => recordsOf(body).length),
    [4, 2, 2],
  )
})

test('a partial success is an acknowledgement: what was rejected is counted and not sent again', async (t) => {
  const body = JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too old' } })
  const { requests, sink, metrics } = await scene(t, [{ status: 200, body }])
  await sink.accept([event('A'), event('B'), event('C')], false)
  await until(() => sink.state().queued === 0, 'the batch is done with')
  assert.equal(requests.length, 1)
  const text = await metrics.text()
  assert.match(text, /preflight_sink_events_total\{sink="otlp-[0-9a-f]{8}",result="rejected"\} 1/)
  assert.match(text, /result="acknowledged"\} 2/)
})

test('an address without a path means its logs; one with a path is taken as it is', () => {
  assert.equal(logsUrl('http://collector:4318'), 'http://collector:4318/v1/logs')
  assert.equal(logsUrl('https://otlp.example/otlp/v1/logs'), 'https://otlp.example/otlp/v1/logs')
})
