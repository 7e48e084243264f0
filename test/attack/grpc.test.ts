/** gRPC: clients that hold up the listener of ext_authz, and calls that say they are gRPC. A refusal keeps the form that such a client reads. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setInterval as ticks } from 'node:timers/promises'
import { FREE_PORTS } from '../fakes/gateway.ts'
import { grpcAsker } from '../fakes/ext-authz-client.ts'
import { startPetRoute } from '../fakes/pet-route.ts'
import { at } from '../json.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const CHECK = '/envoy.service.auth.v3.Authorization/Check'
const PETS = { method: 'GET', path: '/pets', host: 'pets.example', scheme: 'http', size: 0, headers: {} }
const HEAD = { ':method': 'POST', ':path': CHECK, 'content-type': 'application/grpc', te: 'trailers' }

async function scene(t: TestContext) {
  const { gateway } = await startPetRoute(
    t,
    {},
    {
      listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' },
      limits: { head_timeout: 0.4, body_timeout: 0.6, body_rate: 100, proxied_body: 256 * 1024 },
    },
  )
  const url = gateway.addresses.ext_authz ?? ''
  const grpc = grpcAsker(url.replace('http://', ''))
  t.after(() => grpc.close())
  const open = (): ClientHttp2Session => {
    const session = connect(url)
    session.on('error', () => {})
    t.after(() => session.destroy())
    return session
  }
  /** The listener still answers others. */
  const stillAnswers = async (): Promise<void> =>
    assert.equal(at(await grpc.check(PETS), 'status', 'code') ?? 0, 0, 'a good question is answered yes')
  return { url, open, stillAnswers }
}

function message(length: number, size = length, flag = 0): Buffer {
  const bytes = Buffer.alloc(5 + size)
  bytes[0] = flag
  bytes.writeUInt32BE(length, 1)
  return bytes
}

function begin(session: ClientHttp2Session, head: object = {}): ClientHttp2Stream {
  const stream = session.request({ ...HEAD, ...head })
  stream.on('error', () => {})
  return stream
}

/** What the head says; null when the stream was reset without one. */
async function statusOf(stream: ClientHttp2Stream): Promise<unknown> {
  stream.resume()
  const head = once(stream, 'response').then(([headers]: IncomingHttpHeaders[]) => headers?.['grpc-status'])
  return Promise.race([head, once(stream, 'close').then(() => null)])
}

test('a message that never comes ends its call, and the stream with it', async (t) => {
  const { open, stillAnswers } = await scene(t)
  const session = open()
  const stream = begin(session)
  const closed = once(stream, 'close')
  assert.equal(await statusOf(stream), '4')
  await closed
  await stillAnswers()
})

test('a message that comes in crumbs ends its call', async (t) => {
  const { open, stillAnswers } = await scene(t)
  const stream = begin(open())
  stream.write(message(100_000, 0))
  const status = statusOf(stream)
  const closed = once(stream, 'close')
  const stop = new AbortController()
  const crumbs = (async () => {
    for await (const _tick of ticks(20, null, { signal: stop.signal })) if (!stream.closed) stream.write('x')
  })().catch(() => {})
  assert.equal(await status, '4')
  await closed
  stop.abort()
  await crumbs
  await stillAnswers()
})

test('a connection on which nothing comes is closed', async (t) => {
  const { url, stillAnswers } = await scene(t)
  const { hostname, port } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'close')
  await stillAnswers()
})

test('a connection that speaks another protocol is closed', async (t) => {
  const { url, stillAnswers } = await scene(t)
  const { hostname, port } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  socket.on('error', () => {})
  socket.resume()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'close')
  await stillAnswers()
})

test('pings do not keep a session without calls open', async (t) => {
  const { open, stillAnswers } = await scene(t)
  const session = open()
  const closed = once(session, 'close')
  const pings = setInterval(() => {
    if (!session.closed && !session.destroyed) session.ping(() => {})
  }, 20)
  await closed
  clearInterval(pings)
  await stillAnswers()
})

test('one connection has a bounded number of concurrent calls', async (t) => {
  const { open } = await scene(t)
  const session = open()
  const [settings] = await once(session, 'remoteSettings')
  assert.equal(settings.maxConcurrentStreams, 100)
})

test('a client that goes on sending behind its answer is cut off', async (t) => {
  const { open, stillAnswers } = await scene(t)
  const stream = begin(open(), { ':path': '/envoy.service.auth.v3.Authorization/Other' })
  const sending = setInterval(() => {
    if (!stream.closed && stream.writable) stream.write(Buffer.alloc(16_384))
  }, 20)
  const closed = once(stream, 'close')
  assert.equal(await statusOf(stream), '12')
  await closed
  clearInterval(sending)
  await stillAnswers()
})

const NO_CALLS: Readonly<Record<string, readonly [head: object, body: Buffer, status: string]>> = {
  'a message that is too long': [{}, message(2 * 1024 * 1024), '8'],
  'two messages': [{}, Buffer.concat([message(0), message(0)]), '13'],
  'no message': [{}, Buffer.alloc(0), '13'],
  'half a message': [{}, message(100, 10), '13'],
  'a compressed message': [{ 'grpc-encoding': 'gzip' }, message(10, 10, 1), '12'],
  'a message that is not protobuf': [{}, Buffer.concat([message(3, 0), Buffer.from([0xff, 0xff, 0xff])]), '13'],
  'another method of the service': [{ ':path': '/envoy.service.auth.v3.Authorization/Allow' }, message(0), '12'],
  'another spelling of the method': [{ ':path': CHECK.toLowerCase() }, message(0), '12'],
  'another media type': [{ 'content-type': 'application/json' }, message(0), '13'],
  'another method of HTTP': [{ ':method': 'PUT' }, message(0), '13'],
}

for (const [what, [head, body, status]] of Object.entries(NO_CALLS))
  test(`${what} is no question, and no yes`, async (t) => {
    const { open, stillAnswers } = await scene(t)
    const stream = begin(open(), head)
    const answered = statusOf(stream)
    stream.end(body)
    assert.equal(await answered, status)
    await stillAnswers()
  })

for (const [protocol, path] of [
  ['argocd', '/application.ApplicationService/Sync'],
  ['argocd', '/api/v1/applications'],
  ['github', '/acme/pets.git/git-receive-pack'],
  ['github', '/repos/acme/pets/contents/openapi.yaml'],
  ['gitlab', '/api/graphql'],
  ['bitbucket', '/2.0/repositories/acme/pets/src'],
  ['kubernetes', '/apis/apps/v1/namespaces/shop/deployments'],
  ['npm', '/pets'],
  ['llm', '/v1/chat/completions'],
  ['mcp_registry', '/v0/publish'],
  ['mcp', '/'],
  ['mapped', '/x'],
] as const) {
  test(`${protocol}: ${path} by application/grpc is refused, and not by a fault`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    const map = [{ when: "request.body.a == 'b'", action: 'deny' }]
    const proxy = await startProxy({
      routes: [
        {
          name: 'it',
          match: { path: '/' },
          upstream: upstream.origin,
          protocol,
          ...(protocol === 'mapped' && { map }),
        },
      ],
    })
    t.after(async () => {
      await proxy.close()
      await upstream.close()
    })
    for (const body of ['{', '\0\0\0\0\x05hello', 'mutation { mergeRequestAccept { x } }']) {
      const answer = await fetch(proxy.url + path, {
        method: 'PUT',
        headers: { 'content-type': 'application/grpc' },
        body,
      })
      await answer.text()
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('grpc-status') ?? '', /^(?:[1-9]|1[0-6])$/)
      assert.notEqual(answer.headers.get('grpc-status'), '13', 'INTERNAL')
    }
    assert.doesNotMatch(proxy.log.join(''), /proxy.request_failed/)
    assert.deepEqual(
      upstream.requests.filter(({ method }) => method !== 'GET'),
      [],
    )
  })
}
