/** A call that waits for a slow connection to its upstream while what allows it ends: it is judged again before a byte of it is sent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { createSecureServer } from 'node:http2'
import { request as send, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { breakGlassRow } from '../fakes/aggregate-rows.ts'
import { testAuthority } from '../fakes/certificates.ts'
import { boundPort, startGate } from '../fakes/connection-gate.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'

const NOW = 1_800_000_000_000
/** Longer than a revocation on SQLite needs to be in force. */
const LONG_MS = 1100
/** Short enough that the end of its client's connection is seen while it waits. */
const BODY = 'x'.repeat(40_000)

/** Without a length, so it is not read in one piece. */
function streamed(call: ClientRequest): void {
  call.write(BODY)
  call.end()
}

/** How a call goes to its upstream. */
const FORMS: Readonly<
  Record<string, { readonly protocol: 'http1' | 'http2'; readonly finish: (call: ClientRequest) => void }>
> = {
  'without a body': { protocol: 'http1', finish: (call) => void call.end() },
  'with a short body': { protocol: 'http1', finish: (call) => void call.end('short') },
  'with a stream': { protocol: 'http1', finish: streamed },
  'over HTTP/2 without a body': { protocol: 'http2', finish: (call) => void call.end() },
  'over HTTP/2 with a stream': { protocol: 'http2', finish: streamed },
}

/** What happens meanwhile, and how the call ends: decisions made for it, and its status. */
const ENDS: Readonly<
  Record<
    string,
    {
      readonly decide: 'ALLOW' | 'BLOCK'
      readonly meanwhile: (proxy: ProxyUnderTest) => unknown
      readonly rows: readonly string[]
      readonly status: number
    }
  >
> = {
  'nothing happens': { decide: 'ALLOW', meanwhile: () => {}, rows: ['forwarded'], status: 200 },
  'its decision is revoked': {
    decide: 'ALLOW',
    meanwhile: ({ store }) => store.receipts.revoke('local', 'dec_1', 'leaked', 'v:admin', NOW),
    rows: ['forwarded', 'forwarded'],
    status: 200,
  },
  'settings change': {
    decide: 'ALLOW',
    meanwhile: (proxy) => proxy.nextGeneration(),
    rows: ['forwarded', 'forwarded'],
    status: 200,
  },
  'its exception is closed': {
    decide: 'BLOCK',
    meanwhile: ({ store }) => store.breakGlass.close('bg_1', 'v:admin', 2),
    rows: ['break_glass', 'stopped'],
    status: 403,
  },
}

for (const [form, { protocol, finish }] of Object.entries(FORMS))
  for (const [happens, { decide, meanwhile, rows, status }] of Object.entries(ENDS))
    test(`a call ${form} waits for its connection while ${happens}: ${rows.join(', then ')}`, async (t) => {
      const scene = await started(t, protocol, decide)
      const { call, answer } = scene.begin()
      finish(call)
      await until(() => scene.gate.held === 1, 'it waits for its connection')
      await meanwhile(scene.proxy)
      await pause(LONG_MS)
      assert.equal(scene.received.length, 0)
      scene.gate.open()
      assert.equal((await answer).statusCode, status)
      assert.deepEqual(
        scene.proxy.interceptions.map(({ effect }) => effect),
        rows,
      )
      const body = { 'without a body': '', 'with a short body': 'short' }[form.replace('over HTTP/2 ', '')] ?? BODY
      assert.deepEqual(scene.received, status === 200 ? [body] : [])
      assert.equal(scene.gate.connections, 1, 'the connection is kept')
    })

for (const [form, { protocol, finish }] of Object.entries(FORMS))
  test(`a call ${form} whose client goes away while it waits for its connection is not sent`, async (t) => {
    const scene = await started(t, protocol, 'ALLOW')
    const { call, answer } = scene.begin()
    finish(call)
    await until(() => scene.gate.held === 1, 'it waits for its connection')
    call.destroy()
    await assert.rejects(answer)
    await until(() => scene.proxy.listener.openCalls() === 0, 'the call has ended')
    scene.gate.open()
    const next = scene.begin()
    next.call.end()
    assert.equal((await next.answer).statusCode, 200)
    assert.deepEqual(scene.received, [''], 'only the next call')
  })

async function started(t: TestContext, protocol: 'http1' | 'http2', decide: 'ALLOW' | 'BLOCK') {
  const authority = await testAuthority()
  const received: string[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push(await text(request))
    response.end()
  }
  const leaf = await authority.leaf('localhost')
  const upstream =
    protocol === 'http1'
      ? createHttpsServer(leaf, (request, response) => void answer(request, response))
      : createSecureServer(leaf)
  // The compatible form of HTTP/2 has the members that are used here.
  if (protocol === 'http2')
    upstream.on('request', (request: IncomingMessage, response: ServerResponse) => void answer(request, response))
  const gate = await startGate(t, await boundPort(upstream))
  gate.close()
  const contract = { current: { file: petContract() } }
  const route = { name: 'pets', match: { path: '/' }, protocol: 'http', contract, upstream_protocol: protocol }
  const proxy = await startProxy({
    routes: [{ ...route, upstream: `https://localhost:${gate.port}`, tls: { upstream_ca: authority.file } }],
    decide: () => decide,
  })
  t.after(async () => {
    await proxy.close()
    upstream.close()
  })
  if (decide === 'BLOCK')
    await proxy.store.breakGlass.open(breakGlassRow({ id: 'bg_1', route: 'pets', expiresAt: Date.now() + 3_600_000 }))
  const begin = () => {
    const call = send(`${proxy.url}/v1/pets`, { method: 'POST' })
    const answered = once(call, 'response').then(([response]: readonly IncomingMessage[]) => {
      assert.ok(response !== undefined)
      response.resume()
      return response
    })
    return { call, answer: answered }
  }
  return { proxy, gate, received, begin }
}
