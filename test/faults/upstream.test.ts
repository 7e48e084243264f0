/** Upstreams that are away, silent or break off: each has its own code, and the client is never left with half an answer that looks whole. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import { test, type TestContext } from 'node:test'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'
import type { TelemetryEvent } from '../../gateway/telemetry/events.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'
import { freePort, listening } from '../fakes/listening.ts'

async function proxyTo(
  t: TestContext,
  upstream: string,
  route: Readonly<Record<string, unknown>> = {},
): Promise<ProxyUnderTest> {
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream, protocol: 'http', contract, ...route }],
    decide: () => 'WARN',
  })
  t.after(() => proxy.close())
  return proxy
}

async function proxyToServer(
  t: TestContext,
  answer: RequestListener,
  route: Readonly<Record<string, unknown>> = {},
): Promise<ProxyUnderTest> {
  const upstream = await startHttpUpstream(answer)
  t.after(() => upstream.close())
  return proxyTo(t, upstream.origin, route)
}

/** Told after the client has its answer. */
async function outcomeOf(proxy: ProxyUnderTest): Promise<unknown> {
  const closed = (): TelemetryEvent | undefined =>
    proxy.events.findLast(({ type }) => type === 'preflight.monitoring.closed')
  await until(() => closed() !== undefined, 'the monitoring window is closed')
  return closed()?.data['outcome']
}

test('an upstream that is not there is 502 UPSTREAM_UNREACHABLE, and the call counts as not sent', async (t) => {
  const proxy = await proxyTo(t, `http://127.0.0.1:${await freePort()}`)
  const answer = await fetch(`${proxy.url}/pets`)
  const body: unknown = await answer.json()
  assert.equal(answer.status, 502)
  assert.equal(at(body, 'error'), 'UPSTREAM_UNREACHABLE')
  assert.equal(at(body, 'correlation_id'), answer.headers.get('x-correlation-id'))
  assert.equal(answer.headers.get('preflight-decision-id'), 'dec_1')
  assert.equal(await outcomeOf(proxy), 'NOT_SENT')
  assert.match(
    await proxy.metrics.text(),
    /preflight_upstream_errors_total\{route="pets",code="UPSTREAM_UNREACHABLE"\} 1/,
  )
})

/** What happens before the second try of a read that was lost on a kept connection. It may have been executed. */
const SECOND_TRIES: Readonly<Record<string, (proxy: ProxyUnderTest, server: Server) => unknown>> = {
  'finds nobody': (_, server) => server.close(),
  'is under other settings': (proxy) => proxy.nextGeneration(),
  'is lost too': () => {},
}

for (const [what, happens] of Object.entries(SECOND_TRIES))
  test(`a read was lost, and its second try ${what}: 502, and the outcome is unknown`, async (t) => {
    let requests = 0
    // Answers the first request, and closes the connection of any other one without an answer.
    const server = createServer((request, response) => {
      requests += 1
      if (requests === 1) return response.end('good')
      happens(proxy, server)
      return request.socket.end()
    })
    const proxy = await proxyTo(t, await listening(t, server))
    assert.equal(await (await fetch(`${proxy.url}/pets`)).text(), 'good')
    assert.equal(await outcomeOf(proxy), 'SUCCEEDED')
    assert.equal((await fetch(`${proxy.url}/pets`)).status, 502)
    await until(() => proxy.monitoring.openCount() === 0, 'the monitoring window is closed')
    assert.equal(await outcomeOf(proxy), 'UNKNOWN')
    assert.equal(requests, what === 'is lost too' ? 3 : 2)
  })

test('an upstream that does not answer in time is 504 UPSTREAM_TIMEOUT, and the outcome is unknown', async (t) => {
  const proxy = await proxyToServer(t, () => {}, { timeout: { headers: 1 } })
  const answer = await fetch(`${proxy.url}/pets`)
  assert.equal(answer.status, 504)
  assert.equal(at(await answer.json(), 'error'), 'UPSTREAM_TIMEOUT')
  assert.equal(await outcomeOf(proxy), 'UNKNOWN')
})

test('an upstream that resets before its answer is 502, and the outcome is unknown', async (t) => {
  const proxy = await proxyToServer(t, (request) => request.socket.resetAndDestroy())
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 502)
  assert.equal(await outcomeOf(proxy), 'UNKNOWN')
})

for (const type of ['application/json', 'text/event-stream']) {
  test(`an upstream that resets in the middle of ${type} breaks the client's answer off, and the call counts as failed`, async (t) => {
    const proxy = await proxyToServer(t, (request, response) => {
      response.writeHead(200, { 'content-type': type })
      response.write('data: {"half":', () => request.socket.resetAndDestroy())
    })
    const answer = await fetch(`${proxy.url}/pets`)
    assert.equal(answer.status, 200)
    await assert.rejects(answer.text())
    assert.equal(await outcomeOf(proxy), 'FAILED')
    assert.match(await proxy.metrics.text(), /code="UPSTREAM_RESET"\} 1/)
  })
}

test('an upstream that falls silent in its answer for longer than the route allows is UPSTREAM_SILENT everywhere', async (t) => {
  const proxy = await proxyToServer(t, (_request, response) => void response.write('first'), { timeout: { idle: 1 } })
  const answer = await fetch(`${proxy.url}/pets`)
  assert.equal(answer.status, 200)
  await assert.rejects(answer.text())
  assert.equal(await outcomeOf(proxy), 'FAILED')
  const finished = proxy.events.find(({ type }) => type === 'preflight.execution.finished')
  assert.equal(finished?.data['fault'], 'UPSTREAM_SILENT')
  assert.match(await proxy.metrics.text(), /preflight_upstream_errors_total\{route="pets",code="UPSTREAM_SILENT"\} 1/)
  assert.match(proxy.log.join(), /"code":"UPSTREAM_SILENT"/)
})

test('an upstream that answers with an error is passed on as it is, and the call counts as failed', async (t) => {
  const proxy = await proxyToServer(t, (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end('broken')
  })
  const answer = await fetch(`${proxy.url}/pets`)
  assert.equal(answer.status, 500)
  assert.equal(await answer.text(), 'broken')
  assert.equal(await outcomeOf(proxy), 'FAILED')
})

for (const [what, answer] of [
  ['is silent about its tools', () => {}],
  ['answers the list with an error', (_request, response) => response.writeHead(500).end()],
  [
    'answers the list with something else',
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":"x","result":{}}'),
  ],
  [
    'answers the list with a repeated member',
    (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","result":{"tools":[]},"result":{"tools":[]}}'),
  ],
  ['breaks the list off', (request) => request.socket.resetAndDestroy()],
] as const satisfies readonly (readonly [string, RequestListener])[]) {
  test(`a tool call to a server that ${what} is not forwarded`, async (t) => {
    const upstream = await startHttpUpstream(answer)
    t.after(() => upstream.close())
    const proxy = await proxyTo(t, upstream.origin, { protocol: 'mcp', timeout: { headers: 1 } })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } })
    const reply = await fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const message: unknown = await reply.json()
    assert.equal(at(message, 'result', 'isError'), true)
    assert.equal(at(message, 'result', 'structuredContent', 'error'), 'PREFLIGHT_UNDECIDED')
    assert.equal(reply.headers.get('preflight-action'), 'STOP')
    assert.ok(upstream.requests.every((request) => request.body.includes('tools/list')))
  })
}

test('a server that asks the caller to sign in is passed on as that question', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://auth.example"' })
    response.end()
  })
  t.after(() => upstream.close())
  const proxy = await proxyTo(t, upstream.origin, { protocol: 'mcp' })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } })
  const reply = await fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  assert.equal(reply.status, 401)
  assert.equal(reply.headers.get('www-authenticate'), 'Bearer resource_metadata="https://auth.example"')
})

for (const [what, head, trailers, outcome] of [
  ['the status 0 in its trailers', {}, { 'grpc-status': '0' }, 'SUCCEEDED'],
  ['another status in its trailers', {}, { 'grpc-status': '13' }, 'FAILED'],
  ['another status in its head', { 'grpc-status': '5' }, {}, 'FAILED'],
  ['no status at all', {}, {}, 'UNKNOWN'],
] as const) {
  test(`a gRPC answer with ${what} counts as ${outcome}`, async (t) => {
    const proxy = await proxyToServer(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/grpc', trailer: 'grpc-status', ...head })
      response.write('x')
      response.addTrailers(trailers)
      response.end()
    })
    await (await fetch(`${proxy.url}/pets`)).arrayBuffer()
    assert.equal(await outcomeOf(proxy), outcome)
  })
}
