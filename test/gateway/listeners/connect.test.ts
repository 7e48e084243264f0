/** CONNECT: hosts of routes are read and judged inside TLS of our own; others are tunnelled or denied; nothing passes under another name. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { fetch as fetchWith, ProxyAgent } from 'undici'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import {
  ask,
  openConnect,
  openTo,
  readHead,
  startHttps,
  startTls,
  type HttpsUpstream,
} from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

const LOOPBACK = ['127.0.0.0/8', '::1']

interface Scene {
  readonly upstream: HttpsUpstream
  readonly proxy: ProxyUnderTest
  readonly trusted: TestAuthority
  /** Authority of the gateway, PEM. */
  readonly ca: string
  readonly destination: string
}

async function scene(
  t: TestContext,
  options: Partial<ProxyOptions> & { readonly egress?: object } = {},
): Promise<Scene> {
  const trusted = await testAuthority()
  const upstream = await startHttps(trusted, 'localhost', (_request, response) => void response.end('good'))
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
  }
  const { egress = { allow: LOOPBACK }, config, ...rest } = options
  const proxy = await startProxy({ routes: [route], ...rest, config: { egress, ...config } })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy, trusted, ca: await proxy.authorities.bundle(), destination: `localhost:${upstream.port}` }
}

test('a host that a route names is intercepted: judged, receipted, and forwarded over verified TLS', async (t) => {
  const { proxy, upstream, ca, destination } = await scene(t)
  const { socket, head } = await openConnect(proxy.url, destination)
  assert.match(head, /^HTTP\/1\.1 200 /)
  const secure = await startTls(socket, { servername: 'localhost', ca, ALPNProtocols: ['http/1.1'] })
  assert.equal(secure.authorized, true)
  assert.match(secure.getPeerCertificate().subjectaltname ?? '', /DNS:localhost/)
  const answer = await ask(secure, `GET /v1/pets?q=%2F.. HTTP/1.1\nHost: ${destination}\nX-Forwarded-For: 10.0.0.9`)
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /Preflight-Action: CONTINUE/)
  const [seen] = upstream.requests
  assert.equal(seen?.url, '/v1/pets?q=%2F..')
  assert.equal(seen?.headers['host'], destination)
  assert.equal(seen?.headers['preflight-receipt'], 'header.dec_1.signature')
  assert.equal(seen?.headers['x-forwarded-for'], '10.0.0.9')
  assert.match(
    await proxy.metrics.text(),
    /preflight_connections_total\{traffic_path="connect",outcome="intercepted"\} 1/,
  )
})

test('many requests go over one intercepted connection, each judged', async (t) => {
  const { proxy, upstream, ca, destination } = await scene(t)
  const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca }, connections: 1 })
  t.after(() => agent.close())
  for (let count = 0; count < 5; count += 1) {
    const answer = await fetchWith(`https://${destination}/v1/pets`, { dispatcher: agent })
    assert.equal(await answer.text(), 'good')
  }
  assert.equal(upstream.requests.length, 5)
  assert.equal(proxy.interceptions.length, 5)
})

test('a call that is stopped inside TLS does not reach the host', async (t) => {
  const { proxy, upstream, ca, destination } = await scene(t, { decide: () => 'BLOCK' })
  const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca } })
  t.after(() => agent.close())
  const answer = await fetchWith(`https://${destination}/v1/pets`, { dispatcher: agent })
  assert.equal(answer.status, 403)
  assert.equal(upstream.requests.length, 0)
})

test('plain HTTP inside a CONNECT is read too', async (t) => {
  const plain = await startHttpUpstream((_request, response) => void response.end('plain'))
  t.after(() => plain.close())
  const { proxy } = await scene(t)
  const authority = `localhost:${new URL(plain.origin).port}`
  const { socket } = await openConnect(proxy.url, authority)
  const answer = await ask(socket, `GET /v1/pets HTTP/1.1\nHost: ${authority}`)
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /Preflight-Action: CONTINUE/)
  assert.equal(plain.requests[0]?.headers.host, authority)
})

test('an upstream whose certificate is not trusted is not talked to', async (t) => {
  const other = await testAuthority()
  const { proxy, upstream, ca, destination } = await scene(t, {
    routes: [
      {
        name: 'pets',
        match: { host: 'localhost' },
        protocol: 'http',
        contract: { current: { file: petContract() } },
        tls: { upstream_ca: other.file },
      },
    ],
  })
  const { socket } = await openConnect(proxy.url, destination)
  const secure = await startTls(socket, { servername: 'localhost', ca })
  assert.equal(statusOf(await ask(secure, `GET /v1/pets HTTP/1.1\nHost: ${destination}`)), 502)
  assert.equal(upstream.requests.length, 0)
})

test('a request for another host on an intercepted connection is 421', async (t) => {
  const { proxy, upstream, ca, destination } = await scene(t, { egress: { default: 'allow', allow: LOOPBACK } })
  for (const host of ['other.example', 'localhost:1', `127.0.0.1:${destination.split(':')[1]}`]) {
    const { socket } = await openConnect(proxy.url, destination)
    const secure = await startTls(socket, { servername: 'localhost', ca })
    const answer = await ask(secure, `GET /v1/pets HTTP/1.1\nHost: ${host}`)
    assert.equal(statusOf(answer), 421, host)
    assert.match(answer, /MISDIRECTED/)
  }
  assert.equal(upstream.requests.length, 0)
})

test('TLS that asks for another server than CONNECT did is not answered', async (t) => {
  const { proxy, ca, destination } = await scene(t)
  const { socket } = await openConnect(proxy.url, destination)
  await assert.rejects(startTls(socket, { servername: 'other.example', ca }))
  await until(
    async () => /preflight_tls_handshakes_total\{result="wrong_name"\} 1/.test(await proxy.metrics.text()),
    'the handshake is counted',
  )
})

test('an address is shown a certificate for the address', async (t) => {
  const { proxy, ca, upstream } = await scene(t, {
    routes: [
      { name: 'pets', match: { host: '127.0.0.1' }, protocol: 'http', contract: { current: { file: petContract() } } },
    ],
    egress: {},
  })
  const { socket, head } = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.match(head, / 200 /)
  const secure = await startTls(socket, { ca, host: '127.0.0.1' })
  assert.equal(secure.authorized, true)
  assert.match(secure.getPeerCertificate().subjectaltname ?? '', /IP Address:127\.0\.0\.1/)
  secure.destroy()
})

test('neither TLS nor HTTP on the host of a route is closed', async (t) => {
  const { proxy, destination } = await scene(t)
  const { socket } = await openConnect(proxy.url, destination)
  socket.write(Buffer.from([0, 1, 2, 3]))
  await until(() => socket.destroyed || socket.readableEnded, 'the connection is closed')
})

test('a host that no route names is tunnelled unread, and recorded', async (t) => {
  const { proxy, upstream, trusted } = await scene(t, { egress: { allow: LOOPBACK }, routes: [] })
  const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca: trusted.certificate, servername: 'localhost' } })
  const refusing = await openConnect(proxy.url, `localhost:${upstream.port}`)
  assert.match(refusing.head, / 403 /, 'the name is not allowed')
  await agent.close()
  const { socket, head } = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.match(head, / 200 /)
  const secure = await startTls(socket, {
    ca: trusted.certificate,
    host: '127.0.0.1',
    checkServerIdentity: () => undefined,
  })
  assert.equal(statusOf(await ask(secure, 'GET /any HTTP/1.1\nHost: localhost')), 200)
  assert.equal(upstream.requests[0]?.url, '/any')
  const [denied, opened] = proxy.interceptions
  assert.equal(denied?.executionAction, 'STOP')
  assert.deepEqual([opened?.action, opened?.executionAction], [`CONNECT 127.0.0.1:${upstream.port}`, 'CONTINUE'])
  await until(
    async () => /preflight_tunnel_bytes_total\{direction="sent"\} [1-9]/.test(await proxy.metrics.text()),
    'bytes are counted',
  )
})

test('egress.tunnel keeps a host of a route unread', async (t) => {
  const { proxy, upstream, trusted } = await scene(t, {
    egress: { allow: ['localhost', ...LOOPBACK], tunnel: ['localhost'] },
  })
  const { socket } = await openConnect(proxy.url, `localhost:${upstream.port}`)
  const secure = await startTls(socket, { servername: 'localhost', ca: trusted.certificate })
  assert.equal(secure.authorized, true, 'it is the certificate of the server itself')
  secure.destroy()
})

test('a tunnel on which TLS asks for another server is closed before a byte of it goes out', async (t) => {
  const { proxy, upstream, trusted } = await scene(t, { routes: [], egress: { allow: ['localhost', ...LOOPBACK] } })
  const { socket } = await openConnect(proxy.url, `localhost:${upstream.port}`)
  await assert.rejects(startTls(socket, { servername: 'fronted.example', ca: trusted.certificate }))
  await until(() => upstream.openSockets() === 0, 'the far side is closed')
  assert.match(proxy.log.join(''), /its TLS asks for another server/)
})

for (const [what, request, status] of [
  ['a host that nothing names', 'CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443', 403],
  ['metadata', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80', 403],
  ['no port', 'CONNECT localhost HTTP/1.1\r\nHost: localhost', 400],
  ['another Host', 'CONNECT localhost:443 HTTP/1.1\r\nHost: other.example:443', 400],
  ['an odd spelling of an address', 'CONNECT 127.1:443 HTTP/1.1\r\nHost: 127.1:443', 400],
  ['a body', 'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nContent-Length: 5', 400],
  ['two Hosts', 'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nHost: localhost:443', 400],
] as const) {
  test(`CONNECT with ${what} is answered ${status}`, async (t) => {
    const { proxy } = await scene(t)
    const socket = openTo(proxy.url)
    socket.write(`${request}\r\n\r\n`)
    const head = await readHead(socket)
    assert.equal(statusOf(head), status)
    assert.match(head, /Connection: close/i)
    socket.destroy()
  })
}

test('CONNECT of HTTP/1.0 needs no Host field', async (t) => {
  const { proxy, destination } = await scene(t)
  const socket = openTo(proxy.url)
  socket.write(`CONNECT ${destination} HTTP/1.0\r\n\r\n`)
  assert.equal(statusOf(await readHead(socket)), 200)
  socket.destroy()
})

test('CONNECT inside an intercepted connection is refused', async (t) => {
  const { proxy, ca, destination } = await scene(t)
  const { socket } = await openConnect(proxy.url, destination)
  const secure = await startTls(socket, { servername: 'localhost', ca })
  secure.write(`CONNECT ${destination} HTTP/1.1\r\nHost: ${destination}\r\n\r\n`)
  assert.equal(statusOf(await readHead(secure)), 400)
  secure.destroy()
})

test('a destination that does not answer is 502', async (t) => {
  const { proxy } = await scene(t, { routes: [] })
  const { head } = await openConnect(proxy.url, '127.0.0.1:1')
  assert.equal(statusOf(head), 502)
})

test('a name at an address inside is denied when it is connected to', async (t) => {
  const { proxy, upstream } = await scene(t, { routes: [], egress: { allow: ['localhost'] } })
  const { head } = await openConnect(proxy.url, `localhost:${upstream.port}`)
  assert.equal(statusOf(head), 403)
  assert.equal(upstream.openSockets(), 0)
})

test('the store that cannot write lets no tunnel through', async (t) => {
  const { proxy, upstream } = await scene(t, {
    routes: [],
    storeFaults: { calls: { record: () => Promise.reject(new Error('full disk')) } },
  })
  const { head } = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.ok(statusOf(head) >= 500)
  assert.equal(upstream.openSockets(), 0)
})

test('past limits.connections a further one is turned away', async (t) => {
  const { proxy, upstream } = await scene(t, { routes: [], config: { limits: { connections: 1 } } })
  const first = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.equal(statusOf(first.head), 200)
  const second = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.equal(statusOf(second.head), 503)
  first.socket.destroy()
  await until(() => upstream.openSockets() === 0, 'the first is gone')
  const third = await openConnect(proxy.url, `127.0.0.1:${upstream.port}`)
  assert.equal(statusOf(third.head), 200)
  third.socket.destroy()
})
