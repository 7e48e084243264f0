/** A hostile client of tunnels: TLS to another server behind the address of an allowed one, told in ways that are hard to read. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { connect as connectTls, createServer as createTlsServer, type ConnectionOptions } from 'node:tls'
import { testAuthority } from '../fakes/certificates.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { listening } from '../fakes/listening.ts'
import { openConnect } from '../fakes/through-proxy.ts'
import { until } from '../fakes/until.ts'

/** A destination that takes whatever comes, and a tunnel to it. */
async function scene(t: TestContext) {
  const received: Buffer[] = []
  const origin = await listening(
    t,
    createServer((socket) => socket.on('data', (bytes: Buffer) => received.push(bytes))),
  )
  const proxy = await startProxy({
    routes: [],
    config: { egress: { allow: ['localhost', 'allowed.localhost', '127.0.0.0/8', '::1'] } },
  })
  t.after(() => proxy.close())
  const { port } = new URL(origin)
  return {
    proxy,
    received: () => Buffer.concat(received),
    tunnel: async (host: string): Promise<Socket> => {
      const { socket, head } = await openConnect(proxy.url, `${host}:${port}`)
      assert.match(head, /^HTTP\/1\.1 200 /)
      return socket
    },
  }
}

/** The first flight of a TLS client. */
async function clientHello(options: ConnectionOptions): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const wire = new Duplex({ read: () => {}, write: (bytes: Buffer, _encoding, done) => (resolve(bytes), done()) })
  const client = connectTls({ socket: wire, rejectUnauthorized: false, ...options })
  client.on('error', () => client.destroy())
  const hello = await promise
  client.destroy()
  return hello
}

/** A hello that says the name, and then goes on for longer than it is read: records of 16 KiB, one handshake message. */
async function longHello(): Promise<Buffer> {
  const padding = Buffer.alloc(80 * 1024)
  const plain = (await clientHello({ servername: 'evil.example' })).subarray(5)
  const extension = Buffer.alloc(4)
  extension.writeUInt16BE(0xfffe, 0)
  extension.writeUInt16BE(0xffff, 2)
  const message = Buffer.concat([plain, extension, padding])
  message.writeUIntBE(message.length - 4, 1, 3)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += 16_000) {
    const part = message.subarray(at, at + 16_000)
    const head = Buffer.from([0x16, 3, 1, 0, 0])
    head.writeUInt16BE(part.length, 3)
    records.push(head, part)
  }
  return Buffer.concat(records)
}

const OTHER = { servername: 'evil.example' }

for (const [what, hello] of [
  ['in the plain', () => clientHello(OTHER)],
  ['in TLS 1.0', () => clientHello({ ...OTHER, maxVersion: 'TLSv1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' })],
  [
    'with a cipher that few servers take',
    () => clientHello({ ...OTHER, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_CCM_SHA256' }),
  ],
  ['at great length', longHello],
  ['not at all', () => clientHello({})],
] as const) {
  test(`TLS that names another server ${what} does not leave the tunnel`, async (t) => {
    const { proxy, tunnel, received } = await scene(t)
    const socket = await tunnel('localhost')
    const bytes = await hello()
    assert.equal(bytes[0], 0x16, 'it is a handshake of TLS')
    socket.write(bytes)
    await once(socket.resume(), 'close')
    assert.equal(received().length, 0)
    assert.match(await proxy.metrics.text(), /preflight_tls_handshakes_total\{result="wrong_name"\} 1/)
  })
}

test('TLS to an address has no name to tell, and passes', async (t) => {
  const { tunnel, received } = await scene(t)
  const hello = await clientHello({})
  const socket = await tunnel('127.0.0.1')
  socket.write(hello)
  await until(() => Promise.resolve(received().equals(hello)), 'the beginning arrives whole')
  socket.destroy()
})

/** What servers are known to skip, or to read as a hello of another form. */
const BEFORE_THE_HELLO: readonly (readonly [string, readonly number[]])[] = [
  ['an empty handshake record', [0x16, 3, 1, 0, 0]],
  ['ten empty handshake records', Array.from({ length: 10 }, () => [0x16, 3, 1, 0, 0]).flat()],
  ['an empty change of ciphers', [0x14, 3, 3, 0, 0]],
  ['a change of ciphers', [0x14, 3, 3, 0, 1, 1]],
  ['a warning', [0x15, 3, 1, 0, 2, 1, 0]],
  ['an empty alert', [0x15, 3, 1, 0, 0]],
  ['empty application data', [0x17, 3, 3, 0, 0]],
  ['a heartbeat', [0x18, 3, 3, 0, 3, 1, 0, 0]],
  ['a hello of SSL 2', [0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10]],
]

for (const [what, before] of BEFORE_THE_HELLO)
  for (const isTogether of [true, false])
    test(`${what} before a hello (${isTogether ? 'in one piece' : 'in two'}) does not hide whom it asks for`, async (t) => {
      const { tunnel, received } = await scene(t)
      const hello = await clientHello(OTHER)
      const socket = await tunnel('localhost')
      socket.on('error', () => socket.destroy())
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.resume()
      if (isTogether) socket.write(Buffer.concat([Buffer.from(before), hello]))
      else {
        socket.write(Buffer.from(before))
        setTimeout(() => socket.write(hello), 20)
      }
      await closed
      assert.equal(received().length, 0)
    })

test('half a hello and an end of the connection go nowhere', async (t) => {
  const { tunnel, received } = await scene(t)
  const hello = await clientHello({ servername: 'localhost' })
  for (const length of [1, 4, 5, 6, 60, hello.length - 1]) {
    const socket = await tunnel('localhost')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume().end(hello.subarray(0, length))
    await closed
    assert.equal(received().length, 0, `${length} bytes`)
  }
})

test('other protocols than TLS pass as before', async (t) => {
  const { tunnel, received } = await scene(t)
  const socket = await tunnel('localhost')
  const bytes = Buffer.from('SSH-2.0-client\r\n')
  socket.write(bytes)
  await until(() => Promise.resolve(received().equals(bytes)), 'they arrive')
  socket.destroy()
})

test('a hello that never ends is cut off', async (t) => {
  const { tunnel, received } = await scene(t)
  const socket = (await tunnel('localhost')).resume()
  const record = Buffer.concat([Buffer.from([0x16, 3, 1, 0x3e, 0x80]), Buffer.alloc(16_000, 1)])
  const drip = setInterval(() => socket.write(record), 5)
  t.after(() => clearInterval(drip))
  await until(() => Promise.resolve(socket.destroyed), 'the connection is closed')
  assert.equal(received().length, 0)
})

test('a CONNECT inside a tunnel of our own making is answered by the far side only', async (t) => {
  const { tunnel, received } = await scene(t)
  const socket = await tunnel('localhost')
  const nested = 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n'
  socket.write(nested)
  await until(() => Promise.resolve(received().toString() === nested), 'it is bytes like any other')
  socket.destroy()
})

const record = (type: number, body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 3, body.length >> 8, body.length & 255]), body])
const CHANGE = record(0x14, Buffer.from([1]))
const DATA = record(0x17, Buffer.alloc(40, 7))
const bodyOf = (hello: Buffer): Buffer => hello.subarray(5)
const inTwo = (hello: Buffer, at: number): Buffer =>
  Buffer.concat([record(0x16, bodyOf(hello).subarray(0, at)), record(0x16, bodyOf(hello).subarray(at))])

/** What a client sends behind a first hello that names the right server. */
const BEHIND_THE_HELLO: Readonly<Record<string, (evil: Buffer) => readonly [passing: Buffer, stopped: Buffer]>> = {
  'at once': (evil) => [Buffer.alloc(0), evil],
  'behind a change of ciphers': (evil) => [CHANGE, evil],
  'behind early data': (evil) => [Buffer.concat([CHANGE, DATA, DATA]), evil],
  'in two records': (evil) => [CHANGE, inTwo(evil, 40)],
  'in two records, the first of one byte': (evil) => [Buffer.alloc(0), inTwo(evil, 1)],
  'behind empty records': (evil) => [DATA, Buffer.concat([record(0x16, Buffer.alloc(0)), evil])],
  'behind a handshake of TLS 1.2': (evil) => [
    Buffer.concat([record(0x16, Buffer.from([16, 0, 0, 1, 0])), CHANGE]),
    evil,
  ],
  'as a handshake that is encrypted, behind data': () => [DATA, record(0x16, Buffer.alloc(60, 0x99))],
  'that is cut short by its lengths': (evil) => [
    Buffer.alloc(0),
    record(0x16, Buffer.concat([Buffer.from([1, 0, 0, 60]), bodyOf(evil).subarray(4, 64)])),
  ],
  'and what is not TLS': () => [DATA, Buffer.from('GET / HTTP/1.1\r\n\r\n')],
}

for (const [what, make] of Object.entries(BEHIND_THE_HELLO))
  for (const isByByte of [false, true])
    test(`a later hello for another server (${what}${isByByte ? ', byte by byte' : ''}) does not leave the tunnel`, async (t) => {
      const { tunnel, received } = await scene(t)
      const first = await clientHello({ servername: 'localhost' })
      const [passing, stopped] = make(await clientHello(OTHER))
      const socket = (await tunnel('localhost')).resume()
      socket.on('error', () => socket.destroy())
      const closed = new Promise((resolve) => socket.once('close', resolve))
      const sent = Buffer.concat([first, passing, stopped])
      if (isByByte) for (const byte of sent) socket.write(Buffer.of(byte))
      else socket.write(sent)
      await closed
      const allowed = Buffer.concat([first, passing])
      assert.ok(allowed.subarray(0, received().length).equals(received()), received().toString('latin1'))
    })

test('a second hello for the same server, and what follows, pass byte for byte', async (t) => {
  const { tunnel, received } = await scene(t)
  const hello = await clientHello({ servername: 'localhost' })
  const bytes = Buffer.concat([hello, CHANGE, inTwo(hello, 50), record(0x16, Buffer.alloc(36, 9)), CHANGE, DATA, DATA])
  for (const size of [bytes.length, 7]) {
    const before = received().length
    const socket = await tunnel('localhost')
    for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size))
    await until(() => Promise.resolve(received().subarray(before).equals(bytes)), 'all of it arrives')
    socket.destroy()
  }
})

for (const [what, client, server] of [
  ['TLS 1.3 in which the server asks for a second hello', { ecdhCurve: 'X25519:P-256' }, { ecdhCurve: 'P-256' }],
  ['TLS 1.3', {}, {}],
  ['TLS 1.2', { maxVersion: 'TLSv1.2' }, {}],
] as const)
  test(`${what} works through a tunnel`, async (t) => {
    const authority = await testAuthority()
    const origin = await listening(
      t,
      createTlsServer({ ...(await authority.leaf('localhost')), ...server }, (socket) => void socket.pipe(socket)),
    )
    const proxy = await startProxy({ routes: [], config: { egress: { allow: ['localhost', '127.0.0.0/8', '::1'] } } })
    t.after(() => proxy.close())
    const { socket } = await openConnect(proxy.url, `localhost:${new URL(origin).port}`)
    const secure = connectTls({ socket, servername: 'localhost', ca: authority.certificate, ...client })
    await once(secure, 'secureConnect')
    const sent = Buffer.alloc(300_000, 'x')
    secure.write(sent)
    let size = 0
    for await (const bytes of secure) {
      size += Buffer.from(bytes).length
      if (size === sent.length) break
    }
    assert.equal(size, sent.length)
  })
