/** Upstreams of HTTP/2 that take few streams on a connection: a call that may be sent does not wait until others end. */
import assert from 'node:assert/strict'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { proxyTo } from '../../fakes/http2-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { until } from '../../fakes/until.ts'

/** Answers immediately, except below `/open`, where the answer does not end. */
async function limited(t: TestContext, streams: number) {
  const open: ServerHttp2Stream[] = []
  let sessions = 0
  const server = createServer({ settings: { maxConcurrentStreams: streams } })
  server.on('session', () => (sessions += 1))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    if (headers[':path'] !== '/open') return stream.end('good')
    open.push(stream)
    return stream.write('begun')
  })
  return { origin: await listening(t, server), open, sessions: () => sessions }
}

/** Resolves with its head. */
const opened = (url: string, end: AbortSignal) =>
  fetch(`${url}/open`, { signal: AbortSignal.any([end, AbortSignal.timeout(20_000)]) })

for (const streams of [1, 2, 10])
  test(`answers without an end on all ${streams} streams of a connection hold no other call back`, async (t) => {
    const upstream = await limited(t, streams)
    const proxy = await proxyTo(t, upstream.origin)
    assert.equal(await (await fetch(proxy.url, { signal: AbortSignal.timeout(5000) })).text(), 'good')
    const stop = new AbortController()
    t.after(() => stop.abort())
    const standing = await Promise.all(Array.from({ length: 2 * streams + 1 }, () => opened(proxy.url, stop.signal)))
    assert.ok(standing.every(({ status }) => status === 200))
    assert.equal(await (await fetch(proxy.url, { signal: AbortSignal.timeout(5000) })).text(), 'good')
    assert.equal(upstream.sessions(), Math.ceil((2 * streams + 2) / streams))
  })

test('streams that end make room, so calls one after the other need no further connection', async (t) => {
  const upstream = await limited(t, 1)
  const proxy = await proxyTo(t, upstream.origin)
  for (let count = 0; count < 20; count += 1)
    assert.equal(await (await fetch(proxy.url, { signal: AbortSignal.timeout(5000) })).text(), 'good')
  assert.equal(upstream.sessions(), 1)
})

test('a connection whose streams have ended takes calls again', async (t) => {
  const upstream = await limited(t, 1)
  const proxy = await proxyTo(t, upstream.origin)
  assert.equal(await (await fetch(proxy.url, { signal: AbortSignal.timeout(5000) })).text(), 'good')
  const stop = new AbortController()
  for (let count = 0; count < 3; count += 1) await opened(proxy.url, stop.signal)
  stop.abort()
  await until(() => upstream.open.every(({ closed }) => closed), 'the upstream has lost its streams')
  assert.equal(await (await fetch(proxy.url, { signal: AbortSignal.timeout(5000) })).text(), 'good')
  assert.equal(upstream.sessions(), 3)
})
