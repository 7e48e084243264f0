/** Forward proxy: requests in absolute form are judged by the routes that name their host, pass, or are denied. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'

const LOOPBACK = ['127.0.0.0/8', '::1']

interface Scene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
  /** `HOST:PORT` of the upstream under a name. */
  readonly at: (host: string) => string
}

async function scene(t: TestContext, egress: object, options: Partial<ProxyOptions> = {}): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => void response.end('good'))
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
  }
  const proxy = await startProxy({ routes: [route], ...options, config: { egress, ...options.config } })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const { port } = new URL(upstream.origin)
  return { upstream, proxy, at: (host) => `${host}:${port}` }
}

function get(proxy: ProxyUnderTest, address: string, host: string, fields = ''): Promise<string> {
  return exchangeBytes(proxy.url, requestText(`GET http://${address} HTTP/1.1\nHost: ${host}${fields}`))
}

test('a call to a host that a route names is judged, and goes to that host byte for byte', async (t) => {
  const { proxy, upstream, at } = await scene(t, { allow: LOOPBACK })
  const host = at('localhost')
  const answer = await get(
    proxy,
    `${host}/v1/pets/a%20b?q=%2F..`,
    host,
    '\nX-Forwarded-For: 10.0.0.9\nProxy-Connection: x',
  )
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /Preflight-Action: CONTINUE/)
  const [seen] = upstream.requests
  assert.equal(seen?.url, '/v1/pets/a%20b?q=%2F..')
  assert.equal(seen?.headers.host, host)
  assert.equal(seen?.headers['preflight-receipt'], 'header.dec_1.signature')
  assert.equal(seen?.headers['x-forwarded-for'], '10.0.0.9', 'strangers are not told who called')
  assert.equal(seen?.headers['x-forwarded-host'], undefined)
  assert.equal(seen?.headers['proxy-connection'], undefined)
  assert.equal(proxy.interceptions[0]?.route, 'pets')
})

test('a call that its contract stops does not reach the host', async (t) => {
  const { proxy, upstream, at } = await scene(t, { allow: LOOPBACK }, { decide: () => 'BLOCK' })
  const host = at('localhost')
  assert.equal(statusOf(await get(proxy, `${host}/v1/pets`, host)), 403)
  assert.equal(upstream.requests.length, 0)
})

test('other paths of the host, and other hosts, go through unjudged where egress allows them', async (t) => {
  const { proxy, upstream, at } = await scene(t, { allow: ['localhost', ...LOOPBACK] })
  for (const host of [at('localhost'), at('127.0.0.1')]) {
    const answer = await get(proxy, `${host}/other`, host, '\nPreflight-Receipt: forged\nX-Correlation-ID: own')
    assert.equal(statusOf(answer), 200)
    assert.doesNotMatch(answer, /Preflight-Action/)
  }
  assert.equal(upstream.requests[0]?.headers['preflight-receipt'], undefined)
  assert.equal(proxy.flow.asked.length, 0)
  assert.match(await proxy.metrics.text(), /preflight_calls_total\{route="egress",outcome="passed"\} 2/)
})

test('a host that nothing names is denied, with what to add, in the log, the metrics and the ledger', async (t) => {
  const { proxy, upstream } = await scene(t, {})
  const answer = await get(proxy, 'other.example/secret?token=1', 'other.example')
  assert.equal(statusOf(answer), 403)
  assert.match(answer, /"error":"EGRESS_DENIED"/)
  assert.match(answer, /Add \\"other\.example:80\\" to egress\.allow/)
  assert.equal(upstream.requests.length, 0)
  const [row] = proxy.interceptions
  assert.deepEqual([row?.route, row?.action, row?.executionAction], ['egress', 'GET other.example:80', 'STOP'])
  assert.match(
    await proxy.metrics.text(),
    /preflight_egress_denials_total\{traffic_path="forward",reason="not_allowed"\} 1/,
  )
  assert.doesNotMatch(proxy.log.join(''), /secret/)
})

test('an allowed name at an address inside is denied when it is connected to', async (t) => {
  const { proxy, upstream, at } = await scene(t, { allow: ['localhost'] })
  for (const path of ['/v1/pets', '/other']) {
    const answer = await get(proxy, `${at('localhost')}${path}`, at('localhost'))
    assert.equal(statusOf(answer), 403)
    assert.match(answer, /EGRESS_DENIED.*loopback address/)
  }
  assert.equal(upstream.requests.length, 0)
  assert.ok(
    proxy.interceptions.some(
      ({ action, executionAction }) => action.startsWith('GET localhost') && executionAction === 'STOP',
    ),
  )
})

test('the gateway is not a way to itself', async (t) => {
  const { proxy } = await scene(t, { allow: LOOPBACK })
  const own = new URL(proxy.url).host
  const answer = await get(proxy, `${own}/v1/pets`, own)
  assert.equal(statusOf(answer), 403)
  assert.match(answer, /this gateway itself/)
})

for (const [what, head] of [
  ['another Host', 'GET http://localhost/v1/pets HTTP/1.1\nHost: other.example'],
  ['another port in Host', 'GET http://localhost/v1/pets HTTP/1.1\nHost: localhost:81'],
  ['https', 'GET https://localhost/v1/pets HTTP/1.1\nHost: localhost'],
  ['another scheme', 'GET ftp://localhost/v1/pets HTTP/1.1\nHost: localhost'],
  ['a user in the address', 'GET http://a@localhost/v1/pets HTTP/1.1\nHost: localhost'],
  ['an odd spelling of an address', 'GET http://127.1/v1/pets HTTP/1.1\nHost: 127.1'],
  ['a dot segment', 'GET http://localhost/v1/../admin HTTP/1.1\nHost: localhost'],
  ['a fragment', 'GET http://localhost/v1/pets#x HTTP/1.1\nHost: localhost'],
  ['no host', 'GET http:///v1/pets HTTP/1.1\nHost: localhost'],
] as const) {
  test(`${what} in an absolute target is refused with 400`, async (t) => {
    const { proxy, upstream } = await scene(t, { default: 'allow', allow: LOOPBACK })
    const answer = await exchangeBytes(proxy.url, requestText(head))
    assert.equal(statusOf(answer), 400)
    assert.equal(upstream.requests.length, 0)
  })
}

test('a route without an upstream takes no call that came to the gateway as if it were the server', async (t) => {
  const { proxy, at } = await scene(t, { allow: LOOPBACK })
  const answer = await exchangeBytes(proxy.url, requestText(`GET /v1/pets HTTP/1.1\nHost: ${at('localhost')}`))
  assert.equal(statusOf(answer), 404)
})

test('*.SUFFIX names all hosts below it, an exact host is closer, and an upstream is the operator’s word', async (t) => {
  const elsewhere = await startHttpUpstream((_request, response) => void response.end('elsewhere'))
  t.after(() => elsewhere.close())
  const contract = { current: { file: petContract() } }
  const { proxy } = await scene(
    t,
    {},
    {
      routes: [
        {
          name: 'wide',
          match: { host: '*.example' },
          upstream: `${elsewhere.origin}/wide`,
          protocol: 'http',
          contract,
        },
        {
          name: 'exact',
          match: { host: 'a.example' },
          upstream: `${elsewhere.origin}/exact`,
          protocol: 'http',
          contract,
        },
      ],
    },
  )
  await get(proxy, 'b.a.example/pets', 'b.a.example')
  await get(proxy, 'A.example/pets', 'a.example')
  assert.deepEqual(
    elsewhere.requests.map(({ url }) => url),
    ['/wide/pets', '/exact/pets'],
  )
  assert.equal(statusOf(await get(proxy, 'example/pets', 'example')), 403)
})
