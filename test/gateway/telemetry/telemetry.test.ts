/** What operators match on and look at: metric names, the admin listener, and a log without credentials. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { test, type TestContext } from 'node:test'
import { EFFECTS } from '../../../gateway/store/calls.ts'
import { EVENT_TYPES, CANDIDATE_EVENT, VIOLATION_EVENT } from '../../../gateway/telemetry/events.ts'
import { createAdmin, type Checks } from '../../../gateway/listen/admin.ts'
import { DecisionLogEntry, ENTRY_FIELDS } from '../../../gateway/telemetry/decision-log/entry.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { redactText } from '../../../gateway/telemetry/redaction.ts'
import { LOG_EVENTS } from '../../../gateway/telemetry/log-events.ts'
import { sampleProcess } from '../../../gateway/telemetry/process-metrics.ts'
import { METRICS, type MetricSpec } from '../../../gateway/telemetry/metric-table.ts'
import { createMetrics, operationLabel } from '../../../gateway/telemetry/metrics.ts'
import { MOST_SERIES, OVERFLOW } from '../../../gateway/telemetry/series.ts'
import { at } from '../../json.ts'
import { assertPinnedOrder } from '../../pinned.ts'

const SPECS: readonly MetricSpec[] = METRICS

test('the effects of call records and the types of events are pinned', () => {
  assertPinnedOrder(EFFECTS, 'call-effects')
  assertPinnedOrder([...EVENT_TYPES, VIOLATION_EVENT, CANDIDATE_EVENT], 'event-types')
})

test('the members of an entry of the decision log are pinned', () => {
  assertPinnedOrder(ENTRY_FIELDS, 'decision-log-members')
  assert.deepEqual(Object.keys(DecisionLogEntry.properties), [...ENTRY_FIELDS])
})

test('the events of log records are pinned', () => {
  assertPinnedOrder(Object.keys(LOG_EVENTS), 'log-events')
})

test('every event is logged somewhere', async () => {
  const sources: string[] = []
  for await (const file of glob('gateway/**/*.ts', { cwd: new URL('../../..', import.meta.url) }))
    if (!file.endsWith('log-events.ts'))
      sources.push(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'))
  const text = sources.join('\n')
  assert.deepEqual(
    Object.keys(LOG_EVENTS).filter((event) => !text.includes(`'${event}'`)),
    [],
  )
})

test('every metric is exposed under its name with its help', async () => {
  const text = await createMetrics().text()
  for (const { name, type, help } of SPECS)
    assert.ok(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`), name)
})

test('a sampled gauge shows what it is at the scrape', async () => {
  const metrics = createMetrics()
  let open = 1
  metrics.sample('preflight_calls_open', () => open)
  assert.match(await metrics.text(), /^preflight_calls_open 1$/m)
  open = 2
  assert.match(await metrics.text(), /^preflight_calls_open 2$/m)
})

test('a sampled counter shows what it is at the scrape, and is not added up', async () => {
  const metrics = createMetrics()
  metrics.sample('process_cpu_seconds_total', () => 3)
  await metrics.text()
  assert.match(await metrics.text(), /^process_cpu_seconds_total 3$/m)
})

test('a counter adds up by its labels, whatever their order, across scrapes', async () => {
  const metrics = createMetrics()
  metrics.count('preflight_calls_total', { route: 'a', outcome: 'forwarded' })
  metrics.count('preflight_calls_total', { outcome: 'forwarded', route: 'a' }, 2)
  metrics.count('preflight_calls_total', { route: 'forwarded', outcome: 'a' })
  for (const expected of ['3', '3']) {
    const text = await metrics.text()
    assert.match(text, new RegExp(`^preflight_calls_total\\{route="a",outcome="forwarded"\\} ${expected}$`, 'm'))
    assert.match(text, /^preflight_calls_total\{route="forwarded",outcome="a"\} 1$/m)
  }
  metrics.count('preflight_calls_total', { route: 'a', outcome: 'forwarded' })
  assert.match(await metrics.text(), /^preflight_calls_total\{route="a",outcome="forwarded"\} 4$/m)
})

const hostile = (index: number): string => `"}\n${index}\\{{`

test('ten thousand hostile label values make no more series than the limit, and totals stay right', async () => {
  const metrics = createMetrics()
  for (let index = 0; index < 10_000; index += 1) {
    metrics.count('preflight_client_aborts_total', { route: hostile(index) })
    metrics.observe('preflight_call_seconds', { route: hostile(index) }, 0.1)
    metrics.set('preflight_baseline_candidate_pending', { route: hostile(index) }, 1)
  }
  metrics.count('preflight_client_aborts_total', { route: hostile(0) })
  const [aborts, calls, pending] = [
    'preflight_client_aborts_total',
    'preflight_call_seconds',
    'preflight_baseline_candidate_pending',
  ].map((name) => metrics.read().find((metric) => metric.name === name)?.values ?? [])
  assert.equal(aborts?.length, MOST_SERIES + 1)
  assert.equal(
    aborts?.reduce((sum, { value }) => sum + value, 0),
    10_001,
  )
  assert.equal(calls?.filter(({ metricName }) => metricName === 'preflight_call_seconds_count').length, MOST_SERIES + 1)
  assert.equal(pending?.length, MOST_SERIES + 1)
  const text = await metrics.text()
  const over = 10_000 - MOST_SERIES
  assert.match(text, new RegExp(`^preflight_client_aborts_total\\{route="${OVERFLOW}"\\} ${over}$`, 'm'))
  for (const metric of ['client_aborts_total', 'call_seconds', 'baseline_candidate_pending'])
    assert.match(text, new RegExp(`^preflight_metric_overflows_total\\{metric="preflight_${metric}"\\} ${over}$`, 'm'))
  assert.match(text, /^preflight_client_aborts_total\{route="\\"\}\\n0\\\\\{\{"\} 2$/m)
})

test('the process reports its cost and the free space, and nothing for a volume that is gone', async () => {
  const metrics = createMetrics()
  sampleProcess(metrics, tmpdir())
  const text = await metrics.text()
  for (const name of [
    'process_start_time_seconds',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_open_fds',
    'process_max_fds',
    'preflight_event_loop_busy_seconds_total',
    'preflight_data_dir_free_bytes',
  ])
    assert.match(text, new RegExp(`^${name} [0-9.e+]+$`, 'm'))
  sampleProcess(metrics, '/nowhere/at/all')
  assert.match(await metrics.text(), /^preflight_data_dir_free_bytes Nan$/m)
})

test('an operation that a caller made up is one label value', () => {
  assert.equal(operationLabel('merge'), 'merge')
  assert.equal(operationLabel('anything-at-all'), 'other')
  assert.equal(operationLabel(null), 'other')
})

async function admin(t: TestContext, checks: Checks): Promise<string> {
  const listener = createAdmin({
    checks,
    metrics: createMetrics(),
    logger: createLogger('silent'),
    headTimeoutMs: 30_000,
  })
  const { port } = await listener.listen('127.0.0.1', 0)
  t.after(() => listener.close())
  return `http://127.0.0.1:${port}`
}

test('readiness is the sum of its checks, each reported by name, and liveness does not depend on them', async (t) => {
  let isReady = true
  const url = await admin(t, {
    store: () => ({ ready: isReady, detail: 'sqlite' }),
    sinks: () => Promise.resolve({ ready: true }),
  })
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  isReady = false
  const answer = await fetch(`${url}/readyz`)
  const body: unknown = await answer.json()
  assert.equal(answer.status, 503)
  assert.equal(at(body, 'status'), 'not_ready')
  assert.deepEqual(at(body, 'checks', 'store'), { ready: false, detail: 'sqlite' })
  assert.equal((await fetch(`${url}/livez`)).status, 200)
})

test('a check that throws counts as not ready, and its cause is not told', async (t) => {
  const url = await admin(t, { store: () => Promise.reject(new Error('secret path')) })
  const answer = await fetch(`${url}/readyz`)
  assert.equal(answer.status, 503)
  assert.doesNotMatch(await answer.text(), /secret path/)
})

test('the admin listener has three pages and takes only reads', async (t) => {
  const url = await admin(t, {})
  assert.match((await fetch(`${url}/metrics`)).headers.get('content-type') ?? '', /^text\/plain/)
  assert.equal((await fetch(`${url}/metrics`, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 405)
  assert.equal((await fetch(`${url}/elsewhere`)).status, 404)
})

test('no credential is written to the log, at the top, in headers or in an error', () => {
  const event = 'api.request_failed'
  const lines: string[] = []
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) })
  logger.info({ event, authorization: 'Bearer s3cret-value' }, 'top')
  logger.info(
    { event, headers: { 'x-api-key': 's3cret-value', cookie: 's3cret-value', 'x-scm-token': 's3cret-value' } },
    'headers',
  )
  logger.info(
    { event, request: { headers: { authorization: 's3cret-value', 'preflight-receipt': 's3cret-value' } } },
    'nested',
  )
  logger.error(
    { event, err: new Error('GET https://user:s3cret-value@host failed', { cause: new Error('Bearer s3cret-value') }) },
    'failed',
  )
  assert.equal(lines.length, 4)
  assert.doesNotMatch(lines.join(''), /s3cret-value/)
})

for (const [text, clean] of [
  ['key pf_live_abcDEF123', 'key pf_live_[redacted]'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [redacted]'],
  ['eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl', '[redacted token]'],
  ['postgres://u:p@ss@db:5432/x is wrong', 'postgres://[redacted]@db:5432/x is wrong'],
  ['https://ghp_token@git.example/a.git', 'https://[redacted]@git.example/a.git'],
  ['see https://a.example/x, mail a@b.example', 'see https://a.example/x, mail a@b.example'],
  ['nothing to hide', 'nothing to hide'],
] as const) {
  test(`the text "${clean}" is what is left of one with a credential`, () => {
    assert.equal(redactText(text), clean)
  })
}

test('a log record holds its own fields only', () => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) })
  logger.info({ event: 'store.writable', call: 'tools/call add' }, 'first')
  logger.info({ event: 'gateway.stopping' }, 'second')
  const [first, second] = lines.map((line): unknown => JSON.parse(line))
  assert.equal(at(first, 'call'), 'tools/call add')
  assert.deepEqual(Object.keys(Object(second)).toSorted(), ['event', 'level', 'msg', 'time'])
})
