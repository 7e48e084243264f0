/** A fault at any step of the decision path while another proxy asks: whatever failed, the answer is no yes. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { createHttpAuthz } from '../../gateway/ext-authz/http.ts'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { loadPolicy } from '../../gateway/config/policy.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { createObserver } from '../../gateway/telemetry/observer.ts'
import { startProxy, type ProxyOptions } from '../fakes/proxy-under-test.ts'

const down = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'))

async function askedWith(t: TestContext, options: Partial<ProxyOptions>): Promise<string> {
  const contract = { current: { file: petContract() } }
  const route = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http', contract }
  const proxy = await startProxy({ routes: [route], ...options })
  const loaded = loadPolicy('default', '.')
  assert.ok(loaded.ok)
  const { policy } = loaded.value
  const authz = createHttpAuthz({
    settings: () => ({ ...proxy.settings(), policy, generation: 1 }),
    pipeline: proxy.listener.pipeline,
    observer: createObserver({ metrics: proxy.metrics, spans: null }),
    metrics: proxy.metrics,
    logger: createLogger('silent'),
  })
  const server = createServer((request, response) => void authz.serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await proxy.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/authz/pets`
}

test('without a fault the answer is yes', async (t) => {
  assert.equal((await fetch(await askedWith(t, {}))).status, 200)
})

for (const [what, options] of [
  [
    'nothing can be decided',
    {
      decide: () => {
        throw new TypeError('unforeseen')
      },
    },
  ],
  ['the baseline cannot be read', { storeFaults: { baselines: { byRoute: down } } }],
  ['the baseline cannot be pinned', { storeFaults: { baselines: { set: down } } }],
  ['the question cannot be recorded', { storeFaults: { calls: { record: down } } }],
  ['a window cannot be opened', { decide: () => 'WARN', storeFaults: { windows: { open: down } } }],
  ['an exception cannot be looked up', { decide: () => 'BLOCK', storeFaults: { breakGlass: { use: down } } }],
] as const satisfies readonly (readonly [string, Partial<ProxyOptions>])[]) {
  test(`when ${what} the answer is no`, async (t) => {
    const { status } = await fetch(await askedWith(t, options))
    assert.ok(status === 403 || status === 503, String(status))
  })
}
