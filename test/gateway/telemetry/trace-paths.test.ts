/** Every way in besides the protocols of the proxy: one trace in the answer, the ledger, the decision log and the exported spans. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { admissionReview, DEPLOYMENT, sendReview } from '../../fakes/admission-review.ts'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { grpcAsker } from '../../fakes/ext-authz-client.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { grpcClient } from '../../fakes/grpc-client.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { api, keyOf, startHubCluster } from '../../fakes/hub-scene.ts'
import { deployment } from '../../fakes/kubernetes-scene.ts'
import { ADD, startMcpUpstream } from '../../fakes/mcp-upstream.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../../fakes/otlp-receiver.ts'
import { exchangeBytes, requestText } from '../../fakes/raw-http.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt } from '../../json.ts'

const PARENT = '00f067aa0ba902b7'
const SERVER = 2
const CLIENT = 3

interface Scene {
  readonly gateway: TestGateway
  readonly receiver: OtlpReceiver
  readonly authority: TestAuthority
  readonly entries: () => readonly unknown[]
}

/** One gateway with every listener, a route of each kind and a receiver of spans. */
async function scene(t: TestContext): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-traces-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const authority = await testAuthority()
  const { cert, key } = await authority.leaf('127.0.0.1')
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  const receiver = await startOtlpReceiver()
  const tools = await startMcpUpstream({ generation: 'stateless', json: true })
  tools.tools = [ADD]
  const pets = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(() => Promise.all([receiver.close(), tools.close(), pets.close()]))
  const log = join(directory, 'decisions.ndjson')
  const { origin } = pets
  const gateway = await startTestGateway(t, {
    listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0', webhooks: '127.0.0.1:0' },
    tls: { listeners: { webhooks: files } },
    otel: { endpoint: receiver.endpoint, protocol: 'http/json' },
    decision_log: { sinks: [{ type: 'file', path: log }] },
    routes: [
      { name: 'tools', match: { path: '/mcp' }, upstream: tools.url, protocol: 'mcp' },
      { name: 'cluster', match: { path: '/cluster' }, upstream: 'https://kubernetes.test', protocol: 'kubernetes' },
      {
        name: 'pets',
        match: { path: '/' },
        upstream: `${origin}/v1`,
        protocol: 'http',
        contract: { current: { file: petContract() }, refresh: 0 },
      },
    ],
  })
  const entries = (): readonly unknown[] =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
  return { gateway, receiver, authority, entries }
}

/** A way in: sends one request that names the trace, and returns what comes back. */
interface WayIn {
  readonly name: string
  /** Rows of the ledger that it leaves. */
  readonly records: 'calls' | 'decisions'
  /** False: what it records is in no entry of the decision log. */
  readonly isLogged?: false
  /** False: it is answered without a span of its own. */
  readonly hasSpan?: false
  /** False: its correlation id is the id of the review. */
  readonly isCorrelated?: false
  send(scene: Scene, fields: Readonly<Record<string, string>>): Promise<unknown>
}

const grpcAddress = ({ addresses }: TestGateway): string => (addresses.ext_authz ?? '').replace('http://', '')
const keyed = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }

async function answered(address: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(address, init)
  return { fields: [...response.headers], text: await response.text() }
}

/** A change that breaks, so that there is something to decide. */
const PREFLIGHT = {
  preflight_mode: 'authorize',
  artifacts: [{ id: 'a', type: 'json_schema', before: '{"type":"object"}', after: '{"type":"string"}' }],
  context: { operation: 'merge' },
}

const mcpCall = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
const grpcFields = (fields: object) =>
  Object.entries(fields).map(([key, value]) => ({ key, value: Buffer.from(value) }))

const WAYS_IN: readonly WayIn[] = [
  {
    name: 'proxy',
    records: 'calls',
    send: ({ gateway }, headers) => answered(`${gateway.addresses.proxy}/pets`, { headers }),
  },
  {
    name: 'forward proxy',
    records: 'calls',
    send: ({ gateway }, fields) =>
      exchangeBytes(
        gateway.addresses.proxy,
        requestText(`GET http://169.254.169.254/latest HTTP/1.1\nHost: 169.254.169.254\n${lines(fields)}`),
      ),
    isLogged: false,
  },
  {
    name: 'CONNECT',
    records: 'calls',
    send: ({ gateway }, fields) =>
      exchangeBytes(
        gateway.addresses.proxy,
        requestText(`CONNECT 169.254.169.254:80 HTTP/1.1\nHost: 169.254.169.254:80\n${lines(fields)}`),
      ),
    isLogged: false,
    hasSpan: false,
  },
  {
    name: 'MCP of the proxy, named in _meta',
    records: 'calls',
    send: ({ gateway }, fields) =>
      answered(`${gateway.addresses.proxy}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(mcpCall({ name: 'add', arguments: { a: 1, b: 2 }, _meta: fields })),
      }),
  },
  {
    name: 'API',
    records: 'decisions',
    send: ({ gateway }, fields) =>
      answered(`${gateway.addresses.api}/api/v1/preflight`, {
        method: 'POST',
        headers: { ...keyed, ...fields },
        body: JSON.stringify(PREFLIGHT),
      }),
  },
  {
    name: 'own MCP endpoint, named in _meta',
    records: 'decisions',
    send: ({ gateway }, fields) =>
      answered(`${gateway.addresses.api}/mcp`, {
        method: 'POST',
        headers: { ...keyed, accept: 'application/json, text/event-stream' },
        body: JSON.stringify(mcpCall({ name: 'preflight_change_set', arguments: PREFLIGHT, _meta: fields })),
      }),
  },
  {
    name: 'ext_authz over HTTP',
    records: 'calls',
    send: ({ gateway }, headers) => answered(`${gateway.addresses.api}/authz/pets`, { headers }),
  },
  {
    name: 'forward-auth',
    records: 'calls',
    send: ({ gateway }, fields) =>
      answered(`${gateway.addresses.api}/forward-auth`, {
        headers: {
          ...fields,
          'x-forwarded-method': 'GET',
          'x-forwarded-uri': '/pets',
          'x-forwarded-host': 'pets.example',
        },
      }),
  },
  {
    name: 'ext_authz over gRPC',
    records: 'calls',
    async send({ gateway }, headers) {
      const asker = grpcAsker(grpcAddress(gateway))
      const host = 'pets.example'
      const answer = await asker.check({ method: 'GET', path: '/pets', host, headers, protocol: 'HTTP/1.1', size: '0' })
      asker.close()
      return answer
    },
  },
  {
    name: 'ExtMcp',
    records: 'calls',
    async send({ gateway }, fields) {
      const client = grpcClient('ext-mcp.proto', 'agentgateway.dev.ext_mcp.ExtMcp', grpcAddress(gateway))
      const params = Buffer.from(JSON.stringify({ name: 'add', arguments: { a: 1, b: 2 } }))
      const asked = { service_names: ['tools'], method: 'tools/call', mcp_request: params }
      const answer = await client.call('CheckRequest', { ...asked, headers: grpcFields(fields) })
      client.close()
      return answer
    },
  },
  {
    name: 'ext_proc',
    records: 'calls',
    async send({ gateway }, fields) {
      const client = grpcClient('ext-proc.proto', 'envoy.service.ext_proc.v3.ExternalProcessor', grpcAddress(gateway))
      const stream = client.stream('Process')
      assert.ok(stream instanceof Duplex)
      const head = { ':method': 'GET', ':path': '/pets', ':authority': 'pets.example', ':scheme': 'http', ...fields }
      const headers = Object.entries(head).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }))
      stream.write({ request_headers: { headers: { headers }, end_of_stream: true } })
      const [answer] = await once(stream, 'data')
      stream.end()
      client.close()
      return answer
    },
  },
  {
    name: 'admission',
    records: 'calls',
    isCorrelated: false,
    send: ({ gateway, authority }, fields) => {
      const review = admissionReview({ of: DEPLOYMENT, name: 'web', namespace: 'shop', object: deployment() })
      return sendReview(`${gateway.addresses.webhooks ?? ''}/admission/cluster`, authority.certificate, review, fields)
    },
  },
]

function lines(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** With bytes as text. */
function wholeText(answer: unknown): string {
  return JSON.stringify(answer, (_name, value: unknown) => {
    const bytes = at(value, 'type') === 'Buffer' ? at(value, 'data') : null
    return Array.isArray(bytes) ? Buffer.from(bytes).toString('latin1') : value
  })
}

test('a request of every way in has one trace in its answer, the ledger, the decision log and its span', async (t) => {
  const one = await scene(t)
  const { gateway, receiver, entries } = one
  const traces = new Map(WAYS_IN.map((wayIn) => [wayIn, randomBytes(16).toString('hex')]))
  const missing: string[] = []
  for (const [wayIn, trace] of traces) {
    const { name, records } = wayIn
    const answer = await wayIn.send(one, { traceparent: `00-${trace}-${PARENT}-01`, tracestate: 'vendor=1' })
    if (!wholeText(answer).includes(trace)) missing.push(`${name}: no trace in the answer`)
    const rows = async (): Promise<number> => {
      const found = await fetch(`${gateway.addresses.api}/api/v1/ledger?records=${records}&trace_id=${trace}`, {
        headers: keyed,
      })
      return listAt(await found.json(), 'items').length
    }
    await until(async () => (await rows()) > 0, `${name}: the ledger has a row of the trace`)
  }
  await gateway.close()
  for (const [{ name, isLogged = true, hasSpan = true, isCorrelated = true }, trace] of traces) {
    const entry = entries().find((one) => at(one, 'trace_id') === trace && at(one, 'kind') !== 'act')
    if (isLogged && entry === undefined) missing.push(`${name}: no entry`)
    const correlation = at(entry, 'correlation_id')
    if (isLogged && isCorrelated && !String(correlation).startsWith(`${trace}-`))
      missing.push(`${name}: the entry has the correlation id ${String(correlation)}`)
    const server = receiver.spans.find(({ traceId, kind }) => traceId === trace && kind === SERVER)
    if (hasSpan && server?.parentId !== PARENT) missing.push(`${name}: no span`)
  }
  assert.deepEqual(missing, [])
})

/** What names a trace in `_meta`, and the correlation id that a call then has. */
const STATED: readonly {
  readonly name: string
  readonly fields: Readonly<Record<string, string>>
  readonly correlation: (trace: string) => RegExp
}[] = [
  { name: 'without a field', fields: {}, correlation: (trace) => new RegExp(`^${trace}-[0-9a-f]{16}$`) },
  {
    name: 'with an id that the caller chose',
    fields: { 'x-correlation-id': 'chosen' },
    correlation: () => /^chosen$/,
  },
  {
    name: 'with a trace in the header, which has precedence',
    fields: { traceparent: `00-${'7'.repeat(32)}-${PARENT}-01` },
    correlation: () => /^7{32}-[0-9a-f]{16}$/,
  },
  {
    name: 'with an id of another form',
    fields: { 'x-correlation-id': 'a b' },
    correlation: (trace) => new RegExp(`^${trace}-[0-9a-f]{16}$`),
  },
]

for (const exported of [true, false]) {
  const where = exported ? 'spans are exported' : 'no span is exported'
  test(`a trace named in _meta is that of the correlation id, in answer, upstream and envelope, where ${where}`, async (t) => {
    const receiver = await startOtlpReceiver()
    const tools = await startMcpUpstream({ generation: 'stateless', json: true })
    tools.tools = [ADD]
    t.after(() => Promise.all([receiver.close(), tools.close()]))
    const gateway = await startTestGateway(t, {
      ...(exported && { otel: { endpoint: receiver.endpoint, protocol: 'http/json' } }),
      routes: [{ name: 'tools', match: { path: '/mcp' }, upstream: tools.url, protocol: 'mcp' }],
    })
    for (const { name, fields, correlation } of STATED) {
      const trace = randomBytes(16).toString('hex')
      const _meta = { traceparent: `00-${trace}-${PARENT}-01` }
      const accept = { accept: 'application/json, text/event-stream' }
      const sent = async (address: string, params: object) => {
        const headers = { ...keyed, ...accept, ...fields }
        return fetch(address, { method: 'POST', headers, body: JSON.stringify(mcpCall({ ...params, _meta })) })
      }
      const answer = await sent(`${gateway.addresses.proxy}/mcp`, { name: 'add', arguments: { a: 1, b: 2 } })
      const id = String(answer.headers.get('x-correlation-id'))
      assert.match(id, correlation(trace), name)
      assert.equal(tools.calls.at(-1)?.headers['x-correlation-id'], id, name)
      const decision = answer.headers.get('preflight-decision-id') ?? assert.fail(name)
      const kept = await fetch(`${gateway.addresses.api}/api/v1/decisions/${decision}`, { headers: keyed })
      const envelope: unknown = await kept.json()
      // A later call rests on the verdict of the first, and on its envelope.
      if (fields === STATED[0]?.fields) assert.equal(JSON.stringify(envelope).includes(id), true, name)
      const decided = await sent(`${gateway.addresses.api}/mcp`, { name: 'preflight_change_set', arguments: PREFLIGHT })
      const [, event = 'null'] = /^data: (.*)$/m.exec(await decided.text()) ?? []
      const body: unknown = JSON.parse(event)
      const own = String(decided.headers.get('x-correlation-id'))
      assert.match(own, correlation(trace), name)
      assert.equal(at(body, 'result', 'structuredContent', 'correlation_id'), own, name)
    }
  })
}

test('what a sidecar asks its hub is part of the call: spans of both, and rows in the ledger of the hub', async (t) => {
  const cluster = await startHubCluster()
  const receiver = await startOtlpReceiver()
  t.after(() => Promise.all([receiver.close(), cluster.close()]))
  const settings = { otel: { endpoint: receiver.endpoint, protocol: 'http/json' } }
  const hub = await cluster.startHub(t, {}, settings)
  const sidecar = await cluster.startSidecar(t, hub.url, { settings: { ...settings, ledger: { calls: 'durable' } } })
  const trace = randomBytes(16).toString('hex')
  const headers = { traceparent: `00-${trace}-${PARENT}-01` }
  assert.equal((await fetch(`${sidecar.gateway.addresses.proxy}/pets`, { headers })).status, 200)
  const key = await keyOf(hub, 'admin', 'team-a')
  const found = async (records: string) =>
    listAt(await api(hub, `/api/v1/ledger?records=${records}&trace_id=${trace}`, key), 'items')
  await until(async () => (await found('decisions')).length === 1, 'the hub has the decision')
  await until(async () => (await found('calls')).length === 1, 'the hub has the call')
  await sidecar.gateway.close()
  await hub.gateway.close()
  const spans = receiver.spans.filter(({ traceId }) => traceId === trace)
  const recorded = spans.find(({ name, kind }) => kind === SERVER && name === 'POST /hub/v1/decisions')
  const question = spans.find(({ spanId }) => spanId === recorded?.parentId)
  assert.equal(question?.kind, CLIENT)
  assert.equal(question.attributes['server.port'], Number(new URL(hub.url).port))
  const statement = spans.find(({ name, kind }) => kind === CLIENT && name === 'record decisions')
  assert.equal(spans.find(({ spanId }) => spanId === statement?.parentId)?.parentId, recorded?.spanId)
  assert.equal(statement?.attributes['db.system.name'], 'sqlite')
  assert.equal(statement.attributes['db.operation.name'], 'record')
  assert.equal(statement.attributes['db.collection.name'], 'decisions')
})

test('the heartbeats of a sidecar begin no trace at its hub', async (t) => {
  const cluster = await startHubCluster()
  const receiver = await startOtlpReceiver()
  t.after(() => Promise.all([receiver.close(), cluster.close()]))
  const hub = await cluster.startHub(t, {}, { otel: { endpoint: receiver.endpoint, protocol: 'http/json' } })
  const sidecar = await cluster.startSidecar(t, hub.url)
  assert.equal(await sidecar.call(), 200)
  await sidecar.gateway.close()
  await hub.gateway.close()
  assert.deepEqual(
    receiver.spans.filter(({ name }) => name.includes('/hub/')),
    [],
  )
})
