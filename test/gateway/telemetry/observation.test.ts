/** What a scrape reports of calls: their times by stage, their answers, their bytes, and the trace that each belongs to. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { STAGES } from '../../../gateway/telemetry/observation.ts'
import { startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { until } from '../../fakes/until.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

async function scene(t: TestContext): Promise<{ readonly gateway: TestGateway; readonly upstream: HttpUpstream }> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(() => upstream.close())
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'pets',
        match: { path: '/' },
        upstream: `${upstream.origin}/v1`,
        protocol: 'http',
        contract: { current: { file: petContract() }, refresh: 0 },
      },
    ],
  })
  return { gateway, upstream }
}

/** The samples of a scrape: `name{labels}` and its value. */
function samples(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [series = '', rest = ''] = line.split(/ (?=[^}]*$)/)
      return [series, Number(rest.split(' ', 1)[0])]
    }),
  )
}

test('a call is measured as a whole, by stage and at its upstream, with its answer and its bytes', async (t) => {
  const { gateway } = await scene(t)
  const answer = await fetch(`${gateway.addresses.proxy}/pets`, { method: 'GET' })
  assert.equal(await answer.text(), 'good')
  const read = async () => samples(await gateway.metrics.text())
  await until(async () => (await read()).get('preflight_call_seconds_count{route="pets"}') === 1, 'the call is counted')
  const found = await read()
  for (const stage of STAGES)
    assert.equal(found.get(`preflight_call_stage_seconds_count{protocol="http",stage="${stage}"}`), 1, stage)
  assert.equal(found.get('preflight_upstream_seconds_count{route="pets"}'), 1)
  assert.equal(found.get('preflight_call_responses_total{route="pets",class="2xx"}'), 1)
  assert.equal(found.get('preflight_call_bytes_total{route="pets",direction="received"}'), 4)
  const decided = [...found.keys()].filter((series) => series.startsWith('preflight_call_decisions_total'))
  assert.deepEqual(decided, [
    'preflight_call_decisions_total{protocol="http",route="pets",decision="ALLOW",mode="enforce"}',
  ])
})

test('the bytes of a streamed body count as they were sent', async (t) => {
  const { gateway, upstream } = await scene(t)
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('four'))
      controller.enqueue(Buffer.from('more'))
      controller.close()
    },
  })
  await fetch(`${gateway.addresses.proxy}/pets/7`, { method: 'DELETE', body, duplex: 'half' })
  assert.equal(upstream.requests[0]?.body, 'fourmore')
  await until(
    async () =>
      samples(await gateway.metrics.text()).get('preflight_call_bytes_total{route="pets",direction="sent"}') === 8,
    'the bytes are counted',
  )
})

test('an API request is measured by stage too', async (t) => {
  const { gateway } = await scene(t)
  await fetch(`${gateway.addresses.api}/healthz`)
  await until(
    async () =>
      (samples(await gateway.metrics.text()).get(
        'preflight_call_stage_seconds_count{protocol="api",stage="intercept"}',
      ) ?? 0) > 0,
    'the request is counted',
  )
})

test('the trace of a caller passes unchanged, and names the call in its correlation id and in exemplars', async (t) => {
  const { gateway, upstream } = await scene(t)
  const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=1', baggage: 'agent=7' }
  const answer = await fetch(`${gateway.addresses.proxy}/pets`, { headers })
  assert.match(answer.headers.get('x-correlation-id') ?? '', new RegExp(`^${TRACE}-[\\da-f]{16}$`))
  const [received] = upstream.requests
  assert.equal(received?.headers['traceparent'], TRACEPARENT)
  assert.equal(received.headers['tracestate'], 'vendor=1')
  assert.equal(received.headers['baggage'], 'agent=7')
  await until(
    async () =>
      new RegExp(`^preflight_call_seconds_bucket\\{.*\\} 1 # \\{trace_id="${TRACE}"\\} `, 'm').test(
        await gateway.metrics.text('openmetrics'),
      ),
    'the exemplar names the trace',
  )
})

test('a correlation id that the caller chose stays, whatever its trace', async (t) => {
  const { gateway } = await scene(t)
  const headers = { traceparent: TRACEPARENT, 'x-correlation-id': 'mine' }
  const answer = await fetch(`${gateway.addresses.proxy}/pets`, { headers })
  assert.equal(answer.headers.get('x-correlation-id'), 'mine')
})

for (const traceparent of [
  '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
  `00-${TRACE}-0000000000000000-01`,
  `ff-${TRACE}-00f067aa0ba902b7-01`,
  `00-${TRACE}-00f067aa0ba902b7-01-more`,
  `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
  'nonsense',
]) {
  test(`the traceparent ${traceparent} names no trace`, async (t) => {
    const { gateway } = await scene(t)
    const answer = await fetch(`${gateway.addresses.proxy}/pets`, { headers: { traceparent } })
    assert.doesNotMatch(answer.headers.get('x-correlation-id') ?? '', new RegExp(TRACE, 'i'))
  })
}

interface Scraped {
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Buffer
}

/** A scrape whose answer is not decoded. */
async function scrape(address: string, headers: Readonly<Record<string, string>>): Promise<Scraped> {
  const asked = sendRequest(`${address}/metrics`, { headers }).end()
  const [response] = await once(asked, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { headers: response.headers, body: Buffer.concat(chunks) }
}

test('a scrape gets the form and the coding that it asks for', async (t) => {
  const { gateway } = await scene(t)
  const plain = await scrape(gateway.addresses.admin, {})
  assert.match(String(plain.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  assert.equal(plain.headers['content-encoding'], undefined)
  const open = await scrape(gateway.addresses.admin, {
    accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5',
    'accept-encoding': 'gzip',
  })
  assert.match(String(open.headers['content-type']), /^application\/openmetrics-text; version=1\.0\.0/)
  assert.equal(open.headers['content-encoding'], 'gzip')
  const text = gunzipSync(open.body).toString('utf8')
  assert.match(text, /^# TYPE preflight_calls counter$/m)
  assert.match(text, /^preflight_calls_total\{route="pets",outcome="forwarded"\} 0$/m)
  assert.ok(text.endsWith('# EOF\n'))
  const refused = await scrape(gateway.addresses.admin, { 'accept-encoding': 'gzip;q=0' })
  assert.equal(refused.headers['content-encoding'], undefined)
})

test('a histogram counts each observation in its bucket and in all above, and keeps the trace of the last', async () => {
  const metrics = createMetrics()
  metrics.observe('preflight_call_seconds', { route: 'a' }, 0.000_05, TRACE)
  metrics.observe('preflight_call_seconds', { route: 'a' }, 61)
  const found = samples(await metrics.text())
  assert.equal(found.get('preflight_call_seconds_bucket{le="0.00005",route="a"}'), 1)
  assert.equal(found.get('preflight_call_seconds_bucket{le="60",route="a"}'), 1)
  assert.equal(found.get('preflight_call_seconds_bucket{le="+Inf",route="a"}'), 2)
  assert.equal(found.get('preflight_call_seconds_count{route="a"}'), 2)
  assert.equal(found.get('preflight_call_seconds_sum{route="a"}'), 61.000_05)
  const exemplars = (await metrics.text('openmetrics')).match(/# \{trace_id="[\da-f]{32}"\}/g)
  assert.equal(exemplars?.length, 1)
})

test('policy, configuration, certificates and the event loop are described at each scrape', async (t) => {
  const { gateway } = await scene(t)
  await gateway.metrics.text()
  const text = await gateway.metrics.text()
  assert.match(text, /^preflight_policy_info\{name="default",hash="[\da-f]{12}"\} 1$/m)
  assert.match(text, /^preflight_config_info\{hash="[\da-f]{12}"\} 1$/m)
  assert.match(text, /^preflight_store_writable 1$/m)
  assert.match(text, /^preflight_event_loop_delay_seconds\{quantile="0\.99"\} [\d.e-]+$/m)
  assert.match(text, /^preflight_settings_success_timestamp_seconds \d{10}$/m)
  await until(
    async () => /^preflight_ledger_checkpoint_timestamp_seconds [1-9]\d{9}$/m.test(await gateway.metrics.text()),
    'the checkpoint is dated',
  )
})
