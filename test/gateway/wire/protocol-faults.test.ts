/** Errors around a call (too large, ambiguous, upstream away or slow) have the error form of the route's protocol. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { test, type TestContext } from 'node:test'
import { listening } from '../../fakes/listening.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

type Upstream = RequestListener | 'away'

async function proxyTo(t: TestContext, protocol: string, upstream: Upstream): Promise<ProxyUnderTest> {
  const origin = upstream === 'away' ? AWAY : await listening(t, createServer(upstream))
  const route = { name: 'one', match: { path: '/' }, upstream: origin, protocol, timeout: { headers: 1 } }
  const proxy = await startProxy({ routes: [route], config: { limits: { proxied_body: 2000 } } })
  t.after(() => proxy.close())
  return proxy
}

/** Nothing listens there. */
const AWAY = 'http://127.0.0.1:1'
const silent: RequestListener = () => {}

const TOO_LARGE = { method: 'POST', body: JSON.stringify({ kind: 'Job', note: 'x'.repeat(3000) }) }

for (const [what, upstream, path, init, code, reason, status] of [
  ['cannot be reached', 'away', '/api/v1/pods', {}, 'UPSTREAM_UNREACHABLE', 'InternalError', 502],
  ['does not answer in time', silent, '/api/v1/pods', {}, 'UPSTREAM_TIMEOUT', 'Timeout', 504],
  [
    'is sent more than can be judged',
    silent,
    '/apis/batch/v1/namespaces/a/jobs',
    TOO_LARGE,
    'PAYLOAD_TOO_LARGE',
    'RequestEntityTooLarge',
    413,
  ],
  ['is asked for a path with two readings', silent, '/api/v1/a%2fb', {}, 'INVALID_INPUT', 'BadRequest', 400],
] as const) {
  test(`an API server that ${what}: a Status that kubectl prints`, async (t) => {
    const proxy = await proxyTo(t, 'kubernetes', upstream)
    const answer = await fetch(proxy.url + path, init)
    const body: unknown = await answer.json()
    assert.equal(answer.status, status)
    assert.deepEqual(
      ['kind', 'apiVersion', 'status', 'reason', 'code'].map((name) => at(body, name)),
      ['Status', 'v1', 'Failure', reason, status],
    )
    const id = answer.headers.get('x-correlation-id')
    assert.match(String(at(body, 'message')), new RegExp(`\\. \\(correlation id ${id}\\)$`))
    assert.equal(at(body, 'details', 'causes', 0, 'reason'), code)
  })
}

async function post(proxy: ProxyUnderTest, message: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return fetch(proxy.url, { method: 'POST', headers, body: JSON.stringify(message) })
}

const PING = { jsonrpc: '2.0', id: 'p-1', method: 'ping' }

for (const [what, upstream, status, code] of [
  ['cannot be reached', 'away', 502, 'UPSTREAM_UNREACHABLE'],
  ['does not answer in time', silent, 504, 'UPSTREAM_TIMEOUT'],
] as const) {
  test(`an MCP server that ${what}: a JSON-RPC error that answers the request, with the status of the fault`, async (t) => {
    const proxy = await proxyTo(t, 'mcp', upstream)
    const answer = await post(proxy, PING)
    const body: unknown = await answer.json()
    assert.equal(answer.status, status)
    assert.deepEqual(
      [at(body, 'jsonrpc'), at(body, 'id'), at(body, 'error', 'code'), at(body, 'error', 'data', 'error')],
      ['2.0', 'p-1', -32603, code],
    )
    assert.match(String(at(body, 'error', 'message')), new RegExp(`^${code}: The upstream`))
    assert.equal(at(body, 'error', 'data', 'correlation_id'), answer.headers.get('x-correlation-id'))
  })
}

test('a batch of which nothing could be sent: each request has its error', async (t) => {
  const proxy = await proxyTo(t, 'mcp', 'away')
  const note = { jsonrpc: '2.0', method: 'notifications/cancelled' }
  const answer = await post(proxy, [PING, note, { ...PING, id: 7 }])
  const body: unknown = await answer.json()
  assert.ok(Array.isArray(body))
  assert.deepEqual(
    body.map((one) => at(one, 'id')),
    ['p-1', 7],
  )
})

test('where nothing with an id was asked, or it was not read, the error is the gateway’s own', async (t) => {
  const proxy = await proxyTo(t, 'mcp', 'away')
  const notice = await post(proxy, { jsonrpc: '2.0', method: 'notifications/initialized' })
  assert.deepEqual([notice.status, at(await notice.json(), 'error')], [502, 'UPSTREAM_UNREACHABLE'])
  const stream = await fetch(proxy.url, { headers: { accept: 'text/event-stream' } })
  assert.deepEqual([stream.status, at(await stream.json(), 'error')], [502, 'UPSTREAM_UNREACHABLE'])
  const large = await post(proxy, { ...PING, params: { note: 'x'.repeat(3000) } })
  assert.deepEqual([large.status, at(await large.json(), 'error')], [413, 'PAYLOAD_TOO_LARGE'])
})

test('a registry that cannot be reached: npm prints why', async (t) => {
  const proxy = await proxyTo(t, 'npm', 'away')
  const answer = await fetch(`${proxy.url}/thing`)
  assert.equal(answer.status, 502)
  const id = answer.headers.get('x-correlation-id')
  assert.equal(
    at(await answer.json(), 'error'),
    `UPSTREAM_UNREACHABLE: The upstream cannot be reached. | Correlation id (after the underscore): _${id}`,
  )
})
