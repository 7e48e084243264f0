/** Monitoring windows and sinks: what is let through under watch is reported, nothing is lost in an outage, and no window stays open for ever. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { Config } from '../../gateway/config/schema.ts'
import type { MonitoringWindowRow, Store } from '../../gateway/store/store.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../gateway/telemetry/metrics.ts'
import { createMonitoring, type Monitoring } from '../../gateway/telemetry/monitoring.ts'
import { httpSinkName } from '../../gateway/telemetry/sinks/http.ts'
import { startEventReceiver } from '../fakes/event-receiver.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

type WindowStore = Pick<Store, 'openWindow' | 'closeWindow' | 'openWindows'>

function windowStore(rows = new Map<string, MonitoringWindowRow>()): WindowStore & { readonly rows: typeof rows } {
  return {
    rows,
    openWindow: (row) => Promise.resolve(void rows.set(row.correlationId, row)),
    closeWindow: (id, outcome, closedAt) => {
      const row = rows.get(id)
      if (row === undefined || row.closedAt !== null) return Promise.resolve(false)
      rows.set(id, { ...row, outcome, closedAt })
      return Promise.resolve(true)
    },
    openWindows: () => Promise.resolve([...rows.values()].filter(({ closedAt }) => closedAt === null)),
  }
}

interface Bench {
  readonly monitoring: Monitoring
  readonly metrics: Metrics
  /** What the log sink wrote. */
  readonly lines: string[]
}

async function start(
  t: TestContext,
  options: {
    readonly sinks: Config['monitoring']['sinks']
    readonly store?: WindowStore
    readonly dataDir?: string
    readonly spool?: number
    readonly window?: number
    readonly now?: () => number
  },
): Promise<Bench> {
  const lines: string[] = []
  const metrics = createMetrics()
  const monitoring = createMonitoring({
    config: { sinks: options.sinks, window: options.window ?? 900, spool: options.spool ?? 100 },
    dataDir: options.dataDir ?? directory(),
    store: options.store ?? windowStore(),
    metrics,
    logger: createLogger('silent'),
    now: options.now ?? Date.now,
    output: new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(...chunk.toString('utf8').split('\n').filter(Boolean))
        done()
      },
    }),
  })
  await monitoring.start()
  t.after(() => monitoring.close())
  return { monitoring, metrics, lines }
}

function directory(): string {
  return mkdtempSync(join(tmpdir(), 'preflight-monitoring-'))
}

const window = (correlationId: string) => ({ correlationId, decisionId: 'dec_1', tenant: 'local', route: 'tools' })
const RESULT = { outcome: 'SUCCEEDED', status: 200, durationMs: 12.4, bytes: 99 } as const
const httpSink = (url: string, more: Readonly<Record<string, unknown>> = {}) =>
  ({ type: 'http', url, batch: 100, interval: 0.01, timeout: 5, retries: 5, ...more }) as const

test('an execution is told in three CloudEvents with one correlation id', async (t) => {
  const { monitoring, lines } = await start(t, { sinks: [{ type: 'log' }] })
  assert.equal(await monitoring.open(window('run-1')), true)
  await monitoring.finish('run-1', RESULT)

  const events: unknown[] = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    events.map((event) => at(event, 'type')),
    ['preflight.execution.started', 'preflight.execution.finished', 'preflight.monitoring.closed'],
  )
  for (const event of events) {
    assert.equal(at(event, 'specversion'), '1.0')
    assert.equal(at(event, 'source'), '/preflight/routes/tools')
    assert.equal(at(event, 'data', 'correlation_id'), 'run-1')
    assert.equal(at(event, 'data', 'decision_id'), 'dec_1')
  }
  assert.deepEqual(
    ['outcome', 'status', 'duration_ms', 'bytes'].map((name) => at(events[1], 'data', name)),
    ['SUCCEEDED', 200, 12, 99],
  )
})

test('calls that share a correlation id share a window, which closes with the last of them', async (t) => {
  const store = windowStore()
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }], store })
  await monitoring.open(window('run-1'))
  await monitoring.open(window('run-1'))
  await monitoring.finish('run-1', RESULT)
  assert.equal(monitoring.openCount(), 1)
  await monitoring.finish('run-1', { ...RESULT, outcome: 'FAILED' })
  assert.equal(monitoring.openCount(), 0)
  assert.equal(store.rows.get('run-1')?.outcome, 'FAILED')
})

test('a window that nobody closes is closed as UNKNOWN, though the gateway was started again meanwhile', async (t) => {
  const rows = new Map<string, MonitoringWindowRow>()
  let clock = 1_000_000
  const now = () => clock
  const first = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  await first.monitoring.open(window('run-1'))
  await first.monitoring.close()

  const second = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  assert.equal(second.monitoring.openCount(), 1)
  await second.monitoring.close()

  clock += 901_000
  const third = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  await until(() => rows.get('run-1')?.outcome === 'UNKNOWN', 'the window is closed')
  assert.equal(third.monitoring.openCount(), 0)
  await until(() => third.lines.length === 1, 'its end is told')
  assert.equal(at(JSON.parse(third.lines[0] ?? '{}'), 'data', 'outcome'), 'UNKNOWN')
})

test('a direct caller reports for its own tenant only', async (t) => {
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }] })
  await monitoring.open(window('run-1'))
  assert.equal(await monitoring.report('other', 'run-1', { type: 'finished', result: RESULT }), false)
  assert.equal(await monitoring.report('local', 'nobody', { type: 'finished', result: RESULT }), false)
  assert.equal(await monitoring.report('local', 'run-1', { type: 'finished', result: RESULT }), true)
  assert.equal(monitoring.openCount(), 0)
})

test('no sink at all means not wired, and no window opens', async (t) => {
  const { monitoring } = await start(t, { sinks: [] })
  assert.equal(monitoring.isWired(), false)
  assert.equal(await monitoring.open(window('run-1')), false)
  assert.equal(monitoring.openCount(), 0)
})

test('an http sink is given gzipped batches with its header, and what is acknowledged leaves the spool', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  const dataDir = directory()
  const { monitoring, metrics } = await start(t, {
    sinks: [httpSink(receiver.url, { header: 'Authorization: Bearer sink-token' })],
    dataDir,
  })
  for (let call = 0; call < 20; call += 1) {
    await monitoring.open(window(`run-${call}`))
    await monitoring.finish(`run-${call}`, RESULT)
  }
  await until(() => receiver.events.length === 60, 'all events are delivered')
  assert.ok(receiver.deliveries.length < 60, 'events travel in batches')
  assert.equal(receiver.deliveries[0]?.authorization, 'Bearer sink-token')
  assert.equal(new Set(receiver.events.map(({ id }) => id)).size, 60)
  await until(
    () => readFileSync(join(dataDir, 'spool', `${httpSinkName(receiver.url)}.ndjson`), 'utf8') === '',
    'the spool is empty',
  )
  assert.match(await metrics.text(), /preflight_sink_events_total\{sink="http-[0-9a-f]{8}",result="acknowledged"\} 60/)
})

test('an outage of the receiver is bridged by the spool, across a restart, in order and without a loss', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  receiver.status = 503
  const dataDir = directory()
  const first = await start(t, { sinks: [httpSink(receiver.url)], dataDir })
  await first.monitoring.open(window('run-1'))
  await until(() => receiver.deliveries.length > 0, 'a delivery was refused')
  assert.equal(first.monitoring.isWired(), true)
  await first.monitoring.close()

  receiver.status = 202
  const second = await start(t, { sinks: [httpSink(receiver.url)], dataDir })
  await second.monitoring.open(window('run-2'))
  await until(() => receiver.events.length === 2, 'both are delivered')
  assert.deepEqual(
    receiver.events.map(({ correlationId }) => correlationId),
    ['run-1', 'run-2'],
  )
})

test('a full spool unwires the sink, and its receiver coming back wires it again', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  receiver.status = 500
  const { monitoring } = await start(t, { sinks: [httpSink(receiver.url)], spool: 2 })
  assert.equal(await monitoring.open(window('run-1')), true)
  assert.equal(await monitoring.open(window('run-2')), true)
  assert.equal(monitoring.isWired(), false)
  assert.equal(await monitoring.open(window('run-3')), false)
  assert.equal(monitoring.sinks()[0]?.queued, 2)
  receiver.status = 202
  await until(() => monitoring.isWired(), 'the sink is wired again')
  assert.equal(await monitoring.open(window('run-3')), true)
})

test('one sink that takes events is enough', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  receiver.status = 500
  const { monitoring, lines } = await start(t, { sinks: [httpSink(receiver.url), { type: 'log' }], spool: 1 })
  assert.equal(await monitoring.open(window('run-1')), true)
  assert.equal(await monitoring.open(window('run-2')), true)
  assert.equal(lines.length, 2)
})

test('a spool file with a torn last line is read as far as it is whole', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  const dataDir = directory()
  const sinks = [httpSink(receiver.url)]
  receiver.status = 500
  const first = await start(t, { sinks, dataDir })
  await first.monitoring.open(window('run-1'))
  await first.monitoring.close()
  const file = join(dataDir, 'spool', `${httpSinkName(receiver.url)}.ndjson`)
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"specversion":"1.0","id":"to`)
  receiver.status = 202
  await start(t, { sinks, dataDir })
  await until(() => receiver.events.length === 1, 'the whole event is delivered')
})
