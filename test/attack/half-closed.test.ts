/**
 * Clients that end their side of the connection behind their request, such as `nc -N` and some old ones. They get the answer, or
 * nothing is executed for them; on every listener, with and without TLS.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { testAuthority } from '../fakes/certificates.ts'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { openSocket, statusOf } from '../fakes/raw-http.ts'
import { until } from '../fakes/until.ts'

/** All that comes back, and whether the connection was closed in time. */
async function received(socket: Socket): Promise<{ readonly text: string; readonly isClosed: boolean }> {
  let text = ''
  let isClosed = false
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => (isClosed = true))
  await until(() => isClosed, 'the connection ends', 5000).catch(() => {})
  socket.destroy()
  return { text, isClosed }
}

interface Upstream {
  readonly origin: string
  readonly seen: string[]
  readonly slow: ServerResponse[]
  readonly aborted: string[]
}

async function startUpstream(t: TestContext): Promise<Upstream> {
  const seen: string[] = []
  const slow: ServerResponse[] = []
  const aborted: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    request.on('error', () => {})
    response.on('close', () => {
      if (!response.writableFinished) aborted.push(request.url ?? '')
    })
    if (request.url?.startsWith('/slow') === true) slow.push(response)
    else request.resume().on('end', () => setTimeout(() => response.end('done'), 100))
  })
  return { origin: await listening(t, server), seen, slow, aborted }
}

const FORMS: Readonly<Record<string, (path: string) => string>> = {
  'a request': (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'a request of HTTP/1.0': (path) => `GET ${path} HTTP/1.0\r\n\r\n`,
  'a request with a body': (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
  'a request in chunks': (path) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
}

const ROUTES = [
  { name: 'pass', match: { path: '/' }, protocol: 'mapped', map: [{ action: 'pass' }] },
  { name: 'deny', match: { path: '/deny' }, protocol: 'mapped', map: [{ action: 'deny' }] },
  {
    name: 'read',
    match: { path: '/read' },
    protocol: 'mapped',
    map: [{ when: "request.body.x == 'y'", action: 'deny' }, { action: 'pass' }],
  },
  { name: 'judged', match: { path: '/pets' }, protocol: 'http', contract: { current: { file: petContract() } } },
] as const

const PATHS = ['/pass', '/deny', '/read', '/pets']
/** When the client ends its side, in milliseconds after its request; null: with it. */
const DELAYS = [null, 0, 30]

/** An upstream, and the proxy before it. */
async function startBetween(t: TestContext) {
  const upstream = await startUpstream(t)
  const proxy = await startProxy({ routes: ROUTES.map((route) => ({ ...route, upstream: upstream.origin })) })
  t.after(() => proxy.close())
  return { upstream, proxy }
}

for (const [what, form] of Object.entries(FORMS))
  test(`${what} and the end of its client: answered or not executed`, async (t) => {
    const { upstream, proxy } = await startBetween(t)
    await Promise.all(
      PATHS.flatMap((path) =>
        DELAYS.map(async (delay) => {
          const target = `${path}?after=${delay}`
          const socket = openSocket(proxy.url)
          if (delay === null) socket.end(form(target))
          else {
            socket.write(form(target))
            setTimeout(() => socket.end(), delay)
          }
          const { text, isClosed } = await received(socket)
          assert.ok(isClosed, `${target}: the connection ends`)
          if (upstream.seen.includes(target)) assert.equal(statusOf(text), 200, `${target}: ${text}`)
          assert.ok(!upstream.aborted.includes(target), target)
        }),
      ),
    )
  })

test('a call that is sent ends soon after its client has ended its side', async (t) => {
  const { upstream, proxy } = await startBetween(t)
  const socket = openSocket(proxy.url)
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => upstream.slow.length === 1, 'the call is sent')
  socket.end()
  await until(() => upstream.aborted.length === 1, 'the call is aborted')
  await until(() => proxy.listener.openCalls() === 0, 'nothing is left')
})

test('of calls whose client has ended its side, those that wait are not sent', async (t) => {
  const { upstream, proxy } = await startBetween(t)
  const socket = openSocket(proxy.url)
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => upstream.slow.length === 1, 'the first call is sent')
  socket.end()
  await sleep(100)
  upstream.slow[0]?.end('slow')
  const { text, isClosed } = await received(socket)
  assert.ok(isClosed)
  assert.equal(text.split('HTTP/1.1 200').length, 2, text)
  assert.deepEqual(upstream.seen, ['/slow'])
})

test('a call that is judged while its client ends its side is not sent', async (t) => {
  const upstream = await startUpstream(t)
  const { promise: wait, resolve: release } = Promise.withResolvers<void>()
  let isAsked = false
  const proxy = await startProxy({
    routes: ROUTES.map((route) => ({ ...route, upstream: upstream.origin })),
    storeFaults: {
      decisions: {
        record: async () => {
          isAsked = true
          await wait
        },
      },
    },
  })
  t.after(() => proxy.close())
  const socket = openSocket(proxy.url)
  socket.write('GET /pets HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => isAsked, 'the decision is being recorded')
  socket.end()
  await sleep(100)
  release()
  const { isClosed } = await received(socket)
  assert.ok(isClosed)
  assert.deepEqual(upstream.seen, [])
})

const DIFF = JSON.stringify({ base: '{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{}}' })
const API_REQUEST =
  `POST /api/diff HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TEST_KEY}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${DIFF.length}\r\n\r\n${DIFF}`

const LISTENERS = [
  ['api', API_REQUEST, 400],
  ['admin', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 200],
  ['proxy', 'GET /unknown HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 404],
] as const

for (const isSecure of [false, true])
  test(`every listener answers a client that ends its side${isSecure ? ', with TLS' : ''}`, async (t) => {
    const authority = await testAuthority()
    const directory = mkdtempSync(join(tmpdir(), 'preflight-half-closed-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const { cert, key } = await authority.leaf('127.0.0.1')
    const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
    writeFileSync(files.certificate, cert)
    writeFileSync(files.key, key)
    const gateway = await startTestGateway(
      t,
      isSecure ? { tls: { listeners: { proxy: files, api: files, admin: files } } } : {},
    )
    for (const [name, bytes, status] of LISTENERS) {
      const { port } = new URL(gateway.addresses[name])
      const to = { host: '127.0.0.1', port: Number(port), allowHalfOpen: true }
      const socket = isSecure ? connectTls({ ...to, rejectUnauthorized: false }) : connectTcp(to)
      socket.end(bytes)
      const { text, isClosed } = await received(socket)
      assert.equal(statusOf(text), status, `${name}: ${text}`)
      assert.ok(isClosed, name)
    }
  })
