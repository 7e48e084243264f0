/** Routes whose upstream is spoken to by HTTP/2: nothing of a call is lost or held back on the way. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, constants, createSecureServer } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { testAuthority } from '../../fakes/certificates.ts'
import { echo, endOf, good, PLAIN, proxyTo, upstreamOf, monitoredProxyTo } from '../../fakes/http2-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

test('a call is judged, and arrives with its fields, body and authority, and none of a connection', async (t) => {
  const upstream = await upstreamOf(t, echo)
  const proxy = await monitoredProxyTo(t, upstream.origin)
  const headers = { 'x-two': '2', 'http2-settings': 'x', 'keep-alive': 'timeout=5', te: 'gzip' }
  const asked = httpRequest(`${proxy.url}/pets?q=%2F`, {
    method: 'POST',
    headers: { ...headers, connection: 'keep-alive' },
  })
  asked.end('hello')
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(answer !== undefined)
  const reported: unknown = JSON.parse(await text(answer))
  assert.equal(answer.headers['preflight-action'], 'CONTINUE_WITH_MONITORING')
  assert.deepEqual(
    [':method', ':path', ':scheme', ':authority', 'x-two', 'x-forwarded-for'].map((name) =>
      at(reported, 'headers', name),
    ),
    ['POST', '/pets?q=%2F', 'http', new URL(upstream.origin).host, '2', '127.0.0.1'],
  )
  assert.deepEqual(
    ['connection', 'http2-settings', 'keep-alive', 'te', 'host', 'transfer-encoding'].map((name) =>
      at(reported, 'headers', name),
    ),
    Array(6).fill(undefined),
  )
  assert.equal(at(reported, 'body'), 'hello')
  assert.deepEqual(await endOf(proxy), { outcome: 'SUCCEEDED', fault: undefined })
})

test('many concurrent calls share one connection, by HTTP/1.1 and HTTP/2 from the client', async (t) => {
  const upstream = await upstreamOf(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(String(headers[':path']))
  })
  const proxy = await proxyTo(t, upstream.origin)
  const session = connect(proxy.url)
  t.after(() => session.destroy())
  // Before the upstream has stated its limit, 100 are assumed.
  await (await fetch(proxy.url)).text()
  const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
  const one = Promise.all(paths.map(async (path) => (await fetch(proxy.url + path)).text()))
  const two = Promise.all(paths.map((path) => text(session.request({ ':path': path }))))
  assert.deepEqual(await one, paths)
  assert.deepEqual(await two, paths)
  assert.equal(upstream.sessions(), 1)
})

test('inside TLS the version is agreed on, and the certificate is verified', async (t) => {
  const trusted = await testAuthority()
  const server = createSecureServer(await trusted.leaf('localhost'), (request, response) =>
    response.end(request.httpVersion),
  )
  const upstream = (await listening(t, server)).replace('http://127.0.0.1', 'https://localhost')
  const proxy = await proxyTo(t, upstream, { tls: { upstream_ca: trusted.file } })
  assert.equal(await (await fetch(proxy.url)).text(), '2.0')
  const distrusting = await proxyTo(t, upstream)
  assert.equal((await fetch(distrusting.url)).status, 502)
})

for (const [allow, status] of [
  [['127.0.0.0/8'], 200],
  [[], 403],
] as const) {
  test(`a destination that the request names is asked about at each connection: ${status}`, async (t) => {
    const upstream = await upstreamOf(t, good)
    const { port } = new URL(upstream.origin)
    const route = { ...PLAIN, match: { host: 'localhost', path: '/' }, upstream_protocol: 'http2' }
    const proxy = await startProxy({ routes: [route], config: { egress: { allow } } })
    t.after(() => proxy.close())
    const authority = `localhost:${port}`
    const answer = await exchangeBytes(
      proxy.url,
      `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`,
    )
    assert.equal(statusOf(answer), status)
    assert.equal(upstream.seen.length, status === 200 ? 1 : 0)
  })
}

test('trailers of an answer go back, and the wish for them up; those of a request end here', async (t) => {
  let reported: unknown = null
  let te: unknown
  const upstream = await upstreamOf(t, (stream, headers) => {
    te = headers['te']
    stream.on('trailers', (trailers) => (reported = trailers['x-sum']))
    stream.on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-back': '43', 'preflight-action': 'STOP' }))
      stream.end('good')
    })
    stream.resume()
  })
  const proxy = await proxyTo(t, upstream.origin)
  const asked = httpRequest(proxy.url, { method: 'POST', headers: { te: 'trailers', trailer: 'x-sum' } })
  asked.write('hello')
  asked.addTrailers({ 'x-sum': '42' })
  asked.end()
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(answer !== undefined)
  assert.equal(await text(answer), 'good')
  assert.deepEqual([reported, te, { ...answer.trailers }], [null, 'trailers', { 'x-back': '43' }])
})

test('early hints pass, and are no answer', async (t) => {
  const upstream = await upstreamOf(t, (stream, headers) => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
    good(stream, headers)
  })
  const proxy = await proxyTo(t, upstream.origin)
  const asked = httpRequest(proxy.url)
  asked.end()
  const answered = once(asked, 'response')
  const [info]: unknown[] = await once(asked, 'information')
  assert.deepEqual([at(info, 'statusCode'), at(info, 'headers', 'link')], [103, '</a.css>; rel=preload'])
  const [answer]: IncomingMessage[] = await answered
  assert.equal(answer?.statusCode, 200)
})

test('a client that reads nothing holds the upstream back, and its silence is not the upstream’s', async (t) => {
  const chunk = Buffer.alloc(64 * 1024)
  let written = 0
  const upstream = await upstreamOf(t, (stream) => {
    stream.respond({ ':status': 200 })
    const pump = (): void => {
      while (written < 64 * 1024 * 1024) {
        written += chunk.length
        if (!stream.write(chunk)) return void stream.once('drain', pump)
      }
      stream.end()
    }
    pump()
  })
  const proxy = await proxyTo(t, upstream.origin, { timeout: { idle: 1 } })
  const socket = openSocket(proxy.url)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await once(socket, 'readable')
  await new Promise((resolve) => setTimeout(resolve, 2500))
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken for a client that reads none`)
  let received = 0
  for await (const bytes of socket) received += Buffer.isBuffer(bytes) ? bytes.length : 0
  assert.ok(received > 64 * 1024 * 1024, 'all of it arrives')
})

test('a client that goes away takes its stream with it, and no other', async (t) => {
  const codes: (number | undefined)[] = []
  const upstream = await upstreamOf(t, (stream, headers) => {
    if (headers[':path'] === '/stays') good(stream, headers)
    else stream.on('close', () => codes.push(stream.rstCode))
  })
  const proxy = await proxyTo(t, upstream.origin)
  const gone = new AbortController()
  const asked = fetch(`${proxy.url}/goes`, { signal: gone.signal })
  await until(() => upstream.seen.length === 1, 'it has arrived')
  gone.abort()
  await assert.rejects(asked)
  await until(() => codes.length === 1, 'the upstream is told')
  assert.deepEqual(codes, [constants.NGHTTP2_CANCEL])
  assert.equal(await (await fetch(`${proxy.url}/stays`)).text(), 'good')
  assert.equal(upstream.sessions(), 1)
})

test('an upstream that answers before it has taken the upload: its answer arrives, and the rest is let go', async (t) => {
  const upstream = await upstreamOf(t, (stream) => {
    stream.respond({ ':status': 413 })
    stream.end('too much')
  })
  const proxy = await proxyTo(t, upstream.origin)
  const answer = await fetch(proxy.url, { method: 'PUT', body: Buffer.alloc(4 * 1024 * 1024) })
  assert.deepEqual([answer.status, await answer.text()], [413, 'too much'])
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
})

test('the gateway asks its own questions by HTTP/2 too', async (t) => {
  const tool = { name: 'add', inputSchema: { type: 'object' } }
  const results: Readonly<Record<string, object>> = {
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  }
  const upstream = await upstreamOf(t, async (stream) => {
    const message: unknown = JSON.parse(await text(stream))
    const [id, method] = [at(message, 'id'), String(at(message, 'method'))]
    const result = results[method]
    stream.respond({ ':status': 200, 'content-type': 'application/json' })
    const error = { code: -32601, message: 'unknown' }
    stream.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
  })
  const proxy = await proxyTo(t, upstream.origin, { protocol: 'mcp', map: undefined })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } }
  const answer = await fetch(proxy.url, { method: 'POST', headers, body: JSON.stringify(call) })
  assert.equal(at(await answer.json(), 'result', 'content', 0, 'text'), 'done')
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE')
})

test('a switch to another protocol goes by HTTP/1.1, to an upstream that speaks both', async (t) => {
  const trusted = await testAuthority()
  const server = createSecureServer({ ...(await trusted.leaf('localhost')), allowHTTP1: true })
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\nhello')
  })
  const upstream = (await listening(t, server)).replace('http://127.0.0.1', 'https://localhost')
  const proxy = await proxyTo(t, upstream, { tls: { upstream_ca: trusted.file }, upgrade: 'allow' })
  const socket = openSocket(proxy.url)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\n')
  assert.equal(statusOf(await readHead(socket)), 101)
  const [bytes]: unknown[] = await once(socket, 'data')
  assert.equal(String(bytes), 'hello')
})
