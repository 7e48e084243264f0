/** Clients of CONNECT that go away at every stage, say nothing, or read nothing: nothing of their connections stays open anywhere. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { testAuthority } from '../fakes/certificates.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../fakes/proxy-under-test.ts'
import { openConnect, openTo, startHttps, startTls, type HttpsUpstream } from '../fakes/through-proxy.ts'
import { until } from '../fakes/until.ts'

const CLIENTS = 30

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpsUpstream
  readonly ca: string
  /** On a host of a route, and on one that is tunnelled to. */
  readonly routed: string
  readonly tunnelled: string
}

async function scene(t: TestContext, options: Partial<ProxyOptions> = {}): Promise<Scene> {
  const trusted = await testAuthority()
  // Never answers: whoever asks is under way until it goes.
  const upstream = await startHttps(trusted, 'localhost', () => {})
  const route = {
    name: 'pets',
    match: { host: 'localhost' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
  }
  const { config, ...rest } = options
  const proxy = await startProxy({
    routes: [route],
    ...rest,
    config: { egress: { allow: ['127.0.0.1', '::1'] }, ...config },
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return {
    proxy,
    upstream,
    ca: await proxy.authorities.bundle(),
    routed: `localhost:${upstream.port}`,
    tunnelled: `127.0.0.1:${upstream.port}`,
  }
}

type Stage = (scene: Scene) => Promise<Socket>

const insideTls = async ({ proxy, routed, ca }: Scene): Promise<Socket> =>
  startTls((await openConnect(proxy.url, routed)).socket, { servername: 'localhost', ca })

const STAGES: Readonly<Record<string, Stage>> = {
  'before a word': async ({ proxy }) => {
    const socket = openTo(proxy.url)
    await once(socket, 'connect')
    return socket
  },
  'in the middle of CONNECT': async ({ proxy }) => {
    const socket = openTo(proxy.url)
    socket.write('CONNECT localhost:4')
    await once(socket, 'connect')
    return socket
  },
  'before the answer to CONNECT': async ({ proxy, tunnelled }) => {
    const socket = openTo(proxy.url)
    socket.write(`CONNECT ${tunnelled} HTTP/1.1\r\nHost: ${tunnelled}\r\n\r\n`)
    await once(socket, 'connect')
    return socket
  },
  'after the answer, before TLS': async ({ proxy, routed }) => (await openConnect(proxy.url, routed)).socket,
  'in the middle of the ClientHello': async ({ proxy, routed }) => {
    const { socket } = await openConnect(proxy.url, routed)
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
    return socket
  },
  'after TLS': insideTls,
  'in the middle of a request': async (place) => {
    const secure = await insideTls(place)
    secure.write(`GET /pets HTTP/1.1\r\nHost: ${place.routed}\r\n`)
    return secure
  },
  'before the answer to a request': async (place) => {
    const secure = await insideTls(place)
    secure.write(`GET /pets HTTP/1.1\r\nHost: ${place.routed}\r\n\r\n`)
    return secure
  },
  'in a silent tunnel': async ({ proxy, tunnelled }) => (await openConnect(proxy.url, tunnelled)).socket,
  'in the middle of a ClientHello in a tunnel': async ({ proxy, tunnelled }) => {
    const { socket } = await openConnect(proxy.url, tunnelled)
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
    return socket
  },
}

for (const [moment, reach] of Object.entries(STAGES)) {
  test(`${CLIENTS} clients go away ${moment}`, async (t) => {
    const place = await scene(t)
    const before = openSockets()
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => reach(place)))
    for (const [index, client] of clients.entries()) {
      // Half of them break off, half end as they should.
      if (index % 2 === 0) client.destroy()
      else client.end()
    }
    for (const client of clients) client.resume()
    await until(() => place.proxy.listener.openCalls() === 0, 'no call is under way')
    for (const client of clients) client.destroy()
    await until(async () => /preflight_tunnels_open 0/.test(await place.proxy.metrics.text()), 'no tunnel is open')
    await until(() => openSockets() <= before, 'every socket is closed')
    assert.equal(place.upstream.openSockets(), 0)
  })
}

/** Sockets of this process, both ends: clients, proxy and upstream run in it. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
}

test('a client that says nothing after CONNECT is let go', async (t) => {
  const { proxy, routed } = await scene(t, {
    config: { egress: { allow: ['127.0.0.1'] }, tls: { handshake: 1 } },
  })
  const { socket } = await openConnect(proxy.url, routed)
  socket.resume()
  await until(() => socket.destroyed, 'it is closed')
  await until(async () => /outcome="abandoned"\} 1/.test(await proxy.metrics.text()), 'it is counted')
})

test('a handshake that does not come to its end is let go', async (t) => {
  const { proxy, routed } = await scene(t, {
    config: { egress: { allow: ['127.0.0.1'] }, tls: { handshake: 1 } },
  })
  const { socket } = await openConnect(proxy.url, routed)
  socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
  socket.resume()
  await until(() => socket.destroyed, 'it is closed')
  await until(async () => /handshakes_total\{result="timed_out"\} 1/.test(await proxy.metrics.text()), 'it is counted')
})

test('a tunnel on which nothing moves is closed', async (t) => {
  const { proxy, tunnelled, upstream } = await scene(t, { config: { egress: { allow: ['127.0.0.1'], idle: 1 } } })
  const { socket } = await openConnect(proxy.url, tunnelled)
  socket.resume()
  await until(() => socket.destroyed, 'it is closed')
  await until(() => upstream.openSockets() === 0, 'so is the far side')
})

test('a gateway that stops does not wait for tunnels on which nothing moves, nor for half-open connections', async (t) => {
  const { proxy, tunnelled, routed } = await scene(t)
  await openConnect(proxy.url, tunnelled)
  await openConnect(proxy.url, routed)
  const closed = proxy.listener.close(60_000).then(() => 'closed')
  // The whole budget would run into the deadline of the test.
  assert.equal(await closed, 'closed')
})

test('a gateway that stops does not wait for connections inside TLS on which no call is under way', async (t) => {
  const place = await scene(t, { decide: () => 'BLOCK' })
  const secure = await insideTls(place)
  secure.write(`GET /pets HTTP/1.1\r\nHost: ${place.routed}\r\n\r\n`)
  const [answer] = await once(secure, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 403 /)
  await insideTls(place)
  // The whole budget would run into the deadline of the test.
  await place.proxy.listener.close(60_000)
})

async function startPlain(t: TestContext, talk: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer({ allowHalfOpen: true }, talk)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

test('a tunnel passes bytes both ways, lets a server speak first, and one side end before the other', async (t) => {
  const { proxy } = await scene(t)
  const destination = await startPlain(t, (socket) => {
    socket.write('220 ready\r\n')
    let heard = ''
    socket.on('data', (bytes) => {
      heard += bytes.toString()
    })
    socket.on('end', () => socket.end(`heard ${heard.length}`))
  })
  const { socket } = await openConnect(proxy.url, destination)
  const [greeting] = await once(socket, 'data')
  assert.equal(String(greeting), '220 ready\r\n')
  socket.end('x'.repeat(200_000))
  let answer = ''
  for await (const bytes of socket) answer += String(bytes)
  assert.equal(answer, 'heard 200000')
})

test('a slow reader holds the other side of a tunnel back instead of filling memory', async (t) => {
  const { proxy } = await scene(t)
  const chunk = Buffer.alloc(64 * 1024)
  const total = 64 * 1024 * 1024
  let written = 0
  const destination = await startPlain(t, (socket) => {
    socket.on('error', () => socket.destroy())
    const pump = (): void => {
      while (written < total && !socket.destroyed) {
        written += chunk.length
        if (!socket.write(chunk)) return void socket.once('drain', pump)
      }
    }
    pump()
  })
  const { socket } = await openConnect(proxy.url, destination)
  socket.pause()
  let before = -1
  while (before !== written) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(written < total / 2, `${written} bytes were taken for a client that reads none`)
  socket.destroy()
})
