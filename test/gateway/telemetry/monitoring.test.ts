/** Monitoring windows and sinks: monitored calls are reported, nothing is lost in an outage, and no window stays open for ever. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { Config } from '../../../gateway/config/schema.ts'
import type { MonitoringWindowRow } from '../../../gateway/store/windows.ts'
import type { StorePart } from '../../../gateway/store/store.ts'
import type { Outcome } from '../../../gateway/telemetry/events.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../../gateway/telemetry/metrics.ts'
import { createMonitoring, type Monitoring, type Watch } from '../../../gateway/monitoring/monitoring.ts'
import { sinkName } from '../../../gateway/telemetry/sinks/spooled.ts'
import type { WindowName, WindowRequest } from '../../../gateway/monitoring/windows.ts'
import { startEventReceiver } from '../../fakes/event-receiver.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

type WindowStore = StorePart<'windows.open' | 'windows.close' | 'windows.listOpen'>

function windowStore(rows = new Map<string, MonitoringWindowRow>()): WindowStore & { readonly rows: typeof rows } {
  return {
    rows,
    windows: {
      open: (row) => Promise.resolve(void rows.set(row.windowId, row)),
      close: (id, outcome, closedAt) => {
        const row = rows.get(id)
        if (row === undefined || row.closedAt !== null) return Promise.resolve(false)
        rows.set(id, { ...row, outcome, closedAt })
        return Promise.resolve(true)
      },
      listOpen: () => Promise.resolve([...rows.values()].filter(({ closedAt }) => closedAt === null)),
    },
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

const window = (correlationId: string, more: Partial<WindowRequest> = {}): WindowRequest => ({
  correlationId,
  decisionId: 'dec_1',
  tenant: 'local',
  route: 'tools',
  observer: 'gateway',
  ...more,
})
const name = (correlationId: string, more: Partial<WindowName> = {}): WindowName => ({
  tenant: 'local',
  correlationId,
  decisionId: null,
  ...more,
})

/** Opens a window that must open. */
async function monitored(monitoring: Monitoring, request: WindowRequest): Promise<Watch> {
  const watch = await monitoring.open(request)
  assert.ok(watch !== null, 'a window opens')
  return watch
}

const closed = (lines: readonly string[]) =>
  lines.map((line): unknown => JSON.parse(line)).find((event) => at(event, 'type') === 'preflight.monitoring.closed')
const finished = (outcome: Outcome) => ({ type: 'finished', result: { ...RESULT, outcome } }) as const
const outcomes = (rows: ReadonlyMap<string, MonitoringWindowRow>) => [...rows.values()].map(({ outcome }) => outcome)
const RESULT = { outcome: 'SUCCEEDED', status: 200, durationMs: 12.4, bytes: 99 } as const
const httpSink = (url: string, more: Readonly<Record<string, unknown>> = {}) =>
  ({ type: 'http', url, batch: 100, interval: 0.01, timeout: 5, retries: 5, ...more }) as const

test('an execution is reported in three CloudEvents with one correlation id', async (t) => {
  const { monitoring, lines } = await start(t, { sinks: [{ type: 'log' }] })
  const watch = await monitored(monitoring, window('run-1'))
  await watch.finish(RESULT)
  await watch.finish(RESULT)

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

test('calls that share a correlation id have a window each, and none ends or answers for another', async (t) => {
  const store = windowStore()
  const { monitoring, lines } = await start(t, { sinks: [{ type: 'log' }], store })
  const calls = await Promise.all(
    Array.from({ length: 50 }, (_, call) => monitored(monitoring, window('run-1', { tenant: `tenant-${call % 3}` }))),
  )
  assert.equal(monitoring.openCount(), 50)
  await Promise.all(
    calls.map((watch, call) => watch.finish({ ...RESULT, outcome: call % 2 === 0 ? 'SUCCEEDED' : 'FAILED' })),
  )
  assert.equal(monitoring.openCount(), 0)
  assert.deepEqual(
    outcomes(store.rows),
    Array.from({ length: 50 }, (_, call) => (call % 2 === 0 ? 'SUCCEEDED' : 'FAILED')),
  )
  const types = Map.groupBy(lines, (line) => at(JSON.parse(line), 'type'))
  assert.deepEqual(
    [...types.values()].map(({ length }) => length),
    [50, 50, 50],
  )
})

test('a call that ends leaves the other one under the same id open, and in the store', async (t) => {
  const store = windowStore()
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }], store })
  const first = await monitored(monitoring, window('run-1'))
  const second = await monitored(monitoring, window('run-1', { decisionId: 'dec_2' }))
  await first.finish({ ...RESULT, outcome: 'FAILED' })
  assert.deepEqual(outcomes(store.rows), ['FAILED', null])
  await second.finish(RESULT)
  assert.deepEqual(outcomes(store.rows), ['FAILED', 'SUCCEEDED'])
})

test('a window that nobody closes is closed as UNKNOWN, though the gateway was started again meanwhile', async (t) => {
  const rows = new Map<string, MonitoringWindowRow>()
  let clock = 1_000_000
  const now = () => clock
  const first = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  await monitored(first.monitoring, window('run-1', { observer: 'caller' }))
  await first.monitoring.close()

  const second = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  assert.equal(second.monitoring.openCount(), 1)
  await second.monitoring.close()

  clock += 901_000
  const third = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows), now })
  await until(() => outcomes(rows)[0] === 'UNKNOWN', 'the window is closed')
  assert.equal(third.monitoring.openCount(), 0)
  await until(() => third.lines.length === 1, 'its end is told')
  assert.equal(at(JSON.parse(third.lines[0] ?? '{}'), 'data', 'outcome'), 'UNKNOWN')
})

test('a call that was under way when the gateway died is UNKNOWN at the next start, and told once', async (t) => {
  const rows = new Map<string, MonitoringWindowRow>()
  const first = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows) })
  await monitored(first.monitoring, window('run-1'))
  await first.monitoring.close()
  const second = await start(t, { sinks: [{ type: 'log' }], store: windowStore(rows) })
  assert.equal(second.monitoring.openCount(), 0)
  assert.deepEqual(outcomes(rows), ['UNKNOWN'])
  assert.deepEqual(
    second.lines.map((line) => at(JSON.parse(line), 'data', 'outcome')),
    ['UNKNOWN'],
  )
})

test('an end that was reported but not stored is reported again under the same id', async (t) => {
  const rows = new Map<string, MonitoringWindowRow>()
  const store = windowStore(rows)
  const down = { windows: { ...store.windows, close: () => Promise.reject(new Error('the disk is full')) } }
  const first = await start(t, { sinks: [{ type: 'log' }], store: down })
  await (await monitored(first.monitoring, window('run-1'))).finish(RESULT)
  const second = await start(t, { sinks: [{ type: 'log' }], store })
  assert.equal(at(closed(first.lines), 'data', 'outcome'), 'SUCCEEDED')
  assert.equal(at(closed(second.lines), 'id'), at(closed(first.lines), 'id'))
})

test('a direct caller reports for its own tenant only', async (t) => {
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }] })
  await monitored(monitoring, window('run-1', { observer: 'caller' }))
  const report = { type: 'finished', result: RESULT } as const
  assert.equal(await monitoring.report(name('run-1', { tenant: 'other' }), report), 'unknown')
  assert.equal(await monitoring.report(name('nobody'), report), 'unknown')
  assert.equal(await monitoring.report(name('run-1'), report), 'taken')
  assert.equal(monitoring.openCount(), 0)
})

test('a report ends the window of its decision, or the one that is open longest', async (t) => {
  const store = windowStore()
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }], store })
  for (const decisionId of ['dec_1', 'dec_2', 'dec_3'])
    await monitored(monitoring, window('run-1', { observer: 'caller', decisionId }))
  assert.equal(await monitoring.report(name('run-1', { decisionId: 'dec_2' }), finished('FAILED')), 'taken')
  assert.equal(await monitoring.report(name('run-1'), finished('SUCCEEDED')), 'taken')
  assert.equal(await monitoring.report(name('run-1', { decisionId: 'dec_2' }), finished('SUCCEEDED')), 'unknown')
  assert.deepEqual(outcomes(store.rows), ['SUCCEEDED', 'FAILED', null])
})

test('nobody tells the outcome of a call that the gateway sees itself', async (t) => {
  const store = windowStore()
  const { monitoring } = await start(t, { sinks: [{ type: 'log' }], store })
  const watch = await monitored(monitoring, window('run-1'))
  for (const report of [{ type: 'started' }, { type: 'finished', result: RESULT }] as const)
    assert.equal(await monitoring.report(name('run-1'), report), 'unknown')
  await watch.finish({ ...RESULT, outcome: 'FAILED' })
  assert.deepEqual(outcomes(store.rows), ['FAILED'])
})

test('no sink at all means not wired, and no window opens', async (t) => {
  const { monitoring } = await start(t, { sinks: [] })
  assert.equal(monitoring.isWired(), false)
  assert.equal(await monitoring.open(window('run-1')), null)
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
    await (await monitored(monitoring, window(`run-${call}`))).finish(RESULT)
  }
  await until(() => receiver.events.length === 60, 'all events are delivered')
  assert.ok(receiver.deliveries.length < 60, 'events travel in batches')
  assert.equal(receiver.deliveries[0]?.authorization, 'Bearer sink-token')
  assert.equal(new Set(receiver.events.map(({ id }) => id)).size, 60)
  await until(
    () => readFileSync(join(dataDir, 'spool', `${sinkName('http', receiver.url)}.ndjson`), 'utf8') === '',
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
  await monitored(monitoring, window('run-1'))
  await monitored(monitoring, window('run-2'))
  assert.equal(monitoring.isWired(), false)
  assert.equal(await monitoring.open(window('run-3')), null)
  assert.equal(monitoring.sinks()[0]?.queued, 2)
  receiver.status = 202
  await until(() => monitoring.isWired(), 'the sink is wired again')
  await monitored(monitoring, window('run-3'))
})

test('one sink that takes events is enough', async (t) => {
  const receiver = await startEventReceiver()
  t.after(() => receiver.close())
  receiver.status = 500
  const { monitoring, lines } = await start(t, { sinks: [httpSink(receiver.url), { type: 'log' }], spool: 1 })
  await monitored(monitoring, window('run-1'))
  await monitored(monitoring, window('run-2'))
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
  const file = join(dataDir, 'spool', `${sinkName('http', receiver.url)}.ndjson`)
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"specversion":"1.0","id":"to`)
  receiver.status = 202
  await start(t, { sinks, dataDir })
  await until(() => receiver.events.length === 1, 'the whole event is delivered')
})
