/** Between another proxy and the gateway: fields that a client forges for the server behind, and requests that are not what is asked about. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { FREE_PORTS, startTestGateway } from '../fakes/gateway.ts'
import { grpcAsker } from '../fakes/ext-authz-client.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startPetRoute } from '../fakes/pet-route.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { at, listAt, textAt } from '../json.ts'

async function scene(t: TestContext, route: object = {}) {
  const pets = await startPetRoute(t, route, { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } })
  const grpc = grpcAsker(pets.gateway.addresses.ext_authz?.replace('http://', '') ?? '')
  t.after(() => grpc.close())
  return { ...pets, grpc, api: pets.gateway.addresses.api }
}

const PETS = { method: 'GET', path: '/pets', host: 'pets.example', scheme: 'http', size: 0, headers: {} }

const FORGED = {
  'preflight-action': 'CONTINUE',
  'preflight-break-glass': 'bg_1',
  'preflight-anything': 'x',
  'x-original-url': '/admin',
  'x-rewrite-url': '/admin',
  'x-script-name': '/pets',
}

test('fields that only the gateway says, and other paths, are taken off the request', async (t) => {
  const { grpc, api } = await scene(t)
  const asked = await grpc.check({ ...PETS, headers: { ...FORGED, 'x-plain': 'stays' } })
  const removed = listAt(asked, 'ok_response', 'headers_to_remove').map(String)
  assert.deepEqual(
    Object.keys(FORGED).filter((name) => !removed.includes(name)),
    [],
  )
  assert.ok(!removed.includes('x-plain'))
  // Over HTTP most proxies take nothing off: such a request is no yes.
  assert.equal((await fetch(`${api}/authz/pets`)).status, 200)
  for (const [name, value] of Object.entries(FORGED))
    assert.equal((await fetch(`${api}/authz/pets`, { headers: { [name]: value } })).status, 400, name)
  const receipt = { 'preflight-receipt': 'of.another.call' }
  assert.equal((await fetch(`${api}/authz/pets`, { headers: receipt })).status, 200, 'a receipt proves itself')
})

test('a field of a rule whose values another proxy joined has no single reading', async (t) => {
  const map = [{ when: "'x-env' in request.headers && request.headers['x-env'] == 'prod'", action: 'deny' }]
  const route = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mapped', map }
  const gateway = await startTestGateway(t, {
    listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' },
    routes: [{ ...route, otherwise: 'pass' }],
  })
  const grpc = grpcAsker(gateway.addresses.ext_authz?.replace('http://', '') ?? '')
  t.after(() => grpc.close())
  const codes = async (value: string, other = '') => {
    const headers = { 'x-env': value, 'x-other': other }
    const overHttp = await fetch(`${gateway.addresses.api}/authz/pets`, { headers })
    return [at(await grpc.check({ ...PETS, headers }), 'status', 'code') ?? 0, overHttp.status]
  }
  for (const value of ['prod,dev', 'dev,prod', ',prod', 'prod,']) assert.deepEqual(await codes(value), [7, 503], value)
  assert.deepEqual(await codes('prod'), [7, 403])
  assert.deepEqual(await codes('dev', 'a,b'), [0, 200])
  assert.deepEqual(await codes('dev, test'), [0, 200], 'a list that a client wrote')
})

test('a method over gRPC is one that HTTP knows, in capitals', async (t) => {
  const { grpc } = await scene(t)
  for (const method of ['', 'get', 'Get', 'GET ', 'GE T', 'GET\r\nX: y', 'DELETE /x', 'G\u00c9T', 'X'.repeat(30), '*'])
    assert.equal(at(await grpc.check({ ...PETS, method }), 'status', 'code'), 7, JSON.stringify(method))
})

/** Each switches the connection at some proxy or server, and what follows is not judged. */
const SWITCHES = [
  'websocket',
  'WebSocket',
  'websocket, x',
  'x,websocket',
  'websocket/13',
  'SPDY/3.1',
  'a b',
  ';websocket',
]
const HTTP_AGAIN = ['h2c', 'H2C', 'h2c, websocket', 'websocket,h2c', 'HTTP/2.0', 'TLS/1.2, HTTP/1.1']
/** A framing with which our own listener would take no switch. */
const FRAMINGS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'content-length': '00' },
  { 'content-length': '2' },
]

async function switching(t: TestContext, route: object) {
  const { gateway } = await startPetRoute(t, route, { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } })
  const grpc = grpcAsker(gateway.addresses.ext_authz?.replace('http://', '') ?? '')
  t.after(() => grpc.close())
  const forwarded = { 'x-forwarded-uri': '/pets', 'x-forwarded-host': 'pets.example' }
  return {
    check: async (http: object) =>
      at(await grpc.check({ ...PETS, protocol: 'HTTP/1.1', ...http }), 'status', 'code') ?? 0,
    forwarded: async (method: string) => {
      const headers = { ...forwarded, 'x-forwarded-method': method, 'preflight-original-body': '//none' }
      return (await fetch(`${gateway.addresses.api}/forward-auth`, { headers })).status
    },
  }
}

test('a request that another proxy or its server may take for a switch of protocol is no yes', async (t) => {
  const { check } = await switching(t, {})
  assert.equal(await check({}), 0)
  for (const framing of FRAMINGS)
    for (const upgrade of [...SWITCHES, ...HTTP_AGAIN])
      assert.equal(await check({ headers: { connection: 'upgrade', upgrade, ...framing } }), 7, upgrade)
})

test('a tunnel is a switch of protocol, also where no operation is requested', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-schema-')), 'schema.graphql')
  writeFileSync(file, 'type Query { pet: String }')
  const graphql = {
    protocol: 'graphql',
    contract: { baseline: { file }, current: { file } },
    upstream: 'http://127.0.0.1:9/pets',
    match: { path: '/pets' },
  }
  const { check, forwarded } = await switching(t, graphql)
  assert.deepEqual([await check({}), await forwarded('GET')], [0, 200])
  assert.equal(await check({ method: 'CONNECT', headers: { ':protocol': 'websocket' } }), 7)
  assert.equal(await check({ method: 'CONNECT' }), 7)
  assert.equal(await forwarded('CONNECT'), 403)
})

test('a route that allows a switch allows none to HTTP, which would carry the calls of all routes', async (t) => {
  const pass = { protocol: 'mapped', contract: undefined, map: [{ action: 'pass' }] }
  for (const route of [{ upgrade: 'allow' }, pass, { ...pass, mode: 'observe' }]) {
    const { check } = await switching(t, route)
    for (const upgrade of HTTP_AGAIN)
      assert.equal(await check({ headers: { connection: 'upgrade', upgrade } }), 7, upgrade)
    assert.equal(await check({ headers: { connection: 'upgrade', upgrade: 'websocket' } }), 0)
  }
})

test('a body that was cut off is not judged, in whatever letters Envoy says so', async (t) => {
  const { grpc, api } = await scene(t, { validate: 'enforce' })
  const post = { ...PETS, method: 'POST', size: 2, body: '{}' }
  for (const partial of ['true', 'True', 'TRUE', '1', 'yes', ' true', 'true, false', '']) {
    const headers = { 'content-type': 'application/json', 'content-length': '2', 'x-envoy-auth-partial-body': partial }
    assert.equal(at(await grpc.check({ ...post, headers }), 'status', 'code'), 7, JSON.stringify(partial))
    const asked = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-envoy-auth-partial-body': partial },
    }
    assert.equal((await fetch(`${api}/authz/pets`, { ...asked, body: '{}' })).ok, false, JSON.stringify(partial))
  }
})

test('a body that the proxy says it left out counts, whatever the method is', async (t) => {
  const { api } = await scene(t)
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const ask = (text: string) =>
      fetch(`${api}/authz/pets`, { method, headers: { 'preflight-original-body': text } }).then(({ status }) => status)
    for (const framing of ['HTTP/1.1', 'HTTP/1.0', 'none']) {
      for (const text of ['/', '0/']) assert.equal(await ask(`${text}/${framing}`), 200, `${method} ${text} ${framing}`)
      for (const text of ['2/', '/chunked', '0/chunked', '2/chunked', '/gzip, chunked', ''])
        assert.equal(await ask(`${text}/${framing}`), 400, `${method} ${text} ${framing}`)
    }
    // These protocols need no length for a body, so nothing states that there is none.
    for (const text of ['//HTTP/2.0', '0//HTTP/2.0', '//HTTP/3.0', '//', '/', '0/', '//other'])
      assert.equal(await ask(text), 400, `${method} ${text}`)
  }
})

test('a body without a length is checked as one with it, and one that is left out is not passed over', async (t) => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } }
  const requestBody = { content: { 'application/json': { schema } } }
  const file = petContract((paths) => {
    paths['/pets'] = { post: { requestBody, responses: { 200: { description: 'good' } } } }
  })
  const { grpc, api } = await scene(t, { validate: 'enforce', contract: { baseline: { file }, current: { file } } })
  const headers = { 'content-type': 'application/json' }
  const post = { ...PETS, method: 'POST', size: -1, protocol: 'HTTP/2', headers }
  assert.equal(at(await grpc.check({ ...post, body: '{"name":"a"}' }), 'status', 'code') ?? 0, 0)
  assert.equal(at(await grpc.check({ ...post, body: '{"name":1}' }), 'status', 'code'), 7)
  assert.equal(at(await grpc.check(post), 'status', 'code'), 7)
  // Caddy and Traefik send no body, and do not say whether there is one.
  const forwarded = { 'x-forwarded-method': 'POST', 'x-forwarded-uri': '/pets', 'x-forwarded-host': 'a' }
  const asked = await fetch(`${api}/forward-auth`, { headers: { ...headers, ...forwarded } })
  assert.match(await asked.text(), /"PREFLIGHT_UNDECIDED"/)
})

test('a body that HTTP/2 does not announce is none that was judged', async (t) => {
  const { api } = await scene(t, { validate: 'enforce' })
  const ask = (text: string) =>
    fetch(`${api}/authz/pets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'preflight-original-body': text },
    })
  assert.equal((await ask('//HTTP/1.1')).status, 200)
  for (const text of ['//HTTP/2.0', '//HTTP/3.0', '/', '2//HTTP/1.1'])
    assert.match(await (await ask(text)).text(), /"PREFLIGHT_UNDECIDED"/, text)
})

for (const [what, http] of [
  ['a host that is none', { host: 'pets.example, admin.example' }],
  ['a host with user information', { host: 'user@pets.example' }],
  ['a host with a dot at its end', { host: 'pets.example.' }],
  ['no host', { host: '' }],
  ['an absolute path', { path: 'http://other.example/pets' }],
  ['a fragment', { path: '/pets#/admin' }],
  ['a line break in the path', { path: '/pets\r\nX: y' }],
  ['a path of two slashes', { path: '//pets' }],
  ['Transfer-Encoding beside a length', { headers: { 'content-length': '0', 'transfer-encoding': 'chunked' } }],
  ['a length with a comma', { method: 'POST', headers: { 'content-length': '2, 4' }, body: 'ab' }],
  ['a Connection that drops what was judged', { headers: { connection: 'authorization' } }],
] as const) {
  test(`a question with ${what} is not a yes`, async (t) => {
    const { grpc } = await scene(t, { match: { host: 'pets.example', path: '/pets' } })
    assert.equal(at(await grpc.check(PETS), 'status', 'code') ?? 0, 0)
    assert.equal(at(await grpc.check({ ...PETS, ...http }), 'status', 'code'), 7)
  })
}

test('a body of another length than the request has is not judged for it', async (t) => {
  const route = { validate: 'enforce' }
  const { grpc } = await scene(t, route)
  const post = { ...PETS, method: 'POST', size: -1, body: '{}' }
  for (const length of ['1', '3', '0x2', '', '2.0e0 ', '+2']) {
    const answer = await grpc.check({
      ...post,
      headers: { 'content-type': 'application/json', 'content-length': length },
    })
    assert.equal(at(answer, 'status', 'code'), 7, length)
  }
})

test('questions are only what stands under the prefix, and no other part of the API answers them', async (t) => {
  const { api } = await scene(t)
  for (const target of [
    '/authz',
    '/authz//pets',
    '/authz/%2e%2e/livez',
    '/authz/../api/v1/ledger',
    '/authz/pets%2f..',
  ]) {
    const answer = await exchangeBytes(api, requestText(`GET ${target} HTTP/1.1\nHost: a`))
    assert.ok(statusOf(answer) >= 400, target)
    assert.doesNotMatch(answer, /preflight-receipt/i)
  }
})

test('a client cannot make a refusal of the gateway look like another answer', async (t) => {
  const { api, change } = await scene(t)
  change((paths) => {
    delete paths['/pets']
  })
  const answer = await fetch(`${api}/authz/pets`, {
    headers: { 'x-correlation-id': 'a b\u00e4', 'preflight-action': 'CONTINUE', 'x-envoy-auth-partial-body': 'false' },
  })
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.match(answer.headers.get('x-correlation-id') ?? '', /^[\w.:-]+$/)
  assert.ok(textAt(await answer.json(), 'message'))
})
