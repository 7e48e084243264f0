/** Uploads that are answered before they are whole, waited for, or left: the answer arrives, and nobody waits for bytes that nobody wants. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:http2'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { listening, answeringBytes } from '../../fakes/listening.ts'
import { openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

const DENIED = { when: 'request.path == "/denied"', action: 'deny' }

async function proxyTo(t: TestContext, upstream: string): Promise<ProxyUnderTest> {
  const map = [DENIED, { action: 'pass' }]
  const proxy = await startProxy({
    routes: [{ name: 'plain', match: { path: '/' }, protocol: 'mapped', map, upstream }],
  })
  t.after(() => proxy.close())
  return proxy
}

/** Nothing listens there. */
const AWAY = 'http://127.0.0.1:1'
const MEGABYTES = 32
const CHUNK = Buffer.alloc(1024 * 1024, 'x')

function openUpload(t: TestContext, url: string, path: string, ...fields: readonly string[]): Socket {
  const socket = openSocket(url)
  socket.on('error', () => socket.destroy())
  t.after(() => socket.destroy())
  const length = `Content-Length: ${MEGABYTES * CHUNK.length}`
  socket.write([`PUT ${path} HTTP/1.1`, 'Host: a', length, ...fields, '', ''].join('\r\n'))
  return socket
}

/** Sends all of the body whatever is answered, and reads only then. */
async function sendAll(socket: Socket): Promise<void> {
  const gone = once(socket, 'close')
  for (let sent = 0; sent < MEGABYTES; sent += 1) {
    assert.equal(socket.destroyed, false, `cut off after ${sent} MiB`)
    if (!socket.write(CHUNK)) await Promise.race([once(socket, 'drain'), gone])
  }
}

const early = (): Server =>
  createServer((_request, response) => {
    response.writeHead(413, { 'content-length': 4 })
    response.end('much')
  })

for (const [what, path, upstream, status] of [
  ['by the upstream', '/', early, 413],
  ['by a rule', '/denied', early, 403],
  ['because the upstream is away', '/', () => null, 502],
] as const) {
  test(`an upload that is answered early ${what}: a client that sends all of it before it reads gets the answer, and goes on`, async (t) => {
    const server = upstream()
    const proxy = await proxyTo(t, server === null ? AWAY : await listening(t, server))
    const socket = openUpload(t, proxy.url, path)
    await sendAll(socket)
    assert.equal(statusOf(await readHead(socket)), status)
    socket.resume()
    await until(() => proxy.listener.openCalls() === 0, 'the call is over')
    assert.equal(socket.destroyed, false)
    const again = openSocket(proxy.url)
    t.after(() => again.destroy())
    again.write('GET /denied HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.equal(statusOf(await readHead(again)), 403)
  })
}

test('over HTTP/2 an upload that is answered early gets its answer whole, and is taken to its end', async (t) => {
  const proxy = await proxyTo(t, await listening(t, early()))
  const session = connect(proxy.url)
  t.after(() => session.destroy())
  for (const [path, status] of [
    ['/', 413],
    ['/denied', 403],
  ] as const) {
    const stream = session.request({ ':method': 'PUT', ':path': path })
    stream.write(Buffer.alloc(4 * 1024 * 1024))
    const [head]: unknown[] = await once(stream, 'response')
    assert.equal(Reflect.get(Object(head), ':status'), status)
    stream.end(Buffer.alloc(4 * 1024 * 1024))
    await text(stream)
    await until(() => stream.closed, 'the stream is over')
    assert.equal(stream.rstCode, 0)
  }
  await until(() => proxy.listener.openCalls() === 0, 'the calls are over')
})

test('a client that asks first is asked for its body once there is somebody to take it', async (t) => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    assert.equal(request.headers.expect, undefined)
    void text(request)
      .then(
        (body) => bodies.push(body.slice(0, 4)),
        () => {},
      )
      .finally(() => response.end('good'))
  })
  const proxy = await proxyTo(t, await listening(t, server))
  for (const size of [4, 200_000]) {
    const socket = openSocket(proxy.url)
    t.after(() => socket.destroy())
    socket.write(`PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`)
    assert.equal(statusOf(await readHead(socket)), 100)
    socket.write('x'.repeat(size))
    assert.equal(statusOf(await readHead(socket)), 200)
  }
  assert.deepEqual(bodies, ['xxxx', 'xxxx'])
})

for (const [what, path, status] of [
  ['nobody is there to take it', '/', 502],
  ['it may not go on', '/denied', 403],
] as const) {
  test(`a client that asks first is answered without its body when ${what}, and its connection ends`, async (t) => {
    const proxy = await proxyTo(t, AWAY)
    const socket = openUpload(t, proxy.url, path, 'Expect: 100-continue')
    const head = await readHead(socket)
    assert.equal(statusOf(head), status)
    assert.match(head, /\r\nConnection: close\r\n/i)
    socket.resume()
    await once(socket, 'close')
  })
}

test('an upstream that answers finally at the beginning of the body that was asked for', async (t) => {
  const proxy = await proxyTo(t, await listening(t, early()))
  const socket = openUpload(t, proxy.url, '/', 'Expect: 100-continue')
  assert.equal(statusOf(await readHead(socket)), 100)
  await sendAll(socket)
  assert.equal(statusOf(await readHead(socket)), 413)
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
})

test('a client that leaves in the middle of its upload: the upstream does not take it for whole', async (t) => {
  const ends: string[] = []
  let received = 0
  const server = createServer((request: IncomingMessage) => {
    request.on('error', () => {}).on('data', (bytes: Buffer) => (received += bytes.length))
    request.on('end', () => ends.push('whole')).on('aborted', () => ends.push('broken'))
  })
  const proxy = await proxyTo(t, await listening(t, server))
  for (const leave of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.end()]) {
    received = 0
    const socket = openUpload(t, proxy.url, '/')
    socket.write(CHUNK)
    await until(() => received > 0, 'it has begun')
    leave(socket)
    await until(() => proxy.listener.openCalls() === 0, 'the call is over')
  }
  await until(() => ends.length === 2, 'the upstream knows')
  assert.deepEqual(ends, ['broken', 'broken'])
})

test('a client that ends its side while it waits for the answer has disconnected, and the upstream request is aborted', async (t) => {
  let open = 0
  const server = createServer((_request, response) => {
    open += 1
    response.on('close', () => (open -= 1))
  })
  const proxy = await proxyTo(t, await listening(t, server))
  const socket = openSocket(proxy.url)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => open === 1, 'it has arrived')
  socket.end()
  await until(() => open === 0 && proxy.listener.openCalls() === 0, 'nobody works for it any more')
})

for (const [what, bytes, body] of [
  ['with a length, cut short', 'HTTP/1.1 200 OK\nContent-Length: 10\n\ngood', null],
  ['in chunks, cut short', 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\ngood\n', null],
  ['that ends with its connection', 'HTTP/1.1 200 OK\nConnection: close\n\ngood', 'good'],
] as const) {
  test(`an answer ${what}, of an upstream that ends its side: ${body ?? 'broken off'}`, async (t) => {
    const proxy = await proxyTo(t, await listening(t, createTcpServer(answeringBytes(bytes))))
    const answer = await fetch(proxy.url)
    if (body === null) await assert.rejects(answer.text())
    else assert.equal(await answer.text(), body)
  })
}
