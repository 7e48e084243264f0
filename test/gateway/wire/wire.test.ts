/** What the proxy does with HTTP itself: what is refused, what is added, what is dropped, and that nothing is held back. */
import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, openSocket, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'

async function scene(
  t: TestContext,
  answer: RequestListener,
  options: Partial<ProxyOptions> & { readonly match?: unknown; readonly path?: string } = {},
): Promise<{ readonly upstream: HttpUpstream; readonly proxy: ProxyUnderTest }> {
  const upstream = await startHttpUpstream(answer)
  const route = {
    name: 'pets',
    match: options.match ?? { path: '/api' },
    upstream: `${upstream.origin}${options.path ?? '/v1'}`,
    protocol: 'http',
    contract: { current: { file: petContract() } },
  }
  const proxy = await startProxy({ routes: [route], ...options })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

const plain: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'text/plain')
  response.end('good')
}

for (const [what, head] of [
  ['two Content-Length headers', 'POST /api/pets HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 1'],
  ['conflicting Content-Length headers', 'POST /api/pets HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2'],
  [
    'Content-Length with Transfer-Encoding',
    'POST /api/pets HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked',
  ],
  [
    'two Transfer-Encoding headers',
    'POST /api/pets HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked',
  ],
  ['an unknown Transfer-Encoding', 'POST /api/pets HTTP/1.1\nHost: a\nTransfer-Encoding: gzip, chunked'],
  ['two Host headers', 'GET /api/pets HTTP/1.1\nHost: a\nHost: b'],
  ['two Host headers in other case', 'GET /api/pets HTTP/1.1\nHost: a\nHOST: a'],
  ['no Host header', 'GET /api/pets HTTP/1.1\nAccept: */*'],
  ['a Host that is not a host', 'GET /api/pets HTTP/1.1\nHost: a/b'],
  ['an absolute target', 'GET http://other.example/api/pets HTTP/1.1\nHost: a'],
  ['a target that can be read as another host', 'GET //other.example/api/pets HTTP/1.1\nHost: a'],
  ['a backslash', 'GET /api/..\\admin HTTP/1.1\nHost: a'],
  ['an encoded slash', 'GET /api/pets%2fmine HTTP/1.1\nHost: a'],
  ['an encoded backslash', 'GET /api/pets%5Cmine HTTP/1.1\nHost: a'],
  ['an encoded NUL', 'GET /api/pets%00 HTTP/1.1\nHost: a'],
  ['a dot segment', 'GET /api/../admin HTTP/1.1\nHost: a'],
  ['a dot segment at the end', 'GET /api/pets/.. HTTP/1.1\nHost: a'],
  ['an encoded dot segment', 'GET /api/%2e%2E/admin HTTP/1.1\nHost: a'],
  ['a dot segment with a parameter', 'GET /api/..;x/admin HTTP/1.1\nHost: a'],
  ['a broken escape', 'GET /api/pets%zz HTTP/1.1\nHost: a'],
  ['a fragment', 'GET /api/pets#x HTTP/1.1\nHost: a'],
  ['an asterisk target', 'OPTIONS * HTTP/1.1\nHost: a'],
  ['a space before the colon', 'GET /api/pets HTTP/1.1\nHost: a\nX-Token : b'],
  ['a folded header', 'GET /api/pets HTTP/1.1\nHost: a\nX-Token: b\n c'],
] as const) {
  test(`${what} is refused with 400 and not forwarded`, async (t) => {
    const { upstream, proxy } = await scene(t, plain)
    const answer = await exchangeBytes(proxy.url, requestText(head, 'x'))
    assert.equal(statusOf(answer), 400)
    assert.equal(upstream.requests.length, 0)
  })
}

for (const [from, to] of [
  ['/api', '/v1'],
  ['/api?a=1', '/v1?a=1'],
  ['/api/', '/v1/'],
  ['/api/pets/a%20b;v=1?q=%2F..', '/v1/pets/a%20b;v=1?q=%2F..'],
] as const) {
  test(`${from} reaches the upstream as ${to}, byte for byte`, async (t) => {
    const { upstream, proxy } = await scene(t, plain)
    await exchangeBytes(proxy.url, requestText(`GET ${from} HTTP/1.1\nHost: a`))
    assert.equal(upstream.requests[0]?.url, to)
  })
}

test('a prefix matches on segment borders only, and no route is 404', async (t) => {
  const { upstream, proxy } = await scene(t, plain)
  assert.equal((await fetch(`${proxy.url}/apis`)).status, 404)
  assert.equal(upstream.requests.length, 0)
})

test('a route that names the host answers for that host only', async (t) => {
  const { proxy } = await scene(t, plain, { match: { host: 'pets.example', path: '/' } })
  assert.equal(statusOf(await exchangeBytes(proxy.url, requestText('GET /pets HTTP/1.1\nHost: pets.example:80'))), 200)
  assert.equal(statusOf(await exchangeBytes(proxy.url, requestText('GET /pets HTTP/1.1\nHost: other.example'))), 404)
})

test('fields of the connection, forged fields and the gateway own fields do not reach the upstream', async (t) => {
  const { upstream, proxy } = await scene(t, plain)
  const head = `GET /api/pets HTTP/1.1
Host: front.example
X-Kept: yes
X-Secret-Hop: no
Keep-Alive: timeout=5
TE: trailers
Upgrade: websocket
Proxy-Authorization: Basic abcd
Preflight-Receipt: forged
preflight-decision: forged
X-Forwarded-For: 203.0.113.7
X-Forwarded-Proto: https
X-Correlation-ID: run-1
Connection: X-Secret-Hop`
  await exchangeBytes(proxy.url, `${head.replaceAll('\n', '\r\n')}, close\r\n\r\n`)
  const seen = upstream.requests[0]?.headers ?? {}
  assert.equal(seen['x-kept'], 'yes')
  for (const name of ['x-secret-hop', 'te', 'upgrade', 'proxy-authorization']) assert.equal(seen[name], undefined, name)
  assert.equal(seen['preflight-receipt'], 'header.dec_1.signature')
  assert.equal(seen.host, new URL(upstream.origin).host)
  assert.equal(seen['x-forwarded-host'], 'front.example')
  assert.equal(seen['x-forwarded-for'], '203.0.113.7, 127.0.0.1')
  assert.equal(seen['x-forwarded-proto'], 'http')
  assert.equal(seen['x-correlation-id'], 'run-1')
})

test('an answer carries the decision, and neither the upstream hop fields nor its forged ones', async (t) => {
  const { proxy } = await scene(t, (_request, response) => {
    response.writeHead(
      201,
      'Made',
      [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Hop', 'no'],
        ['X-Second-Hop', 'no'],
        ['Connection', 'X-Hop'],
        ['Connection', 'X-Second-Hop'],
        ['Preflight-Action', 'CONTINUE'],
        ['Preflight-Decision-Id', 'forged'],
        ['X-Name', 'caf\u00e9'],
      ].flat(),
    )
    response.end('made')
  })
  const answer = await exchangeBytes(proxy.url, requestText('GET /api/pets HTTP/1.1\nHost: a\nX-Correlation-ID: run-2'))
  assert.match(answer, /^HTTP\/1\.1 201 Made\r\n/)
  assert.match(answer, /Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n/)
  assert.match(answer, /X-Name: caf\u00e9\r\n/)
  assert.match(answer, /Preflight-Action: CONTINUE\r\nPreflight-Decision-Id: dec_1\r\nX-Correlation-ID: run-2\r\n/)
  assert.doesNotMatch(answer, /-Hop: no|forged/)
})

test('the head of an event stream arrives before its first event, and events as they come', async (t) => {
  const open: ServerResponse[] = []
  const { proxy } = await scene(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    open.push(response)
  })
  const answer = await fetch(`${proxy.url}/api/pets`)
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  open[0]?.end('data: one\n\n')
  assert.equal(await answer.text(), 'data: one\n\n')
})

test('trailers of an answer are passed on', async (t) => {
  const { proxy } = await scene(t, (_request, response) => {
    response.writeHead(200, { trailer: 'X-Sum, X-More' })
    response.write('body')
    response.addTrailers({ 'X-Sum': '42', 'X-More': 'yes' })
    response.end()
  })
  const answer = await new Promise<IncomingMessage>((resolve) => httpRequest(`${proxy.url}/api/pets`, resolve).end())
  await text(answer)
  assert.deepEqual({ ...answer.trailers }, { 'x-sum': '42', 'x-more': 'yes' })
})

test('a HEAD request keeps the length of the body that is not sent', async (t) => {
  const { proxy } = await scene(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '1234' })
    response.end()
  })
  const answer = await fetch(`${proxy.url}/api/pets`, { method: 'HEAD' })
  assert.equal(answer.headers.get('content-length'), '1234')
})

test('a client that expects 100 (Continue) gets it from the gateway and sends its body through', async (t) => {
  const { upstream, proxy } = await scene(t, plain)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(`${proxy.url}/api/pets`, {
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': '5' },
    })
    request.on('continue', () => request.end('hello'))
    request.on('response', resolve)
    request.on('error', reject)
    request.flushHeaders()
  })
  await text(answer)
  assert.equal(answer.statusCode, 200)
  assert.equal(upstream.requests[0]?.body, 'hello')
  assert.equal(upstream.requests[0]?.headers.expect, undefined)
})

test('a chunked upload streams through', async (t) => {
  const { upstream, proxy } = await scene(t, plain)
  const head = 'POST /api/pets HTTP/1.1\nHost: a\nTransfer-Encoding: chunked'
  const answer = await exchangeBytes(proxy.url, requestText(head, '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'))
  assert.equal(statusOf(answer), 200)
  assert.equal(upstream.requests[0]?.body, 'hello world')
})

test('a slow reader holds the upstream back instead of filling memory', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const total = 64 * 1024 * 1024
  const { proxy } = await scene(t, (_request, response) => {
    const pump = (): void => {
      while (written < total && !response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', pump)
      }
      response.end()
    }
    pump()
  })
  const socket = openSocket(proxy.url)
  socket.write(requestText('GET /api/pets HTTP/1.1\nHost: a'))
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  socket.pause()
  // Written bytes come to rest once the buffers on the way are full.
  let before = -1
  while (before !== written) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(written < total / 2, `${written} bytes were taken for a client that reads none`)
  socket.destroy()
})

test('TRACE is not forwarded', async (t) => {
  const { upstream, proxy } = await scene(t, plain)
  assert.equal(statusOf(await exchangeBytes(proxy.url, requestText('TRACE /api/pets HTTP/1.1\nHost: a'))), 405)
  assert.equal(upstream.requests.length, 0)
})
