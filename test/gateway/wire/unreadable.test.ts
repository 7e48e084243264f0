/** Heads that are too large and bytes that are no request: each gets an error with its cause, and nothing is forwarded. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createHttpListener } from '../../../gateway/listen/http-listener.ts'
import { startApi } from '../../fakes/api.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { type ProxyUnderTest, passingProxy } from '../../fakes/proxy-under-test.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const proxy = await passingProxy(t, upstream.origin)
  t.after(() => upstream.close())
  return { proxy, upstream }
}

function get(target: string, ...fields: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...fields, '', ''].join('\r\n')
}

function bodyOf(answer: string): unknown {
  const value: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
  assert.match(answer, new RegExp(`X-Correlation-ID: ${String(at(value, 'correlation_id'))}\r\n`, 'i'))
  return value
}

const NO_REQUEST = 'G@RBAGE\r\n\r\n'
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

for (const [what, bytes, status, code, message] of [
  ['a target of 20 KiB', get(`/${'x'.repeat(20_000)}`), 414, 'URI_TOO_LONG', /longer than the limit/],
  ['a target of 60 KiB', get(`/${'x'.repeat(60_000)}`), 414, 'URI_TOO_LONG', /longer than the limit/],
  ['an absolute target of 60 KiB', get(`http://a/${'x'.repeat(60_000)}`), 414, 'URI_TOO_LONG', /longer/],
  ['a field of 60 KiB', get('/', `X: ${'y'.repeat(60_000)}`), 431, 'HEADERS_TOO_LARGE', /larger than the limit/],
  ['fields of 60 KiB', get('/', ...Array(6).fill(`X: ${'y'.repeat(10_000)}`)), 431, 'HEADERS_TOO_LARGE', /larger/],
  ['very many fields', get('/', ...Array(499).fill('X: y')), 431, 'HEADERS_TOO_LARGE', /larger/],
  ['a name that is none', get('/', 'X Y: z'), 400, 'INVALID_INPUT', /not valid HTTP\/1\.1: invalid header token\./],
  ['a method that is none', 'G@T / HTTP/1.1\r\n\r\n', 400, 'INVALID_INPUT', /invalid method/],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'INVALID_INPUT', /not valid HTTP/],
  ['two lengths', get('/', 'Content-Length: 1', 'Content-Length: 2'), 400, 'INVALID_INPUT', /./],
  ['an endless extension', `${CHUNKED}5;${'x'.repeat(60_000)}`, 413, 'PAYLOAD_TOO_LARGE', /extensions of a chunk/],
] as const) {
  test(`${what}: ${status} ${code}`, async (t) => {
    const { proxy, upstream } = await scene(t)
    const answer = await exchangeBytes(proxy.url, bytes)
    assert.equal(statusOf(answer), status)
    const body = bodyOf(answer)
    assert.equal(at(body, 'error'), code)
    assert.match(String(at(body, 'message')), message)
    assert.equal(upstream.requests.length, 0)
    assert.equal((await fetch(proxy.url)).status, 200)
  })
}

test('a target of 16 KiB, 496 fields, and a receipt with its envelope at their largest are taken', async (t) => {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (_request, response) => response.end('good'))
  const proxy = await passingProxy(t, await listening(t, server))
  for (const bytes of [
    get(`/${'x'.repeat(16 * 1024 - 1)}`),
    get('/', ...Array(496).fill('X: y')),
    get('/', `Preflight-Receipt: ${'a'.repeat(8192)}`, `Preflight-Decision: ${'b'.repeat(8192)}`),
  ])
    assert.equal(statusOf(await exchangeBytes(proxy.url, bytes)), 200)
})

/** Requests of which some are complete, the bytes behind them, and what the upstream sees. */
const BEHIND = [
  ['garbage behind a GET', 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n', ['/1']],
  ['garbage behind a body', 'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok', ['/1']],
  ['garbage behind chunks', `${CHUNKED.replace('/', '/1')}2\r\nok\r\n0\r\n\r\n`, ['/1']],
  [
    'garbage behind a body that was waited for',
    'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok',
    ['/1'],
  ],
  ['garbage behind two requests', 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n', ['/1', '/2']],
  [
    'a broken body of a second request',
    `GET /1 HTTP/1.1\r\nHost: a\r\n\r\n${CHUNKED.replace('/', '/2')}2\r\nok\r\n`,
    ['/1'],
  ],
] as const

for (const [what, bytes, urls] of BEHIND)
  for (const isLater of [false, true])
    test(`${what}${isLater ? ', a moment later' : ''}: complete requests are answered, then the connection ends`, async (t) => {
      const urlsSeen: (string | undefined)[] = []
      const answers: ServerResponse[] = []
      const server = createServer((request, response) => {
        urlsSeen.push(request.url)
        if (request.url === '/1') answers.push(response)
        else response.end('second')
      })
      const proxy = await passingProxy(t, await listening(t, server))
      const socket = openSocket(proxy.url)
      t.after(() => socket.destroy())
      const received = text(socket)
      socket.write(bytes + (isLater ? '' : NO_REQUEST))
      await until(() => answers.length === 1, 'the first call is under way')
      if (isLater) socket.write(NO_REQUEST)
      // Each further piece is another error of the parser. None of them is read as a request.
      for (const piece of ['GET /3 HTTP/1.1\r\nHost: a\r\n\r\n', 'zz', '\r\n']) {
        await pause(20)
        socket.write(piece)
      }
      answers[0]?.end('first')
      const whole = await received
      assert.deepEqual(
        [...whole.matchAll(/HTTP\/1\.1 (?!100)(\d+)/g)].map(([, status]) => status),
        urls.map(() => '200'),
        whole,
      )
      assert.deepEqual(urlsSeen, urls)
      await until(() => proxy.listener.openCalls() === 0, 'the calls are over')
    })

test('an upload that breaks off after its answer has begun is cut, and its call ends', async (t) => {
  const server = createServer((_request, response) => void response.writeHead(200).write('begun'))
  const proxy = await passingProxy(t, await listening(t, server))
  const socket = openSocket(proxy.url)
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`${CHUNKED}5\r\nhello\r\n`)
  assert.equal(statusOf(await readHead(socket)), 200)
  socket.write('zz\r\n')
  await until(() => socket.destroyed || socket.readableEnded || (socket.resume(), false), 'the connection is closed')
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
})

test('bytes behind a switch to another protocol belong to that protocol', async (t) => {
  const server = createServer()
  const tunnelled: string[] = []
  server.on('upgrade', (_request, upstream, head) => {
    upstream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    tunnelled.push(head.toString())
    upstream.on('data', (chunk: Buffer) => void tunnelled.push(chunk.toString()))
  })
  const proxy = await passingProxy(t, await listening(t, server))
  const socket = openSocket(proxy.url)
  t.after(() => socket.destroy())
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${NO_REQUEST}`)
  assert.equal(statusOf(await readHead(socket)), 101)
  await until(() => tunnelled.join('') === NO_REQUEST, 'they arrive unread')
})

test('an upload that stops making sense is refused, and the upstream does not take it for whole', async (t) => {
  let isWhole = false
  const arrived = Promise.withResolvers<void>()
  const upstream = await listening(
    t,
    createServer((request) => {
      request.on('data', () => arrived.resolve()).on('end', () => (isWhole = true))
    }),
  )
  const proxy = await passingProxy(t, upstream)
  const socket = openSocket(proxy.url)
  t.after(() => socket.destroy())
  socket.write(`${CHUNKED}5\r\nhello\r\n`)
  await arrived.promise
  socket.write('zz\r\n')
  assert.equal(statusOf(await readHead(socket)), 400)
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
  assert.equal(isWhole, false)
})

test('over HTTP/2 a long target and many fields get the same errors', async (t) => {
  const { proxy, upstream } = await scene(t)
  const session = connect(proxy.url)
  t.after(() => session.destroy())
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, 'y']))
  for (const [status, headers] of [
    [414, { ':path': `/${'x'.repeat(20_000)}` }],
    [431, { ':path': '/', ...fields }],
  ] as const) {
    const stream = session.request(headers)
    const [head]: unknown[] = await once(stream, 'response')
    assert.equal(at(head, ':status'), status)
    stream.resume()
  }
  assert.equal(upstream.seen.length, 0)
  assert.equal(await text(session.request({ ':path': '/' })), 'good')
})

test('the listener of the API answers alike', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  for (const [bytes, status, code] of [
    [get(`/${'x'.repeat(60_000)}`), 414, 'URI_TOO_LONG'],
    [get('/', `X: ${'y'.repeat(60_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['G@T / HTTP/1.1\r\n\r\n', 400, 'INVALID_INPUT'],
  ] as const) {
    const answer = await exchangeBytes(api.url, bytes)
    assert.deepEqual([statusOf(answer), at(bodyOf(answer), 'error')], [status, code])
  }
})

test('bytes that are no request, behind one that is being served, get its answer and no other, and end the connection', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const body = JSON.stringify({
    preflight_mode: 'authorize',
    artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
    context: { operation: 'merge' },
  })
  const fields = `Host: ${new URL(api.url).host}\r\nAuthorization: Bearer ${api.key}\r\nContent-Type: application/json`
  const request = `POST /api/v1/preflight HTTP/1.1\r\n${fields}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  for (const behind of ['no request\r\n\r\n', ')', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03']) {
    const answer = await exchangeBytes(api.url, request + behind)
    assert.equal(statusOf(answer), 200)
    assert.equal(at(bodyOf(answer), 'decision'), 'ALLOW', 'it is the only answer')
    assert.match(answer, /^connection: close\r$/im)
  }
  assert.equal(statusOf(await exchangeBytes(api.url, 'no request\r\n\r\n')), 400)
})

test('many pieces of such bytes wait for the one answer', async (t) => {
  const answers: ServerResponse[] = []
  const server = createHttpListener({ headTimeoutMs: 10_000 }, (_request, response) => void answers.push(response))
  const { port } = new URL(await listening(t, server))
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const socket = openSocket(`http://127.0.0.1:${port}`)
  const received = text(socket)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => answers.length === 1, 'the request is served')
  for (let piece = 0; piece < 30; piece += 1) {
    socket.write('no request\r\n\r\n')
    await pause(2)
  }
  answers[0]?.end('good')
  const whole = await received
  assert.match(whole, /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/)
  assert.ok(whole.endsWith('good'))
  assert.equal(answers.length, 1)
  assert.deepEqual(warnings, [])
})
