/** Other proxies check requests over HTTP and gRPC. The verdicts are those of the proxy, and only an allow can be read as one. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { grpcAsker, type GrpcAsker } from '../../fakes/ext-authz-client.ts'
import { startMcpUpstream } from '../../fakes/mcp-upstream.ts'
import { breakListing, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { startTestGateway, FREE_PORTS } from '../../fakes/gateway.ts'
import { at, listAt, textAt } from '../../json.ts'

const LISTEN = { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } }

async function asked(t: TestContext, route: object = {}): Promise<PetRoute & { readonly grpc: GrpcAsker }> {
  const scene = await startPetRoute(t, route, LISTEN)
  return { ...scene, grpc: asker(t, scene.gateway.addresses.ext_authz) }
}

function asker(t: TestContext, address: string | undefined): GrpcAsker {
  assert.ok(address !== undefined)
  const grpc = grpcAsker(address.replace('http://', ''))
  t.after(() => grpc.close())
  return grpc
}

const PETS = { method: 'GET', path: '/pets?limit=1', host: 'pets.example', scheme: 'http', size: 0, headers: {} }

/** Name → value of a list of HeaderValueOption. */
function fieldsOf(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listAt(value, ...path).map((option) => [textAt(option, 'header', 'key'), textAt(option, 'header', 'value')]),
  )
}

test('a call that may go on is allowed with its receipt, over HTTP', async (t) => {
  const { gateway, upstream } = await asked(t)
  const answer = await fetch(`${gateway.addresses.api}/authz/pets?limit=1`, {
    headers: { 'x-correlation-id': 'cor-1', 'preflight-receipt': 'forged' },
  })
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), '')
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE')
  assert.equal(answer.headers.get('x-correlation-id'), 'cor-1')
  assert.match(answer.headers.get('preflight-receipt') ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/)
  assert.equal(upstream.requests.length, 0, 'the proxy that asks sends the call itself')
})

test('the same over gRPC: what it sets replaces what the client sent', async (t) => {
  const { grpc } = await asked(t)
  const answer = await grpc.check({ ...PETS, headers: { ':authority': 'pets.example', 'x-correlation-id': 'cor-2' } })
  assert.equal(at(answer, 'status', 'code') ?? 0, 0)
  const upstream = fieldsOf(answer, 'ok_response', 'headers')
  assert.equal(upstream['X-Correlation-ID'], 'cor-2')
  assert.match(upstream['Preflight-Receipt'] ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/)
  for (const option of listAt(answer, 'ok_response', 'headers'))
    assert.equal(at(option, 'append_action'), 'OVERWRITE_IF_EXISTS_OR_ADD')
  assert.equal(fieldsOf(answer, 'ok_response', 'response_headers_to_add')['Preflight-Action'], 'CONTINUE')
})

test('receipts that are not the gateway’s are taken off the request', async (t) => {
  const { gateway, grpc } = await asked(t, { receipts: { attach: false } })
  const answer = await grpc.check(PETS)
  assert.deepEqual(at(answer, 'ok_response', 'headers_to_remove'), ['preflight-receipt', 'preflight-decision'])
  const http = await fetch(`${gateway.addresses.api}/authz/pets`)
  assert.equal(http.headers.get('x-envoy-auth-headers-to-remove'), 'preflight-receipt,preflight-decision')
})

test('a stopped call is denied with the decision, over HTTP and gRPC', async (t) => {
  const { gateway, grpc, change } = await asked(t)
  change(breakListing)
  const http = await fetch(`${gateway.addresses.api}/authz/pets`)
  assert.equal(http.status, 403)
  const reported: unknown = await http.json()
  assert.equal(at(reported, 'error'), 'PREFLIGHT_STOP')
  assert.equal(at(reported, 'decision_result', 'decision'), 'BLOCK')
  const answer = await grpc.check(PETS)
  assert.equal(at(answer, 'status', 'code'), 7)
  assert.equal(at(answer, 'denied_response', 'status', 'code'), 'Forbidden')
  assert.equal(fieldsOf(answer, 'denied_response', 'headers')['Preflight-Action'], 'STOP')
  const body: unknown = JSON.parse(textAt(answer, 'denied_response', 'body'))
  assert.equal(at(body, 'decision_result', 'decision_id'), at(reported, 'decision_result', 'decision_id'))
})

test('what cannot be read in one way, or matches no route, is denied', async (t) => {
  const { gateway, grpc } = await asked(t, { match: { path: '/pets' } })
  for (const [path, code] of [
    ['/pets/%2e%2e/admin', 'BadRequest'],
    ['//pets', 'BadRequest'],
    ['pets', 'BadRequest'],
    ['/dogs', 'NotFound'],
  ] as const) {
    const answer = await grpc.check({ ...PETS, path })
    assert.equal(at(answer, 'denied_response', 'status', 'code'), code, path)
  }
  assert.equal((await fetch(`${gateway.addresses.api}/authz/dogs`)).status, 404)
  assert.equal((await fetch(`${gateway.addresses.api}/authz/pets/%5c`)).status, 400)
})

test('a required receipt is requested and accepted as in the proxy, once', async (t) => {
  const { grpc, receipt } = await asked(t, { receipts: { require: true, consume: true } })
  const refused = await grpc.check(PETS)
  const body: unknown = JSON.parse(textAt(refused, 'denied_response', 'body'))
  assert.equal(at(body, 'error'), 'PREFLIGHT_RECEIPT_REQUIRED')
  const headers = { 'preflight-receipt': await receipt() }
  const answers = await Promise.all(Array.from({ length: 20 }, () => grpc.check({ ...PETS, headers })))
  assert.equal(answers.filter((answer) => (at(answer, 'status', 'code') ?? 0) === 0).length, 1)
})

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { message: 'hi' } } }

test('MCP calls are judged by the body that the proxy sends along; without it nothing is decided', async (t) => {
  const mcp = await startMcpUpstream({ generation: 'stateless' })
  t.after(() => mcp.close())
  const route = { name: 'tools', match: { path: '/' }, upstream: mcp.url, protocol: 'mcp' }
  const gateway = await startTestGateway(t, { ...LISTEN, routes: [route] })
  const grpc = asker(t, gateway.addresses.ext_authz)
  const text = JSON.stringify(CALL)
  const post = { method: 'POST', path: '/', host: 'tools.example', size: Buffer.byteLength(text) }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

  for (const [what, http] of [
    ['left out', { ...post, headers }],
    ['left out, of unknown size', { ...post, headers, size: -1 }],
    ['left out, of a size that was asked too early', { ...post, headers, size: 0 }],
    ['left out, in chunks', { ...post, headers: { ...headers, 'transfer-encoding': 'chunked' }, size: 0 }],
    ['cut off', { ...post, body: text.slice(0, 10), headers: { ...headers, 'x-envoy-auth-partial-body': 'true' } }],
    ['shorter than it says', { ...post, body: text, size: post.size + 1, headers }],
  ] as const) {
    const answer = await grpc.check(http)
    assert.equal(at(answer, 'denied_response', 'status', 'code'), 'ServiceUnavailable', what)
    assert.match(textAt(answer, 'denied_response', 'body'), /with_request_body/, what)
  }
  for (const body of [{ body: text }, { raw_body: Buffer.from(text) }]) {
    const answer = await grpc.check({ ...post, ...body, headers })
    assert.equal(at(answer, 'status', 'code') ?? 0, 0, JSON.stringify(answer))
    assert.ok(fieldsOf(answer, 'ok_response', 'headers')['Preflight-Receipt'])
  }
  const empty = await fetch(`${gateway.addresses.api}/authz/`, { method: 'POST', headers })
  assert.equal(empty.status, 503)
})

test('a protocol upgrade is allowed through another proxy as in our own', async (t) => {
  const headers = { connection: 'upgrade', upgrade: 'websocket' }
  const { grpc } = await asked(t)
  const refused = await grpc.check({ ...PETS, headers })
  assert.equal(at(refused, 'status', 'code'), 7)
  const body: unknown = JSON.parse(textAt(refused, 'denied_response', 'body'))
  assert.equal(at(body, 'error'), 'UPGRADE_REFUSED')
  const taken = await (await asked(t, { upgrade: 'allow' })).grpc.check({ ...PETS, headers })
  assert.equal(at(taken, 'status', 'code') ?? 0, 0)
  const observed = await (await asked(t, { mode: 'observe' })).grpc.check({ ...PETS, headers })
  assert.equal(at(observed, 'status', 'code') ?? 0, 0)
})

test('a push whose commands were not sent along does not pass for one that names no branch', async (t) => {
  const upstream = await startMcpUpstream({ generation: 'stateless' })
  t.after(() => upstream.close())
  const route = { name: 'git', match: { path: '/' }, upstream: new URL(upstream.url).origin, protocol: 'github' }
  const gateway = await startTestGateway(t, { ...LISTEN, routes: [route] })
  const grpc = asker(t, gateway.addresses.ext_authz)
  const path = '/acme/pets.git/git-receive-pack'
  const push = { method: 'POST', path, host: 'github.example', scheme: 'http', size: 0, protocol: 'HTTP/2' }
  const answer = await grpc.check({ ...push, headers: {} })
  assert.equal(at(answer, 'denied_response', 'status', 'code'), 'ServiceUnavailable')
  const probe = await grpc.check({ ...push, headers: { 'content-length': '0' } })
  assert.equal(at(probe, 'status', 'code') ?? 0, 0)
})

test('a deletion in Kubernetes is judged by its options, which only the body holds', async (t) => {
  const upstream = await startMcpUpstream({ generation: 'stateless' })
  t.after(() => upstream.close())
  const route = {
    name: 'k8s',
    match: { path: '/' },
    upstream: new URL(upstream.url).origin,
    protocol: 'kubernetes',
  }
  const gateway = await startTestGateway(t, { ...LISTEN, routes: [route] })
  const grpc = asker(t, gateway.addresses.ext_authz)
  const path = '/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All'
  const http = await fetch(`${gateway.addresses.api}/authz${path}`, { method: 'DELETE' })
  assert.equal(http.status, 503)
  const left = { method: 'DELETE', path, host: 'api.example', scheme: 'http', size: 0 }
  const options = await grpc.check({ ...left, protocol: 'HTTP/2', headers: {} })
  assert.equal(at(options, 'denied_response', 'status', 'code'), 'ServiceUnavailable')
  const none = await grpc.check({ ...left, protocol: 'HTTP/1.1', headers: {} })
  assert.equal(at(none, 'status', 'code') ?? 0, 0)
})

test('a refusal that MCP tells with 200 has a bad status over HTTP, and is the tool’s own result over gRPC', async (t) => {
  const mcp = await startMcpUpstream({ generation: 'stateless' })
  t.after(() => mcp.close())
  const route = { name: 'tools', match: { path: '/' }, upstream: mcp.url, protocol: 'mcp', receipts: { require: true } }
  const gateway = await startTestGateway(t, { ...LISTEN, routes: [route] })
  const grpc = asker(t, gateway.addresses.ext_authz)
  const text = JSON.stringify(CALL)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const http = await fetch(`${gateway.addresses.api}/authz/`, { method: 'POST', headers, body: text })
  assert.equal(http.status, 403)
  assert.equal(at(await http.json(), 'error'), 'PREFLIGHT_RECEIPT_REQUIRED')
  const answer = await grpc.check({ method: 'POST', path: '/', host: 'h', size: text.length, body: text, headers })
  assert.equal(at(answer, 'status', 'code'), 7)
  assert.equal(at(answer, 'denied_response', 'status', 'code'), 'OK')
  const result: unknown = JSON.parse(textAt(answer, 'denied_response', 'body'))
  assert.equal(at(result, 'result', 'isError'), true)
})

test('a monitored call opens a window that waits for a report of the outcome', async (t) => {
  const scene = await startPetRoute(t, {}, { ...LISTEN, policy: 'test/fakes/warn-pack.yaml' })
  scene.change(breakListing)
  const headers = { 'x-correlation-id': 'cor-watch' }
  const answer = await fetch(`${scene.gateway.addresses.api}/authz/pets`, { headers })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  assert.match(await scene.gateway.metrics.text(), /preflight_monitoring_windows_open 1/)
})
