/** Answers that are sloppy or hostile, on their way to a client of HTTP/2: it gets what it can carry, and the gateway lives on. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { listening, answeringBytes } from '../../fakes/listening.ts'
import { exchangeBytes, statusOf } from '../../fakes/raw-http.ts'
import { passingProxy } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'

interface Answered {
  readonly status: number | 'reset'
  /** Name, value, name, value … but for those of every answer. */
  readonly fields: readonly string[]
  readonly trailers: readonly string[]
  readonly body: string
}

const OF_EVERY_ANSWER: ReadonlySet<string> = new Set([':status', 'date', 'x-correlation-id', 'content-length'])

function rawOf(values: readonly unknown[]): readonly string[] {
  const raw = values.at(-1)
  return Array.isArray(raw) ? raw.map(String) : []
}

async function ask(t: TestContext, answer: string): Promise<Answered> {
  const proxy = await passingProxy(t, await listening(t, createServer(answeringBytes(answer))))
  const session = connect(proxy.url)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  let [status, fields, trailers, body]: [number | 'reset', readonly string[], readonly string[], string] = [
    'reset',
    [],
    [],
    '',
  ]
  stream.on('response', (head, ...more: unknown[]) => {
    status = head[':status'] ?? 'reset'
    fields = rawOf(more)
  })
  stream.on('trailers', (_trailers, ...more: unknown[]) => (trailers = rawOf(more)))
  stream.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')))
  stream.on('error', () => (status = 'reset'))
  await once(stream, 'close').catch(() => [])
  const kept = fields.filter((_, index) => !OF_EVERY_ANSWER.has(fields[index - (index % 2)] ?? ''))
  await until(() => proxy.listener.openCalls() === 0, 'the call is over')
  return { status, fields: kept, trailers, body }
}

const WITH_BODY = 'Content-Length: 4\n\ngood'
const CHUNKS = 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\ngood\n0\n'

for (const [what, answer, status, fields, trailers = []] of [
  ['fields of a connection', `HTTP/1.1 200 OK\nTE: gzip\nHTTP2-Settings: x\nUpgrade: h2c\n${WITH_BODY}`, 200, []],
  [
    'fields twice that should stand once',
    `HTTP/1.1 200 OK\nContent-Type: a/b\nETag: "1"\nContent-Type: c/d\nETag: "2"\n${WITH_BODY}`,
    200,
    ['content-type', 'a/b', 'content-type', 'c/d', 'etag', '"1"', 'etag', '"2"'],
  ],
  ['an empty field, and one beyond ASCII', `HTTP/1.1 200 OK\nX:\nY: \xe9\n${WITH_BODY}`, 200, ['x', '', 'y', '\xe9']],
  ['a status that nobody knows', `HTTP/1.1 599 Odd\n${WITH_BODY}`, 599, []],
  ['a status that there is not', `HTTP/1.1 666 Odd\n${WITH_BODY}`, 'reset', []],
  ['a length and no content', 'HTTP/1.1 204 None\nContent-Length: 4\n\n', 204, []],
  ['trailers', `${CHUNKS}X-Sum: 42\nx-sum: 43\n\n`, 200, [], ['x-sum', '42, 43']],
  ['trailers of a connection', `${CHUNKS}Connection: close\nTE: gzip\nX-Sum: 42\n\n`, 200, [], ['x-sum', '42']],
  ['trailers that only the gateway says', `${CHUNKS}Preflight-Action: STOP\nX-Correlation-ID: x\n\n`, 200, []],
  [
    'trailers that change how the body is read',
    `${CHUNKS}Content-Type: a/b\nContent-Encoding: gzip\nContent-Range: bytes 0-1/4\nX-Sum: 42\n\n`,
    200,
    [],
    ['x-sum', '42'],
  ],
  [
    'early hints with fields of a connection',
    `HTTP/1.1 103 Hm\nTE: gzip\nETag: a\nETag: b\n\nHTTP/1.1 200 OK\n${WITH_BODY}`,
    200,
    [],
  ],
] as const) {
  test(`an answer with ${what}: ${status}`, async (t) => {
    const answered = await ask(t, answer)
    assert.deepEqual([answered.status, answered.fields, answered.trailers], [status, fields, trailers])
    assert.equal(answered.body, status === 204 || status === 'reset' ? '' : 'good')
  })
}

test('trailers of a request over HTTP/1.1 are not forwarded to an HTTP/2 upstream', async (t) => {
  const reported: string[] = []
  const server = createHttp2Server()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('trailers', (trailers) => reported.push(...Object.keys(trailers)))
    stream.on('end', () => stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { endStream: true }))
    stream.resume()
  })
  const proxy = await passingProxy(t, await listening(t, server))
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n'
  const trailers = 'Connection: close\r\nTE: gzip\r\nHTTP2-Settings: x\r\nPreflight-Receipt: x\r\nX-Sum: 42\r\n'
  const bytes = `${head}Connection: close\r\n\r\n4\r\ngood\r\n0\r\n${trailers}\r\n`
  assert.equal(statusOf(await exchangeBytes(proxy.url, bytes)), 200)
  assert.deepEqual(reported, [])
})
