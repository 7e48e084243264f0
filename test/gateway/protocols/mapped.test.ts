/** Requests that the operator’s own rules map: what passes, what is judged on which texts, what needs a receipt, what nobody can tell. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { loadConfig } from '../../../gateway/config/load.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
}

async function scene(
  t: TestContext,
  route: Readonly<Record<string, unknown>>,
  options: Partial<ProxyOptions> = {},
): Promise<Scene> {
  const upstream = await startHttpUpstream((request, response) => {
    const { url = '' } = request
    response.statusCode = url.startsWith('/missing')
      ? 404
      : url.startsWith('/secret')
        ? 403
        : url.startsWith('/broken')
          ? 500
          : 200
    response.end(url.startsWith('/contracts/') ? `old ${url}` : 'good')
  })
  const proxy = await startProxy({
    ...options,
    routes: [{ name: 'ops', match: { path: '/' }, upstream: upstream.origin, protocol: 'mapped', ...route }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return {
    upstream,
    proxy,
    send: (method, path, body, headers = {}) =>
      fetch(`${proxy.url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  }
}

const PUBLISH = {
  when: "request.method == 'PUT' && request.segments[0] == 'schemas'",
  action: 'judge',
  operation: 'publish',
  target: "'schema:' + request.segments[1]",
  repository: 'request.body.repo',
  pull_request: 'request.body.change',
  head: "request.headers['x-head']",
  artifact: {
    type: 'json_schema',
    before: { path: "'/contracts/' + request.segments[1]" },
    after: 'request.body.schema',
  },
}
const DEPLOY = {
  when: "request.path == '/deploy'",
  action: 'receipt',
  operation: 'deploy',
  target: "'app:' + request.query.app",
}
const WIPE = { when: "request.path == '/wipe'", action: 'deny', message: 'Nobody wipes.' }

test('a request that changes a contract is judged on what is there and what it brings', async (t) => {
  const { upstream, proxy, send } = await scene(t, { map: [PUBLISH] })
  const body = { repo: 'acme/shop', change: 7, schema: { type: 'object' } }
  const answer = await send('PUT', '/schemas/pet?x=1', body, { 'x-head': 'abc', authorization: 'Bearer me' })
  assert.equal(answer.status, 200)
  const [asked] = proxy.flow.asked
  assert.deepEqual(asked?.artifacts, [
    { id: 'schema:pet', type: 'json_schema', before: 'old /contracts/pet', after: '{"type":"object"}' },
  ])
  const { operation, target_id, repository, pull_request, head, branch } = asked?.context ?? {}
  assert.deepEqual(
    { operation, target_id, repository, pull_request, head, branch },
    {
      operation: 'publish',
      target_id: 'schema:pet',
      repository: 'acme/shop',
      pull_request: '7',
      head: 'abc',
      branch: null,
    },
  )
  const [question, sent] = upstream.requests
  assert.deepEqual(
    [question?.method, question?.url, question?.headers.authorization],
    ['GET', '/contracts/pet', 'Bearer me'],
  )
  assert.deepEqual([sent?.method, sent?.url, sent?.body], ['PUT', '/schemas/pet?x=1', JSON.stringify(body)])
})

test('the requests of the documented map get what its rules say', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/protocols/mapped.md'), 'utf8')
  const route = at(parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? ''), 'routes', 0, 'map')
  const { send, proxy } = await scene(t, { map: route })
  const judged = await send('PUT', '/schemas/pet', { schema: { type: 'object' } }, { 'x-repository': 'acme/shop' })
  assert.equal(judged.status, 200)
  assert.equal(proxy.flow.asked.at(-1)?.context.target_id, 'schema:pet')
  const rollout: unknown = await (await send('POST', '/rollout', { app: 'web' })).json()
  assert.equal(at(rollout, 'error'), 'PREFLIGHT_RECEIPT_REQUIRED')
  const refused: unknown = await (await send('POST', '/admin/users', {})).json()
  assert.equal(at(refused, 'message'), 'The registry is administered by people.')
})

test('a path that no rule matches with a slash at its end is undecided, and the answer says why', async (t) => {
  const admin = { when: "request.path.startsWith('/admin/')", action: 'deny' }
  const { send } = await scene(t, { map: [DEPLOY, admin] })
  const answer: unknown = await (await send('POST', '/deploy?app=web', {})).json()
  assert.equal(at(answer, 'error'), 'PREFLIGHT_UNDECIDED')
  assert.match(String(at(answer, 'message')), /no rule matches its path as many servers read it, \/deploy\/\./)
})

test('a stopped request is answered 403 with its decision', async (t) => {
  const { upstream, send } = await scene(t, { map: [PUBLISH] }, { decide: () => 'BLOCK' })
  const answer = await send('PUT', '/schemas/pet', { repo: 'a', change: 1, schema: {} }, { 'x-head': 'abc' })
  assert.equal(answer.status, 403)
  assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_STOP')
  assert.equal(
    upstream.requests.some(({ method }) => method === 'PUT'),
    false,
  )
})

for (const [what, source, after] of [
  ['a text', "'type: object'", 'type: object'],
  ['null: nothing', 'null', ''],
  ['a path that is not there', { path: "'/missing/x'" }, ''],
  ['a list', '[1, 2]', '[1,2]'],
] as const) {
  test(`a side of an artifact may be ${what}`, async (t) => {
    const rule = { action: 'judge', target: "'t'", artifact: { type: 'json_schema', before: "'{}'", after: source } }
    const { proxy, send } = await scene(t, { map: [rule] })
    await send('POST', '/')
    assert.equal(proxy.flow.asked[0]?.artifacts[0]?.after, after)
  })
}

test('what needs a receipt says for which target and operation', async (t) => {
  const { upstream, send } = await scene(t, { map: [DEPLOY] })
  const answer = await send('POST', '/deploy?app=web')
  assert.equal(answer.status, 403)
  assert.match(String(at(await answer.json(), 'message')), /"target_id":"app:web"/)
  assert.equal(upstream.requests.length, 0)
})

test('another form of a path does not bypass a rule', async (t) => {
  const { upstream, send } = await scene(t, { map: [WIPE], otherwise: 'pass' })
  assert.equal((await send('POST', '/%77ipe')).status, 403)
  assert.equal(upstream.requests.length, 0)
})

test('a denied request gets the message of its rule', async (t) => {
  const { upstream, proxy, send } = await scene(t, { map: [WIPE] })
  const answer = await send('POST', '/wipe')
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(at(await answer.json(), 'message'), 'Nobody wipes.')
  assert.equal(upstream.requests.length, 0)
  assert.equal(proxy.flow.asked.length, 0)
})

test('parameters that come twice are not judged where no rule reads the query', async (t) => {
  const { upstream, send } = await scene(t, { map: [WIPE] })
  assert.equal((await send('GET', '/search?tag=a&tag=b')).status, 200)
  assert.equal(upstream.requests[0]?.url, '/search?tag=a&tag=b')
})

test('the first rule that matches counts', async (t) => {
  const { upstream, send } = await scene(t, { map: [{ when: "request.query.force == 'yes'", action: 'pass' }, WIPE] })
  assert.equal((await send('POST', '/wipe?force=yes')).status, 200)
  assert.equal((await send('POST', '/wipe?force=no')).status, 403)
  assert.equal(upstream.requests.length, 1)
})

for (const [otherwise, method, status] of [
  [undefined, 'GET', 200],
  [undefined, 'OPTIONS', 200],
  [undefined, 'POST', 403],
  [undefined, 'DELETE', 403],
  ['pass', 'DELETE', 200],
  ['deny', 'GET', 403],
] as const) {
  test(`a ${method} that no rule matches is answered ${status}${otherwise === undefined ? '' : ` by otherwise: ${otherwise}`}`, async (t) => {
    const { send } = await scene(t, { map: [WIPE], ...(otherwise === undefined ? {} : { otherwise }) })
    assert.equal((await send(method, '/else')).status, status)
  })
}

test('a body that no expression asks for streams by, whatever it is', async (t) => {
  const { upstream, send } = await scene(t, { map: [{ when: "request.path == '/upload'", action: 'pass' }, PUBLISH] })
  const answer = await send('POST', '/upload', '{not json', { 'content-type': 'text/plain' })
  assert.equal(answer.status, 200)
  assert.equal(upstream.requests[0]?.body, '{not json')
})

for (const [why, map, method, path, body, headers, message] of [
  [
    'a body that is not JSON',
    [PUBLISH],
    'PUT',
    '/schemas/pet',
    'x',
    { 'content-type': 'text/plain' },
    /text\/plain and not JSON/,
  ],
  ['a body with a member twice', [PUBLISH], 'PUT', '/schemas/pet', '{"a":1,"a":2}', {}, /no single reading/],
  ['a compressed body', [PUBLISH], 'PUT', '/schemas/pet', '{}', { 'content-encoding': 'gzip' }, /gzip/],
  ['a parameter twice', [DEPLOY], 'POST', '/deploy?app=a&app=b', undefined, {}, /"app" more than once/],
  ['a member that is not there', [PUBLISH], 'PUT', '/schemas/pet', {}, { 'x-head': 'a' }, /map\[0\]\.repository/],
  [
    'a condition that cannot be evaluated',
    [{ when: "request.body.kind == 'x'", action: 'pass' }],
    'POST',
    '/',
    {},
    {},
    /map\[0\]\.when: field not found: kind/,
  ],
  [
    'a condition that is neither true nor false',
    [{ when: 'request.path', action: 'pass' }],
    'POST',
    '/',
    undefined,
    {},
    /neither true nor false/,
  ],
  ['a target that is not a text', [{ action: 'receipt', target: '1' }], 'POST', '/', undefined, {}, /map\[0\]\.target/],
  ['an empty target', [{ action: 'receipt', target: "''" }], 'POST', '/', undefined, {}, /map\[0\]\.target/],
  ['a path that leads elsewhere', [judging("'//evil.example/x'")], 'POST', '/', undefined, {}, /not a path/],
  ['a path with dots', [judging("'/a/../b'")], 'POST', '/', undefined, {}, /not a path/],
  ['an upstream that fails', [judging("'/broken'")], 'POST', '/', undefined, {}, /answered 500/],
] as const) {
  test(`undecided, and not forwarded: ${why}`, async (t) => {
    const { upstream, proxy, send } = await scene(t, { map })
    const answer = await send(method, path, body, headers)
    assert.equal(answer.status, 503)
    const reported: unknown = await answer.json()
    assert.equal(at(reported, 'error'), 'PREFLIGHT_UNDECIDED')
    assert.match(String(at(reported, 'message')), message)
    assert.equal(upstream.requests.filter((request) => request.method === method).length, 0)
    assert.equal(proxy.flow.asked.length, 0)
  })
}

function judging(path: string): unknown {
  return { action: 'judge', target: "'t'", artifact: { type: 'openapi', before: { path }, after: "''" } }
}

test('what the upstream refuses the caller is answered as it was', async (t) => {
  const { send } = await scene(t, { map: [judging("'/secret'")] })
  assert.equal((await send('POST', '/')).status, 403)
})

test('credentials are out of reach of expressions', async (t) => {
  const { proxy, send } = await scene(t, {
    map: [
      { action: 'receipt', target: "string('authorization' in request.headers) + string('x-a' in request.headers)" },
    ],
  })
  await send('POST', '/', undefined, { authorization: 'Bearer secret', cookie: 'a=b', 'x-a': '1' })
  assert.match(proxy.interceptions[0]?.action ?? '', /falsetrue$/)
})

test('an observing route lets through what it would deny, and says so', async (t) => {
  const { upstream, proxy, send } = await scene(t, { map: [WIPE], mode: 'observe' })
  assert.equal((await send('POST', '/wipe')).status, 200)
  assert.equal(upstream.requests.length, 1)
  assert.ok(proxy.log.some((line) => line.includes('call.would_be_refused') && line.includes('Nobody wipes.')))
})

for (const [why, route, path, message] of [
  [
    'CEL that does not parse, with its column',
    { map: [{ when: 'request.path +', action: 'pass' }] },
    'routes[0].map[0].when',
    /not valid CEL: at 1:14/,
  ],
  [
    'a variable that does not exist',
    { map: [{ when: 'req.path', action: 'pass' }] },
    'routes[0].map[0].when',
    /reads req, which does not exist/,
  ],
  [
    'a member that does not exist',
    { map: [{ when: "request.host == 'a'", action: 'pass' }] },
    'routes[0].map[0].when',
    /request\.host/,
  ],
  [
    'a function that does not exist',
    { map: [{ when: 'request.path.beginsWith("a")', action: 'pass' }] },
    'routes[0].map[0].when',
    /beginsWith\(\)/,
  ],
  [
    'loops within loops',
    {
      map: [
        { when: 'request.segments.all(a, request.segments.all(b, request.segments.all(c, a == c)))', action: 'pass' },
      ],
    },
    'routes[0].map[0].when',
    /loops/,
  ],
  [
    'judging without an artifact',
    { map: [{ action: 'judge', target: "'t'" }] },
    'routes[0].map[0]',
    /nothing to judge/,
  ],
  [
    'a receipt without a target',
    { map: [{ action: 'receipt' }] },
    'routes[0].map[0]',
    /the target of the receipt is missing/,
  ],
  [
    'an artifact that nothing compares',
    { map: [{ action: 'pass', artifact: { type: 'openapi', before: "''", after: "''" } }] },
    'routes[0].map[0].artifact',
    /action judge/,
  ],
  ['a mapped route without a map', {}, 'routes[0]', /"ops" has no rules/],
  ['a map on another protocol', { protocol: 'mcp', map: [WIPE] }, 'routes[0].map', /has no section map/],
] as const) {
  test(`the configuration is refused: ${why}`, () => {
    const value = { routes: [{ name: 'ops', match: {}, upstream: 'http://127.0.0.1:1', protocol: 'mapped', ...route }] }
    const loaded = loadConfig({ environment: {}, value })
    assert.ok(!loaded.ok)
    assert.deepEqual(
      loaded.problem.map((mistake) => mistake.path),
      [path],
    )
    assert.match(loaded.problem[0]?.message ?? '', message)
  })
}
