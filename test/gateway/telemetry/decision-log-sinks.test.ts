/** The sinks of the decision log: each takes entries durably, delivers them at least once, and goes on after a restart. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { loadConfig } from '../../../gateway/config/load.ts'
import { createDecisionLog } from '../../../gateway/telemetry/decision-log/open.ts'
import { DecisionLogEntry } from '../../../gateway/telemetry/decision-log/entry.ts'
import type { DecisionSink } from '../../../gateway/telemetry/decision-log/settings.ts'
import { syslogMessage } from '../../../gateway/telemetry/decision-log/syslog.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'
import { entriesIn } from '../../fakes/decision-log-file.ts'

const isEntry = new Ajv2020({ strict: false }).compile(DecisionLogEntry)

const freshFile = (): string => join(freshFolder(), 'decisions.ndjson')

const ENTRY = { kind: 'call', decision: 'BLOCK', route: 'a' } as const

const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'preflight-log-'))

/** @param dataDir of a log that was closed, which this one goes on with */
function logTo(t: TestContext, sinks: readonly object[], rest: object = {}, dataDir = freshFolder()) {
  const loaded = loadConfig({ environment: {}, value: { decision_log: { sinks, ...rest } } })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const metrics = createMetrics()
  const output = new PassThrough()
  const log = createDecisionLog({
    settings: loaded.value.config.decision_log,
    dataDir,
    metrics,
    logger: createLogger('silent'),
    now: Date.now,
    output,
  })
  t.after(() => log.close())
  return { log, metrics, output }
}

test('rotation keeps every entry that still fits into the kept files', async (t) => {
  const file = freshFile()
  const { log } = logTo(t, [{ type: 'file', path: file, max_bytes: 2500, files: 3 }], { on_full: 'block' })
  for (let index = 0; index < 8; index += 1)
    assert.equal(await log.write([{ ...ENTRY, correlation_id: `c${index}` }]), true)
  const kept = [`${file}.3`, `${file}.2`, `${file}.1`, file].flatMap(entriesIn).map(({ correlation_id: id }) => id)
  assert.equal(existsSync(`${file}.4`), false)
  assert.deepEqual(kept, ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'].slice(-kept.length))
  assert.ok(kept.length >= 6)
})

test('stdout gets one entry a line', async (t) => {
  const { log, output } = logTo(t, [{ type: 'stdout' }], { on_full: 'block' })
  await log.write([ENTRY])
  const line: unknown = JSON.parse(String(output.read()))
  assert.ok(isEntry(line))
})

test('an HTTP receiver gets batches once it is there, and the backlog has an age until then', async (t) => {
  const bodies: unknown[] = []
  let status = 503
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (status === 200) bodies.push(...JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8')))
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const { log, metrics } = logTo(t, [{ type: 'http', url, interval: 0.01 }], { on_full: 'block' })
  assert.equal(await log.write([ENTRY, ENTRY]), true)
  await until(
    async () =>
      /^preflight_sink_backlog_age_seconds\{sink="decisions-http-[\da-f]{8}"\} (?:0\.\d|[1-9])[\d.]*$/m.test(
        await metrics.text(),
      ),
    'the backlog has an age',
  )
  status = 200
  await until(() => bodies.length === 2, 'the entries are delivered')
  for (const body of bodies) assert.ok(isEntry(body))
})

test('a syslog receiver gets framed RFC 5424 messages over TLS, after a connection that broke too', async (t) => {
  const authority = await testAuthority()
  let received = ''
  let isBroken = true
  const server = createTlsServer(await authority.leaf('localhost'), (socket) => {
    socket.on('error', () => {})
    if (isBroken) {
      isBroken = false
      socket.destroy()
      return
    }
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const sink = { type: 'syslog', address: `localhost:${port}`, ca: authority.file, interval: 0.01 }
  const { log } = logTo(t, [sink], { on_full: 'block' })
  await log.write([{ ...ENTRY, action: 'tools/call größe' }])
  await until(async () => {
    if (received === '') await log.write([{ ...ENTRY, action: 'tools/call größe' }])
    return received !== ''
  }, 'a message comes')
  const [, length = '', rest = ''] = /^(\d+) (.*)$/s.exec(received) ?? []
  const message = Buffer.from(rest).subarray(0, Number(length)).toString('utf8')
  const [, entry = ''] = /^<108>1 \S+ \S+ preflight-gateway \d+ call - \uFEFF(.*)$/s.exec(message) ?? []
  assert.ok(isEntry(JSON.parse(entry)))
  assert.equal(at(JSON.parse(entry), 'action'), 'tools/call größe')
})

/** What a sink of one kind writes to, and what came there. */
interface SinkEnd {
  readonly config: object
  /** Ids of the entries that came, in their order. */
  readonly ids: () => readonly unknown[]
  /** It takes entries from now on; before, it takes none. */
  readonly open: () => Promise<void>
}

/** An address that is free, and stays free until it is opened. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A receiver over HTTP. @param read the entries of one body */
async function httpEnd(
  t: TestContext,
  configOf: (url: string) => object,
  read: (body: unknown) => readonly unknown[],
): Promise<SinkEnd> {
  const came: unknown[] = []
  const port = await closedPort()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      came.push(...read(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8'))))
      response.writeHead(200).end()
    })
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    config: { ...configOf(`http://127.0.0.1:${port}`), interval: 0.01 },
    ids: () => came.map((entry) => at(entry, 'id')),
    open: () => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve())),
  }
}

async function syslogEnd(t: TestContext): Promise<SinkEnd> {
  const authority = await testAuthority()
  const port = await closedPort()
  let received = ''
  const server = createTlsServer(await authority.leaf('localhost'), (socket) => {
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (text: string) => void (received += text))
    t.after(() => socket.destroy())
  })
  t.after(() => server.close())
  return {
    config: { type: 'syslog', address: `localhost:${port}`, ca: authority.file, interval: 0.01 },
    ids: () => [...received.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id),
    open: () => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve())),
  }
}

/** A sink of a kind without a row does not compile. */
const NETWORK_SINKS: Readonly<
  Record<Exclude<DecisionSink['type'], 'file' | 'stdout'>, (t: TestContext) => Promise<SinkEnd>>
> = {
  http: (t) =>
    httpEnd(
      t,
      (url) => ({ type: 'http', url: `${url}/` }),
      (body) => listAt(body),
    ),
  otlp: (t) =>
    httpEnd(
      t,
      (endpoint) => ({ type: 'otlp', endpoint }),
      (body) =>
        listAt(body, 'resourceLogs', 0, 'scopeLogs', 0, 'logRecords').map((record): unknown =>
          JSON.parse(textAt(record, 'body', 'stringValue')),
        ),
    ),
  syslog: syslogEnd,
}

for (const [type, start] of Object.entries(NETWORK_SINKS)) {
  test(`entries that a receiver of ${type} did not take are delivered after a restart, each at least once`, async (t) => {
    const end = await start(t)
    const folder = freshFolder()
    const first = logTo(t, [end.config], { on_full: 'block' }, folder)
    const written = ['a', 'b', 'c'].map((id) => ({ ...ENTRY, id }))
    for (const entry of written) assert.equal(await first.log.write([entry]), true)
    await first.log.close()
    assert.deepEqual(end.ids(), [])
    await end.open()
    const second = logTo(t, [end.config], { on_full: 'block' }, folder)
    await second.log.write([{ ...ENTRY, id: 'd' }])
    await until(() => new Set(end.ids()).size === 4, 'every entry came')
    assert.deepEqual([...new Set(end.ids())], ['a', 'b', 'c', 'd'])
    await until(() => second.log.sinks().every(({ queued }) => queued === 0), 'nothing waits')
  })
}

test('a file is continued after a restart', async (t) => {
  const sinks = [{ type: 'file', path: freshFile() }] as const
  for (const id of ['a', 'b']) {
    const { log } = logTo(t, sinks, { on_full: 'block' })
    assert.equal(await log.write([{ ...ENTRY, id }]), true)
    await log.close()
  }
  assert.deepEqual(
    entriesIn(sinks[0].path).map((entry) => entry['id']),
    ['a', 'b'],
  )
})

test('what a broken stdout did not take counts as lost, and a restart writes again', async (t) => {
  const first = logTo(t, [{ type: 'stdout' }], { on_full: 'block' })
  first.output.destroy(new Error('EPIPE'))
  await until(async () => !(await first.log.write([ENTRY])), 'the stream is broken')
  assert.match(await first.metrics.text(), /^preflight_decision_log_entries_total\{result="lost"\} [1-9]/m)
  const second = logTo(t, [{ type: 'stdout' }], { on_full: 'block' })
  assert.equal(await second.log.write([ENTRY]), true)
})

const message = (entry: object): string => syslogMessage(JSON.stringify({ time: 't', ...entry }), 13)

test('the severity of a syslog message follows the decision', () => {
  assert.match(message({ kind: 'call', decision: 'BLOCK' }), /^<108>1 t /)
  assert.match(message({ kind: 'act', decision: null }), /^<109>1 t /)
  assert.match(message({ kind: 'call', decision: 'ALLOW' }), /^<110>1 t /)
})
