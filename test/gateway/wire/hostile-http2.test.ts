/** HTTP/2 by raw frames: what is malformed, ambiguous or too much is refused, nothing of it goes upstream, and others are served on. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { HOSTILE_FRAMES, rapidResets } from '../../fakes/hostile-frames.ts'
import { FLAG, FRAME, frame, headers, openFrames, type FramesClient } from '../../fakes/http2-frames.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'

/** A connection that does not end within this time counts as hanging. */
const PATIENCE_MS = 5000

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream }
}

const GOOD = headers([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/pets'],
])

async function assertServes({ proxy }: Scene, client: FramesClient, what: string): Promise<void> {
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200, what)
  const other = openFrames(proxy.url)
  other.send(GOOD)
  assert.equal(await other.wordOn(1, PATIENCE_MS), 200, what)
  other.socket.destroy()
  client.socket.destroy()
}

/** Fields that an upstream may see of any of these requests. */
const KNOWN = /^(?:host|connection|content-length|transfer-encoding|x-correlation-id|x-forwarded-\w+|preflight-\w+)$/i

test('each is answered, reset or ends its own connection, and no more than it may goes upstream', async (t) => {
  const it = await scene(t)
  const wrong: string[] = []
  for (const { name, frames, forwarded } of HOSTILE_FRAMES) {
    const before = it.upstream.seen.length
    const client = openFrames(it.proxy.url)
    client.send(...frames)
    const word = await client.wordOn(name === 'a stream that was passed over' ? 3 : 1, PATIENCE_MS)
    const sent = it.upstream.seen.length - before
    const isRefused = word !== 200 && word !== 'silence'
    if (sent > forwarded || (forwarded === 0 && !isRefused)) wrong.push(`${name}: ${word}, ${sent} sent on`)
    client.socket.destroy()
  }
  assert.deepEqual(wrong, [])
  const names = it.upstream.requests.flatMap(({ rawHeaders }) => rawHeaders.filter((_, index) => index % 2 === 0))
  assert.deepEqual(
    names.filter((name) => !KNOWN.test(name)),
    [],
  )
  assert.ok(it.upstream.requests.every(({ method, url }) => url === '/pets' && (method === 'GET' || method === 'POST')))
  await until(() => it.proxy.listener.openCalls() === 0, 'no call is left')
})

test('while one connection is flooded, others are served', async (t) => {
  const it = await scene(t)
  for (const [what, frames] of [
    ['pings', Array.from({ length: 50_000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
    ['settings', Array.from({ length: 50_000 }, () => frame(FRAME.settings, 0, 0))],
    ['resets', rapidResets(10_000)],
  ] as const) {
    const client = openFrames(it.proxy.url)
    client.send(...frames)
    await assertServes(it, client, what)
  }
  await until(() => it.proxy.listener.openCalls() === 0, 'no call is left')
})

test('streams that are immediately reset end their connection long before all were processed', async (t) => {
  const it = await scene(t)
  const client = openFrames(it.proxy.url)
  client.send(...rapidResets(20_000))
  await until(() => client.socket.destroyed, 'the connection is over')
  assert.ok(it.upstream.seen.length < 2000, `${it.upstream.seen.length} of 20,000 went upstream`)
  await assertServes(it, client, 'afterwards')
})

test('a client that takes nothing of a hundred answers holds them back, and goes away without a trace', async (t) => {
  const body = Buffer.alloc(1024 * 1024)
  let begun = 0
  const upstream = await startHttpUpstream((_request, response) => {
    begun += 1
    response.end(body)
  })
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const client = openFrames(proxy.url)
  const noWindow = frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))
  const requests = Array.from({ length: 100 }, (_, index) => {
    const [method, scheme, authority, path] = [':method', ':scheme', ':authority', ':path'] as const
    const fields = [
      [method, 'GET'],
      [scheme, 'http'],
      [authority, 'a'],
      [path, '/pets'],
    ] as const
    return headers(fields, FLAG.endHeaders | FLAG.endStream, 2 * index + 1)
  })
  client.send(noWindow, ...requests)
  await until(() => begun === 100, 'all were sent on')
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
  assert.equal(client.count(FRAME.data), 0)
  client.socket.destroy()
  await until(() => proxy.listener.openCalls() === 0 && upstream.openExchanges() === 0, 'nothing is left of them')
})
