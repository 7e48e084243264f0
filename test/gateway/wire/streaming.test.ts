/** Answers and uploads as they pass: tried again only where nothing can have happened, silent only as long as the route says, whole in constant memory. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { listening, answeringBytes } from '../../fakes/listening.ts'
import { exchangeBytes, statusOf } from '../../fakes/raw-http.ts'
import { passingProxy } from '../../fakes/proxy-under-test.ts'

/** Answers the first request on each connection, and closes it in the face of the second. */
async function tiredServer(t: TestContext): Promise<{ readonly origin: string; readonly heads: string[] }> {
  const heads: string[] = []
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    let count = 0
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes: Buffer) => {
      heads.push(bytes.toString('latin1').split(' ', 2).join(' '))
      count += 1
      if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')
      else socket.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { origin: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`, heads }
}

test('a read on a connection that the upstream has just given up is sent again, once', async (t) => {
  const { origin, heads } = await tiredServer(t)
  const proxy = await passingProxy(t, origin)
  assert.equal(await (await fetch(`${proxy.url}/one`)).text(), 'good')
  assert.equal(await (await fetch(`${proxy.url}/two`)).text(), 'good')
  assert.deepEqual(heads, ['GET /one', 'GET /two', 'GET /two'])
})

test('a request that may have been executed is not retried: the caller gets an upstream error', async (t) => {
  const { origin, heads } = await tiredServer(t)
  const proxy = await passingProxy(t, origin)
  await (await fetch(`${proxy.url}/one`)).text()
  assert.equal((await fetch(`${proxy.url}/two`, { method: 'POST', body: 'x' })).status, 502)
  assert.equal(heads.filter((head) => head.startsWith('POST')).length, 1)
})

/** What a server sends of its answer before it closes the connection: only a read without a byte of an answer is sent again. */
const BROKEN: Readonly<Record<string, string>> = {
  nothing: '',
  'one byte': 'H',
  'a part of the status line': 'HTTP/1.1 20',
  'a status line': 'HTTP/1.1 200 OK\r\n',
  'a part of a head': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: b',
  'an informational answer': 'HTTP/1.1 102 Processing\r\n\r\n',
  'a part of an informational answer': 'HTTP/1.1 103 Early Hints\r\nLink: </a>',
}

for (const [sends, answer] of Object.entries(BROKEN))
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'])
    for (const connection of ['new', 'kept'] as const) {
      const isRepeated = answer === '' && connection === 'kept' && !['POST', 'DELETE'].includes(method)
      test(`${method} on a ${connection} connection that closes after ${sends}: sent ${isRepeated ? 'twice' : 'once'}`, async (t) => {
        const heads: string[] = []
        const server = createTcpServer((socket) => {
          socket.on('error', () => socket.destroy())
          socket.on('data', (bytes: Buffer) => {
            const head = bytes.toString('latin1').split(' ', 2).join(' ')
            heads.push(head)
            if (head.endsWith('/first')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')
            else socket.end(answer)
          })
        })
        const proxy = await passingProxy(t, await listening(t, server))
        if (connection === 'kept') assert.equal(await (await fetch(`${proxy.url}/first`)).text(), 'good')
        const { status } = await fetch(`${proxy.url}/then`, { method })
        assert.equal(status, 502)
        const sent = heads.filter((head) => head === `${method} /then`)
        assert.equal(sent.length, isRepeated ? 2 : 1)
      })
    }

test('an upload of a gigabyte passes in memory that does not grow with it, with its length', async (t) => {
  const size = 1024 * 1024 * 1024
  const server = createServer((request, response) => {
    let received = 0
    request.on('data', (bytes: Buffer) => (received += bytes.length))
    request.on('end', () => response.end(`${request.headers['content-length']} ${received}`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const proxy = await passingProxy(t, `http://127.0.0.1:${port}`)
  const chunk = Buffer.alloc(1024 * 1024)
  const before = process.memoryUsage().rss
  let peak = before
  const upload = httpRequest(proxy.url, { method: 'PUT', headers: { 'content-length': size } })
  const answered = once(upload, 'response')
  for (let sent = 0; sent < size; sent += chunk.length) {
    if (!upload.write(chunk)) await once(upload, 'drain')
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  upload.end()
  const [response]: IncomingMessage[] = await answered
  assert.ok(response !== undefined)
  assert.equal(await text(response), `${size} ${size}`)
  // One process holds client, gateway and server, and what none of them has collected yet.
  assert.ok(peak - before < size / 4, `memory grew by ${peak - before} bytes`)
})

for (const [status, fields, body] of [
  [204, 'X: y\r\n', ''],
  [304, 'ETag: "1"\r\nContent-Length: 1234\r\n', ''],
  [206, 'Content-Range: bytes 0-3/10\r\nContent-Length: 4\r\n', 'good'],
] as const) {
  test(`an answer ${status} arrives with its own fields and length`, async (t) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(`HTTP/1.1 ${status} Told\r\n${fields}\r\n${body}`))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const proxy = await passingProxy(t, `http://127.0.0.1:${port}`)
    const { hostname, port: own } = new URL(proxy.url)
    const socket = connect(Number(own), hostname)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=0-3\r\nConnection: close\r\n\r\n')
    const answer = (await buffer(socket)).toString('latin1')
    assert.ok(answer.startsWith(`HTTP/1.1 ${status} Told\r\n${fields}`), answer)
    assert.ok(answer.endsWith(`\r\n\r\n${body}`), answer)
  })
}

const CHUNKS = 'Transfer-Encoding: chunked\n\n4\ngood\n0\nX-Sum: 42\n\n'

for (const [what, asks, answer, body] of [
  ['trailers that it announces', 'GET / HTTP/1.1', `200 OK\nTrailer: X-Sum\n${CHUNKS}`, '4|good|0|x-sum: 42||'],
  ['trailers for a client of HTTP/1.0', 'GET / HTTP/1.0', `200 OK\nTrailer: X-Sum\n${CHUNKS}`, 'good'],
  [
    'trailers that it announces beside a length',
    'GET / HTTP/1.1',
    '200 OK\nTrailer: X\nContent-Length: 4\n\ngood',
    'good',
  ],
  ['trailers that it announces to HEAD', 'HEAD / HTTP/1.1', '200 OK\nTrailer: X\nTransfer-Encoding: chunked\n\n', ''],
  ['trailers that it announces without a body', 'GET / HTTP/1.1', '304 Same\nTrailer: X\n\n', ''],
  ['a reason that is not ASCII', 'GET / HTTP/1.1', '200 \xe9t\xc3\xa9\nContent-Length: 4\n\ngood', 'good'],
] as const) {
  test(`an answer with ${what} arrives`, async (t) => {
    const proxy = await passingProxy(t, await listening(t, createTcpServer(answeringBytes(`HTTP/1.1 ${answer}`))))
    const received = await exchangeBytes(proxy.url, `${asks}\r\nHost: a\r\nConnection: close\r\n\r\n`)
    assert.equal(statusOf(received), statusOf(`HTTP/1.1 ${answer}`))
    assert.equal(received.slice(received.indexOf('\r\n\r\n') + 4).replaceAll('\r\n', '|'), body)
    const isAnnounced = /\r\ntrailer: /i.test(received)
    assert.equal(isAnnounced, body.includes('x-sum'))
  })
}

test('bytes beyond ASCII in the head of an answer stay as they are when its body comes later', async (t) => {
  const upstream = await listening(
    t,
    createTcpServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nX-A: caf\xe9\r\nConnection: close\r\n\r\n', 'latin1')
        setTimeout(() => socket.end('late'), 100)
      })
    }),
  )
  const proxy = await passingProxy(t, upstream)
  const answer = await exchangeBytes(proxy.url, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(answer, /\r\nX-A: caf\xe9\r\n.*late/s)
})
