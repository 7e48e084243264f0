/** Proxy authentication: with `proxy_auth: required` who calls is the holder of an API key, and decisions are theirs. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { apiKeyRow, mintApiKey, signupTenant } from '../../../gateway/callers/api-keys.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { ask, openConnect } from '../../fakes/through-proxy.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
  readonly authority: string
  readonly key: string
  readonly audience: string
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => void response.end('good'))
  const routes = [
    { name: 'pets', match: { host: '127.0.0.1' }, protocol: 'http', contract: { current: { file: petContract() } } },
    {
      name: 'reverse',
      match: { path: '/api' },
      upstream: upstream.origin,
      protocol: 'http',
      contract: { current: { file: petContract() } },
    },
  ]
  const proxy = await startProxy({ routes, config: { proxy_auth: 'required' } })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const key = mintApiKey()
  const row = apiKeyRow({ key, name: 'pod', role: 'agent', at: Date.now(), tenant: 'team-a' })
  await proxy.store.apiKeys.create(row)
  return { proxy, upstream, authority: new URL(upstream.origin).host, key, audience: row.audience }
}

function basic(user: string, password: string): string {
  return `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

test('without a key, or with a wrong one, forward proxy and CONNECT answer 407 with the expected scheme', async (t) => {
  const { proxy, upstream, authority, key } = await scene(t)
  const fields = [
    'X-None: 1',
    basic('pod', 'pf_live_wrong'),
    'Proxy-Authorization: Digest x',
    basic('', ''),
    // Two keys name no caller.
    basic(mintApiKey(), key),
    basic(key, mintApiKey()),
  ]
  for (const field of fields) {
    const head = requestText(`GET http://${authority}/pets HTTP/1.1\nHost: ${authority}\n${field}`)
    const answer = await exchangeBytes(proxy.url, head)
    assert.equal(statusOf(answer), 407, field)
    assert.match(answer, /Proxy-Authenticate: Basic/)
    const connected = await openConnect(proxy.url, authority, [field])
    assert.equal(statusOf(connected.head), 407, field)
    assert.match(connected.head, /Proxy-Authenticate: Basic/)
  }
  assert.equal(upstream.requests.length, 0)
})

test('the key is the password, the user name, or a bearer token; decisions are those of its tenant and audience', async (t) => {
  const { proxy, upstream, authority, key, audience } = await scene(t)
  for (const field of [basic('pod', key), basic(key, ''), basic(key, key), `Proxy-Authorization: Bearer ${key}`]) {
    const head = requestText(`GET http://${authority}/pets HTTP/1.1\nHost: ${authority}\n${field}`)
    assert.equal(statusOf(await exchangeBytes(proxy.url, head)), 200, field)
  }
  assert.deepEqual(proxy.flow.asked[0]?.caller, { tenant: 'team-a', audience })
  assert.equal(upstream.requests[0]?.headers['proxy-authorization'], undefined)
  assert.doesNotMatch(proxy.log.join(''), new RegExp(key))
})

test('inside a CONNECT the key was given once, and stands for all requests', async (t) => {
  const { proxy, authority, key, audience } = await scene(t)
  const { socket, head } = await openConnect(proxy.url, authority, [basic('pod', key)])
  assert.equal(statusOf(head), 200)
  assert.equal(statusOf(await ask(socket, `GET /pets HTTP/1.1\nHost: ${authority}`)), 200)
  assert.deepEqual(proxy.flow.asked[0]?.caller, { tenant: 'team-a', audience })
})

test('decisions of one caller are not used for another', async (t) => {
  const { proxy, authority, key } = await scene(t)
  const other = mintApiKey()
  await proxy.store.apiKeys.create(
    apiKeyRow({ key: other, name: 'b', role: 'agent', at: Date.now(), tenant: 'team-b' }),
  )
  for (const each of [key, other, key]) {
    const head = requestText(`GET http://${authority}/pets HTTP/1.1\nHost: ${authority}\n${basic('pod', each)}`)
    await exchangeBytes(proxy.url, head)
  }
  assert.deepEqual(
    proxy.flow.asked.map(({ caller }) => caller.tenant),
    ['team-a', 'team-b'],
  )
})

test('a key that was signed up opens no proxy: anybody can have one', async (t) => {
  const { proxy, authority, upstream } = await scene(t)
  const own = mintApiKey()
  const row = apiKeyRow({ key: own, name: 'x', role: 'agent', at: Date.now(), tenant: signupTenant() })
  await proxy.store.apiKeys.create(row)
  assert.equal(statusOf((await openConnect(proxy.url, authority, [basic('pod', own)])).head), 407)
  const head = requestText(`GET http://${authority}/pets HTTP/1.1\nHost: ${authority}\n${basic('pod', own)}`)
  assert.equal(statusOf(await exchangeBytes(proxy.url, head)), 407)
  assert.equal(upstream.requests.length, 0)
})

test('a revoked key is not a key', async (t) => {
  const { proxy, authority, key } = await scene(t)
  const [row] = await proxy.store.apiKeys.list()
  assert.ok(row)
  await proxy.store.apiKeys.revoke(row.hash, Date.now())
  assert.equal(statusOf((await openConnect(proxy.url, authority, [basic('pod', key)])).head), 407)
})

test('reverse routes ask for no key of the proxy', async (t) => {
  const { proxy } = await scene(t)
  assert.equal((await fetch(`${proxy.url}/api/pets`)).status, 200)
})
