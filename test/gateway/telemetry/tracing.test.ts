/** Traces: the caller's is joined and continued to the upstream, and each stage of a sampled call is a span. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { StartupError } from '../../../gateway/errors/startup-error.ts'
import { otelTerms } from '../../../gateway/telemetry/otel/terms.ts'
import type { OtelSettings } from '../../../gateway/telemetry/otel/settings.ts'
import { STAGES } from '../../../gateway/telemetry/observation.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startMcpUpstream, tool } from '../../fakes/mcp-upstream.ts'
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../../fakes/otlp-receiver.ts'
import { breakListing, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SAMPLED = `00-${TRACE}-${PARENT}-01`
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`
const SERVER = 2
const CLIENT = 3

interface Scene extends PetRoute {
  readonly receiver: OtlpReceiver
  /** Ends the gateway, so that every span is exported. */
  readonly spans: () => Promise<readonly ReceivedSpan[]>
}

async function scene(t: TestContext, otel: object = {}, config: object = {}): Promise<Scene> {
  const receiver = await startOtlpReceiver()
  t.after(() => receiver.close())
  const route = await startPetRoute(
    t,
    {},
    { otel: { endpoint: receiver.endpoint, protocol: 'http/json', ...otel }, ...config },
  )
  return {
    ...route,
    receiver,
    async spans() {
      await route.gateway.close()
      return receiver.spans
    },
  }
}

const serverSpans = (spans: readonly ReceivedSpan[]) => spans.filter(({ kind }) => kind === SERVER)

test('a sampled call is one span with its stages and its upstream inside, in the trace of its caller', async (t) => {
  const { call, upstream, spans, gateway, receiver } = await scene(t)
  const answer = await call({ headers: { traceparent: SAMPLED, tracestate: 'vendor=1', baggage: 'agent=7' } })
  const found = await spans()
  const [server] = serverSpans(found)
  assert.ok(server)
  assert.equal(server.name, 'GET pets')
  assert.equal(server.traceId, TRACE)
  assert.equal(server.parentId, PARENT)
  assert.equal(server.attributes['http.response.status_code'], 200)
  assert.equal(server.attributes['preflight.decision'], 'ALLOW')
  assert.equal(server.attributes['preflight.outcome'], 'forwarded')
  assert.equal(server.attributes['preflight.correlation_id'], answer.headers.get('x-correlation-id'))
  assert.equal(answer.headers.get('x-correlation-id'), `${TRACE}-${server.spanId}`)
  const inside = found.filter(({ parentId }) => parentId === server.spanId)
  const stages = inside.filter(({ name }) => name.startsWith('preflight.'))
  assert.deepEqual(
    [...new Set(stages.map(({ attributes }) => String(attributes['preflight.stage'])))].sort(),
    [...STAGES].sort(),
  )
  for (const { from, to } of inside) assert.ok(server.from <= from && from <= to && to <= server.to)
  const client = inside.find(({ kind }) => kind === CLIENT)
  assert.equal(client?.attributes['server.port'], Number(new URL(upstream.origin).port))
  const [sent] = upstream.requests
  assert.equal(sent?.headers['traceparent'], `00-${TRACE}-${client?.spanId}-01`)
  assert.equal(sent.headers['tracestate'], 'vendor=1')
  assert.equal(sent.headers['baggage'], 'agent=7')
  assert.equal(receiver.resources[0]?.['service.name'], 'preflight-gateway')
  assert.match(String(receiver.resources[0]['service.version']), /^\d+\.\d+\.\d+/)
  const [decisionId] = [answer.headers.get('preflight-decision-id')]
  assert.equal(server.attributes['preflight.decision_id'], decisionId)
  assert.deepEqual(
    gateway.log.filter(({ event }) => event === 'otlp.failed'),
    [],
  )
})

test('a call without a trace begins one, and its upstream continues it', async (t) => {
  const { call, upstream, spans } = await scene(t)
  await call()
  const [server] = serverSpans(await spans())
  assert.equal(server?.parentId, null)
  assert.match(
    String(upstream.requests[0]?.headers['traceparent']),
    new RegExp(`^00-${server?.traceId}-[\\da-f]{16}-01$`),
  )
})

test('what a caller leaves unsampled is not exported, and the upstream learns so', async (t) => {
  const { call, upstream, spans } = await scene(t)
  await call({ headers: { traceparent: UNSAMPLED } })
  assert.deepEqual(await spans(), [])
  assert.equal(upstream.requests[0]?.headers['traceparent'], UNSAMPLED)
})

test('a ratio of 0 exports nothing that begins here', async (t) => {
  const { call, upstream, spans } = await scene(t, { ratio: 0 })
  await call()
  assert.deepEqual(await spans(), [])
  assert.match(String(upstream.requests[0]?.headers['traceparent']), /^00-[\da-f]{32}-[\da-f]{16}-00$/)
})

test('a caller does not choose what is sampled where follow_parent is off', async (t) => {
  const { call, spans } = await scene(t, { ratio: 0, follow_parent: false })
  await call({ headers: { traceparent: SAMPLED } })
  assert.deepEqual(await spans(), [])
})

test('a trace that cannot be read is replaced, and its state goes with it', async (t) => {
  const { call, upstream, spans } = await scene(t)
  await call({ headers: { traceparent: `00-${TRACE}-${PARENT}-01-x`, tracestate: 'vendor=1' } })
  const [server] = serverSpans(await spans())
  assert.notEqual(server?.traceId, TRACE)
  assert.equal(upstream.requests[0]?.headers['tracestate'], undefined)
})

function asksForApproval(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-pack-')), 'pack.yaml')
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  const pack = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'asks' }, rules }
  writeFileSync(file, JSON.stringify(pack))
  return file
}

/** The ways to grant a request, each with the name of its span. */
const GRANTS: readonly {
  readonly name: string
  readonly span: string
  readonly grant: (scene: Scene, approval: string) => Promise<{ readonly status: number }>
  readonly status: number
}[] = [
  {
    name: 'the API',
    span: 'POST /api/v1/approvals/{id}/grant',
    grant: ({ api }, approval) => api('POST', `/api/v1/approvals/${approval}/grant`, { comment: 'seen' }),
    status: 200,
  },
  {
    name: 'the console',
    span: 'POST /console',
    async grant({ gateway }, approval) {
      const visitor = await visitorWith(gateway.addresses.api, TEST_KEY)
      return visitor.post(`/console/approvals/${approval}`, { state: 'granted', comment: 'seen', validity: '3600' })
    },
    status: 303,
  },
]

for (const { name, span, grant, status } of GRANTS) {
  test(`a call that waits, its approval by ${name} and the call that rests on it are linked`, async (t) => {
    const started = await scene(t, {}, { policy: asksForApproval() })
    const { call, change, api, spans, gateway } = started
    await call()
    change(breakListing)
    assert.equal((await call({ headers: { 'x-correlation-id': 'waits' } })).status, 428)
    const [approval] = listAt((await api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
    await until(
      async () => /^preflight_approvals_pending 1$/m.test(await gateway.metrics.text()),
      'the request is counted as pending',
    )
    assert.equal((await grant(started, textAt(approval, 'id'))).status, status)
    assert.equal((await call({ headers: { 'x-correlation-id': 'resumed' } })).status, 200)
    const found = serverSpans(await spans())
    const named = (id: string) =>
      found.find(({ attributes }) => attributes['preflight.correlation_id'] === id) ?? assert.fail(id)
    const waits = named('waits')
    assert.equal(waits.attributes['preflight.decision'], 'REQUIRE_APPROVAL')
    assert.equal(waits.attributes['preflight.outcome'], 'held')
    const pending = { traceId: waits.traceId, spanId: waits.spanId, relation: 'pending_call' }
    // Signing in at the console is a span of the same name, without a link.
    const [granted, ...others] = found.filter((one) => one.name === span && one.links.length > 0)
    assert.ok(granted, `${name} has a span: ${found.map((one) => one.name).join(', ')}`)
    assert.deepEqual([granted.links, others], [[pending], []])
    const approved = { traceId: granted.traceId, spanId: granted.spanId, relation: 'approval' }
    assert.deepEqual(named('resumed').links, [pending, approved])
  })
}

test('an API request and a refusal are in the trace of their caller, and the error names it', async (t) => {
  const { gateway, spans } = await scene(t)
  const answer = await fetch(`${gateway.addresses.api}/api/v1/approvals`, { headers: { traceparent: SAMPLED } })
  assert.equal(answer.status, 401)
  assert.equal(at(await answer.json(), 'trace_id'), TRACE)
  const refused = await fetch(`${gateway.addresses.proxy}/a%2Fb`, { headers: { traceparent: SAMPLED } })
  const body: unknown = await refused.json()
  assert.equal(refused.status, 400)
  assert.equal(at(body, 'trace_id'), TRACE)
  const [server] = serverSpans(await spans()).filter(({ name }) => name.includes('approvals'))
  assert.equal(server?.name, 'GET /api/v1/approvals')
  assert.equal(server.traceId, TRACE)
})

test('log records of a call name its trace', async (t) => {
  const { gateway, call, change } = await scene(t)
  await call()
  change(breakListing)
  await call({ headers: { traceparent: SAMPLED } })
  const record = gateway.log.find(({ event }) => event === 'call.not_allowed')
  assert.equal(record?.['trace_id'], TRACE)
})

test('a tool call is a span of MCP and GenAI, in the trace that its _meta names', async (t) => {
  const receiver = await startOtlpReceiver()
  const upstream = await startMcpUpstream({ generation: 'stateless', json: true })
  upstream.tools = [tool('search', {}, {})]
  t.after(async () => {
    await receiver.close()
    await upstream.close()
  })
  const gateway = await startTestGateway(t, {
    otel: { endpoint: receiver.endpoint, protocol: 'http/json' },
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.url, protocol: 'mcp' }],
  })
  await fetch(gateway.addresses.proxy, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search', arguments: {}, _meta: { traceparent: SAMPLED } },
    }),
  })
  await gateway.close()
  const server = serverSpans(receiver.spans).find(({ name }) => name === 'tools/call search')
  assert.equal(server?.traceId, TRACE)
  assert.equal(server.parentId, PARENT)
  assert.equal(server.attributes['mcp.method.name'], 'tools/call')
  assert.equal(server.attributes['gen_ai.tool.name'], 'search')
  assert.equal(server.attributes['gen_ai.operation.name'], 'execute_tool')
})

test('the metrics of a scrape are exported too, where they are asked for', async (t) => {
  const { call, gateway, receiver } = await scene(t, { traces: false, metrics: true })
  await call()
  const scraped = await gateway.metrics.text()
  await gateway.close()
  const names = receiver.metrics.map(({ name }) => name)
  assert.ok(names.includes('preflight_calls_total') && names.includes('preflight_call_seconds'))
  const [histogram] = receiver.metrics.filter(({ name }) => name === 'preflight_call_seconds')
  const [point] = listAt(histogram?.data, 'histogram', 'dataPoints')
  assert.equal(listAt(point, 'explicitBounds').length + 1, listAt(point, 'bucketCounts').length)
  assert.equal(textAt(receiver.requests.at(-1), 'url'), '/v1/metrics')
  assert.ok(scraped.includes('preflight_call_seconds_bucket'))
})

test('a receiver that is away costs spans and no call, and is reported once', async (t) => {
  const { call, gateway, receiver, spans } = await scene(t)
  receiver.status = 400
  assert.equal((await call()).status, 200)
  assert.deepEqual(await spans(), [])
  assert.equal(gateway.log.filter(({ event }) => event === 'otlp.failed').length, 1)
  assert.match(await gateway.metrics.text(), /^preflight_otlp_exports_total\{signal="traces",result="failed"\} [1-9]/m)
})

const SETTINGS: OtelSettings = {
  protocol: 'http/protobuf',
  traces: true,
  metrics: false,
  ratio: 1,
  follow_parent: true,
  interval: 60,
}

test('nothing is exported without an endpoint', () => {
  const { traces, metrics } = otelTerms(SETTINGS, {})
  assert.deepEqual([traces, metrics], [null, null])
})

test('the variables of OpenTelemetry have precedence over the configuration', () => {
  const terms = otelTerms(
    { ...SETTINGS, endpoint: 'http://configured:4318' },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://shared:4318/',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://metrics:4318/as/it/is',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x,tenant=a',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_SERVICE_NAME: 'guard',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.cluster.name=blue,service.name=ignored',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      POD_NAME: 'guard-0',
      POD_NAMESPACE: 'agents',
    },
  )
  const headers = { authorization: 'Bearer x', tenant: 'a' }
  assert.deepEqual(terms.traces, { url: 'http://shared:4318/v1/traces', headers, timeout: 2000, form: 'json' })
  assert.deepEqual(terms.metrics, {
    url: 'http://metrics:4318/as/it/is',
    headers,
    timeout: 2000,
    form: 'json',
    interval: 5000,
  })
  assert.deepEqual(terms.sampler, { ratio: 0.25, followsParent: true })
  assert.equal(terms.batch.scheduledDelayMillis, 100)
  assert.deepEqual(terms.resource, {
    'service.name': 'guard',
    'service.instance.id': 'guard-0',
    'k8s.pod.name': 'guard-0',
    'k8s.namespace.name': 'agents',
    'k8s.cluster.name': 'blue',
  })
})

test('OTEL_SDK_DISABLED switches the export off', () => {
  const terms = otelTerms({ ...SETTINGS, endpoint: 'http://x:4318', metrics: true }, { OTEL_SDK_DISABLED: 'true' })
  assert.deepEqual([terms.traces, terms.metrics], [null, null])
})

for (const [name, value, wanted] of [
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /Set it to http\/protobuf or http\/json/],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /Set it to always_on/],
  ['OTEL_TRACES_SAMPLER_ARG', '2', /a number from 0 to 1/],
  ['OTEL_TRACES_EXPORTER', 'zipkin', /otlp or none/],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'many', /a whole number/],
] as const) {
  test(`${name}=${value} stops the start and says what to set`, () => {
    const environment = { OTEL_TRACES_SAMPLER: 'traceidratio', [name]: value }
    assert.throws(
      () => otelTerms({ ...SETTINGS, endpoint: 'http://x:4318' }, environment),
      (error) => error instanceof StartupError && error.message.startsWith(name) && wanted.test(error.message),
    )
  })
}
