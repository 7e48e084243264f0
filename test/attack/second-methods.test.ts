/** Requests that name a second method, where the contract describes both: judged by each that a framework may run, or refused. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { send, type ProtocolScene, type SentRequest } from '../protocols/protocol-scene.ts'
import { overrides } from '../protocols/variants.ts'

const OPERATION = { responses: { 200: { description: 'done' } } }
const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'users', version: '1' },
  paths: { '/users/{id}': { get: OPERATION, post: OPERATION, put: OPERATION, patch: OPERATION, delete: OPERATION } },
}

async function startUsers(t: TestContext, decides: string): Promise<ProtocolScene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-methods-')), 'openapi.json')
  writeFileSync(file, JSON.stringify(CONTRACT))
  const contract = { current: { file } }
  const proxy = await startProxy({
    decide: ({ context }) =>
      context.target_id === `it/${decides} /users/{id}` || context.target_id === 'it' ? 'BLOCK' : 'ALLOW',
    routes: [{ name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
  })
  t.after(() => proxy.close())
  return { upstream, proxy }
}

for (const method of ['DELETE', 'PUT', 'PATCH'])
  test(`no request that may be run as ${method} is judged as another one only`, async (t) => {
    const scene = await startUsers(t, method)
    const forwarded: string[] = []
    for (const [name, request] of overrides({ method, path: '/users/7', body: '' }))
      if ((await send(scene, request)).isForwarded) forwarded.push(`${request.method}: ${name}`)
    assert.deepEqual(forwarded, [])
  })

test('requests with one method are judged by it alone', async (t) => {
  const scene = await startUsers(t, 'DELETE')
  const ordinary: readonly SentRequest[] = [
    { method: 'POST', path: '/users/7', body: '{"_method":"is a text here"}' },
    { method: 'POST', path: '/users/7?method=DELETE&payment_method=card&x=;', body: '{}' },
    { method: 'PUT', path: '/users/7', body: 'name=zoe', type: 'application/x-www-form-urlencoded' },
    { method: 'GET', path: '/users/7?http_method=DELETE', body: '' },
  ]
  for (const request of ordinary)
    assert.ok((await send(scene, request)).isForwarded, `${request.method} ${request.path}`)
})
