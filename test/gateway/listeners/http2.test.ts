/** HTTP/2 on intercepted connections: many requests side by side on one connection, each judged as any other. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { connect, constants, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { testAuthority } from '../../fakes/certificates.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { openConnect, startHttps, startTls, type HttpsUpstream } from '../../fakes/through-proxy.ts'
import { until } from '../../fakes/until.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpsUpstream
  readonly session: ClientHttp2Session
  readonly authority: string
}

const good: RequestListener = (_request, response) => void response.end('good')

async function scene(t: TestContext, answer = good, options: Partial<ProxyOptions> = {}): Promise<Scene> {
  const trusted = await testAuthority()
  const upstream = await startHttps(trusted, 'localhost', answer)
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
  }
  const proxy = await startProxy({ routes: [route], config: { egress: { allow: ['127.0.0.0/8', '::1'] } }, ...options })
  const authority = `localhost:${upstream.port}`
  const { socket } = await openConnect(proxy.url, authority)
  const secure = await startTls(socket, {
    servername: 'localhost',
    ca: await proxy.authorities.bundle(),
    ALPNProtocols: ['h2'],
  })
  assert.equal(secure.alpnProtocol, 'h2')
  const session = connect(`https://${authority}`, { createConnection: () => secure })
  session.on('error', () => session.destroy())
  t.after(async () => {
    session.destroy()
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream, session, authority }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly trailers: Readonly<Record<string, unknown>>
}

async function ask({ session }: Scene, headers: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined })
  let trailers: Readonly<Record<string, unknown>> = {}
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  const head = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    stream.on('response', resolve).on('error', reject)
  })
  if (body !== undefined) stream.end(body)
  const fields = await head
  return { status: Number(fields[':status']), headers: fields, body: await text(stream), trailers }
}

test('a call is judged, forwarded byte for byte, and answered with all of its fields', async (t) => {
  const place = await scene(t, (_request, response) => {
    response.writeHead(
      201,
      [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['Trailer', 'X-Sum'],
      ].flat(),
    )
    response.write('made')
    response.addTrailers({ 'X-Sum': '4' })
    response.end()
  })
  const answer = await ask(place, { ':path': '/v1/pets?q=%2F..', 'x-own': 'yes' })
  assert.deepEqual([answer.status, answer.body], [201, 'made'])
  assert.equal(answer.headers['preflight-action'], 'CONTINUE')
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
  assert.equal(answer.trailers['x-sum'], '4')
  const [seen] = place.upstream.requests
  assert.equal(seen?.url, '/v1/pets?q=%2F..')
  assert.equal(seen?.headers['host'], place.authority)
  assert.equal(seen?.headers['x-own'], 'yes')
  assert.equal(seen?.headers['preflight-receipt'], 'header.dec_1.signature')
})

test('many streams of one connection are many calls', async (t) => {
  const place = await scene(t)
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(place, { ':path': '/v1/pets' })))
  assert.ok(answers.every(({ status, body }) => status === 200 && body === 'good'))
  assert.equal(place.proxy.interceptions.length, 50)
})

for (const method of ['POST', 'GET', 'DELETE']) {
  test(`a body of ${method} without a length stays the body of that request`, async (t) => {
    const bodies: string[] = []
    const place = await scene(t, (request, response) => {
      void text(request).then((body) => {
        bodies.push(body)
        return response.end('good')
      })
    })
    const smuggled = 'GET /admin HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const answer = await ask(place, { ':path': '/v1/pets', ':method': method }, smuggled)
    assert.equal(answer.status, 200)
    assert.deepEqual(bodies, [smuggled])
    assert.equal(place.upstream.requests.length, 1)
  })
}

test('answers without a body end with their head', async (t) => {
  const place = await scene(t, ({ method }, response) => {
    response.writeHead(method === 'HEAD' ? 200 : 204, method === 'HEAD' ? { 'content-length': '1234' } : {}).end()
  })
  const head = await ask(place, { ':path': '/v1/pets', ':method': 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '1234', ''])
  const none = await ask(place, { ':path': '/v1/pets', ':method': 'DELETE' })
  assert.deepEqual([none.status, none.body], [204, ''])
})

test('a client that expects 100 (Continue) gets it and sends its body', async (t) => {
  const place = await scene(t, (request, response) => {
    void text(request).then((body) => response.end(`got ${body}`))
  })
  const stream = place.session.request({ ':path': '/v1/pets', ':method': 'POST', expect: '100-continue' })
  stream.on('continue', () => stream.end('hello'))
  assert.equal(await text(stream), 'got hello')
})

test('a large body and a large response are forwarded whole, concurrently in both directions', async (t) => {
  const place = await scene(t, (request, response) => void request.pipe(response))
  const sent = 'x'.repeat(3_000_000)
  const { body } = await ask(place, { ':path': '/v1/pets', ':method': 'POST' }, sent)
  assert.equal(body.length, sent.length)
})

test('a stopped call and a wrong host are refused on their stream, and the connection goes on', async (t) => {
  const place = await scene(t, good, { decide: () => 'BLOCK' })
  assert.equal((await ask(place, { ':path': '/v1/pets' })).status, 403)
  assert.equal((await ask(place, { ':path': '/v1/pets', ':authority': 'other.example' })).status, 421)
  assert.equal((await ask(place, { ':path': '/v1/../admin' })).status, 400)
  await assert.rejects(ask(place, { ':path': '/v1/pets', ':authority': place.authority, host: 'other.example' }), {
    code: 'ERR_HTTP2_STREAM_ERROR',
  })
  assert.equal((await ask(place, { ':path': '/v1/pets' })).status, 403)
  assert.equal(place.upstream.requests.length, 0)
})

test('a stream that its client resets is broken off at the upstream', async (t) => {
  const place = await scene(t, () => {})
  const stream = place.session.request({ ':path': '/v1/pets' })
  stream.on('error', () => {})
  await until(() => place.upstream.requests.length === 1, 'the call is under way')
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => place.proxy.listener.openCalls() === 0, 'it is over')
  assert.match(await place.proxy.metrics.text(), /preflight_client_aborts_total\{route="pets"\} 1/)
})

test('an answer streams as it comes, and a gateway that stops lets it finish', async (t) => {
  const { promise: wanted, resolve: finish } = Promise.withResolvers<void>()
  const place = await scene(t, (_request, response) => {
    response.write('first ')
    void wanted.then(() => response.end('last'))
  })
  const stream = place.session.request({ ':path': '/v1/pets' })
  const first = await new Promise<string>((resolve) => stream.once('data', (bytes) => resolve(String(bytes))))
  assert.equal(first, 'first ')
  const closed = place.proxy.listener.close(10_000)
  finish()
  assert.equal(await text(stream), 'last')
  await closed
})
