/** Every HTTP listener of a gateway: `Expect: 100-continue`, slow heads and bodies, requests that are not taken. One table, all listeners. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createServer, get, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { watchUnusedConnections } from '../../../gateway/listen/unused-connections.ts'

const run = promisify(execFile)
const MIB = 1024 * 1024

interface Target {
  readonly name: string
  readonly listener: 'proxy' | 'api' | 'admin'
  readonly path: string
  /** Status for a body of JSON over 1 MiB. */
  readonly status: number
}

/** One path for each way in which a listener takes bodies. */
const TARGETS: readonly Target[] = [
  { name: 'preflight', listener: 'api', path: '/api/v1/preflight', status: 400 },
  { name: 'diff', listener: 'api', path: '/api/diff', status: 400 },
  { name: 'verify', listener: 'api', path: '/api/v1/verify-receipt', status: 400 },
  { name: 'MCP', listener: 'api', path: '/mcp', status: 200 },
  { name: 'sign-up', listener: 'api', path: '/api/signup', status: 400 },
  { name: 'ext_authz', listener: 'api', path: '/authz/tools', status: 200 },
  { name: 'unknown path', listener: 'api', path: '/nothing', status: 404 },
  { name: 'admin', listener: 'admin', path: '/readyz', status: 405 },
  { name: 'streaming route', listener: 'proxy', path: '/stream', status: 200 },
  { name: 'route whose bodies are read', listener: 'proxy', path: '/tools', status: 200 },
]

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(MIB + 1) } }

async function start(t: TestContext, limits: object = {}): Promise<TestGateway> {
  const upstream = await startHttpUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'),
  )
  t.after(() => upstream.close())
  const gateway = await startTestGateway(t, {
    limits,
    routes: [
      {
        name: 'stream',
        match: { path: '/stream' },
        upstream: upstream.origin,
        protocol: 'mapped',
        map: [{ when: "request.method == 'PURGE'", action: 'deny' }],
        otherwise: 'pass',
      },
      { name: 'tools', match: { path: '/tools' }, upstream: upstream.origin, protocol: 'mcp' },
    ],
  })
  return gateway
}

function url(gateway: TestGateway, { listener, path }: Target): string {
  return gateway.addresses[listener] + path
}

test('curl, which waits for 100 (Continue) with bodies over 1 MiB, is answered immediately on every listener', async (t) => {
  const gateway = await start(t)
  const directory = mkdtempSync(join(tmpdir(), 'preflight-expect-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const body = join(directory, 'body.json')
  writeFileSync(body, JSON.stringify(MESSAGE))
  for (const target of TARGETS) {
    const { stdout } = await run('curl', [
      '--silent',
      '--show-error',
      '--noproxy',
      '*',
      // Waits for the invitation far longer than the test may take, so only an invitation or an answer ends it.
      '--expect100-timeout',
      '600',
      '--header',
      'Expect: 100-continue',
      '--header',
      'Content-Type: application/json',
      '--header',
      'Accept: application/json, text/event-stream',
      '--header',
      `Authorization: Bearer ${TEST_KEY}`,
      '--data-binary',
      `@${body}`,
      '--output',
      '/dev/null',
      '--write-out',
      '%{http_code}',
      url(gateway, target),
    ])
    assert.equal(Number(stdout), target.status, target.name)
  }
})

const PYTHON = `
import http.client, json, sys
host, port, path, key = sys.argv[1:]
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"text": "x" * 1100000}}).encode()
c = http.client.HTTPConnection(host, int(port), timeout=120)
c.request("POST", path, body, {"Expect": "100-continue", "Content-Type": "application/json", "Authorization": "Bearer " + key, "Accept": "application/json, text/event-stream"})
print(c.getresponse().status)
`

test('Python, which sends the body without waiting, is answered on every listener', async (t) => {
  const gateway = await start(t)
  for (const target of TARGETS) {
    const { hostname, port } = new URL(url(gateway, target))
    const { stdout } = await run('python3', ['-c', PYTHON, hostname, port, target.path, TEST_KEY])
    assert.equal(Number(stdout.trim()), target.status, target.name)
  }
})

test('a client that sends nothing before 100 (Continue), as .NET does, is answered on every listener', async (t) => {
  const gateway = await start(t)
  const body = JSON.stringify(MESSAGE)
  for (const target of TARGETS) {
    const socket = openSocket(url(gateway, target))
    // A listener that answers before the body is whole may close while it is sent.
    socket.on('error', () => socket.destroy())
    const head = [
      `POST ${target.path} HTTP/1.1`,
      `Host: ${new URL(gateway.addresses[target.listener]).host}`,
      'Expect: 100-Continue',
      'Content-Type: application/json; charset=utf-8',
      'Accept: application/json, text/event-stream',
      `Authorization: Bearer ${TEST_KEY}`,
      `Content-Length: ${body.length}`,
      'Connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [first] = await once(socket, 'data')
    const text = String(first)
    const answer = text.startsWith('HTTP/1.1 100 ') ? await rest(socket, body, text) : text
    assert.equal(statusOf(answer), target.status, `${target.name}: ${answer.slice(0, 300)}`)
    socket.destroy()
  }
})

async function rest(socket: ReturnType<typeof openSocket>, body: string, first: string): Promise<string> {
  let received = first.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '')
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  socket.write(body)
  await closed(socket)
  return received
}

/** A listener that answers before the body is whole may close while it is sent: that is no failure here. */
function closed(socket: ReturnType<typeof openSocket>): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

const LISTENERS = ['proxy', 'api', 'admin'] as const

test('any other expectation, a missing Host and a second one are refused in JSON on every listener', async (t) => {
  const gateway = await start(t)
  const heads = {
    'another expectation': 'Host: a\r\nExpect: 200-ok',
    'two expectations': 'Host: a\r\nExpect: 100-continue, other',
    'no Host': 'Accept: */*',
    'two Hosts': 'Host: a\r\nHost: b',
    'two credentials': 'Host: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b',
    'two origins': 'Host: a\r\nOrigin: http://a\r\nOrigin: http://b',
  }
  for (const listener of LISTENERS)
    for (const [name, head] of Object.entries(heads))
      for (const path of ['/stream', '/livez', '/authz/stream', '/.well-known/jwks.json']) {
        const bytes = `GET ${path} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`
        const answer = await exchangeBytes(gateway.addresses[listener], bytes)
        assert.equal(statusOf(answer), 400, `${listener} ${path}: ${name}: ${answer}`)
        assert.equal(errorOf(answer), 'INVALID_INPUT', `${listener} ${path}: ${name}`)
      }
})

/** Framings that HTTP/1.0 does not have, and versions that have another form; a second request stands behind each. */
const OTHER_VERSIONS: Readonly<Record<string, string>> = {
  'HTTP/1.0 with chunks': 'POST PATH HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.0 with chunks on a connection that is kept':
    'POST PATH HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.0 with a coding and a length':
    'POST PATH HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n',
  'HTTP/0.9 in the form of HTTP/1.1': 'GET PATH HTTP/0.9\r\nHost: a\r\n\r\n',
  'HTTP/2.0 in the form of HTTP/1.1': 'GET PATH HTTP/2.0\r\nHost: a\r\n\r\n',
}

test('other versions, and their framings, are refused on every listener, and nothing behind them is read', async (t) => {
  const gateway = await start(t)
  for (const listener of LISTENERS)
    for (const [name, bytes] of Object.entries(OTHER_VERSIONS))
      for (const path of ['/stream', '/livez', '/authz/stream', '/.well-known/jwks.json']) {
        const behind = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
        const answer = await exchangeBytes(gateway.addresses[listener], bytes.replace('PATH', path) + behind)
        const what = `${listener} ${path}: ${name}: ${answer}`
        assert.equal(statusOf(answer), 400, what)
        assert.equal(errorOf(answer), 'INVALID_INPUT', what)
        assert.equal(answer.split(/HTTP\/1\.[01] \d/).length, 2, what)
      }
})

/** `error` of a JSON answer whose body and header name the same correlation id. */
function errorOf(answer: string): unknown {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  const parsed: unknown = JSON.parse(body)
  assert.ok(typeof parsed === 'object' && parsed !== null && 'error' in parsed && 'correlation_id' in parsed)
  assert.equal(/x-correlation-id: (\S+)/i.exec(head)?.[1], parsed.correlation_id)
  return parsed.error
}

test('heads that do not end are cut off on every listener, whatever they have sent', async (t) => {
  const gateway = await start(t, { head_timeout: 0.3 })
  const beginnings = {
    nothing: [''],
    'a method': ['GE'],
    'a request line': ['GET / HTTP/1.1\r\n'],
    'fields without end': ['GET / HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n'],
  }
  for (const listener of LISTENERS)
    for (const [name, [beginning = '', drip = '']] of Object.entries(beginnings)) {
      const socket = openSocket(gateway.addresses[listener])
      socket.on('error', () => socket.destroy())
      socket.resume()
      socket.write(beginning)
      const dripping = setInterval(() => void (drip !== '' && socket.writable && socket.write(drip)), 20)
      await closed(socket)
      clearInterval(dripping)
      assert.ok(socket.destroyed, `${listener}: ${name}`)
    }
})

test('a keep-alive connection is cut off in its second head too', async (t) => {
  const gateway = await start(t, { head_timeout: 0.3 })
  for (const [listener, path] of [
    ['api', '/.well-known/jwks.json'],
    ['admin', '/livez'],
    ['proxy', '/stream'],
  ] as const) {
    const socket = openSocket(gateway.addresses[listener])
    socket.on('error', () => socket.destroy())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await once(socket, 'data')
    socket.resume()
    const dripping = setInterval(() => socket.writable && socket.write('G'), 20)
    await closed(socket)
    clearInterval(dripping)
  }
})

const SLOW: readonly (Pick<Target, 'listener' | 'path'> & { readonly authorized: boolean })[] = [
  { listener: 'api', path: '/api/v1/preflight', authorized: true },
  { listener: 'api', path: '/api/v1/verify-receipt', authorized: false },
  { listener: 'api', path: '/api/signup', authorized: false },
  { listener: 'api', path: '/mcp', authorized: false },
  { listener: 'api', path: '/authz/tools', authorized: false },
  { listener: 'proxy', path: '/tools', authorized: false },
]

test('a body that must be read and comes drop by drop is refused, on public endpoints too', async (t) => {
  const gateway = await start(t, { body_timeout: 0.5 })
  for (const { listener, path, authorized } of SLOW) {
    const socket = openSocket(gateway.addresses[listener])
    socket.on('error', () => socket.destroy())
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    const key = authorized ? `Authorization: Bearer ${TEST_KEY}\r\n` : ''
    const type = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream'
    const { host } = new URL(gateway.addresses[listener])
    socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${key}${type}\r\nContent-Length: 100000\r\n\r\n{"a":"`)
    const dripping = setInterval(() => socket.writable && socket.write('x'), 20)
    await closed(socket)
    clearInterval(dripping)
    assert.equal(statusOf(received), 408, `${path}: ${received}`)
    assert.equal(errorOf(received), 'REQUEST_TIMEOUT', path)
  }
})

test('a draining server breaks off connections without a request and lets a request under way finish', async () => {
  let waiting: ServerResponse | null = null
  const server = createServer((_request, response) => {
    waiting = response
  })
  const unused = watchUnusedConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')

  const idle = connect(address.port, '127.0.0.1')
  await once(server, 'connection')
  const request = get({ port: address.port, host: '127.0.0.1' })
  const answered = once(request, 'response')
  await once(server, 'request')

  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  unused.close()
  await once(idle, 'close')
  assert.ok(waiting !== null, 'the request is still under way')
  answer(waiting)
  const [response] = await answered
  assert.equal(await text(response), 'done')
  await closed
})

function answer(response: ServerResponse): void {
  response.writeHead(200, { connection: 'close' }).end('done')
}
