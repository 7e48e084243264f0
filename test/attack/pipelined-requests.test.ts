/**
 * Requests that follow another one on its connection, before that one is answered. They are executed in order, and no byte of a
 * body is read as a request. A switch behind an unanswered request ends its connection and nothing else.
 */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestGateway } from '../fakes/gateway.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { listening } from '../fakes/listening.ts'
import { openSocket } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'

interface Scene {
  readonly url: string
  /** Methods and paths that came to the upstream. */
  readonly seen: string[]
  /** Answers of `/slow`, which the test ends. */
  readonly slow: ServerResponse[]
}

async function scene(t: TestContext): Promise<Scene> {
  const seen: string[] = []
  const slow: ServerResponse[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    request.on('error', () => {})
    if (request.url === '/slow') slow.push(response)
    else request.resume().on('end', () => response.end('done'))
  })
  const upstream = await listening(t, server)
  const contract = { current: { file: petContract() } }
  const own = { upstream, protocol: 'mapped' }
  const proxy = await startProxy({
    config: { limits: { proxied_body: 1024 } },
    routes: [
      { ...own, name: 'pass', match: { path: '/' }, map: [{ action: 'pass' }] },
      { ...own, name: 'deny', match: { path: '/deny' }, map: [{ action: 'deny' }] },
      { ...own, name: 'read', match: { path: '/read' }, map: [{ when: "request.body.x == 'y'", action: 'deny' }] },
      { ...own, name: 'receipt', match: { path: '/pets' }, protocol: 'http', contract, receipts: { require: true } },
    ],
  })
  t.after(() => proxy.close())
  return { url: proxy.url, seen, slow }
}

interface Client {
  readonly write: (text: string) => void
  readonly received: () => string
  readonly isClosed: () => boolean
  readonly leave: () => void
}

function client(t: TestContext, url: string): Client {
  const socket = openSocket(url)
  let received = ''
  let isClosed = false
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => (isClosed = true))
  t.after(() => socket.destroy())
  return {
    write: (text) => void socket.write(text),
    received: () => received,
    isClosed: () => isClosed,
    leave: () => void socket.destroy(),
  }
}

const SWITCHES = {
  'an upgrade': 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'a tunnel': 'CONNECT b.example:80 HTTP/1.1\r\nHost: b.example:80\r\n\r\n',
}
const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
const QUICK = 'GET /quick HTTP/1.1\r\nHost: a\r\n\r\n'

for (const [what, text] of Object.entries(SWITCHES))
  for (const [where, before] of [
    ['behind an unanswered request', SLOW],
    ['behind two of them', SLOW + QUICK],
  ] as const)
    for (const isWhole of [true, false])
      test(`${what} ${where}, ${isWhole ? 'in one piece' : 'later'}`, async (t) => {
        const { url, seen, slow } = await scene(t)
        const one = client(t, url)
        one.write(isWhole ? before + text : before)
        if (!isWhole) {
          await until(() => slow.length === 1, 'the first request is under way')
          one.write(text)
        }
        await until(() => one.isClosed(), 'the connection ends')
        assert.equal(one.received(), '')
        assert.ok(!seen.some((path) => path.endsWith('/ws')))
        assert.equal((await fetch(`${url}/quick`)).status, 200, 'others are served')
      })

test('a switch behind an answered request is answered', async (t) => {
  const { url } = await scene(t)
  for (const text of Object.values(SWITCHES)) {
    const one = client(t, url)
    one.write(QUICK)
    await until(() => one.received().endsWith('done'), 'the first answer')
    one.write(text)
    await until(() => one.received().split('HTTP/1.1 ').length > 2, 'the second answer')
  }
})

test('requests of one connection come to the upstream in order', async (t) => {
  const { url, seen, slow } = await scene(t)
  const paths = Array.from({ length: 300 }, (_, index) => `/${index}`)
  const one = client(t, url)
  one.write(SLOW + paths.map((path) => `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`).join(''))
  await until(() => slow.length === 1, 'the first request is under way')
  await sleep(200)
  assert.deepEqual(seen, ['GET /slow'], 'the others wait')
  slow[0]?.end('done')
  await until(() => one.received().split('HTTP/1.1 200').length === paths.length + 2, 'all answers')
  assert.deepEqual(seen, ['GET /slow', ...paths.map((path) => `PUT ${path}`)])
})

test('a flood of requests that wait is taken in order, too', async (t) => {
  const { url, seen, slow } = await scene(t)
  const many = 5000
  const one = client(t, url)
  one.write(SLOW + 'GET /deny HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(many) + QUICK)
  await until(() => slow.length === 1, 'the first request is under way')
  slow[0]?.end('done')
  await until(() => one.received().split('HTTP/1.1 403').length === many + 1, 'all refusals', 60_000)
  await until(() => seen.length === 2, 'the last one', 60_000)
})

const ENDINGS: Readonly<Record<string, readonly [first: string, end: (one: Client) => void]>> = {
  'an expectation that is refused': [
    'POST /deny HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx',
    () => {},
  ],
  'a client that leaves': [SLOW, (one) => one.leave()],
}

for (const [what, [first, end]] of Object.entries(ENDINGS))
  test(`no request behind ${what} is executed`, async (t) => {
    const { url, seen, slow } = await scene(t)
    const one = client(t, url)
    one.write(first + QUICK + QUICK)
    if (first.includes('/slow')) await until(() => slow.length === 1, 'the first request is under way')
    end(one)
    slow[0]?.end('done')
    await until(() => one.isClosed(), 'the connection ends')
    await sleep(200)
    assert.ok(!seen.includes('GET /quick'), seen.join())
  })

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n'
const LONG = HIDDEN.repeat(100)
const SECOND = 'GET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const chunk = (text: string, extension = ''): string => `${text.length.toString(16)}${extension}\r\n${text}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked'

const FIRSTS = [
  'POST /quick',
  'POST /deny',
  'POST /read',
  'POST /pets',
  'POST //x',
  'TRACE /quick',
  'POST http://b.example/x',
  'POST /quick HTTP/1.1\r\nExpect: x',
  'POST /quick HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b',
]

const BODIES: Readonly<Record<string, readonly [fields: string, body: string]>> = {
  'of stated length': [`Content-Length: ${HIDDEN.length}`, HIDDEN],
  'over the limit': [`Content-Length: ${LONG.length}`, LONG],
  'in chunks': [CHUNKED, `${chunk(HIDDEN)}0\r\n\r\n`],
  'in chunks over the limit': [CHUNKED, `${chunk(LONG)}${chunk(HIDDEN)}0\r\n\r\n`],
  'in chunks with extensions': [CHUNKED, `${chunk(HIDDEN, ';a="b"')}0;x\r\n\r\n`],
  'in chunks with long extensions': [CHUNKED, `${chunk(HIDDEN, `;a=${'x'.repeat(20_000)}`)}0\r\n\r\n`],
  'with trailers': [CHUNKED, `${chunk(HIDDEN)}0\r\nX-A: 1\r\n\r\n`],
  'in a chunk of no size': [CHUNKED, `zz\r\n${HIDDEN}`],
  'in a later chunk of no size': [CHUNKED, `${chunk(LONG)}zz\r\n${HIDDEN}`],
  'that is awaited': [`Expect: 100-continue\r\nContent-Length: ${HIDDEN.length}`, HIDDEN],
  'in chunks that are awaited': [`Expect: 100-continue\r\n${CHUNKED}`, `${chunk(HIDDEN)}0\r\n\r\n`],
  'of which a part is missing': [`Content-Length: ${HIDDEN.length + SECOND.length + 1}`, HIDDEN],
}

for (const [what, [fields, body]] of Object.entries(BODIES))
  test(`no byte of a body ${what} is read as a request`, async (t) => {
    const { url, seen } = await scene(t)
    await Promise.all(
      FIRSTS.flatMap((line) => {
        const head = `${line.includes(' HTTP/') ? line.replace(' HTTP/1.1\r\n', ' HTTP/1.1\r\nHost: a\r\n') : `${line} HTTP/1.1\r\nHost: a`}\r\n${fields}\r\n\r\n`
        return [[head + body + SECOND], [head, body + SECOND], [head + body.slice(0, 20), body.slice(20) + SECOND]].map(
          async (pieces) => {
            const one = client(t, url)
            for (const piece of pieces) {
              one.write(piece)
              await sleep(30)
            }
            await sleep(200)
          },
        )
      }),
    )
    assert.deepEqual(
      seen.filter((path) => path.endsWith('/hidden')),
      [],
    )
    assert.equal((await fetch(`${url}/quick`)).status, 200)
  })

const UPGRADES: Readonly<Record<string, string>> = {
  'with a body': 'Upgrade: websocket\r\nContent-Length: 3\r\n\r\nabc',
  'with a body in chunks': `Upgrade: websocket\r\n${CHUNKED}\r\n\r\n${chunk('abc')}0\r\n\r\n`,
  'to HTTP/2': 'Upgrade: h2c\r\nContent-Length: 0\r\n\r\n',
  'to one of two': 'Upgrade: websocket, mine\r\nContent-Length: 0\r\n\r\n',
}

for (const [what, rest] of Object.entries(UPGRADES))
  for (const listener of ['proxy', 'api'] as const)
    test(`no body of a request behind an upgrade ${what} that is answered as a plain request is read as a request: ${listener}`, async (t) => {
      const gateway = listener === 'api' ? await startTestGateway(t) : null
      const { url, seen } = gateway === null ? await scene(t) : { url: gateway.addresses.api, seen: [] }
      const second = `POST /quick HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n`
      const one = client(t, url)
      one.write(`POST /deny HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${rest}${second}`)
      await sleep(100)
      one.write(HIDDEN)
      await until(() => one.isClosed(), 'the connection ends')
      assert.equal(one.received().split('HTTP/1.1 4').length, 2, one.received())
      assert.deepEqual(seen, [])
    })
