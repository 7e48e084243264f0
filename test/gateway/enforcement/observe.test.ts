/** Observe mode of the proxy, by route and by policy rule: nothing is held or blocked, and the hypothetical result is reported. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { breakListing, startPetRoute } from '../../fakes/pet-route.ts'
import { at } from '../../json.ts'

test('a route that observes lets a call go on that would be stopped, and counts it as such', async (t) => {
  const { call, change, gateway, upstream } = await startPetRoute(t, { mode: 'observe' })
  change(breakListing)
  const answer = await call()
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(upstream.requests[0]?.headers['preflight-receipt'], undefined)
  const metrics = await gateway.metrics.text()
  assert.match(metrics, /preflight_observed_calls_total\{route="pets",would="stopped"\} 1/)
  assert.match(metrics, /preflight_calls_total\{route="pets",outcome="observed"\} 1/)
})

test('a route that observes neither holds a call nor wants a receipt of it', async (t) => {
  const { call } = await startPetRoute(t, { mode: 'observe', hold: 60, receipts: { require: true } })
  const answer = await call()
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
})

test('a rule that observes does not stop a call; one that enforces beside it does', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-pack-'))
  const pack = (mode: string, file: string): string => {
    const rules = [{ id: 'breaking-blocks', when: "finding.level == 'breaking'", then: 'BLOCK', mode }]
    const text = JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules })
    writeFileSync(join(directory, file), text)
    return join(directory, file)
  }
  const observing = await startPetRoute(t, {}, { policy: pack('observe', 'observe.yaml') })
  observing.change(breakListing)
  const answer = await observing.call()
  assert.equal(answer.status, 200)
  assert.notEqual(answer.headers.get('preflight-action'), 'STOP')
  const decision = await observing.api('GET', `/api/v1/decisions/${answer.headers.get('preflight-decision-id')}`)
  assert.notEqual(at(decision.body, 'decision'), 'BLOCK')
  assert.match(
    await observing.gateway.metrics.text(),
    /preflight_observed_decisions_total\{would="BLOCK",route="pets",operation="tool_call"\} 1/,
  )
  const enforcing = await startPetRoute(t, {}, { policy: pack('enforce', 'enforce.yaml') })
  enforcing.change(breakListing)
  assert.equal((await enforcing.call()).status, 403)
})

/** What each recogniser refuses for want of a reading. */
const UNREADABLE: readonly (readonly [protocol: string, method: string, path: string, body: string])[] = [
  ['mcp', 'POST', '/', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}'],
  ['llm', 'POST', '/v1/chat/completions', '{"model":"m","tools":[],"tools":[{}]}'],
  ['argocd', 'POST', '/api/v1/applications', '{"metadata":{"name":"shop","Name":"other"},"spec":{}}'],
  ['kubernetes', 'POST', '/api/v1/namespaces/shop/configmaps', '{"kind":"ConfigMap","kind":"Secret"}'],
  ['npm', 'POST', '/-/v9/unknown', '{}'],
  ['mcp_registry', 'POST', '/v0/unknown', '{}'],
  ['github', 'PUT', '/repos/acme/pets/pulls/x/merge', '{}'],
]

for (const [protocol, method, path, body] of UNREADABLE) {
  test(`what cannot be read goes on as it came where a route of ${protocol} observes`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    t.after(() => upstream.close())
    const send = async (mode: string) => {
      const route = { name: 'watched', match: { path: '/' }, upstream: upstream.origin, protocol, mode }
      const proxy = await startProxy({ routes: [route] })
      t.after(() => proxy.close())
      const answer = await fetch(proxy.url + path, { method, headers: { 'content-type': 'application/json' }, body })
      return { proxy, status: answer.status }
    }
    assert.ok((await send('enforce')).status >= 400)
    assert.equal(upstream.requests.length, 0)
    const { proxy, status } = await send('observe')
    assert.equal(status, 200)
    assert.deepEqual([upstream.requests.length, upstream.requests[0]?.body], [1, body])
    assert.match(await proxy.metrics.text(), /preflight_observed_calls_total\{route="watched",would="stopped"\} 1/)
    assert.match(proxy.log.join(''), /call.would_be_refused/)
  })
}

test('a strange web page does not reach a server on loopback, whatever the route observes', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const route = { name: 'watched', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp', mode: 'observe' }
  const proxy = await startProxy({ routes: [route] })
  t.after(() => proxy.close())
  const { hostname, port } = new URL(proxy.url)
  const headers = { host: 'evil.example', origin: 'http://evil.example', 'content-length': 2 }
  const request = httpRequest({ hostname, port, method: 'POST', headers }).end('{}')
  const [answer]: IncomingMessage[] = await once(request, 'response')
  answer?.resume()
  assert.equal(answer?.statusCode, 403)
  assert.equal(upstream.requests.length, 0)
})
