/** The same request in other spellings, as servers read them: no route, and no judgement, is chosen by how a request is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'

const WIPE = { when: "request.path == '/wipe'", action: 'deny' }

const SPELLINGS = [
  '/%61dmin/users',
  '/ADMIN/users',
  '/x//%61dmin/users',
  '/admin;a=1/users',
  '/a%64min',
  '/x/;p/admin',
  '/admin%20/x',
  '/admin./x',
  '/%2561dmin/x',
  '/admin.json',
]

for (const path of SPELLINGS) {
  for (const [road_, head] of [
    ['reverse', `DELETE ${path} HTTP/1.1\nHost: HOST`],
    ['forward', `DELETE http://HOST${path} HTTP/1.1\nHost: HOST`],
  ] as const) {
    test(`${road_}: ${path} does not get from a route that denies to one that lets pass`, async (t) => {
      const upstream = await startHttpUpstream((_request, response) => response.end('done'))
      const { port } = new URL(upstream.origin)
      const deny = [{ action: 'deny' }]
      const shared = { upstream: upstream.origin, protocol: 'mapped' }
      const proxy = await startProxy({
        routes: [
          { name: 'admin', match: { host: 'localhost', path: '/admin' }, map: deny, ...shared },
          { name: 'inner', match: { host: 'localhost', path: '/x/admin' }, map: deny, ...shared },
          { name: 'rest', match: { host: 'localhost', path: '/' }, map: [{ action: 'pass' }], ...shared },
        ],
        config: { egress: { allow: ['127.0.0.0/8', '::1'] } },
      })
      t.after(async () => {
        await proxy.close()
        await upstream.close()
      })
      const answer = await exchangeBytes(proxy.url, requestText(head.replaceAll('HOST', `localhost:${port}`)))
      assert.equal(statusOf(answer), 400, answer)
      assert.equal(upstream.requests.length, 0)
    })
  }
}

for (const [prefix, path] of [
  ['/Admin', '/admin/users'],
  ['/Admin', '/ADMIN'],
  ['/admin/', '/admin'],
  ['/Admin/', '/admin'],
  ['/%61dmin', '/admin'],
  ['/admin;a/x', '/admin/x'],
  ['/x//admin', '/x/admin'],
  ['/admin', '/adm%C4%B1n'],
  ['/admin', '/adm%C4%B0n'],
] as const)
  test(`the route ${prefix} also counts for ${path}, which servers read as its path`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('done'))
    const shared = { upstream: upstream.origin, protocol: 'mapped' }
    const proxy = await startProxy({
      routes: [
        { name: 'closer', match: { path: prefix }, map: [{ action: 'deny' }], ...shared },
        { name: 'rest', match: { path: '/' }, map: [{ action: 'pass' }], ...shared },
      ],
    })
    t.after(async () => {
      await proxy.close()
      await upstream.close()
    })
    const statusAt = async (at: string) =>
      statusOf(await exchangeBytes(proxy.url, requestText(`GET ${at} HTTP/1.1\nHost: a`)))
    assert.equal(await statusAt(path), 400)
    assert.equal(await statusAt('/other'), 200)
    assert.equal(upstream.requests.length, 1)
  })

test('a host of a route is not reached unjudged by another spelling of its path', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const { port } = new URL(upstream.origin)
  const host = `localhost:${port}`
  const proxy = await startProxy({
    routes: [{ name: 'admin', match: { host: 'localhost', path: '/admin' }, protocol: 'mapped', map: [WIPE] }],
    config: { egress: { default: 'allow', allow: ['127.0.0.0/8', '::1'] } },
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const ask = (path: string) =>
    exchangeBytes(proxy.url, requestText(`GET http://${host}${path} HTTP/1.1\nHost: ${host}`))
  assert.equal(statusOf(await ask('/Admin')), 400)
  assert.equal(statusOf(await ask('/a%64min/x')), 400)
  assert.equal(statusOf(await ask('/Other/%61')), 200)
  assert.deepEqual(
    upstream.requests.map(({ url }) => url),
    ['/Other/%61'],
  )
})

test('routes that differ by the case of their paths each take their own', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const shared = { upstream: upstream.origin, protocol: 'mapped', map: [{ action: 'pass' }] }
  const proxy = await startProxy({
    routes: [
      { name: 'upper', match: { path: '/Admin' }, ...shared },
      { name: 'lower', match: { path: '/admin' }, ...shared },
      { name: 'rest', match: { path: '/' }, ...shared },
    ],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  for (const path of ['/Admin/a', '/admin/a', '/Other;a=1//%41']) {
    assert.equal((await fetch(proxy.url + path)).status, 200, path)
  }
})

for (const headers of [
  { 'x-http-method-override': 'DELETE' },
  { 'x-http-method': 'DELETE' },
  { 'x-method-override': 'DELETE' },
]) {
  test(`mapped: what ${Object.keys(headers)[0]} does cannot be decided by rules about the method`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('done'))
    const map = [{ when: "request.method == 'DELETE'", action: 'deny' }, { action: 'pass' }]
    const proxy = await startProxy({
      routes: [{ name: 'ops', match: { path: '/' }, upstream: upstream.origin, protocol: 'mapped', map }],
    })
    t.after(async () => {
      await proxy.close()
      await upstream.close()
    })
    assert.equal((await fetch(`${proxy.url}/things/1`, { method: 'POST', headers })).status, 503)
    assert.equal((await fetch(`${proxy.url}/things/1?_method=DELETE`, { method: 'POST' })).status, 503)
    assert.equal((await fetch(`${proxy.url}/things/1`, { method: 'POST' })).status, 200)
    assert.equal(upstream.requests.length, 1)
  })
}

test('http: a method stated twice is judged by the whole contract, not by the operation of the first line', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream: `${upstream.origin}/v1`, protocol: 'http', contract }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  await fetch(`${proxy.url}/pets`)
  await fetch(`${proxy.url}/pets`, { headers: { 'x-http-method-override': 'POST' } })
  assert.deepEqual(
    proxy.flow.asked.map(({ context, scope }) => [context.target_id, scope === null]),
    [
      ['pets/GET /pets', false],
      ['pets', true],
    ],
  )
})
