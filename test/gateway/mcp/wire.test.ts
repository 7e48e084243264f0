/** MCP messages that no SDK would send: what has two readings is refused with a JSON-RPC error, and a batch goes on whole or not at all. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { test, type TestContext } from 'node:test'
import { ECHO, startMcpUpstream, type McpUpstream } from '../../fakes/mcp-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { at, listAt, textAt } from '../../json.ts'

async function scene(
  t: TestContext,
  options: Partial<ProxyOptions> = {},
): Promise<{ readonly upstream: McpUpstream; readonly proxy: ProxyUnderTest }> {
  const upstream = await startMcpUpstream({ generation: 'stateless', json: true })
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.url, protocol: 'mcp' }],
    ...options,
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function post(
  proxy: ProxyUnderTest,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string; readonly json: unknown }> {
  const answer = await fetch(proxy.url, { method: 'POST', headers: { ...HEADERS, ...headers }, body })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null }
}

const call = (id: number, name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })

for (const [what, body, code, status] of [
  ['invalid JSON', '{"jsonrpc":"2.0",', -32700, 400],
  ['an empty body', '', -32700, 400],
  ['a truncated text', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo', -32700, 400],
  [
    'a repeated member',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"add"}}',
    -32700,
    400,
  ],
  [
    'a member repeated by an escape',
    '{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/call","params":{"name":"echo"}}',
    -32700,
    400,
  ],
  [
    'nesting beyond reason',
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
    -32700,
    400,
  ],
  ['a bare word', '"tools/call"', -32600, 400],
  ['an object that is not a message', '{"name":"echo"}', -32600, 400],
  ['an empty batch', '[]', -32600, 400],
  ['a batch with a stranger in it', `[${call(1, 'echo')},7]`, -32600, 400],
  ['a batch with an id twice', `[${call(1, 'echo')},${call(1, 'add')}]`, -32600, 400],
  ['a call without a tool', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32600, 400],
  [
    'a call whose tool is not a text',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["echo"]}}',
    -32600,
    400,
  ],
  ['parameters that are a list', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}', -32600, 400],
] as const) {
  test(`${what} is answered with JSON-RPC error ${code} and not forwarded`, async (t) => {
    const { upstream, proxy } = await scene(t)
    const answer = await post(proxy, body)
    assert.equal(answer.status, status)
    assert.equal(at(answer.json, 'error', 'code'), code)
    assert.equal(at(answer.json, 'error', 'data', 'correlation_id'), answer.headers.get('x-correlation-id'))
    assert.equal(upstream.calls.length, 0)
  })
}

for (const [what, headers, body] of [
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, call(1, 'echo')],
  ['a text in another charset', { 'content-type': 'application/json; charset=utf-16' }, call(1, 'echo')],
  ['a compressed body', { 'content-encoding': 'gzip' }, new Uint8Array(gzipSync(call(1, 'echo')))],
] as const) {
  test(`${what} is refused with 415, since it could not be judged`, async (t) => {
    const { upstream, proxy } = await scene(t)
    assert.equal((await post(proxy, body, headers)).status, 415)
    assert.equal(upstream.calls.length, 0)
  })
}

test('headers that name another tool than the body are refused', async (t) => {
  const { upstream, proxy } = await scene(t)
  for (const headers of [{ 'mcp-name': 'add' }, { 'mcp-method': 'tools/list' }, { 'mcp-name': '=?base64?YWRk?=' }]) {
    assert.equal((await post(proxy, call(1, 'echo'), headers)).status, 400)
  }
  assert.equal(
    (await post(proxy, call(1, 'echo'), { 'mcp-method': 'tools/call', 'mcp-name': '=?base64?ZWNobw==?=' })).status,
    200,
  )
  assert.deepEqual(
    upstream.calls.map(({ tool }) => tool),
    ['echo'],
  )
})

for (const [what, method, params, header] of [
  ['another prompt', 'prompts/get', { name: 'greet' }, 'farewell'],
  ['another resource', 'resources/read', { uri: 'note://a' }, 'note://b'],
] as const) {
  test(`a header that names ${what} than the body is refused`, async (t) => {
    const { proxy } = await scene(t)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await post(proxy, body, { 'mcp-method': method, 'mcp-name': header })
    assert.equal(answer.status, 400)
    assert.equal(at(answer.json, 'error', 'code'), -32600)
  })
}

test('a call reaches the server byte for byte, with what it says beside its arguments', async (t) => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body)
      const { id, method }: { id?: unknown; method?: unknown } = JSON.parse(body)
      const result = method === 'tools/list' ? { tools: [ECHO] } : { content: [] }
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const upstream = `http://127.0.0.1:${portOf(server)}/mcp`
  const { proxy } = await scene(t, {
    routes: [{ name: 'tools', match: { path: '/' }, upstream, protocol: 'mcp' }],
  })
  const body =
    '{ "jsonrpc":"2.0",\t"id":1.0e0,"method":"tools/call", "params":{"name":"ech\\u006f","arguments":{"n":1.50,"big":12345678901234567890},"_meta":{"progressToken":"\\u00e9","x/y":[1e2]}} }'
  assert.equal((await post(proxy, body)).status, 200)
  assert.equal(bodies.at(-1), body)
})

test('a body past the limit is refused with 413 before it is read to its end', async (t) => {
  const { upstream, proxy } = await scene(t, { config: { limits: { proxied_body: 1000 } } })
  const answer = await post(
    proxy,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(2000) } }),
  )
  assert.equal(answer.status, 413)
  assert.equal(at(answer.json, 'error'), 'PAYLOAD_TOO_LARGE')
  assert.equal(upstream.calls.length, 0)
})

test('bytes that are not UTF-8 are refused', async (t) => {
  const { proxy } = await scene(t)
  const bytes = new Uint8Array(
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x'), Buffer.from([0xff]), Buffer.from('"}')]),
  )
  assert.equal((await post(proxy, bytes)).status, 400)
})

test('a batch with one blocked call is not forwarded at all, and each request gets an error', async (t) => {
  const { upstream, proxy } = await scene(t, {
    decide: ({ scope }) => (scope !== null && 'tool' in scope && scope.tool === 'echo' ? 'BLOCK' : 'ALLOW'),
  })
  const answer = await post(proxy, `[${call(1, 'echo')},${call(2, 'add')},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
  const [echo, add, ping] = listAt(answer.json)
  assert.equal(at(echo, 'result', 'isError'), true)
  assert.equal(at(echo, 'result', 'structuredContent', 'error'), 'PREFLIGHT_STOP')
  assert.equal(at(add, 'error', 'code'), -32001)
  assert.equal(at(ping, 'error', 'code'), -32001)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(upstream.calls.length, 0)
  assert.deepEqual(
    proxy.interceptions.map(({ action }) => action),
    ['tools/call echo', 'tools/call add'],
  )
})

test('a client that takes event streams only is stopped in one', async (t) => {
  const { proxy } = await scene(t, { decide: () => 'BLOCK' })
  const answer = await post(proxy, call(7, 'echo'), { accept: 'text/event-stream' })
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  const message: unknown = JSON.parse(/^event: message\ndata: (.*)\n\n$/.exec(answer.text)?.[1] ?? 'null')
  assert.equal(at(message, 'id'), 7)
  assert.equal(at(message, 'result', 'isError'), true)
})

test('the credentials of the caller are used to list its tools, and never shared with another', async (t) => {
  const { proxy, upstream } = await scene(t)
  await post(proxy, call(1, 'echo'), { authorization: 'Bearer first' })
  await post(proxy, call(2, 'echo'), { authorization: 'Bearer first' })
  assert.equal(upstream.lists, 1)
  await post(proxy, call(3, 'echo'), { authorization: 'Bearer second' })
  assert.equal(upstream.lists, 2)
})

test('credentials reach no line of the log', async (t) => {
  const { proxy } = await scene(t, { decide: () => 'BLOCK' })
  await post(proxy, call(1, 'echo'), { authorization: 'Bearer very-secret-value', cookie: 'sid=very-secret-value' })
  assert.ok(proxy.log.length > 0)
  assert.doesNotMatch(proxy.log.join(''), /very-secret-value/)
})

for (const [what, host, origin, status] of [
  ['a page of a stranger that took the address of this machine', 'evil.example', 'http://evil.example', 403],
  ['a page of a stranger by a number', 'evil.example:15080', 'https://other.example', 403],
  ['a page of this machine', 'localhost:15080', 'http://localhost:3000', 200],
  ['a program by any name', 'gateway.internal', null, 200],
] as const) {
  test(`${what} is answered ${status}`, async (t) => {
    const { upstream, proxy } = await scene(t)
    const body = call(1, 'echo')
    const { hostname, port } = new URL(proxy.url)
    const headers = { ...HEADERS, host, 'content-length': String(body.length), ...(origin !== null && { origin }) }
    const request = httpRequest({ hostname, port, method: 'POST', path: '/', headers }).end(body)
    const [answer]: IncomingMessage[] = await once(request, 'response')
    answer?.resume()
    assert.equal(answer?.statusCode, status)
    assert.equal(upstream.calls.length, status === 200 ? 1 : 0)
  })
}

test('the refusal of a call whose upstream lists no tools names the request and the route that failed, and why', async (t) => {
  const { upstream, proxy } = await scene(t)
  await upstream.close()
  const params = { name: 'echo', arguments: {} }
  const { json } = await post(proxy, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  const message = textAt(json, 'result', 'structuredContent', 'message')
  assert.match(message, /^tools\/list of the route "tools" failed, so the call could not be judged: .*ECONNREFUSED/)
})
