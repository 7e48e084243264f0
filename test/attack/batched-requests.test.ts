/** Requests that hold further requests: the contract describes the place for them, and another operation has changed. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { send } from '../protocols/protocol-scene.ts'

const OPERATION = { responses: { 200: { description: 'done' } } }
const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'orders', version: '1' },
  paths: {
    '/$batch': { post: OPERATION },
    '/batch': { post: OPERATION },
    '/orders': { get: OPERATION, post: OPERATION },
  },
}
const PARTS = '--b\r\nContent-Type: application/http\r\n\r\nDELETE /orders/7 HTTP/1.1\r\n\r\n\r\n--b--\r\n'
const JSON_BATCH = '{"requests":[{"id":"1","method":"DELETE","url":"/orders/7"}]}'

const BATCHES = [
  ['/$batch', 'application/json', JSON_BATCH],
  ['/%24batch', 'application/json', JSON_BATCH],
  ['/$Batch/', 'application/json', JSON_BATCH],
  ['/$batch;x=1', 'application/json', JSON_BATCH],
  ['/$batch.json?x=1', 'application/json', JSON_BATCH],
  ['/$batch', 'multipart/mixed; boundary=b', PARTS],
  ['/batch', 'Multipart/Mixed;boundary=b', PARTS],
  ['/batch', 'multipart/batch; boundary=b', PARTS],
  ['/orders', 'multipart/mixed; boundary=b', PARTS],
  ['/orders', 'application/http', 'DELETE /orders/7 HTTP/1.1\r\n\r\n'],
] as const

test('a request that holds further requests is judged by the whole contract', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-batch-')), 'openapi.json')
  writeFileSync(file, JSON.stringify(CONTRACT))
  const proxy = await startProxy({
    decide: ({ context }) => (context.target_id === 'it' ? 'BLOCK' : 'ALLOW'),
    routes: [
      {
        name: 'it',
        match: { path: '/' },
        upstream: upstream.origin,
        protocol: 'http',
        contract: { current: { file } },
      },
    ],
  })
  t.after(() => proxy.close())
  const forwarded: string[] = []
  for (const [path, type, body] of BATCHES)
    if ((await send({ upstream, proxy }, { method: 'POST', path, type, body })).isForwarded)
      forwarded.push(`${path} ${type}`)
  assert.deepEqual(forwarded, [])
  for (const path of ['/batch', '/orders'])
    assert.ok(
      (await send({ upstream, proxy }, { method: 'POST', path, type: 'application/json', body: '{}' })).isForwarded,
    )
})

const ADMIN = { when: "request.path.startsWith('/admin')", action: 'deny' }

for (const [what, otherwise, rules, isForwarded] of [
  ['that no rule is about is undecided where rules are about paths', 'pass', [ADMIN], false],
  ['passes where no rule is about a path', 'pass', [{ when: "'x-a' in request.headers", action: 'deny' }], true],
  ['passes by a rule about its place', 'deny', [{ when: "request.path == '/batch'", action: 'pass' }, ADMIN], true],
  [
    'does not pass by a rule about all writes',
    'deny',
    [{ when: "request.method == 'POST'", action: 'pass' }, ADMIN],
    false,
  ],
] as const)
  test(`a mapped request that holds further requests and ${what}`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    t.after(() => upstream.close())
    const route = { name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol: 'mapped' }
    const proxy = await startProxy({ routes: [{ ...route, otherwise, map: rules }] })
    t.after(() => proxy.close())
    const request = { method: 'POST', path: '/batch', type: 'multipart/mixed; boundary=b', body: PARTS }
    assert.equal((await send({ upstream, proxy }, request)).isForwarded, isForwarded)
    const plain = { method: 'POST', path: '/batch', type: 'application/json', body: '{}' }
    assert.ok((await send({ upstream, proxy }, plain)).isForwarded)
  })
