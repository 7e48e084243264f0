/** Upgrades byte by byte: the request that the upstream gets, the answer that the client gets, and what either side may break. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openSocket, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { readHead } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mine\r\n'

interface Upstream {
  readonly proxy: ProxyUnderTest
  /** The head of the request, once it has arrived. */
  readonly head: () => string
  /** Everything that came after the head. */
  readonly received: () => string
  readonly sockets: readonly Socket[]
  openSockets(): number
}

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** An upstream that reads the head of the request, answers with these bytes and keeps the connection. */
async function upstreamAnswering(
  t: TestContext,
  answer: string,
  onSocket: (socket: Socket) => void = () => {},
  route: object = {},
): Promise<Upstream> {
  let bytes = ''
  const sockets: Socket[] = []
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    let hasAnswered = false
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.toString('latin1')
      if (hasAnswered || !bytes.includes('\r\n\r\n')) return
      hasAnswered = true
      if (answer !== '') socket.write(answer, 'latin1')
      onSocket(socket)
    })
  })
  const origin = await listen(t, server)
  const proxy = await startProxy({
    routes: [
      {
        name: 'any',
        match: { path: '/' },
        protocol: 'mapped',
        map: [{ when: 'request.path == "/named"', action: 'pass' }],
        otherwise: 'pass',
        upgrade: 'allow',
        upstream: origin,
        ...route,
      },
    ],
  })
  t.after(async () => {
    await proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const end = (): number => bytes.indexOf('\r\n\r\n') + 4
  return {
    proxy,
    head: () => bytes.slice(0, end()),
    received: () => bytes.slice(end()),
    sockets,
    openSockets: () => sockets.filter((socket) => !socket.destroyed).length,
  }
}

function ask(t: TestContext, { proxy }: Upstream, fields = '', target = '/chat', method = 'GET'): Socket {
  const socket = openSocket(proxy.url)
  socket.on('error', () => socket.destroy())
  t.after(() => socket.destroy())
  socket.write(
    `${method} ${target} HTTP/1.1\r\nHost: a\r\n${fields}Connection: Upgrade\r\nUpgrade: mine\r\n\r\n`,
    'latin1',
  )
  return socket
}

async function readAll(socket: Socket): Promise<string> {
  let read = ''
  socket.on('data', (chunk: Buffer) => {
    read += chunk.toString('latin1')
  })
  if (!socket.destroyed) await once(socket, 'close')
  return read
}

for (const target of [
  '/chat?',
  '/chat?a=1?b=2',
  '/chat?a=b//c',
  '/chat?%2e%2e/',
  '/chat;x=1?y',
  '/chat/',
  "/chat?'|^",
]) {
  test(`the target ${target} reaches the upstream as it was judged`, async (t) => {
    const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`)
    assert.equal(statusOf(await readHead(ask(t, upstream, '', target))), 101)
    assert.equal(upstream.head().split(' ')[1], target)
  })
}

for (const [what, sent, expected] of [
  ['spelling of a name', 'X-CamelCase: 1\r\n', ['X-CamelCase: 1']],
  ['fields of one name, in their order', 'X-A: 1\r\nX-B: 2\r\nX-A: 3\r\n', ['X-A: 1', 'X-B: 2', 'X-A: 3']],
  ['fields of one name in two spellings', 'X-A: 1\r\nx-a: 2\r\n', ['X-A: 1', 'x-a: 2']],
  ['two Cookie fields', 'Cookie: a=1\r\nCookie: b=2\r\n', ['Cookie: a=1', 'Cookie: b=2']],
  ['bytes beyond ASCII', 'X-A: caf\xe9\r\n', ['X-A: caf\xe9']],
  ['an empty value', 'X-A:\r\n', ['X-A: ']],
] as const) {
  test(`request head: ${what}`, async (t) => {
    const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`)
    assert.equal(statusOf(await readHead(ask(t, upstream, sent))), 101)
    const names = new Set(expected.map((field) => (field.split(':')[0] ?? '').toLowerCase()))
    const got = upstream
      .head()
      .split('\r\n')
      .filter((line) => names.has((line.split(':')[0] ?? '').toLowerCase()))
    assert.deepEqual(
      got.map((line) => line.replace(/: ?/, ': ')),
      [...expected],
    )
  })
}

for (const [what, sent, expected] of [
  ['spelling of a name', 'X-CamelCase: 1\r\n', ['X-CamelCase: 1']],
  ['two Set-Cookie fields', 'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n', ['Set-Cookie: a=1', 'Set-Cookie: b=2']],
  ['two fields of one name', 'X-A: 1\r\nX-B: 2\r\nX-A: 3\r\n', ['X-A: 1', 'X-B: 2', 'X-A: 3']],
  ['two Server fields', 'Server: a\r\nServer: b\r\n', ['Server: a', 'Server: b']],
  ['bytes beyond ASCII', 'X-A: caf\xe9\r\n', ['X-A: caf\xe9']],
  ['fields of the connection', 'Keep-Alive: 5\r\nProxy-Authenticate: x\r\nX-A: 1\r\n', ['X-A: 1']],
  ['a forged field of the gateway', 'Preflight-Action: NONE\r\nX-A: 1\r\n', ['X-A: 1']],
] as const) {
  test(`head of the 101: ${what}`, async (t) => {
    const upstream = await upstreamAnswering(t, `${SWITCHED}${sent}\r\n`)
    const head = await readHead(ask(t, upstream))
    assert.equal(statusOf(head), 101)
    const names = new Set(sent.split('\r\n').map((field) => (field.split(':')[0] ?? '').toLowerCase()))
    names.delete('')
    const got = head.split('\r\n').filter((line) => names.has((line.split(':')[0] ?? '').toLowerCase()))
    assert.deepEqual(got, [...expected])
  })
}

for (const [what, answer, expected] of [
  ['a length', 'HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno', /^HTTP\/1\.1 403 No\r\n.*\r\n\r\nno$/s],
  ['no body', 'HTTP/1.1 204 Empty\r\n\r\n', /^HTTP\/1\.1 204 Empty\r\n(?!.*transfer-encoding).*\r\n\r\n$/is],
  [
    'chunks and trailers',
    'HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nno\r\n0\r\nX-T: end\r\n\r\n',
    /^HTTP\/1\.1 400 Bad\r\n.*\r\n\r\n2\r\nno\r\n0\r\nX-T: end\r\n\r\n$/is,
  ],
  [
    'bytes beyond ASCII in its head',
    'HTTP/1.1 403 No\r\nX-A: caf\xe9\r\nContent-Length: 0\r\n\r\n',
    /\r\nX-A: caf\xe9\r\n/,
  ],
  [
    'fields of the connection',
    'HTTP/1.1 403 No\r\nConnection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 0\r\n\r\n',
    /^(?!.*X-Hop)HTTP\/1\.1 403/is,
  ],
  [
    'an informational answer before it',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n',
    /^HTTP\/1\.1 103 .*\r\n\r\nHTTP\/1\.1 403 No/s,
  ],
] as const) {
  test(`an answer that is not a switch, with ${what}`, async (t) => {
    const upstream = await upstreamAnswering(t, answer)
    assert.match(await readAll(ask(t, upstream)), expected)
    await until(() => upstream.proxy.listener.openCalls() === 0, 'the call is over')
  })
}

test('an answer that is not a switch and breaks off is not made whole', async (t) => {
  const upstream = await upstreamAnswering(
    t,
    'HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n',
    (socket) => setTimeout(() => socket.resetAndDestroy(), 50),
  )
  const answer = await readAll(ask(t, upstream))
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.doesNotMatch(answer, /\r\n0\r\n/)
  await until(() => upstream.proxy.listener.openCalls() === 0, 'the call is over')
})

test('an answer that is not a switch waits for a client that reads nothing', async (t) => {
  const size = 64 * 1024 * 1024
  let written = 0
  const upstream = await upstreamAnswering(t, `HTTP/1.1 400 Bad\r\nContent-Length: ${size}\r\n\r\n`, (socket) => {
    const chunk = Buffer.alloc(1024 * 1024)
    const write = (): void => {
      while (written < size) {
        written += chunk.length
        if (!socket.write(chunk)) return void socket.once('drain', write)
      }
    }
    write()
  })
  const socket = ask(t, upstream)
  socket.pause()
  await until(() => written > 0, 'the upstream has begun')
  let before = -1
  while (before !== written) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  socket.destroy()
  assert.ok(written < size / 2, `${written} bytes have left the upstream`)
})

test('an informational answer before the switch reaches the client', async (t) => {
  const upstream = await upstreamAnswering(t, `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${SWITCHED}\r\n`)
  const socket = ask(t, upstream)
  let read = ''
  socket.on('data', (chunk: Buffer) => {
    read += chunk.toString('latin1')
  })
  await until(() => read.includes('HTTP/1.1 101 '), 'the switch has arrived')
  assert.match(read, /^HTTP\/1\.1 103 .*\r\nLink: <\/a>\r\n/s)
})

test('bytes that a client sends with its request and before the switch arrive once, in their order', async (t) => {
  const upstream = await upstreamAnswering(t, '', (socket) =>
    setTimeout(() => socket.write(`${SWITCHED}\r\nupstream's own`), 100),
  )
  const socket = openSocket(upstream.proxy.url)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\none ')
  setTimeout(() => socket.write('two '), 30)
  assert.equal(statusOf(await readHead(socket)), 101)
  let read = ''
  socket.on('data', (chunk: Buffer) => {
    read += chunk.toString('latin1')
  })
  socket.write('three')
  await until(() => upstream.received() === 'one two three', 'all of it has arrived')
  await until(() => read === "upstream's own", 'and what the upstream sent with its answer')
})

test('a client that has ended its half still gets what the upstream has to send', async (t) => {
  const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`, (socket) =>
    socket.on('end', () => setTimeout(() => socket.end('the rest'), 50)),
  )
  const socket = ask(t, upstream)
  assert.equal(statusOf(await readHead(socket)), 101)
  socket.end('done')
  assert.equal(await readAll(socket), 'the rest')
  await until(() => upstream.openSockets() === 0 && upstream.proxy.listener.openCalls() === 0, 'nothing is left')
})

for (const [what, end] of [
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ['goes away', (socket: Socket) => socket.destroy()],
] as const) {
  test(`a client that ${what} after the switch takes an upstream with it that never closes by itself`, async (t) => {
    const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`)
    const socket = ask(t, upstream)
    assert.equal(statusOf(await readHead(socket)), 101)
    // It is in the middle of sending, so a write of it finds the connection gone.
    const ticking = setInterval(() => upstream.sockets[0]?.write('tick'), 20)
    t.after(() => clearInterval(ticking))
    end(socket)
    await until(() => upstream.proxy.listener.openCalls() === 0 && upstream.openSockets() === 0, 'nothing is left')
  })
  test(`a client that ${what} before the switch leaves no request at an upstream that hangs`, async (t) => {
    const upstream = await upstreamAnswering(t, '', (socket) => socket.on('end', () => socket.end()))
    const socket = ask(t, upstream)
    await until(() => upstream.sockets.length === 1 && upstream.head() !== '', 'the request has arrived')
    end(socket)
    await until(() => upstream.proxy.listener.openCalls() === 0 && upstream.openSockets() === 0, 'nothing is left')
  })
}

test('an upstream that resets after the switch takes the client with it', async (t) => {
  const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`)
  const socket = ask(t, upstream)
  assert.equal(statusOf(await readHead(socket)), 101)
  upstream.sockets[0]?.resetAndDestroy()
  await readAll(socket)
  await until(() => upstream.proxy.listener.openCalls() === 0, 'the call is over')
})

test('an upstream that hangs is given up after the time of the route: 504', async (t) => {
  const upstream = await upstreamAnswering(t, '', () => {}, { timeout: { headers: 1 } })
  assert.match(await readAll(ask(t, upstream)), /^HTTP\/1\.1 504 .*"error":"UPSTREAM_TIMEOUT"/s)
})

for (const [what, onSocket] of [
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ['closes', (socket: Socket) => socket.destroy()],
  ['answers with something else than HTTP', (socket: Socket) => socket.end('SSH-2.0-x\r\n')],
  [
    'switches without naming a protocol',
    (socket: Socket) => socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\n\r\n'),
  ],
  [
    'repeats a field in two framings',
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ],
] as const) {
  test(`an upstream that ${what} in place of the switch is a fault: 502`, async (t) => {
    const upstream = await upstreamAnswering(t, '', onSocket)
    assert.match(await readAll(ask(t, upstream)), /^HTTP\/1\.1 502 /)
    await until(() => upstream.proxy.listener.openCalls() === 0, 'the call is over')
  })
}

test('an upstream that is not there is a fault: 502', async (t) => {
  const upstream = await upstreamAnswering(t, '', () => {}, { upstream: 'http://127.0.0.1:1' })
  assert.match(await readAll(ask(t, upstream)), /^HTTP\/1\.1 502 .*"error":"UPSTREAM_UNREACHABLE"/s)
})

for (const method of ['POST', 'OPTIONS']) {
  test(`a switch by ${method} goes through`, async (t) => {
    const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`)
    assert.equal(statusOf(await readHead(ask(t, upstream, '', '/chat', method))), 101)
    assert.ok(upstream.head().startsWith(`${method} /chat HTTP/1.1\r\n`))
  })
}

test('bytes of both directions are counted, and the outcome is recorded at the end', async (t) => {
  const upstream = await upstreamAnswering(t, `${SWITCHED}\r\n`, (socket) =>
    socket.on('end', () => socket.end()).write('12345'),
  )
  const socket = ask(t, upstream)
  assert.equal(statusOf(await readHead(socket)), 101)
  socket.write('123')
  await until(() => upstream.received() === '123', 'it has arrived')
  await until(async () => /preflight_tunnels_open 1/.test(await upstream.proxy.metrics.text()), 'one is open')
  socket.destroy()
  await until(() => upstream.proxy.listener.openCalls() === 0, 'the call is over')
  const text = await upstream.proxy.metrics.text()
  assert.match(text, /preflight_tunnel_bytes_total\{direction="sent"\} 3/)
  assert.match(text, /preflight_tunnel_bytes_total\{direction="received"\} 5/)
  assert.match(text, /preflight_tunnels_open 0/)
})
