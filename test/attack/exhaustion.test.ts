/** A caller who makes names up, one after the other and at any length: what is kept of them in memory, metrics, ledger and log stays bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyFileChange, readFileChanges } from '../../engine/internal.ts'
import { contractDigest } from '../../gateway/baselines/baselines.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { timedChanges } from '../../gateway/store/changes.ts'
import { createVerdicts, type VerdictRequest } from '../../gateway/enforce/verdict-cache.ts'
import type { AuthorizeRequest } from '../../gateway/flow/flow.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { startApi } from '../fakes/api.ts'
import { pets, PETS_WITH_POST } from '../fakes/contracts.ts'
import { ECHO, startMcpUpstream } from '../fakes/mcp-upstream.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { scriptedFlow } from '../fakes/scripted-flow.ts'
import { until } from '../fakes/until.ts'

/** Decisions on this many things, each with an envelope of about this many characters. */
async function decisions(count: number, length: number) {
  const scripted = scriptedFlow({ decide: () => 'ALLOW' })
  let asked = 0
  const flow = {
    async authorize(request: AuthorizeRequest) {
      asked += 1
      const issued = await scripted.authorize(request)
      return { ...issued, envelope: { ...issued.envelope, summary: 'x'.repeat(length) } }
    },
  }
  const store = {
    receipts: { state: () => Promise.resolve('current' as const) },
    approvals: { byId: () => Promise.resolve(null) },
    changes: timedChanges(1),
  }
  const verdicts = createVerdicts({ flow, store, metrics: createMetrics(), now: Date.now })
  const loaded = loadConfig({
    environment: {},
    value: { routes: [{ name: 'tools', match: {}, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }] },
  })
  assert.ok(loaded.ok)
  const [route] = loaded.value.config.routes
  assert.ok(route)
  const offered = { type: 'mcp_manifest', content: '{}', digest: contractDigest('{}') } as const
  const request = (index: number): VerdictRequest => ({
    route,
    caller: { tenant: 'local', audience: null },
    resource: { name: 'x', target: `tools#resource/${index}`, scope: null },
    change: {
      kind: 'contract',
      baseline: { ...offered, artifactId: 'tools', route: 'tools', source: 'first_use', setAt: 0, setBy: 'x' },
      offered,
    },
    generation: 1,
    correlationId: 'c',
    stages: { enter: () => {}, latencies: () => ({}) },
  })
  for (let index = 0; index < count; index++) await verdicts.verdictOn(request(index))
  return { again: async (index: number) => (await verdicts.verdictOn(request(index)), asked - count) }
}

test('decisions in use are bounded by what they take, and the latest stay', async () => {
  const large = await decisions(300, 200_000)
  assert.equal(await large.again(299), 0)
  assert.equal(await large.again(0), 1, 'the first was let go')
  const small = await decisions(300, 100)
  assert.equal(await small.again(0), 0)
})

const message = (id: string | number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params })

/** Names of metrics with their labels, without values. */
const seriesOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('#') || line === '' ? [] : [line.replace(/ [^ ]+$/, '')]))

test('no name that a caller makes up becomes a series of a metric', async (t) => {
  const mcp = await startMcpUpstream({ generation: 'stateless', json: true })
  const plain = await startHttpUpstream((_request, response) => response.end('{}'))
  const proxy = await startProxy({
    routes: [
      { name: 'tools', match: { path: '/tools' }, upstream: mcp.url, protocol: 'mcp' },
      { name: 'cluster', match: { path: '/k8s' }, upstream: plain.origin, protocol: 'kubernetes' },
      { name: 'model', match: { path: '/llm' }, upstream: plain.origin, protocol: 'llm' },
    ],
  })
  t.after(async () => {
    await proxy.close()
    await Promise.all([mcp.close(), plain.close()])
  })
  const send = (head: string, body = ''): Promise<string> =>
    exchangeBytes(
      proxy.url,
      requestText(`${head}\nContent-Type: application/json\nContent-Length: ${body.length}`, body),
    )
  const round = async (name: string): Promise<void> => {
    const call = (method: string, params: object) => JSON.stringify(message(name, method, params))
    await send('POST /tools HTTP/1.1\nHost: a', call('tools/call', { name }))
    await send('POST /tools HTTP/1.1\nHost: a', call('resources/read', { uri: `x://${name}` }))
    await send('POST /tools HTTP/1.1\nHost: a', call(name, {}))
    await send(`POST /tools HTTP/1.1\nHost: ${name}.example\nX-Correlation-ID: ${name}\nUser-Agent: ${name}`, '{')
    await send(`GET http://${name}.example/${name} HTTP/1.1\nHost: ${name}.example`)
    await send(
      `POST /k8s/apis/${name}/v1/namespaces/${name}/things HTTP/1.1\nHost: a`,
      `{"metadata":{"name":"${name}"}}`,
    )
    await send(`PUT /llm/${name} HTTP/1.1\nHost: a`, `{"tools":[{"name":"${name}"}]}`)
    await send(`GET /${name} HTTP/1.1\nHost: a\nPreflight-Receipt: ${name}`)
    await exchangeBytes(proxy.url, `CONNECT ${name}.example:443 HTTP/1.1\r\nHost: ${name}.example:443\r\n\r\n`)
    await exchangeBytes(proxy.url, `GET /tools HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: ${name}\r\n\r\n`)
  }
  for (const name of ['one', 'two']) await round(name)
  const before = seriesOf(await proxy.metrics.text())
  for (let index = 0; index < 5; index++) await round(`name${index}`)
  const after = seriesOf(await proxy.metrics.text())
  assert.deepEqual(
    after.filter((series) => !before.includes(series)),
    [],
  )
  assert.ok(!after.some((series) => /name\d/.test(series)))
})

test('nor does one in a request to the API', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const round = async (name: string): Promise<void> => {
    const context = { operation: name, environment: name, repository: `acme/${name}`, target_id: name }
    await api.post('/api/v1/preflight', { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context })
    await api.get(`/api/v1/${name}`)
    await api.get(`/schemas/${name}.json`)
    await api.post('/api/v1/telemetry', { specversion: '1.0', id: name, source: name, type: name, subject: name })
    await api.post('/mcp', { jsonrpc: '2.0', id: 1, method: name, params: { name } }, { accept: 'application/json' })
  }
  for (const name of ['one', 'two']) await round(name)
  const before = seriesOf(await api.metrics.text())
  for (let index = 0; index < 5; index++) await round(`name${index}`)
  assert.deepEqual(
    seriesOf(await api.metrics.text()).filter((series) => !before.includes(series)),
    [],
  )
})

test('names of any length fill neither the ledger nor the log, and a batch asks for a bounded number of things', async (t) => {
  const upstream = await startMcpUpstream({ generation: 'stateless', json: true })
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.url, protocol: 'mcp' }],
    decide: () => 'BLOCK',
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const post = (body: unknown) =>
    fetch(proxy.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(body),
    })
  for (const length of [5000, 1_000_000]) {
    await post(message(1, 'tools/call', { name: 'x'.repeat(length) }))
    await post(message(1, 'resources/read', { uri: `x://${'x'.repeat(length)}` }))
  }
  for (const { action } of proxy.interceptions) assert.ok(action.length <= 501, String(action.length))
  assert.ok(proxy.interceptions.length >= 2)
  for (const line of proxy.log) assert.ok(line.length < 10_000, line.slice(0, 200))
  const many = Array.from({ length: 101 }, (_, id) => message(id, 'tools/call', { name: ECHO.name }))
  assert.equal((await post(many)).status, 400)
  assert.equal((await post(many.slice(1))).status, 200)
})

test('a long name that is cut in the middle of a character does not make the ledger look changed', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end())
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp' }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  for (const start of ['', 'x']) {
    const name = start + '\u{1F680}'.repeat(300)
    await fetch(proxy.url, { method: 'POST', headers, body: JSON.stringify(message(1, 'tools/call', { name })) })
  }
  await until(
    async () => (await proxy.store.calls.list({ tenant: 'local', limit: 5 })).rows.length === 2,
    'both are recorded',
  )
  assert.ok(proxy.interceptions.some(({ action }) => !action.isWellFormed()))
  assert.deepEqual((await proxy.store.ledger.inspect()).faults, [])
})

test('what a caller writes stays inside of its line of the log, and its credentials outside of it', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end())
  const proxy = await startProxy({
    routes: [{ name: 'cluster', match: { path: '/' }, upstream: upstream.origin, protocol: 'kubernetes' }],
    decide: () => 'BLOCK',
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const hostile = '\n{"level":"info","msg":"all is well"}\u001b[2K\u2028'
  await fetch(`${proxy.url}/apis/apps/v1/namespaces/shop/deployments`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer top-secret-of-the-caller',
      cookie: 'sid=top-secret-of-the-caller',
      'x-scm-token': 'top-secret-of-the-caller',
      'proxy-authorization': 'Basic top-secret-of-the-caller',
      'preflight-receipt': 'eyJhbGciOiJ.top-secret-of-the-caller.x',
    },
    body: JSON.stringify({ metadata: { name: hostile } }),
  })
  assert.ok(proxy.log.length > 0)
  for (const line of proxy.log) {
    assert.equal(line.split('\n').length, 2, line)
    assert.ok(!line.includes('\u001b'), line)
    assert.ok(JSON.parse(line))
  }
  const reported = JSON.stringify([proxy.log, proxy.interceptions])
  assert.doesNotMatch(reported, /top-secret-of-the-caller/)
})

test('edits that would be followed for long are not followed', () => {
  const words = Array.from({ length: 10_000 }, (_, index) => `word-${index}-${'x'.repeat(30)}`)
  const edits = words.map((word) => ({ oldText: word, newText: 'y' }))
  const read = readFileChanges({ path: 'openapi.yaml', edits }, null)
  assert.ok(read.kind === 'changes')
  const [change] = read.changes
  assert.ok(change)
  const applied = applyFileChange(words.join('\n'), change)
  assert.ok(!applied.ok)
  assert.equal(applied.problem.code, 'GUARD_CALL_UNRECOGNISED')
  assert.match(applied.problem.message, /too many/)
  const few = readFileChanges({ path: 'openapi.yaml', edits: edits.slice(0, 100) }, null)
  assert.ok(few.kind === 'changes' && few.changes[0])
  assert.ok(applyFileChange(words.join('\n'), few.changes[0]).ok)
})
