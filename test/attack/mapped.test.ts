/** A hostile caller of a mapped route: paths that go around a rule for the gateway and not for the server, and values that wear expressions out. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const RULES = [
  { when: "request.path == '/rollout'", action: 'receipt', operation: 'deploy', target: "'app:shop'" },
  {
    when: "request.path.startsWith('/schemas/')",
    action: 'receipt',
    operation: 'publish',
    target: "'schema:' + request.segments[1]",
  },
  { when: "request.path.startsWith('/admin/')", action: 'deny' },
]

async function scene(t: TestContext, map: readonly object[] = RULES, otherwise = 'pass') {
  const upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const proxy = await startProxy({
    routes: [{ name: 'ops', match: { path: '/ops' }, upstream: upstream.origin, protocol: 'mapped', map, otherwise }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const send = async (path: string, method = 'POST', body = '', fields = ''): Promise<number> => {
    const type = body === '' ? '' : 'Content-Type: application/json\n'
    const head = `${method} ${path} HTTP/1.1\nHost: a\n${type}${fields}Content-Length: ${Buffer.byteLength(body)}`
    return statusOf(await exchangeBytes(proxy.url, requestText(head, body)))
  }
  return { upstream, send }
}

for (const path of [
  '/ops//admin/users',
  '/ops/x/..;/admin/users',
  '/ops/admin;v=1/users',
  '/ops/;/admin/users',
  '/ops/rollout/',
  '/ops/rollout;now',
  '/ops//rollout',
  '/ops/schemas//pets',
  '/ops/schemas/;a=b/pets',
  '/ops/schemas/pets;v=2',
  '/ops/%3b/admin/users',
]) {
  test(`${path} goes around no rule`, async (t) => {
    const { send, upstream } = await scene(t)
    for (const method of ['POST', 'GET']) assert.ok((await send(path, method)) >= 400, method)
    assert.deepEqual(upstream.requests, [])
  })
}

test('spellings that come to the same rule and values pass as they are', async (t) => {
  const { send, upstream } = await scene(t)
  for (const path of ['/ops/things//1', '/ops/things;v=1', '/ops/things/', '/ops/'])
    assert.equal(await send(path), 200, path)
  assert.deepEqual(
    upstream.requests.map(({ url }) => url),
    ['/things//1', '/things;v=1', '/things/', '/'],
  )
  assert.equal(await send('/ops/schemas/pets/'), 403, 'asked for the receipt of schema:pets')
})

for (const [what, when, body] of [
  ['a member of another type', 'request.body.size > 5', '{"size":"6"}'],
  ['a list where a text is expected', "request.body.app == 'shop'", '{"app":["shop"]}'],
  ['null', "request.body.app.startsWith('a')", '{"app":null}'],
  ['a member that is not there', "request.body.app == 'shop'", '{}'],
  ['a number beyond counting', 'request.body.size < 5', '{"size":1e999}'],
  ['a list of two million members', 'request.body.all(one, one == 1)', `[${'1,'.repeat(2_000_000)}1]`],
  [
    'a list for each member of a list',
    'request.body.all(a, request.body.all(b, a == b))',
    `[${'1,'.repeat(200_000)}1]`,
  ],
  ['a text that takes long to match', "request.body.t.matches('^(a+)+$')", `{"t":"${'a'.repeat(200_000)}b"}`],
  ['nesting', 'request.body.a == 1', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`],
  ['__proto__', "request.body.isAdmin == 'yes'", '{"__proto__":{"isAdmin":"yes"}}'],
] as const) {
  test(`a condition that meets ${what} never lets a request on, and never for long`, { timeout: 30_000 }, async (t) => {
    const { send, upstream } = await scene(t, [{ when, action: 'pass' }], 'deny')
    assert.ok((await send('/ops/x', 'POST', body)) >= 400)
    assert.deepEqual(upstream.requests, [])
    assert.equal(await send('/ops/x', 'PUT', '['), 503, 'the gateway still answers')
  })
}

test('a field of a request that names another path does not reach the server', async (t) => {
  const { send, upstream } = await scene(t)
  assert.equal(await send('/ops/things', 'GET', '', 'X-Original-URL: /admin/users\nX-Rewrite-Url: /admin/users\n'), 200)
  assert.deepEqual(
    Object.keys(upstream.requests[0]?.headers ?? {}).filter((name) => /original|rewrite/.test(name)),
    [],
  )
})
