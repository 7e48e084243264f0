/** Plaintext HTTP/2: recognised by its first bytes, judged as HTTP/1, and converted without loss. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import type { RequestListener } from 'node:http'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
  readonly session: ClientHttp2Session
}

async function scene(
  t: TestContext,
  answer: RequestListener = (_request, response) => response.end('good'),
): Promise<Scene> {
  const upstream = await startHttpUpstream(answer)
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
  })
  const session = connect(proxy.url)
  session.on('error', () => {})
  t.after(async () => {
    session.destroy()
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream, session }
}

async function statusOfStream(stream: ClientHttp2Stream): Promise<unknown> {
  stream.on('error', () => {})
  const [headers]: unknown[] = await Promise.race([once(stream, 'response'), once(stream, 'close')])
  return typeof headers === 'object' && headers !== null ? Reflect.get(headers, ':status') : `reset ${stream.rstCode}`
}

test('a request is judged, counted from its real client, and answered with the decision', async (t) => {
  const { proxy, upstream, session } = await scene(t)
  const stream = session.request({ ':path': '/pets?q=%2F', cookie: ['a=1', 'b=2'], 'x-two': ['1', '2'] })
  const [headers]: unknown[] = await once(stream, 'response')
  assert.equal(Reflect.get(Object(headers), 'preflight-action'), 'CONTINUE')
  assert.equal(await text(stream), 'good')
  assert.equal(proxy.interceptions[0]?.action, 'GET /pets')
  const [request] = upstream.requests
  assert.equal(request?.url, '/pets?q=%2F')
  assert.equal(request?.headers.cookie, 'a=1; b=2')
  assert.equal(request?.headers['x-two'], '1, 2')
  assert.equal(request?.headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(request?.headers['x-forwarded-host'], new URL(proxy.url).host)
})

test('a hundred concurrent requests on one connection are answered, each with its own', async (t) => {
  const { proxy, session } = await scene(t, (request, response) => response.end(request.url))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => text(session.request({ ':path': `/pets/${index}` }))),
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 100 }, (_, index) => `/pets/${index}`),
  )
  await until(() => proxy.listener.openCalls() === 0, 'all calls are over')
})

test('bodies and trailers go both ways', async (t) => {
  const { upstream, session } = await scene(t, (request, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write(request.headers['content-length'] ?? 'chunked')
    response.addTrailers({ 'x-sum': '42' })
    response.end()
  })
  const stream = session.request({ ':method': 'POST', ':path': '/pets' })
  const trailers = once(stream, 'trailers')
  stream.write('a'.repeat(100_000))
  stream.end('b'.repeat(100_000))
  assert.equal(await text(stream), 'chunked')
  const [fields]: unknown[] = await trailers
  assert.equal(Reflect.get(Object(fields), 'x-sum'), '42')
  assert.equal(upstream.requests[0]?.body.length, 200_000)
})

for (const [what, headers] of [
  ['another host than its authority', { ':authority': 'a', ':path': '/pets', host: 'other.example' }],
  ['a path with a dot segment', { ':path': '/pets/../admin' }],
  ['a path that is none', { ':path': 'pets' }],
  ['an absolute path of another host', { ':path': 'http://other.example/pets' }],
  ['a space in its path', { ':path': '/pets /x' }],
  ['a line break in its path', { ':path': '/pets\r\nX: y' }],
  ['letters beyond ASCII in its path', { ':path': '/p\u00e9ts' }],
  ['CONNECT', { ':method': 'CONNECT', ':authority': 'other.example:443' }],
  ['TRACE', { ':method': 'TRACE', ':path': '/pets' }],
  ['an authority that is not a host', { ':authority': 'a/b', ':path': '/pets' }],
  ['a user in its authority', { ':authority': 'u@a', ':path': '/pets' }],
] as const) {
  test(`a request with ${what} is not sent on`, async (t) => {
    const { upstream, session } = await scene(t)
    let end: unknown
    try {
      end = await statusOfStream(session.request(headers))
    } catch (error) {
      end = error
    }
    assert.notEqual(end, 200)
    assert.equal(upstream.seen.length, 0)
    assert.equal(await text(session.request({ ':path': '/pets' })), 'good')
  })
}

test('a length that is not the body’s is not a request', async (t) => {
  const { upstream, session } = await scene(t)
  const stream = session.request({ ':method': 'POST', ':path': '/pets', 'content-length': '3' })
  stream.on('error', () => {})
  stream.end('hello, this is longer')
  await until(() => stream.closed, 'the stream is reset')
  assert.notEqual(stream.rstCode, constants.NGHTTP2_NO_ERROR)
  assert.equal(upstream.requests.length, 0)
})

test('streams that are opened and reset in a row end the connection, and leave no call open', async (t) => {
  const { proxy, session } = await scene(t)
  const flood = (): void => {
    for (let index = 0; index < 200 && !session.closed && !session.destroyed; index += 1) {
      const stream = session.request({ ':path': '/pets' })
      stream.on('error', () => {})
      stream.close(constants.NGHTTP2_CANCEL)
    }
    if (!session.closed && !session.destroyed) setImmediate(flood)
  }
  flood()
  await until(() => session.destroyed, 'the connection is over')
  await until(() => proxy.listener.openCalls() === 0, 'no call is left')
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
})

test('a client that reads nothing holds the upstream back', async (t) => {
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  const { session } = await scene(t, (_request, response) => {
    const pump = (): void => {
      while (written < 64 * 1024 * 1024 && !response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', pump)
      }
      response.end()
    }
    pump()
  })
  const stream = session.request({ ':path': '/pets' })
  stream.on('error', () => {})
  await once(stream, 'response')
  let before = -1
  while (before !== written) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken for a client that reads none`)
})

test('an answer may come before the body has begun', async (t) => {
  const proxy = await startProxy({ routes: [] })
  t.after(() => proxy.close())
  const session = connect(proxy.url)
  session.on('error', () => {})
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/nowhere' })
  assert.equal(await statusOfStream(stream), 404)
})

test('a gateway that stops lets streams under way finish and takes no new ones', async (t) => {
  const waiting = Promise.withResolvers<() => void>()
  const { proxy, session } = await scene(t, (_request, response) => waiting.resolve(() => response.end('late')))
  const stream = session.request({ ':path': '/pets' })
  const answer = text(stream)
  const finish = await waiting.promise
  const closed = proxy.listener.close(30_000)
  await once(session, 'goaway')
  finish()
  assert.equal(await answer, 'late')
  await closed
})

test('the first bytes of either version may come one by one', async (t) => {
  const { proxy } = await scene(t)
  const socket = openSocket(proxy.url)
  for (const letter of 'PUT /pets HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n') {
    socket.write(letter)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(statusOf(await readHead(socket)) >= 200)
  socket.destroy()
  const preface = openSocket(proxy.url)
  for (const letter of 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') {
    preface.write(letter, 'latin1')
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [first]: unknown[] = await once(preface, 'data')
  assert.ok(Buffer.isBuffer(first) && first[3] === 4, 'settings are answered')
  preface.destroy()
})

test('bytes beyond ASCII in the head of a request stay as they are when its body comes later', async (t) => {
  const { session, upstream } = await scene(t)
  const stream = session.request({ ':path': '/pets', ':method': 'POST', 'x-a': 'caf\xe9' })
  setTimeout(() => stream.end('late'), 100)
  assert.equal(await statusOfStream(stream), 200)
  assert.equal(upstream.requests[0]?.headers['x-a'], 'caf\xe9')
})
