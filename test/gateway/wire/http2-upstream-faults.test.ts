/** Upstreams of HTTP/2 that fail: each has the code that it has over HTTP/1.1, and only what was not looked at is sent again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp1Server, request as httpRequest, type IncomingMessage } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { FRAME, frame } from '../../fakes/http2-frames.ts'
import { echo, endOf, good, proxyTo, upstreamOf, monitoredProxyTo, type OnStream } from '../../fakes/http2-upstream.ts'
import { listening, answeringBytes } from '../../fakes/listening.ts'
import { at } from '../../json.ts'

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
    const proxy = await monitoredProxyTo(t, upstream.origin, { headers: 1 })
    const reported = await fetch(`${proxy.url}/pets`, init)
    assert.deepEqual([reported.status, at(await reported.json(), 'error')], [status, fault])
    assert.deepEqual(await endOf(proxy), { outcome, fault })
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
    const proxy = await monitoredProxyTo(t, upstream.origin, { idle: 1 })
    const answer = await fetch(`${proxy.url}/pets`)
    await assert.rejects(answer.text())
    assert.deepEqual(await endOf(proxy), { outcome: 'FAILED', fault })
  })
}

for (const [what, server] of [
  ['speaks HTTP/1.1 only', () => createHttp1Server((_request, response) => response.end('good'))],
  ['speaks something else', () => createTcpServer(answeringBytes('220 hello\n'))],
] as const) {
  test(`an upstream that ${what}: 502, and certain not to have happened`, async (t) => {
    const proxy = await monitoredProxyTo(t, await listening(t, server()))
    assert.equal((await fetch(`${proxy.url}/pets`)).status, 502)
    assert.equal((await endOf(proxy)).fault, 'UPSTREAM_UNREACHABLE')
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
  const proxy = await proxyTo(t, upstream.origin)
  const answer = await fetch(`${proxy.url}/a`, { method: 'POST', body: 'hello' })
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
  const proxy = await proxyTo(t, await listening(t, server))
  const answer = await fetch(`${proxy.url}/a`, { method: 'POST', body: 'hello' })
  assert.deepEqual([answer.status, connections], [200, 2])
})

test('an upstream that is not there: 502, and certain not to have happened', async (t) => {
  const proxy = await monitoredProxyTo(t, 'http://127.0.0.1:1')
  const answer = await fetch(`${proxy.url}/pets`)
  assert.deepEqual([answer.status, at(await answer.json(), 'error')], [502, 'UPSTREAM_UNREACHABLE'])
  assert.deepEqual(await endOf(proxy), { outcome: 'NOT_SENT', fault: 'UPSTREAM_UNREACHABLE' })
})

test('a body that has streamed by is not sent again', async (t) => {
  const upstream = await upstreamOf(t, refusingOnce(refuse))
  const proxy = await proxyTo(t, upstream.origin)
  const asked = httpRequest(`${proxy.url}/a`, { method: 'POST' })
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
  const proxy = await proxyTo(t, upstream.origin)
  const ask = async (method: string, path: string): Promise<number> =>
    (await fetch(proxy.url + path, { method })).status
  assert.deepEqual([await ask('GET', '/first'), await ask('GET', '/last')], [200, 502])
  assert.deepEqual([await ask('GET', '/first'), await ask('POST', '/last')], [200, 502])
  assert.deepEqual(upstream.seen, ['GET /first', 'GET /last', 'GET /last', 'GET /first', 'POST /last'])
})

test('a status that there is not ends its call and nothing else', async (t) => {
  const upstream = await upstreamOf(t, good)
  const proxy = await proxyTo(t, upstream.origin)
  const odd = await proxyTo(
    t,
    await listening(
      t,
      createTcpServer((socket) => void socket.on('data', () => socket.write(ODD))),
    ),
  )
  assert.equal((await fetch(odd.url)).status, 502)
  assert.equal((await fetch(proxy.url)).status, 200)
})

/** Settings, and on stream 1 the status 099 as a literal. */
const ODD = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 1, 5, 0, 0, 0, 1, 0x08, 3, 0x30, 0x39, 0x39])
