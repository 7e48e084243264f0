/** A fault at any step of the decision path: the call is not forwarded, whatever failed. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { storeUnavailable } from '../../gateway/store/store.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../fakes/proxy-under-test.ts'
import { at } from '../json.ts'

async function scene(
  t: TestContext,
  options: Partial<ProxyOptions>,
): Promise<{ readonly upstream: HttpUpstream; readonly proxy: ProxyUnderTest }> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const route = { name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }
  const proxy = await startProxy({ routes: [route], ...options })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

const storeDown = (): never => {
  throw new GatewayError('STORE_UNAVAILABLE')
}

for (const [what, options, code] of [
  [
    'the flow cannot sign',
    {
      decide: () => {
        throw new GatewayError('SIGNER_UNAVAILABLE')
      },
    },
    'SIGNER_UNAVAILABLE',
  ],
  [
    'the flow is overloaded',
    {
      decide: () => {
        throw new GatewayError('OVERLOADED')
      },
    },
    'OVERLOADED',
  ],
  [
    'the flow breaks an invariant',
    {
      decide: () => {
        throw new TypeError('unforeseen')
      },
    },
    'PREFLIGHT_UNDECIDED',
  ],
  ['the decision cannot be made durable', { decide: storeDown }, 'STORE_UNAVAILABLE'],
  [
    'the baseline cannot be read',
    { storeFaults: { baselines: { byRoute: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) } } },
    'STORE_UNAVAILABLE',
  ],
  [
    'the baseline cannot be pinned',
    { storeFaults: { baselines: { set: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) } } },
    'STORE_UNAVAILABLE',
  ],
  [
    'the call cannot be recorded',
    { storeFaults: { calls: { record: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) } } },
    'STORE_UNAVAILABLE',
  ],
] as const satisfies readonly (readonly [string, Partial<ProxyOptions>, string])[]) {
  test(`when ${what}, the call is answered 503 ${code} and not forwarded`, async (t) => {
    const { upstream, proxy } = await scene(t, options)
    const answer = await fetch(`${proxy.url}/pets`)
    assert.equal(answer.status, 503)
    assert.equal(at(await answer.json(), 'error'), code)
    assert.equal(answer.headers.get('preflight-action'), 'STOP')
    assert.equal(answer.headers.has('retry-after'), code !== 'PREFLIGHT_UNDECIDED')
    assert.equal(upstream.requests.length, 0)
  })
}

test('when the state of a receipt is unknown, the decision is not used again', async (t) => {
  let clock = Date.now()
  const { upstream, proxy } = await scene(t, {
    now: () => clock,
    storeFaults: { receipts: { state: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) } },
  })
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
  clock += 1001
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 503)
  assert.equal(upstream.requests.length, 1)
})

test('a fault passes: the next call is judged anew', async (t) => {
  let isDown = true
  const { proxy } = await scene(t, { decide: () => (isDown ? storeDown() : 'ALLOW') })
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 503)
  isDown = false
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
})

test('when the monitoring window cannot be made durable, a call that needs one is stopped', async (t) => {
  const { upstream, proxy } = await scene(t, {
    decide: () => 'WARN',
    storeFaults: { windows: { open: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) } },
  })
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 503)
  assert.equal(upstream.requests.length, 0)
  assert.equal(proxy.monitoring.openCount(), 0)
})

test('when no sink takes telemetry, a call that needs monitoring is stopped with MONITORING_UNWIRED and others go on', async (t) => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  let decision: 'WARN' | 'ALLOW' = 'WARN'
  const { upstream, proxy } = await scene(t, { decide: () => decision, output: broken })
  // The stream reports its error only after the first write.
  await fetch(`${proxy.url}/pets`)
  const sent = upstream.requests.length
  const stopped = await fetch(`${proxy.url}/pets`)
  assert.equal(stopped.status, 503)
  assert.equal(stopped.headers.get('preflight-action'), 'STOP')
  const body: unknown = await stopped.json()
  assert.equal(at(body, 'error'), 'MONITORING_UNWIRED')
  assert.match(String(at(body, 'message')), /^MONITORING_UNWIRED/)
  assert.equal(at(body, 'decision_result') ?? null, null)
  assert.doesNotMatch(JSON.stringify(body), /CONTINUE|dec_1\.signature/)
  assert.equal(upstream.requests.length, sent)
  decision = 'ALLOW'
  proxy.nextGeneration()
  assert.equal((await fetch(`${proxy.url}/pets`)).status, 200)
})

const PROXY_KEY = 'Proxy-Authorization: Bearer pf_test_for_tests_only_0123456789'

/** Requests of the forward proxy, to a destination that a route judges and to one that egress lets pass. */
const NAMED: Readonly<Record<string, (host: string) => string>> = {
  'a request in absolute form': (host) => `GET http://${host}/pets HTTP/1.1\nHost: ${host}\n${PROXY_KEY}`,
  'a CONNECT': (host) => `CONNECT ${host} HTTP/1.1\nHost: ${host}\n${PROXY_KEY}`,
}

for (const [what, head] of Object.entries(NAMED))
  for (const [fault, storeFaults] of [
    [
      'the key of the caller cannot be looked up',
      { apiKeys: { byHash: () => Promise.reject(storeUnavailable('away')) } },
    ],
    ['nothing can be recorded', { calls: { record: () => Promise.reject(storeUnavailable('away')) } }],
  ] as const) {
    // Only a tunnel is recorded without a key that was found before.
    if (fault === 'nothing can be recorded' && what !== 'a CONNECT') continue
    test(`${what}, when ${fault}, is answered 503 with a time to retry`, async (t) => {
      const { upstream, proxy } = await scene(t, {
        config: {
          egress: { default: 'allow', allow: ['127.0.0.1'] },
          proxy_auth: fault === 'nothing can be recorded' ? 'off' : 'required',
        },
        storeFaults,
      })
      const answer = await exchangeBytes(proxy.url, requestText(head(new URL(upstream.origin).host)))
      assert.equal(statusOf(answer), 503, answer)
      assert.match(answer, /\r\nRetry-After: 5\r\n/)
      assert.match(answer, /"error":"STORE_UNAVAILABLE"/)
      assert.equal(upstream.requests.length, 0)
    })
  }
