/** Informational answers: early hints and progress reach the client before the answer, and never take its place. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type InformationEvent } from 'node:http'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { petContract } from '../../fakes/http-upstream.ts'
import { listening, answeringBytes } from '../../fakes/listening.ts'
import { exchangeBytes } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, passingProxy } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'

async function upstreamAnswering(t: TestContext, bytes: string): Promise<ProxyUnderTest> {
  return passingProxy(t, await listening(t, createTcpServer(answeringBytes(bytes))))
}

const ANSWER = 'HTTP/1.1 200 OK\nContent-Length: 4\nConnection: close\n\ngood'
const HINTS = [
  'HTTP/1.1 103 Early Hints',
  'Link: </a.css>; rel=preload',
  'Link: </b.css>; rel=preload',
  'Preflight-Action: CONTINUE',
  'X-Correlation-ID: forged',
  'Connection: X-Hop',
  'X-Hop: y',
  'Content-Length: 5',
  '\n',
].join('\n')

interface Reported {
  readonly status: number
  readonly body: string
  readonly before: readonly InformationEvent[]
}

async function ask(url: string): Promise<Reported> {
  const before: InformationEvent[] = []
  const request = httpRequest(url)
  request.on('information', (info) => before.push(info))
  request.end()
  const [answer]: IncomingMessage[] = await once(request, 'response')
  assert.ok(answer !== undefined)
  return { status: answer.statusCode ?? 0, body: await text(answer), before }
}

test('early hints arrive before the answer, without what only the gateway or the connection says', async (t) => {
  const proxy = await upstreamAnswering(t, HINTS + ANSWER)
  const { status, body, before } = await ask(proxy.url)
  assert.deepEqual([status, body], [200, 'good'])
  assert.deepEqual(
    before.map(({ statusCode, rawHeaders }) => [statusCode, rawHeaders]),
    [[103, ['Link', '</a.css>; rel=preload', 'Link', '</b.css>; rel=preload']]],
  )
})

test('early hints arrive while the upstream still works on its answer', async (t) => {
  const answers: (() => void)[] = []
  const server = createServer((_request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    answers.push(() => response.end('good'))
  })
  const proxy = await passingProxy(t, await listening(t, server))
  const request = httpRequest(proxy.url)
  request.end()
  const [info]: InformationEvent[] = await once(request, 'information')
  assert.equal(info?.headers['link'], '</a.css>; rel=preload')
  for (const answer of answers) answer()
  const [response]: IncomingMessage[] = await once(request, 'response')
  assert.ok(response !== undefined)
  assert.equal(await text(response), 'good')
})

test('over HTTP/2 they come as heads of their own', async (t) => {
  const proxy = await upstreamAnswering(t, HINTS + ANSWER)
  const session = connect(proxy.url)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  const before: IncomingHttpHeaders[] = []
  stream.on('headers', (headers) => before.push(headers))
  const [head]: IncomingHttpHeaders[] = await once(stream, 'response')
  assert.equal(head?.[':status'], 200)
  assert.equal(await text(stream), 'good')
  assert.deepEqual(
    before.map((headers) => Object.entries(headers)),
    [
      [
        [':status', 103],
        ['link', '</a.css>; rel=preload, </b.css>; rel=preload'],
      ],
    ],
  )
})

test('a client of HTTP/1.0 gets the answer alone', async (t) => {
  const proxy = await upstreamAnswering(t, HINTS + ANSWER)
  const answer = await exchangeBytes(proxy.url, 'GET / HTTP/1.0\r\nHost: a\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  assert.ok(answer.endsWith('\r\n\r\ngood'))
})

test('an upstream that says more of them than anybody needs fills no client with them', async (t) => {
  const proxy = await upstreamAnswering(t, 'HTTP/1.1 102 Processing\n\n'.repeat(500) + ANSWER)
  const { status, before } = await ask(proxy.url)
  assert.equal(status, 200)
  assert.equal(before.length, 20)
})

test('they are no answer: an upstream that says nothing else has not answered', async (t) => {
  const proxy = await upstreamAnswering(t, HINTS)
  const { status, before } = await ask(proxy.url)
  assert.deepEqual([status, before.length], [502, 1])
})

test('a switch of protocols that nobody asked for is not an informational answer', async (t) => {
  const proxy = await upstreamAnswering(
    t,
    `HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: mine\n\n${ANSWER}`,
  )
  const { status, before } = await ask(proxy.url)
  assert.deepEqual([status, before.length], [502, 0])
})

test('the outcome of a monitored call is that of its final response', async (t) => {
  const upstream = await listening(t, createTcpServer(answeringBytes(HINTS + ANSWER.replace('200 OK', '503 Away'))))
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream, protocol: 'http', contract }],
    decide: () => 'WARN',
  })
  t.after(() => proxy.close())
  const { status, before } = await ask(`${proxy.url}/pets`)
  assert.deepEqual([status, before.length], [503, 1])
  await until(() => proxy.events.some(({ type }) => type === 'preflight.monitoring.closed'), 'the window is closed')
  assert.deepEqual(
    proxy.events.filter(({ data }) => data['outcome'] !== undefined).map(({ data }) => data['outcome']),
    ['FAILED', 'FAILED'],
  )
})
