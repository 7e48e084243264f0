/** Connections that the network redirected: TLS or Host names the destination, and both must agree. */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { ask, openTo, startHttps, startTls, type HttpsUpstream } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpsUpstream
  readonly trusted: TestAuthority
  readonly ca: string
  /** Of the transparent listener. */
  readonly at: string
}

async function scene(t: TestContext, egress: object, options: Partial<ProxyOptions> = {}): Promise<Scene> {
  const trusted = await testAuthority()
  const upstream = await startHttps(trusted, 'localhost', (_request, response) => void response.end('good'))
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
  }
  const config = { egress, transparent: { https_port: upstream.port, http_port: 1 }, tls: { handshake: 2 } }
  const proxy = await startProxy({ routes: [route], ...options, config })
  const { port } = await proxy.listener.transparent.listen('127.0.0.1', 0)
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream, trusted, ca: await proxy.authorities.bundle(), at: `http://127.0.0.1:${port}` }
}

const LOOPBACK = ['127.0.0.0/8', '::1']

test('TLS to a host that a route names is intercepted, judged and forwarded to it', async (t) => {
  const { at, ca, proxy, upstream } = await scene(t, { allow: LOOPBACK })
  const secure = await startTls(openTo(at), { servername: 'localhost', ca })
  const answer = await ask(secure, 'GET /v1/pets HTTP/1.1\nHost: localhost')
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /Preflight-Action: CONTINUE/)
  assert.equal(upstream.requests[0]?.headers['host'], `localhost:${upstream.port}`)
  assert.match(
    await proxy.metrics.text(),
    /preflight_connections_total\{traffic_path="redirect",outcome="intercepted"\} 1/,
  )
})

test('TLS to another host passes unread when egress allows it, whole', async (t) => {
  const { at, trusted, upstream } = await scene(t, { allow: ['localhost', ...LOOPBACK] }, { routes: [] })
  const secure = await startTls(openTo(at), { servername: 'localhost', ca: trusted.certificate })
  assert.equal(secure.authorized, true, 'it is the certificate of the server itself')
  assert.equal(statusOf(await ask(secure, 'GET /any HTTP/1.1\nHost: localhost')), 200)
  assert.equal(upstream.requests.length, 1)
})

test('a beginning of TLS that comes in pieces is read all the same', async (t) => {
  const { at, trusted } = await scene(t, { allow: ['localhost', ...LOOPBACK] }, { routes: [] })
  const socket = openTo(at)
  const cut = new Duplex({
    read: () => {},
    write(bytes: Buffer, _encoding, done) {
      socket.write(bytes.subarray(0, 3))
      setTimeout(() => socket.write(bytes.subarray(3), () => done()), 20)
    },
  })
  socket.on('data', (bytes) => void cut.push(bytes)).on('close', () => cut.destroy())
  const secure = await startTls(cut, { servername: 'localhost', ca: trusted.certificate })
  assert.equal(secure.authorized, true)
  secure.destroy()
})

test('a host that nothing names is closed without an answer, and recorded', async (t) => {
  const { at, proxy, trusted } = await scene(t, {}, { routes: [] })
  await assert.rejects(startTls(openTo(at), { servername: 'other.example', ca: trusted.certificate }))
  await until(() => proxy.interceptions.length > 0, 'the denial is recorded')
  assert.equal(proxy.interceptions[0]?.executionAction, 'STOP')
  assert.match(proxy.interceptions[0]?.action ?? '', /^TLS other\.example:/)
})

test('TLS without a server name is closed: nobody can tell where it was going', async (t) => {
  const { at, ca } = await scene(t, { default: 'allow', allow: LOOPBACK })
  await assert.rejects(startTls(openTo(at), { ca, servername: '' }))
})

test('inside TLS another Host is 421', async (t) => {
  const { at, ca, upstream } = await scene(t, { default: 'allow', allow: LOOPBACK })
  const secure = await startTls(openTo(at), { servername: 'localhost', ca })
  assert.equal(statusOf(await ask(secure, 'GET /v1/pets HTTP/1.1\nHost: other.example')), 421)
  assert.equal(upstream.requests.length, 0)
})

test('plain HTTP goes where its Host says, judged or denied', async (t) => {
  const plain = await startHttpUpstream((_request, response) => void response.end('plain'))
  t.after(() => plain.close())
  const { at } = await scene(t, { allow: LOOPBACK })
  const { port } = new URL(plain.origin)
  const answer = await ask(openTo(at), `GET /v1/pets HTTP/1.1\nHost: localhost:${port}`)
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /Preflight-Action: CONTINUE/)
  assert.equal(statusOf(await ask(openTo(at), 'GET / HTTP/1.1\nHost: other.example')), 403)
  assert.equal(statusOf(await ask(openTo(at), `GET http://localhost:${port}/v1/pets HTTP/1.1\nHost: localhost`)), 400)
})

test('what is neither TLS nor HTTP is closed', async (t) => {
  const { at } = await scene(t, { default: 'allow' })
  const socket = openTo(at)
  socket.write(Buffer.from([0x05, 0x01, 0x00]))
  socket.resume()
  await until(() => socket.destroyed || socket.readableEnded, 'it is closed')
})
