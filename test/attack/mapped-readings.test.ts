/** A mapped route whose rules and whose server read one request differently: paths, queries, bodies and fields, each spelling as data. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { PATH_FIELDS } from '../../gateway/routing/field-name.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'

const ROUTES = {
  lower: [{ when: "request.path.startsWith('/admin/')", action: 'deny' }],
  upper: [{ when: "request.path.startsWith('/Admin/')", action: 'deny' }],
  pattern: [{ when: "request.path.matches('^/Admin/[A-Z]+')", action: 'deny' }],
  segment: [{ when: "request.segments[0] == 'Admin' && request.method == 'GET'", action: 'deny' }],
  listed: [{ when: "request.segments.exists(one, one in ['Admin'])", action: 'deny' }],
  exact: [{ when: "request.path == '/admin/dump'", action: 'deny' }],
}
const PLAIN = [
  { when: "request.path == '/Repos/Open'", action: 'pass' },
  { when: "request.path.endsWith('.yaml')", action: 'pass' },
  { when: "request.path == '/list'", action: 'pass' },
]
/** A server that compares paths before it decodes them runs the second. */
const ITEMS = [
  { when: "request.path == '/items/all'", action: 'pass' },
  { when: "request.path.startsWith('/items')", action: 'deny' },
]
const QUERY = [
  { when: "'force' in request.query && request.query.force == 'true'", action: 'deny' },
  { when: "request.query['dry_run'] == 'true'", action: 'pass' },
]
const BODY = [
  { when: "has(request.body.action) && request.body.action == 'wipe'", action: 'deny' },
  { when: "'x-danger' in request.headers", action: 'deny' },
]
const COPIED = PATH_FIELDS.map((field) => ({
  when: `'${field}' in request.headers && request.headers['${field}'].startsWith('/admin/') && request.path != ''`,
  action: 'deny',
}))
const FIELD = [{ when: "'x-env' in request.headers && request.headers['x-env'] == 'prod'", action: 'deny' }]
const FIELDS = [{ when: "request.headers.exists(name, request.headers[name] == 'prod')", action: 'deny' }]
const LOOP = [{ when: "request.query.exists(name, name == 'force')", action: 'deny' }]

let upstream: HttpUpstream
let proxy: ProxyUnderTest
before(async () => {
  upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const maps = {
    ...ROUTES,
    plain: PLAIN,
    items: ITEMS,
    query: QUERY,
    body: BODY,
    loop: LOOP,
    copied: COPIED,
    field: FIELD,
    fields: FIELDS,
  }
  proxy = await startProxy({
    routes: Object.entries(maps).map(([name, map]) => ({
      name,
      match: { path: `/${name}` },
      upstream: name === 'items' ? `${upstream.origin}/items` : upstream.origin,
      protocol: 'mapped',
      otherwise: 'pass',
      map,
    })),
  })
})
after(async () => {
  await proxy.close()
  await upstream.close()
})

async function send(method: string, path: string, body = '', fields = '', type = 'application/json'): Promise<number> {
  const stated = body === '' ? '' : `\nContent-Type: ${type}`
  const head = `${method} ${path} HTTP/1.1\nHost: a\nContent-Length: ${Buffer.byteLength(body)}${stated}${fields}`
  return statusOf(await exchangeBytes(proxy.url, requestText(head, body)))
}

const ADMIN = [
  '/admin/dump',
  '/Admin/dump',
  '/ADMIN/dump',
  '/aDmIn/dump',
  '/admin;x=1/dump',
  '/Admin;x=1/dump',
  '/admin%20/dump',
  '/%20admin/dump',
  '/admin./dump',
  '//admin/dump',
  '/admin//dump',
  '/Admin//dump/',
  '/%61dmin/dump',
  '/%41dmin/dump',
  '/%2561dmin/dump',
  '/admin%252fdump',
  '/x%252f..%252fadmin%252fdump',
  '/%ef%bd%81dmin/dump',
  '/admin/dump.json',
  '/Admin/dump.json',
  '/admin/dump.xml;v=1',
  '/admin/dump%20',
  '/admin/dump;/x',
  '/admin/dump;x=1/y',
]
for (const [name] of Object.entries(ROUTES))
  test(`no spelling goes around the rule "${name}"`, async () => {
    const sent = upstream.requests.length
    for (const path of ADMIN) assert.ok((await send('GET', `/${name}${path}`)) >= 400, path)
    assert.equal(upstream.requests.length, sent)
  })

test('a directory without its slash is denied as with it', async () => {
  for (const path of ['/lower/admin', '/upper/admin', '/upper/ADMIN', '/lower/admin;x'])
    assert.ok((await send('GET', path)) >= 400, path)
})

test('plainly written requests keep their rule', async () => {
  for (const path of ['/Repos/Open', '/a/b.yaml', '/list', '/list/x', '/Other/Thing.tar.gz', '/%7Euser'])
    assert.equal(await send('POST', `/plain${path}`), 200, path)
})

test('a letter as an escape is not read as the letter alone', async () => {
  assert.equal(await send('POST', '/items/all'), 200)
  for (const path of ['/items/%61ll', '/items/a%6cl', '/items/a%6C%6c', '/items/al%6c'])
    assert.ok((await send('POST', path)) >= 400, path)
  assert.equal(await send('POST', '/plain/a%20b'), 200)
})

for (const query of [
  'force=true&force=false',
  'Force=true',
  'FORCE=true',
  'force[]=true',
  'force[0]=true',
  'force%5B%5D=true',
  'x=1;force=true',
  'force=true;x',
  'dry_run=true&Dry_Run=false',
  'dry.run=false',
  'dry+run=false',
  'dry_run=true;force=true',
  '%20force=true',
  'force%00=true',
  '%ef%bd%86orce=true',
])
  test(`?${query} has no single reading`, async () => {
    assert.ok((await send('POST', `/query/x?${query}`)) >= 400)
  })

for (const query of ['app=a;b&dry_run=true', 'dry_run=true&ids[]=1', 'dry_run=true&App=1'])
  test(`?${query} is read by everybody alike`, async () => assert.equal(await send('POST', `/query/x?${query}`), 200))

test('where rules go over all parameters, each counts', async () => {
  for (const query of ['Force=1&force=2', 'a[]=1', 'a=1;b', 'a.b=1'])
    assert.ok((await send('POST', `/loop/x?${query}`)) >= 400, query)
  assert.equal(await send('POST', '/loop/x?a=1&b=2'), 200)
})

for (const [what, body, type] of [
  ['capitals', '{"Action":"wipe"}', 'application/json'],
  ['capitals within', '{"x":[{"ACTION":"wipe"}]}', 'application/json'],
  ['a name twice', '{"action":"read","action":"wipe"}', 'application/json'],
  ['UTF-7', '{"action":"read+ACIALAAiAGE-"}', 'application/json; charset=utf-7'],
  ['UTF-16', '{"action":"read"}', 'application/json;charset="utf-16"'],
  ['two character sets', '{"action":"read"}', 'application/json; charset=utf-8; charset=utf-7'],
] as const)
  test(`a body with ${what} has no single reading`, async () => {
    assert.ok((await send('POST', '/body/x', body, '', type)) >= 400)
  })

test('a body of plain members, and a field of plain letters, are read', async () => {
  assert.equal(await send('POST', '/body/x', '{"action":"read","Other":1}', '', 'application/json; charset=utf-8'), 200)
  assert.equal(await send('POST', '/body/x', '{"action":"read"}', '\nX-Danger: 1'), 403)
  assert.equal(await send('POST', '/body/x', '{"action":"read"}', '\nX_Other: 1'), 200)
})

test('a field that CGI takes for one of a rule has no single reading', async () => {
  assert.ok((await send('POST', '/body/x', '{"action":"read"}', '\nX_Danger: 1')) >= 400)
})

test('a field of a rule that comes twice has no single reading, and another one has', async () => {
  const sent = upstream.requests.length
  for (const fields of ['prod\nX-Env: dev', 'dev\nx-env: prod', 'dev\nX-Env: dev'])
    assert.equal(await send('GET', '/field/x', '', `\nX-Env: ${fields}`), 503, fields)
  assert.equal(await send('GET', '/fields/x', '', '\nX-Other: 1\nX-Other: 2'), 503, 'any field counts in a loop')
  assert.equal(upstream.requests.length, sent)
  assert.equal(await send('GET', '/field/x', '', '\nX-Env: prod'), 403)
  assert.equal(await send('GET', '/field/x', '', '\nX-Env: dev\nX-Other: 1\nX-Other: 2'), 200)
  assert.equal(await send('GET', '/fields/x', '', '\nX-Other: 1\nCookie: a=1\nCookie: b=2'), 200)
})

test('a field that Connection names is not a fact, since it is not sent', async () => {
  assert.equal(await send('POST', '/body/x', '{"action":"read"}', '\nConnection: X-Danger\nX-Danger: 1'), 200)
  assert.equal(upstream.requests.at(-1)?.headers['x-danger'], undefined)
})

for (const field of PATH_FIELDS)
  test(`a second path in ${field} is undecided unless a rule reads it`, async () => {
    const sent = upstream.requests.length
    for (const method of ['COPY', 'MOVE', 'PUT', 'POST'])
      assert.equal(await send(method, '/lower/notes', '', `\n${field}: /admin/dump`), 503, method)
    assert.equal(upstream.requests.length, sent)
    assert.equal(await send('PUT', '/copied/notes', '', `\n${field}: /public/dump`), 200)
    assert.equal(await send('PUT', '/copied/notes', '', `\n${field}: /admin/dump`), 403)
    assert.equal(await send('POST', '/loop/notes', '', `\n${field}: /admin/dump`), 200, 'no rule is about paths')
  })
