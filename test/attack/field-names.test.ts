/** Header fields whose names only some servers take for those that decide: CGI, FastCGI, WSGI and PHP have one letter for many signs. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { FREE_PORTS } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startPetRoute } from '../fakes/pet-route.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const DECIDING = [
  'X-Original-URL',
  'X-Rewrite-URL',
  'Script-Name',
  'X-Script-Name',
  'Path-Info',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'Preflight-Receipt',
  'Preflight-Decision',
  'Content-Length',
  'Content-Type',
  'Content-Encoding',
  'Transfer-Encoding',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'Proxy-Authorization',
  'If-Match',
  'Impersonate-User',
  'Mcp-Session-Id',
]
const SIGNS = ['_', '.', '!', '~', '|', '*', "'", '^', '`', '+', '&', '$', '#', '%']
const SPELLINGS = DECIDING.flatMap((name) => [
  ...SIGNS.map((sign) => name.replaceAll('-', sign)),
  name.replace('-', '.'),
  name.replace(/-(?!.*-)/, '_'),
])

const OTHER = [{ when: "request.path == '/b'", action: 'deny' }]

async function startMapped(t: TestContext) {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const proxy = await startProxy({
    routes: [
      {
        name: 'it',
        match: { path: '/' },
        upstream: upstream.origin,
        protocol: 'mapped',
        otherwise: 'pass',
        map: OTHER,
      },
    ],
  })
  t.after(() => proxy.close())
  return { upstream, proxy }
}

test('a field that some server takes for one that decides is refused', async (t) => {
  const { upstream, proxy } = await startMapped(t)
  for (const name of SPELLINGS) {
    const head = `POST /a HTTP/1.1\nHost: a\n${name}: 1\nContent-Length: 0`
    assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(head))), 400, name)
  }
  assert.equal(upstream.requests.length, 0)
  for (const name of ['X_Request_Id', 'X.Serial', 'api_key', 'x_tenant']) {
    const head = `POST /a HTTP/1.1\nHost: a\n${name}: 1\nContent-Length: 0`
    assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(head))), 200, name)
  }
})

test('a field that states another path, or a part of it to cut off, reaches no server', async (t) => {
  const { upstream, proxy } = await startMapped(t)
  const names = [
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-Override-URL',
    'X-HTTP-DestinationURL',
    'X-Waws-Unencoded-Url',
    'Script-Name',
    'X-Script-Name',
    'Path-Info',
    'X-Path-Info',
    // Another host than the one that X-Forwarded-Host states.
    'Forwarded',
  ]
  const fields = names.map((name) => `${name}: /a`).join('\n')
  assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(`GET /a/b HTTP/1.1\nHost: a\n${fields}`))), 200)
  const [sent] = upstream.requests
  assert.deepEqual(
    names.filter((name) => sent?.headers[name.toLowerCase()] !== undefined),
    [],
  )
})

test('a field that some server takes for one that a rule reads leaves the request undecided', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const map = [{ when: "'x-danger' in request.headers", action: 'deny' }]
  const proxy = await startProxy({
    routes: [
      { name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol: 'mapped', otherwise: 'pass', map },
    ],
  })
  t.after(() => proxy.close())
  for (const sign of ['-', ...SIGNS]) {
    const head = `GET /a HTTP/1.1\nHost: a\nX${sign}Danger: 1`
    assert.ok(statusOf(await exchangeBytes(proxy.url, requestText(head))) >= 400, sign)
  }
  assert.equal(upstream.requests.length, 0)
})

test('a question of another proxy with such a field is not a yes', async (t) => {
  const { gateway } = await startPetRoute(t, {}, { listen: FREE_PORTS })
  const { api } = gateway.addresses
  assert.equal((await fetch(`${api}/authz/pets`)).status, 200)
  for (const name of SPELLINGS.filter((one) => /original|rewrite|override|preflight|script|path.info/i.test(one))) {
    const head = `GET /authz/pets HTTP/1.1\nHost: a\n${name}: 1`
    assert.ok(statusOf(await exchangeBytes(api, requestText(head))) >= 400, name)
  }
})
