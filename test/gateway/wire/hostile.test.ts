/**
 * The upstream sees only the requests that the gateway judged. Hostile bytes are sent to the gateway directly, and with nginx
 * or HAProxy before or behind it, each of which parses them differently.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { HIDDEN_PATH, HOSTILE_REQUESTS, type HostileRequest } from '../../fakes/hostile-requests.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { openSocket } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { startWebServer, type WebServer } from '../../fakes/web-servers.ts'

/** Servers that wait for bytes that never come are not waited for: what they sent on until then is looked at. */
const PATIENCE_MS = 250
const AT_ONCE = 10

interface Scene {
  /** Where the bytes are sent. */
  readonly front: string
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
}

async function startLast(): Promise<HttpUpstream> {
  return startHttpUpstream((request, response) => response.end(`${request.method} ${request.url}`))
}

async function startGateway(t: TestContext, upstream: string): Promise<ProxyUnderTest> {
  const contract = petContract((paths) => {
    paths[HIDDEN_PATH] = { get: { operationId: 'hidden', responses: {} } }
  })
  const route = {
    name: 'pets',
    match: { path: '/' },
    upstream,
    protocol: 'http',
    contract: { current: { file: contract } },
  }
  const proxy = await startProxy({ routes: [route] })
  t.after(() => proxy.close())
  // The first call reads the contract; those that follow are not given the time for it.
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
  return proxy
}

/** Sends the bytes and answers what comes back until the other side closes or nothing more is to be expected. */
function send(url: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = openSocket(url)
    let received = ''
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(received)
    })
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}

/** Requests that the gateway let on, and those that arrived at the last server: correlation id, method and path. */
function judged({ proxy }: Scene): readonly string[] {
  return proxy.interceptions
    .filter(({ effect }) => effect === 'forwarded')
    .map(({ correlationId, action }) => `${correlationId} ${action}`)
}

function arrived({ upstream }: Scene): readonly string[] {
  return upstream.seen.map(
    ({ method, url, headers }) => `${String(headers['x-correlation-id'])} ${method} ${url.split('?', 1)[0]}`,
  )
}

/** Nothing arrived that was not judged, and nothing twice. */
function assertNothingMore(scene: Scene, what: string): void {
  const known = new Set(judged(scene))
  const more = arrived(scene).filter((request) => !known.delete(request))
  assert.deepEqual(more, [], what)
}

/** Somebody else on other connections gets the answers to their own requests. */
async function assertOthersUnharmed({ front }: Scene, what: string): Promise<void> {
  for (const path of ['/pets/mine', '/pets']) {
    const answer = await send(front, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 200 /, what)
    assert.ok(answer.includes(`GET ${path}`), `${what}: ${answer}`)
  }
}

async function sendAll(scene: Scene): Promise<void> {
  for (let first = 0; first < HOSTILE_REQUESTS.length; first += AT_ONCE) {
    const some = HOSTILE_REQUESTS.slice(first, first + AT_ONCE)
    const what = some.map(({ name }) => name).join('; ')
    await Promise.all(some.map(({ bytes }) => send(scene.front, bytes)))
    await assertOthersUnharmed(scene, what)
    assertNothingMore(scene, what)
  }
}

test('the gateway itself sends on what has one reading, and of the rest nothing', async (t) => {
  const upstream = await startLast()
  t.after(() => upstream.close())
  const proxy = await startGateway(t, upstream.origin)
  const scene = { front: proxy.url, proxy, upstream }
  const wrong: string[] = []
  for (const hostile of HOSTILE_REQUESTS) {
    const before = upstream.seen.length
    const answer = await send(proxy.url, hostile.bytes)
    const sent = upstream.seen.length - before
    if (!isAsExpected(hostile, sent)) wrong.push(`${hostile.name}: ${sent} sent on, ${answer.slice(0, 12)}`)
    assertNothingMore(scene, hostile.name)
  }
  assert.deepEqual(wrong, [])
  await assertOthersUnharmed(scene, 'at the end')
})

/** A chunk that turns out to be broken breaks off a call that has begun: it may have been seen by then, or not. */
function isAsExpected({ name, forwarded }: HostileRequest, sent: number): boolean {
  return name.startsWith('chunks: ') ? sent <= forwarded : sent === forwarded
}

for (const kind of ['nginx', 'haproxy'] as const satisfies readonly WebServer[]) {
  test(`${kind} before the gateway: what it makes of hostile bytes is judged as it arrives`, async (t) => {
    const upstream = await startLast()
    t.after(() => upstream.close())
    const proxy = await startGateway(t, upstream.origin)
    const server = await startWebServer(t, kind, proxy.url)
    if (server !== null) await sendAll({ front: server.url, proxy, upstream })
  })

  test(`${kind} behind the gateway sees what was judged, and passes no more on`, async (t) => {
    const upstream = await startLast()
    t.after(() => upstream.close())
    const server = await startWebServer(t, kind, upstream.origin)
    if (server === null) return
    const proxy = await startGateway(t, server.url)
    await sendAll({ front: proxy.url, proxy, upstream })
  })
}
