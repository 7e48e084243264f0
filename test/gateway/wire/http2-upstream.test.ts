/** Routes whose upstream is spoken to by HTTP/2: nothing of a call is lost or held back, and what fails has the same codes as over HTTP/1.1. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp1Server, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, constants, createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { testAuthority } from '../../fakes/certificates.ts'
import { FRAME, frame } from '../../fakes/http2-frames.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { listening, saying } from '../../fakes/listening.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startRoad, type Road } from '../../fakes/road.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

type OnStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => unknown

interface Upstream {
  readonly origin: string
  /** Paths in order of arrival, with the method. */
  readonly seen: string[]
  sessions(): number
}

async function upstreamOf(t: TestContext, onStream: OnStream): Promise<Upstream> {
  const seen: string[] = []
  let sessions = 0
  const server = createServer()
  server.on('session', () => (sessions += 1))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    seen.push(`${headers[':method']} ${headers[':path']}`)
    onStream(stream, headers)
  })
  return { origin: await listening(t, server), seen, sessions: () => sessions }
}

const PLAIN = { name: 'plain', match: { path: '/' }, protocol: 'mapped', map: [{ action: 'pass' }] }

async function roadTo(t: TestContext, upstream: string, route: object = {}, config: object = {}): Promise<Road> {
  const road = await startRoad({
    routes: [{ ...PLAIN, upstream, upstream_protocol: 'http2', ...route }],
    config: { ...config },
  })
  t.after(() => road.close())
  return road
}

/** A judged route under watch, so that outcomes are told. */
async function watchedRoadTo(t: TestContext, upstream: string, timeout: object = {}): Promise<Road> {
  const contract = { current: { file: petContract() } }
  const route = {
    name: 'pets',
    match: { path: '/' },
    upstream,
    upstream_protocol: 'http2',
    protocol: 'http',
    contract,
    timeout,
  }
  const road = await startRoad({ routes: [route], decide: () => 'WARN' })
  t.after(() => road.close())
  return road
}

async function endOf(road: Road): Promise<{ readonly outcome: unknown; readonly fault: unknown }> {
  const finished = (): unknown => road.events.findLast(({ type }) => type === 'preflight.execution.finished')?.data
  await until(() => finished() !== undefined, 'the outcome is told')
  return { outcome: at(finished(), 'outcome'), fault: at(finished(), 'fault') }
}

const good: OnStream = (stream) => {
  stream.respond({ ':status': 200 })
  stream.end('good')
}

/** Answers with what it was sent. */
const echo: OnStream = async (stream, headers) => {
  const body = await text(stream)
  stream.respond({ ':status': 200, 'content-type': 'application/json' })
  stream.end(JSON.stringify({ headers, body }))
}

test('a call is judged, and arrives with its fields, body and authority, and none of a connection', async (t) => {
  const upstream = await upstreamOf(t, echo)
  const road = await watchedRoadTo(t, upstream.origin)
  const headers = { 'x-two': '2', 'http2-settings': 'x', 'keep-alive': 'timeout=5', te: 'gzip' }
  const asked = httpRequest(`${road.url}/pets?q=%2F`, {
    method: 'POST',
    headers: { ...headers, connection: 'keep-alive' },
  })
  asked.end('hello')
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(answer !== undefined)
  const told: unknown = JSON.parse(await text(answer))
  assert.equal(answer.headers['preflight-action'], 'CONTINUE_WITH_MONITORING')
  assert.deepEqual(
    [':method', ':path', ':scheme', ':authority', 'x-two', 'x-forwarded-for'].map((name) => at(told, 'headers', name)),
    ['POST', '/pets?q=%2F', 'http', new URL(upstream.origin).host, '2', '127.0.0.1'],
  )
  assert.deepEqual(
    ['connection', 'http2-settings', 'keep-alive', 'te', 'host', 'transfer-encoding'].map((name) =>
      at(told, 'headers', name),
    ),
    Array(6).fill(undefined),
  )
  assert.equal(at(told, 'body'), 'hello')
  assert.deepEqual(await endOf(road), { outcome: 'SUCCEEDED', fault: undefined })
})

test('many calls at once share one connection, by HTTP/1.1 and HTTP/2 from the client', async (t) => {
  const upstream = await upstreamOf(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(String(headers[':path']))
  })
  const road = await roadTo(t, upstream.origin)
  const session = connect(road.url)
  t.after(() => session.destroy())
  const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
  const one = Promise.all(paths.map(async (path) => (await fetch(road.url + path)).text()))
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
  const road = await roadTo(t, upstream, { tls: { upstream_ca: trusted.file } })
  assert.equal(await (await fetch(road.url)).text(), '2.0')
  const distrusting = await roadTo(t, upstream)
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
    const road = await startRoad({ routes: [route], config: { egress: { allow } } })
    t.after(() => road.close())
    const authority = `localhost:${port}`
    const answer = await exchangeBytes(
      road.url,
      `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`,
    )
    assert.equal(statusOf(answer), status)
    assert.equal(upstream.seen.length, status === 200 ? 1 : 0)
  })
}

test('trailers go both ways, and the wish for them', async (t) => {
  let told: unknown
  let te: unknown
  const upstream = await upstreamOf(t, (stream, headers) => {
    te = headers['te']
    stream.on('trailers', (trailers) => (told = trailers['x-sum']))
    stream.on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-back': '43', 'preflight-action': 'STOP' }))
      stream.end('good')
    })
    stream.resume()
  })
  const road = await roadTo(t, upstream.origin)
  const asked = httpRequest(road.url, { method: 'POST', headers: { te: 'trailers', trailer: 'x-sum' } })
  asked.write('hello')
  asked.addTrailers({ 'x-sum': '42' })
  asked.end()
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(answer !== undefined)
  assert.equal(await text(answer), 'good')
  assert.deepEqual([told, te, { ...answer.trailers }], ['42', 'trailers', { 'x-back': '43' }])
})

test('early hints pass, and are no answer', async (t) => {
  const upstream = await upstreamOf(t, (stream, headers) => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
    good(stream, headers)
  })
  const road = await roadTo(t, upstream.origin)
  const asked = httpRequest(road.url)
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
  const road = await roadTo(t, upstream.origin, { timeout: { idle: 1 } })
  const socket = openSocket(road.url)
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
  const road = await roadTo(t, upstream.origin)
  const gone = new AbortController()
  const asked = fetch(`${road.url}/goes`, { signal: gone.signal })
  await until(() => upstream.seen.length === 1, 'it has arrived')
  gone.abort()
  await assert.rejects(asked)
  await until(() => codes.length === 1, 'the upstream is told')
  assert.deepEqual(codes, [constants.NGHTTP2_CANCEL])
  assert.equal(await (await fetch(`${road.url}/stays`)).text(), 'good')
  assert.equal(upstream.sessions(), 1)
})

for (const [what, answer, init, status, fault, outcome] of [
  ['says nothing', () => {}, {}, 504, 'UPSTREAM_TIMEOUT', 'UNKNOWN'],
  [
    'takes nothing of an upload',
    () => {},
    { method: 'POST', body: Buffer.alloc(8 * 1024 * 1024) },
    504,
    'UPSTREAM_TIMEOUT',
    'UNKNOWN',
  ],
  ['resets', (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), {}, 502, 'UPSTREAM_UNREACHABLE', 'UNKNOWN'],
  [
    'refuses whatever it is sent',
    (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
    {},
    502,
    'UPSTREAM_UNREACHABLE',
    'NOT_SENT',
  ],
] as const satisfies readonly (readonly [string, OnStream, RequestInit, number, string, string])[]) {
  test(`an upstream that ${what}: ${status}, ${outcome}`, async (t) => {
    const upstream = await upstreamOf(t, answer)
    const road = await watchedRoadTo(t, upstream.origin, { headers: 1 })
    const told = await fetch(`${road.url}/pets`, init)
    assert.deepEqual([told.status, at(await told.json(), 'error')], [status, fault])
    assert.deepEqual(await endOf(road), { outcome, fault })
  })
}

for (const [what, onBegun, fault] of [
  ['falls silent', () => {}, 'UPSTREAM_SILENT'],
  ['resets', (stream) => stream.destroy(new Error('broken')), 'UPSTREAM_RESET'],
  ['goes away', (stream) => stream.session?.destroy(), 'UPSTREAM_RESET'],
] as const satisfies readonly (readonly [string, OnStream, string])[]) {
  test(`an upstream that ${what} in the middle of its answer: ${fault}`, async (t) => {
    const upstream = await upstreamOf(t, (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('first', () => setTimeout(() => onBegun(stream), 50))
    })
    const road = await watchedRoadTo(t, upstream.origin, { idle: 1 })
    const answer = await fetch(`${road.url}/pets`)
    await assert.rejects(answer.text())
    assert.deepEqual(await endOf(road), { outcome: 'FAILED', fault })
  })
}

for (const [what, server] of [
  ['speaks HTTP/1.1 only', () => createHttp1Server((_request, response) => response.end('good'))],
  ['speaks something else', () => createTcpServer(saying('220 hello\n'))],
] as const) {
  test(`an upstream that ${what}: 502, and certain not to have happened`, async (t) => {
    const road = await watchedRoadTo(t, await listening(t, server()))
    assert.equal((await fetch(`${road.url}/pets`)).status, 502)
    assert.equal((await endOf(road)).fault, 'UPSTREAM_UNREACHABLE')
  })
}

/** Refuses the first stream, in one of two ways, and answers the next ones. */
function refusingOnce(refuse: (stream: ServerHttp2Stream) => void): OnStream {
  let hasRefused = false
  return (stream, headers) => {
    if (hasRefused) echo(stream, headers)
    else refuse(stream)
    hasRefused = true
  }
}

const refuse = (stream: ServerHttp2Stream): void => stream.close(constants.NGHTTP2_REFUSED_STREAM)

test('what the upstream refused to look at is sent again, once, whatever it is', async (t) => {
  const upstream = await upstreamOf(t, refusingOnce(refuse))
  const road = await roadTo(t, upstream.origin)
  const answer = await fetch(`${road.url}/a`, { method: 'POST', body: 'hello' })
  assert.equal(at(await answer.json(), 'body'), 'hello')
  assert.deepEqual(upstream.seen, ['POST /a', 'POST /a'])
})

test('what is beyond the last stream of a connection that goes away is sent again on another one', async (t) => {
  let connections = 0
  const server = createTcpServer((socket) => {
    connections += 1
    const isFirst = connections === 1
    socket.write(frame(FRAME.settings, 0, 0))
    // What follows preface, settings and their acknowledgement is the request.
    socket.on('data', (bytes: Buffer) => {
      if (!bytes.includes(Buffer.from('hello'))) return
      socket.write(
        isFirst ? frame(FRAME.goaway, 0, 0, Buffer.alloc(8)) : frame(FRAME.headers, 5, 1, Buffer.from([0x88])),
      )
    })
  })
  const road = await roadTo(t, await listening(t, server))
  const answer = await fetch(`${road.url}/a`, { method: 'POST', body: 'hello' })
  assert.deepEqual([answer.status, connections], [200, 2])
})

test('an upstream that is not there: 502, and certain not to have happened', async (t) => {
  const road = await watchedRoadTo(t, 'http://127.0.0.1:1')
  const answer = await fetch(`${road.url}/pets`)
  assert.deepEqual([answer.status, at(await answer.json(), 'error')], [502, 'UPSTREAM_UNREACHABLE'])
  assert.deepEqual(await endOf(road), { outcome: 'NOT_SENT', fault: 'UPSTREAM_UNREACHABLE' })
})

test('a body that has streamed by is not sent again', async (t) => {
  const upstream = await upstreamOf(t, refusingOnce(refuse))
  const road = await roadTo(t, upstream.origin)
  const asked = httpRequest(`${road.url}/a`, { method: 'POST' })
  asked.write('hello')
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.equal(answer?.statusCode, 502)
  assert.deepEqual(upstream.seen, ['POST /a'])
  asked.destroy()
})

test('a kept connection that is closed in the face of a request: a read is sent again, and nothing else is', async (t) => {
  const upstream = await upstreamOf(t, (stream, headers) => {
    if (headers[':path'] === '/last') stream.session?.destroy()
    else good(stream, headers)
  })
  const road = await roadTo(t, upstream.origin)
  const ask = async (method: string, path: string): Promise<number> => (await fetch(road.url + path, { method })).status
  assert.deepEqual([await ask('GET', '/first'), await ask('GET', '/last')], [200, 502])
  assert.deepEqual([await ask('GET', '/first'), await ask('POST', '/last')], [200, 502])
  assert.deepEqual(upstream.seen, ['GET /first', 'GET /last', 'GET /last', 'GET /first', 'POST /last'])
})

test('an upstream that answers before it has taken the upload: its answer arrives, and the rest is let go', async (t) => {
  const upstream = await upstreamOf(t, (stream) => {
    stream.respond({ ':status': 413 })
    stream.end('too much')
  })
  const road = await roadTo(t, upstream.origin)
  const answer = await fetch(road.url, { method: 'PUT', body: Buffer.alloc(4 * 1024 * 1024) })
  assert.deepEqual([answer.status, await answer.text()], [413, 'too much'])
  await until(() => road.proxy.openCalls() === 0, 'the call is over')
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
  const road = await roadTo(t, upstream.origin, { protocol: 'mcp', map: undefined })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } }
  const answer = await fetch(road.url, { method: 'POST', headers, body: JSON.stringify(call) })
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
  const road = await roadTo(t, upstream, { tls: { upstream_ca: trusted.file }, upgrade: 'allow' })
  const socket = openSocket(road.url)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\n')
  assert.equal(statusOf(await readHead(socket)), 101)
  const [bytes]: unknown[] = await once(socket, 'data')
  assert.equal(String(bytes), 'hello')
})

test('a status that there is not ends its call and nothing else', async (t) => {
  const upstream = await upstreamOf(t, good)
  const road = await roadTo(t, upstream.origin)
  const odd = await roadTo(
    t,
    await listening(
      t,
      createTcpServer((socket) => void socket.on('data', () => socket.write(ODD))),
    ),
  )
  assert.equal((await fetch(odd.url)).status, 502)
  assert.equal((await fetch(road.url)).status, 200)
})

/** Settings, and on stream 1 the status 099 as a literal. */
const ODD = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 1, 5, 0, 0, 0, 1, 0x08, 3, 0x30, 0x39, 0x39])
