/** Calls of an API that an OpenAPI contract describes: judged by the operation they call, whatever way the path is written. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { readContract } from '../../../gateway/protocols/common/contract-reader.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
  /** File of the contract that the upstream offers. */
  readonly current: string
}

async function scene(
  t: TestContext,
  options: Partial<ProxyOptions> & {
    readonly contract?: Readonly<Record<string, unknown>>
    readonly route?: Readonly<Record<string, unknown>>
  } = {},
): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const current = petContract()
  const route = {
    name: 'pets',
    match: { path: '/' },
    upstream: `${upstream.origin}/v1`,
    protocol: 'http',
    contract: { current: { file: current }, refresh: 0, ...options.contract },
    ...options.route,
  }
  const proxy = await startProxy({ ...options, routes: [route] })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy, current }
}

for (const [method, path, scope] of [
  ['GET', '/pets', { method: 'GET', path: '/pets' }],
  ['GET', '/pets?limit=1', { method: 'GET', path: '/pets' }],
  ['GET', '/pets/mine', { method: 'GET', path: '/pets/mine' }],
  ['GET', '/pets/%6Dine', { method: 'GET', path: '/pets/mine' }],
  ['GET', '/pets/7', { method: 'GET', path: '/pets/{petId}' }],
  ['DELETE', '/pets/mine', { method: 'DELETE', path: '/pets/{petId}' }],
  ['PATCH', '/pets/7', null],
  ['GET', '/pets/7/toys', null],
  ['GET', '/pets/', null],
  ['GET', '/', null],
] as const) {
  const what = scope === null ? 'the whole contract' : `${scope.method} ${scope.path}`
  test(`${method} ${path} is judged by ${what}`, async (t) => {
    const { proxy } = await scene(t)
    await fetch(`${proxy.url}${path}`, { method })
    assert.deepEqual(proxy.flow.asked[0]?.scope, scope)
    assert.equal(proxy.flow.asked[0]?.artifacts[0]?.type, 'openapi')
  })
}

test('a stopped call is answered 403 with the decision and what to do', async (t) => {
  const { upstream, proxy } = await scene(t, { decide: () => 'BLOCK' })
  const answer = await fetch(`${proxy.url}/pets`)
  const body: unknown = await answer.json()
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(answer.headers.get('preflight-decision-id'), 'dec_1')
  assert.equal(at(body, 'error'), 'PREFLIGHT_STOP')
  assert.equal(at(body, 'decision_result', 'decision_id'), 'dec_1')
  assert.equal(at(body, 'correlation_id'), answer.headers.get('x-correlation-id'))
  assert.equal(upstream.requests.length, 0)
})

test('a call that needs an approval is answered 428', async (t) => {
  const { proxy } = await scene(t, { decide: () => 'REQUIRE_APPROVAL' })
  const answer = await fetch(`${proxy.url}/pets`)
  assert.equal(answer.status, 428)
  assert.equal(answer.headers.get('preflight-action'), 'REQUEST_APPROVAL')
})

test('each operation has a decision of its own, made once', async (t) => {
  const { proxy } = await scene(t)
  for (const path of ['/pets', '/pets/1', '/pets/2', '/pets']) await fetch(`${proxy.url}${path}`)
  assert.deepEqual(
    proxy.flow.asked.map(({ context }) => context.target_id),
    ['pets/GET /pets', 'pets/GET /pets/{petId}'],
  )
})

test('a contract that changes is compared with the one pinned first', async (t) => {
  const { proxy, current } = await scene(t)
  await fetch(`${proxy.url}/pets`)
  copyFileSync(
    petContract((paths) => delete paths['/pets/mine']),
    current,
  )
  await fetch(`${proxy.url}/pets`)
  const [first, second] = proxy.flow.asked.map(({ artifacts: [artifact] }) => artifact)
  assert.equal(first?.before, first?.after)
  assert.equal(second?.before, first?.before)
  assert.doesNotMatch(second?.after ?? '', /pets\/mine/)
})

test('a baseline from a file is what calls are judged against', async (t) => {
  const file = petContract((paths) => delete paths['/pets/mine'])
  const { proxy } = await scene(t, { contract: { baseline: { file } } })
  await fetch(`${proxy.url}/pets`)
  assert.doesNotMatch(proxy.flow.asked[0]?.artifacts[0]?.before ?? '', /pets\/mine/)
  assert.equal((await proxy.store.baselines.byRoute('pets', 'pets'))?.source, 'file')
})

test('a contract that cannot be read stops the call with 503, and lets it through on a route that fails open', async (t) => {
  const closed = await scene(t)
  rmSync(closed.current)
  const answer = await fetch(`${closed.proxy.url}/pets`)
  assert.equal(answer.status, 503)
  assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_UNDECIDED')
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(closed.upstream.requests.length, 0)

  const open = await scene(t, { route: { failure: 'open' } })
  rmSync(open.current)
  assert.equal((await fetch(`${open.proxy.url}/pets`)).status, 200)
  assert.equal(open.upstream.requests[0]?.headers['preflight-receipt'], undefined)
  assert.match(await open.proxy.metrics.text(), /preflight_calls_total\{route="pets",outcome="failed_open"\} 1/)
})

const INLINE = { inlineBelow: Infinity, timeoutMs: 1 }
const IN_THREAD = { inlineBelow: 0, timeoutMs: 60_000 }

test('a large contract is read in a thread, and one that cannot be read there is an error here', async () => {
  const contract = JSON.stringify({ openapi: '3.0.3', paths: { '/pets/{id}': { get: {}, delete: {} } } })
  assert.deepEqual(await readContract('openapi', contract, IN_THREAD), await readContract('openapi', contract, INLINE))
  await assert.rejects(readContract('openapi', '{"openapi": ', IN_THREAD), /cannot be read/)
})

const CONTRACTS = [
  ['openapi', JSON.stringify({ openapi: '3.0.3', paths: { '/pets': { get: {} } } })],
  ['protobuf', 'syntax = "proto3"; service A { rpc B (C) returns (C); } message C {}'],
  ['graphql', 'type Query { a: Int }'],
] as const

for (const [type, contract] of CONTRACTS)
  test(`a contract that is not read in time is an error, its thread ends, and others are read (${type})`, async () => {
    const started = once(process, 'worker')
    const read = assert.rejects(
      readContract(type, contract, { inlineBelow: 0, timeoutMs: 1 }),
      /not read within 0\.001 s.*limits\.analysis/,
    )
    const [thread] = await started
    assert.ok(thread instanceof Worker)
    const ended = once(thread, 'exit')
    const other = await readContract(type, contract, IN_THREAD)
    await Promise.all([read, ended])
    assert.deepEqual(other, await readContract(type, contract, INLINE))
  })

test('a call whose contract is not read in time is refused, and the log names the limit', async (t) => {
  const { upstream, proxy, current } = await scene(t, { config: { limits: { analysis: 1 } } })
  // Far more than a second: each path has servers of its own.
  const item = { get: { servers: [{ url: '/{a}/{b}' }] } }
  const paths = Object.fromEntries(Array.from({ length: 250_000 }, (_, index) => [`/a${index}`, item]))
  writeFileSync(current, JSON.stringify({ openapi: '3.0.3', paths }))
  assert.equal((await fetch(`${proxy.url}/a1`)).status, 503)
  assert.equal(upstream.requests.length, 0)
  assert.match(proxy.log.join(''), /not read within 1 s/)
})
