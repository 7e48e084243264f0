/**
 * Requests that name a second method, in a field, parameter, form or JSON: judged by what a framework may run, or refused.
 * Contracts describe both methods, and rules of a map decide otherwise on the second one.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
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

/** Bodies of a POST that Laravel, Rack, or method-override as it is documented run as a DELETE. */
function bodiesOf(path: string): readonly (readonly [name: string, request: SentRequest])[] {
  const json = (body: string, type = 'application/json'): SentRequest => ({ method: 'POST', path, body, type })
  const long = `{"text":"${'x'.repeat(80_000)}","_method":"DELETE"}`
  const chunked = '14\r\n{"_method":"DELETE"}\r\n0\r\n\r\n'
  const part = 'Content-Disposition: form-data; name=_method; filename="x"\r\n\r\nDELETE'
  return [
    ['JSON', json('{"_method":"DELETE"}')],
    ['JSON in small letters', json('{"_method":"delete"}')],
    ['escaped JSON', json('{"\\u005fmethod":"DELETE"}')],
    ['a list', json('{"_method":["DELETE"]}')],
    ['the second of two', json('{"_method":"x y","_method":"DELETE"}')],
    ['a name in other letters', json('{"_METHOD":"DELETE"}')],
    ['JSON with a BOM', json('\uFEFF{"_method":"DELETE"}')],
    ['lenient JSON', json('{"_method":"DELETE",}')],
    ['a JSON type with a suffix', json('{"_method":"DELETE"}', 'application/vnd.api+json')],
    ['a JSON type in capitals', json('{"_method":"DELETE"}', 'APPLICATION/JSON; charset=utf-8')],
    ['text/json', json('{"_method":"DELETE"}', 'text/json')],
    ['JSON in another charset', json('{"+AF8-method":"DELETE"}', 'application/json; charset=utf-7')],
    ['JSON as a form', json('{"_method":"DELETE"}', 'application/x-www-form-urlencoded')],
    ['long JSON', json(long)],
    ['compressed JSON', { ...json(''), bytes: gzipSync('{"_method":"DELETE"}'), headers: ['Content-Encoding: gzip'] }],
    ['chunked JSON', { ...json(''), bytes: Buffer.from(chunked), headers: ['Transfer-Encoding: chunked'] }],
    ['a form with two methods', json('_method=POST&_method=DELETE', 'application/x-www-form-urlencoded')],
    ['a file of this name', json(`--x\r\n${part}\r\n--x--\r\n`, 'multipart/form-data; boundary=x')],
    ['no closed form', json(`--x\r\n${part}`, 'multipart/form-data; boundary=x')],
  ]
}

test('http: no body that names a method is judged by the request line only', async (t) => {
  const scene = await startUsers(t, 'DELETE')
  const forwarded: string[] = []
  for (const [name, request] of bodiesOf('/users/7')) if ((await send(scene, request)).isForwarded) forwarded.push(name)
  assert.deepEqual(forwarded, [])
})

const MAPS: Readonly<Record<string, { readonly map: readonly object[]; readonly otherwise?: string }>> = {
  'a rule denies': { otherwise: 'pass', map: [{ when: "request.method == 'DELETE'", action: 'deny' }] },
  'a rule needs a receipt': {
    otherwise: 'pass',
    map: [{ when: "request.method != 'POST'", action: 'receipt', operation: 'wipe', target: "'users'" }],
  },
  'no rule permits': { map: [{ when: "request.method == 'POST' && request.path == '/users/7'", action: 'pass' }] },
}

async function startMapped(t: TestContext, route: object): Promise<ProtocolScene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const own = { name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol: 'mapped' }
  const proxy = await startProxy({ routes: [{ ...own, ...route }] })
  t.after(() => proxy.close())
  return { upstream, proxy }
}

for (const [what, route] of Object.entries(MAPS))
  test(`mapped: no body names a method that ${what}`, async (t) => {
    const scene = await startMapped(t, route)
    const forwarded: string[] = []
    const forms = [...overrides({ method: 'DELETE', path: '/users/7', body: '' })]
    for (const [name, request] of [...bodiesOf('/users/7'), ...forms])
      if (request.method === 'POST' && (await send(scene, request)).isForwarded) forwarded.push(name)
    assert.deepEqual(forwarded, [])
  })

test('mapped: bodies that name no method pass as before', async (t) => {
  for (const route of Object.values(MAPS)) {
    const scene = await startMapped(t, route)
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nDELETE\r\n--x--\r\n'
    const ordinary: readonly SentRequest[] = [
      { method: 'POST', path: '/users/7', body: '{"payment_method":"card","_method":"is a text here"}' },
      { method: 'POST', path: '/users/7', body: 'method=DELETE', type: 'application/x-www-form-urlencoded' },
      { method: 'POST', path: '/users/7', body: part, type: 'multipart/form-data; boundary=x' },
      { method: 'POST', path: '/users/7', body: '_method=DELETE', type: 'text/plain' },
      { method: 'POST', path: '/users/7', body: '' },
    ]
    for (const request of ordinary) assert.ok((await send(scene, request)).isForwarded, request.body)
  }
})

test('mapped: a long body is read only where the method that it names would matter', async (t) => {
  const body = `{"text":"${'x'.repeat(9 * 1024 * 1024)}"}`
  const any = await startMapped(t, { map: [{ when: "request.path == '/users/7'", action: 'pass' }] })
  assert.equal((await send(any, { method: 'POST', path: '/users/7', body })).status, 200)
  const one = await startMapped(t, MAPS['no rule permits'] ?? {})
  const announced = ['Connection: close', `Content-Length: ${body.length}`]
  assert.equal((await send(one, { method: 'POST', path: '/users/7', body: '', headers: announced })).status, 413)
})
