/** gRPC with its own client and server on both sides of the gateway: every kind of call, with metadata and trailers, in plaintext and inside CONNECT. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { credentials, status, type Client } from '@grpc/grpc-js'
import { testAuthority } from '../../fakes/certificates.ts'
import { grpcClient, grpcMethod, startGrpcService, type GrpcService, type Note } from '../../fakes/grpc-service.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly service: GrpcService
  readonly client: Client
}

const DENIED = {
  when: 'request.path == "/test.echo.v1.Echo/Gather" && "x-deny" in request.headers',
  action: 'deny',
  message: 'Not this: \u00fc.',
}
const ROUTE = { name: 'echo', protocol: 'mapped', map: [DENIED, { action: 'pass' }] }

async function inTheOpen(t: TestContext): Promise<Scene> {
  const service = await startGrpcService()
  const proxy = await startProxy({ routes: [{ ...ROUTE, match: { path: '/' }, upstream: service.origin }] })
  const client = grpcClient(new URL(proxy.url).host)
  t.after(async () => {
    client.close()
    await proxy.close()
    service.close()
  })
  return { proxy, service, client }
}

/** By `grpc_proxy`, as clients of gRPC have it: CONNECT, and TLS that ends at the gateway. */
async function insideConnect(t: TestContext): Promise<Scene> {
  const trusted = await testAuthority()
  const service = await startGrpcService(await trusted.leaf('localhost'))
  const route = { ...ROUTE, match: { host: 'localhost', path: '/' }, tls: { upstream_ca: trusted.file } }
  const proxy = await startProxy({ routes: [route], config: { egress: { allow: ['127.0.0.0/8', '::1'] } } })
  process.env['grpc_proxy'] = proxy.url
  const ca = Buffer.from(await proxy.authorities.bundle())
  const client = grpcClient(`localhost:${service.port}`, credentials.createSsl(ca))
  t.after(async () => {
    delete process.env['grpc_proxy']
    client.close()
    await proxy.close()
    service.close()
  })
  return { proxy, service, client }
}

interface Texts {
  readonly error: unknown
  readonly note: Note | undefined
  readonly metadata: unknown
  readonly code: unknown
  readonly trailer: unknown
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function metadataOf(value: unknown, name: string): unknown {
  const get = fieldOf(value, 'get')
  const values: unknown = typeof get === 'function' ? Reflect.apply(get, value, [name]) : []
  return Array.isArray(values) ? values[0] : undefined
}

function echo(client: Client, note: Note, options: object = {}): Promise<Texts> {
  return new Promise((resolve) => {
    let [error, answer, metadata]: unknown[] = []
    const call = grpcMethod(client, 'Say')(note, options, (fault: unknown, value: unknown) => {
      error = fault
      answer = value
    })
    const on = fieldOf(call, 'on')
    if (typeof on !== 'function') throw new TypeError('a call tells of itself')
    Reflect.apply(on, call, ['metadata', (head: unknown) => (metadata = head)])
    Reflect.apply(on, call, [
      'status',
      (end: unknown) =>
        setImmediate(() =>
          resolve({
            error,
            note: noteOf(answer),
            metadata,
            code: fieldOf(end, 'code'),
            trailer: fieldOf(end, 'metadata'),
          }),
        ),
    ])
  })
}

function noteOf(value: unknown): Note | undefined {
  const [text, load] = [fieldOf(value, 'text'), fieldOf(value, 'load')]
  return typeof text === 'string' ? { text, ...(Buffer.isBuffer(load) && { load }) } : undefined
}

function isDuplex(value: unknown): value is Duplex {
  return typeof value === 'object' && value !== null && 'on' in value
}

function stream(client: Client, name: string, ...values: readonly unknown[]): Duplex {
  const call = grpcMethod(client, name)(...values)
  if (!isDuplex(call)) throw new TypeError('a call is a stream')
  call.on('error', () => {})
  return call
}

for (const [where, scene] of [
  ['on a reverse route', inTheOpen],
  ['inside a CONNECT', insideConnect],
] as const) {
  test(`${where}: one message each way, with metadata at both ends of the answer`, async (t) => {
    const { client, service, proxy } = await scene(t)
    const text = await echo(client, { text: 'hello' })
    assert.deepEqual([text.note?.text, text.code], ['hello', status.OK])
    assert.equal(metadataOf(text.metadata, 'greeting'), 'hello')
    assert.equal(metadataOf(text.trailer, 'sum'), '42')
    assert.deepEqual(metadataOf(text.trailer, 'sum-bin'), Buffer.from([0, 255]))
    assert.equal(service.calls[0]?.path, '/test.echo.v1.Echo/Say')
    await until(() => proxy.listener.openCalls() === 0, 'the call is over')
  })

  test(`${where}: four megabytes each way`, async (t) => {
    const { client } = await scene(t)
    const load = Buffer.alloc(4 * 1024 * 1024 - 64, 'abcd')
    const { note, error } = await echo(client, { text: 'much', load })
    assert.equal(error, null)
    assert.ok(note?.load?.equals(load))
  })

  test(`${where}: an error arrives with its code, words and metadata`, async (t) => {
    const { client } = await scene(t)
    const { error, code, trailer } = await echo(client, { text: 'fail' })
    assert.deepEqual([code, fieldOf(error, 'details')], [status.FAILED_PRECONDITION, 'not \u00fcber it'])
    assert.equal(metadataOf(trailer, 'sum'), '42')
  })

  test(`${where}: messages stream from the server, from the client, and both ways in turn`, async (t) => {
    const { client } = await scene(t)
    const counted: string[] = []
    for await (const note of stream(client, 'Count', { text: 'go' })) counted.push(noteOf(note)?.text ?? '')
    assert.deepEqual(
      counted,
      Array.from({ length: 100 }, (_, index) => String(index)),
    )

    const gathered = await new Promise((resolve, reject) => {
      const call = stream(client, 'Gather', (error: Error | null, note: unknown) =>
        error === null ? resolve(noteOf(note)?.text) : reject(error),
      )
      for (let index = 0; index < 50; index += 1) call.write({ text: 'x' })
      call.end()
    })
    assert.equal(gathered, 'x'.repeat(50))

    const talk = stream(client, 'Talk')
    for (const text of ['one', 'two', 'three']) {
      talk.write({ text })
      const [note]: unknown[] = await once(talk, 'data')
      assert.equal(noteOf(note)?.text, text)
    }
    const ended = once(talk, 'status')
    talk.end()
    const [end]: unknown[] = await ended
    assert.deepEqual([fieldOf(end, 'code'), metadataOf(fieldOf(end, 'metadata'), 'sum')], [status.OK, '42'])
  })

  test(`${where}: a deadline and a cancellation reach the server, and leave nothing open`, async (t) => {
    const { client, service, proxy } = await scene(t)
    const late = await echo(client, { text: 'never' }, { deadline: Date.now() + 300 })
    assert.equal(late.code, status.DEADLINE_EXCEEDED)
    assert.match(String(metadataOf(service.calls[0]?.metadata, 'user-agent')), /grpc-node/)
    await until(() => service.cancelled() === 1, 'the server is told')
    const endless = stream(client, 'Count', { text: 'endless' })
    await once(endless, 'data')
    const cancel = fieldOf(endless, 'cancel')
    assert.ok(typeof cancel === 'function')
    Reflect.apply(cancel, endless, [])
    await until(
      () => service.cancelled() === 2 && proxy.listener.openCalls() === 0,
      'the stream is given up everywhere',
    )
  })

  test(`${where}: a call that is refused says so in the form of gRPC`, async (t) => {
    const { client, service } = await scene(t)
    const { Metadata } = await import('@grpc/grpc-js')
    const metadata = new Metadata()
    metadata.set('x-deny', '1')
    const error = await new Promise((resolve) => {
      stream(client, 'Gather', metadata, resolve).end()
    })
    assert.equal(fieldOf(error, 'code'), status.PERMISSION_DENIED)
    assert.match(String(fieldOf(error, 'details')), /Not this: \u00fc\./)
    assert.equal(service.calls.length, 0)
  })
}

test('a server that is not there is UNAVAILABLE to the client', async (t) => {
  const { client, service } = await inTheOpen(t)
  service.close()
  const { code } = await echo(client, { text: 'hello' })
  assert.equal(code, status.UNAVAILABLE)
})
