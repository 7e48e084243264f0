/** Switches to other protocols: judged before both sides switch, then bytes in both directions on every listener, and no open connection remains. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { WebSocket, type ClientOptions } from 'ws'
import { testAuthority } from '../../fakes/certificates.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { startSocketServer, type SocketServer } from '../../fakes/socket-server.ts'
import { openConnect, readHead, startTls } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

const NAMED = [{ when: 'request.path == "/named"', action: 'pass' }]
const CHAT = {
  name: 'chat',
  match: { path: '/' },
  protocol: 'mapped',
  map: NAMED,
  otherwise: 'pass',
  upgrade: 'allow',
}

interface Scene {
  readonly upstream: SocketServer
  readonly proxy: ProxyUnderTest
}

async function scene(t: TestContext, route: object = {}, options: Partial<ProxyOptions> = {}): Promise<Scene> {
  const upstream = await startSocketServer()
  const proxy = await startProxy({ routes: [{ ...CHAT, upstream: upstream.origin, ...route }], ...options })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

async function open(url: string, options: ClientOptions = {}): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), options)
  await once(socket, 'open')
  return socket
}

async function echo(socket: WebSocket, message: string | Buffer): Promise<string | Buffer> {
  socket.send(message)
  const [bytes, isBinary]: unknown[] = await once(socket, 'message')
  if (!Buffer.isBuffer(bytes)) throw new TypeError('a message is one buffer')
  return isBinary === true ? bytes : bytes.toString('utf8')
}

async function closeOf(socket: WebSocket): Promise<{ readonly code: unknown; readonly reason: string }> {
  const [code, reason]: unknown[] = await once(socket, 'close')
  return { code, reason: String(reason) }
}

/** Status of the answer to somebody who asked for a switch and got none. */
async function refusedWith(url: string, options: ClientOptions = {}): Promise<number | undefined> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), options)
  const status = new Promise<number | undefined>((resolve) =>
    socket.once('unexpected-response', (_request, response) => resolve(response.resume().statusCode)),
  )
  socket.on('error', () => {})
  return status
}

test('text, binary, empty and large messages go both ways, compressed as both sides agreed', async (t) => {
  const { proxy, upstream } = await scene(t)
  const socket = await open(`${proxy.url}/chat?room=1`, { headers: { 'preflight-receipt': 'forged' } })
  assert.equal(socket.extensions, 'permessage-deflate')
  const large = Buffer.alloc(8 * 1024 * 1024, 'abc')
  assert.equal(await echo(socket, 'hello'), 'hello')
  assert.deepEqual(await echo(socket, Buffer.from([0, 255, 1])), Buffer.from([0, 255, 1]))
  assert.equal(await echo(socket, ''), '')
  assert.deepEqual(await echo(socket, large), large)
  assert.equal(upstream.requests[0]?.url, '/chat?room=1')
  assert.equal(upstream.requests[0]?.headers['preflight-receipt'], undefined)
  socket.close(4000, 'enough')
  assert.deepEqual(await closeOf(socket), { code: 4000, reason: 'enough' })
  await until(() => proxy.listener.openCalls() === 0 && upstream.openConnections() === 0, 'both sides are closed')
})

test('the code and reason with which the upstream closes arrive', async (t) => {
  const { proxy } = await scene(t)
  const socket = await open(`${proxy.url}/closing`)
  socket.send('close')
  assert.deepEqual(await closeOf(socket), { code: 4001, reason: 'as told' })
})

test('a hundred concurrent connections, half of them aborted by either side, leave nothing open', async (t) => {
  const { proxy, upstream } = await scene(t)
  const sockets = await Promise.all(Array.from({ length: 100 }, () => open(`${proxy.url}/chat`)))
  assert.equal(proxy.listener.openCalls(), 100)
  sockets.forEach((socket, index) => index % 2 === 0 && socket.terminate())
  await until(() => proxy.listener.openCalls() === 50 && upstream.openConnections() === 50, 'the clients’ half is gone')
  for (const socket of upstream.sockets) socket.terminate()
  await until(() => proxy.listener.openCalls() === 0 && upstream.openConnections() === 0, 'the upstream’s half is gone')
})

test('a client that reads nothing holds the upstream back', async (t) => {
  const { proxy, upstream } = await scene(t)
  const socket = await open(`${proxy.url}/chat`)
  socket.pause()
  const [far] = upstream.sockets
  assert.ok(far !== undefined)
  const chunk = Buffer.alloc(1024 * 1024)
  for (let sent = 0; sent < 64; sent += 1) far.send(chunk, { compress: false })
  let before = -1
  while (before !== far.bufferedAmount) {
    before = far.bufferedAmount
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(before > 32 * chunk.length, `${before} bytes still wait at the upstream`)
  socket.terminate()
})

test('an operation of a contract says nothing of what follows a switch: refused, and not asked upstream', async (t) => {
  const pets = {
    protocol: 'http',
    contract: { current: { file: petContract() } },
    otherwise: undefined,
    map: undefined,
  }
  const { proxy, upstream } = await scene(t, { ...pets, upgrade: 'judged' })
  const answer = await exchangeBytes(
    proxy.url,
    'GET /pets HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  assert.equal(statusOf(answer), 403)
  assert.match(answer, /"error":"UPGRADE_REFUSED"/)
  assert.match(answer, /Preflight-Action: STOP/)
  assert.equal(upstream.openConnections(), 0)
  assert.match(proxy.log.join(), /proxy.upgrade_refused/)
})

test('what no rule names is a read by its method only, and is refused as a switch', async (t) => {
  const { proxy } = await scene(t, { otherwise: undefined, upgrade: undefined })
  assert.equal(await refusedWith(`${proxy.url}/other`), 403)
  assert.equal(await echo(await open(`${proxy.url}/named`), 'by a rule'), 'by a rule')
})

test('a route that observes counts what it would have refused, and lets it on', async (t) => {
  const { proxy } = await scene(t, { mode: 'observe', upgrade: 'judged' })
  assert.equal(await echo(await open(`${proxy.url}/chat`), 'seen'), 'seen')
  assert.match(await proxy.metrics.text(), /preflight_observed_calls_total\{route="chat",would="stopped"\} 1/)
})

test('a blocked switch never reaches the upstream; a monitored one is measured to its end', async (t) => {
  const pets = {
    protocol: 'http',
    contract: { current: { file: petContract() } },
    otherwise: undefined,
    map: undefined,
  }
  const decide = { ALLOW: 'WARN', BLOCK: 'BLOCK' } as const
  for (const wanted of ['BLOCK', 'ALLOW'] as const) {
    const { proxy, upstream } = await scene(t, pets, { decide: () => decide[wanted] })
    if (wanted === 'BLOCK') {
      assert.equal(await refusedWith(`${proxy.url}/pets`), 403)
      assert.equal(upstream.requests.length, 0)
      continue
    }
    const socket = await open(`${proxy.url}/pets`)
    assert.equal(proxy.interceptions.at(-1)?.effect, 'forwarded')
    await echo(socket, 'x'.repeat(1000))
    assert.equal(
      proxy.events.some(({ type }) => type === 'preflight.execution.finished'),
      false,
    )
    socket.close()
    await until(() => proxy.events.some(({ type }) => type === 'preflight.execution.finished'), 'its outcome is told')
    const finished = proxy.events.find(({ type }) => type === 'preflight.execution.finished')
    assert.match(JSON.stringify(finished), /"outcome":"UNKNOWN"/)
    assert.match(JSON.stringify(finished), /"status":101/)
  }
})

test('an answer that is not a switch passes as it is', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic' })
    response.end('who are you?')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const { proxy } = await scene(t, { upstream: `http://127.0.0.1:${port}` })
  const answer = await exchangeBytes(
    proxy.url,
    'GET /pets HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  assert.match(answer, /^HTTP\/1\.1 401 .*who are you\?/s)
})

/** A server that switches to what it likes. */
async function switching(t: TestContext, answer: string, onSocket: (socket: Duplex) => void): Promise<string> {
  const server = createServer()
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(answer)
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

test('an upstream that switches to another protocol than requested is an error, and is disconnected', async (t) => {
  const cut = Promise.withResolvers<void>()
  const upstream = await switching(
    t,
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: smtp\r\n\r\n',
    (socket) => socket.on('end', () => cut.resolve()).resume(),
  )
  const { proxy } = await scene(t, { upstream })
  assert.equal(await refusedWith(`${proxy.url}/chat`), 502)
  await cut.promise
})

test('kubectl’s SPDY streams, asked for with POST, go through a cluster route that lets them pass', async (t) => {
  const upstream = await switching(
    t,
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\nready',
    (socket) => socket.pipe(socket),
  )
  const cluster = { name: 'cluster', match: { path: '/' }, upstream, protocol: 'kubernetes' }
  for (const streams of ['pass', 'deny']) {
    const proxy = await startProxy({ routes: [{ ...cluster, kubernetes: { streams } }] })
    t.after(() => proxy.close())
    const socket = openSocket(proxy.url)
    t.after(() => socket.destroy())
    socket.write(
      'POST /api/v1/namespaces/shop/pods/web-1/exec?command=sh&stdin=true HTTP/1.1\r\nHost: cluster\r\n' +
        'Content-Length: 0\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
    )
    const head = await readHead(socket)
    if (streams === 'deny') {
      assert.equal(statusOf(head), 403)
      continue
    }
    assert.match(
      head,
      /^HTTP\/1\.1 101 .*X-Stream-Protocol-Version: v4\.channel\.k8s\.io\r\n.*Upgrade: SPDY\/3\.1\r\n/s,
    )
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
    })
    socket.write('frames')
    await until(() => received === 'readyframes', 'what both sides said has come through')
  }
})

for (const [what, fields] of [
  ['HTTP/2 in the open', 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__'],
  ['one of several protocols', 'Upgrade: websocket, h2c'],
  ['TLS', 'Upgrade: TLS/1.3'],
] as const) {
  test(`a wish for ${what} is passed over: the request is answered in HTTP/1.1 and the wish is not sent on`, async (t) => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(...request.rawHeaders.map((text) => text.toLowerCase()))
      response.end('plain')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { proxy } = await scene(t, { upstream: `http://127.0.0.1:${port}` })
    const socket = openSocket(proxy.url)
    socket.write(`GET /a HTTP/1.1\r\nHost: a\r\n${fields}\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n`)
    assert.equal(statusOf(await readHead(socket)), 200)
    socket.destroy()
    assert.deepEqual(
      seen.filter((text) => text === 'upgrade' || text === 'http2-settings'),
      [],
    )
  })
}

test('through a proxy: by absolute form, and inside a CONNECT whose TLS is ended here', async (t) => {
  const trusted = await testAuthority()
  const upstream = await startSocketServer(await trusted.leaf('localhost'))
  const open_ = await startSocketServer()
  const egress = { allow: ['127.0.0.0/8', '::1'] }
  const route = { ...CHAT, match: { host: 'localhost', path: '/' }, tls: { upstream_ca: trusted.file } }
  const proxy = await startProxy({ routes: [route], config: { egress } })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
    await open_.close()
  })
  const { socket } = await openConnect(proxy.url, `localhost:${upstream.port}`)
  const secure = await startTls(socket, { servername: 'localhost', ca: await proxy.authorities.bundle() })
  const inside = await open(`wss://localhost:${upstream.port}/chat`, { createConnection: () => secure })
  assert.equal(await echo(inside, 'inside'), 'inside')
  inside.terminate()

  const plain = openSocket(proxy.url)
  const { host } = new URL(open_.origin)
  plain.write(
    `GET http://${host}/chat HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  assert.match(await readHead(plain), /^HTTP\/1\.1 101 .*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/s)
  plain.destroy()
  await until(() => proxy.listener.openCalls() === 0 && upstream.openConnections() === 0, 'nothing is left')
})

test('a gateway that stops does not wait for connections on which nothing moves', async (t) => {
  const upstream = await startSocketServer()
  const proxy = await startProxy({ routes: [{ ...CHAT, upstream: upstream.origin }] })
  t.after(() => upstream.close())
  const socket = await open(`${proxy.url}/chat`)
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await proxy.listener.close(60_000)
  await closed
  await proxy.close()
  await until(() => upstream.openConnections() === 0, 'the upstream’s side is closed')
})

test('a client that goes away before the upstream has switched takes its request with it', async (t) => {
  const asked = Promise.withResolvers<Duplex>()
  const server = createServer()
  server.on('upgrade', (_request, socket) => {
    socket
      .on('error', () => socket.destroy())
      .on('end', () => socket.end())
      .resume()
    asked.resolve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const { proxy } = await scene(t, { upstream: `http://127.0.0.1:${port}` })
  const socket = openSocket(proxy.url)
  socket.write('GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const far = await asked.promise
  socket.end()
  if (!far.destroyed) await once(far, 'close')
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
})
