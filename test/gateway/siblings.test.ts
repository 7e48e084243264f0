/** Spellings of a path that a router may take for a sibling of the operation that the contract describes: judged by each of them. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createOperationMatcher, readOperations } from '../../gateway/validation/api-operations.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

function matcherOf(paths: readonly string[], basePaths: readonly string[] = ['']) {
  return createOperationMatcher({ basePaths, operations: paths.map((path) => ({ method: 'DELETE', path })) })
}

const USERS = ['/users/everyone', '/users/{id}', '/users/{id}/keys', '/users']

/** Of `/users/everyone`, as routers read it. */
const SPELLINGS = [
  '/users/Everyone',
  '/users/EVERYONE',
  '/Users/everyone',
  '/users/everyone/',
  '/users/everyone//',
  '/users//everyone',
  '/users/everyone;x=1',
  '/users/everyone;',
  '/users;x=1/everyone',
  '/users/everyone;a=b;c=d',
  '/users/everyone%3bx',
  '/users/everyone.json',
  '/users/everyone.JSON',
  '/users/everyone.tar.gz',
  '/users/everyone.json;x',
  '/users/everyone.',
  '/users/everyone..',
  '/users/everyone%20',
  '/users/%20everyone',
  '/users/everyone%c2%a0',
  '/users/%65veryone',
  '/users/%45veryone',
  '/users/%2565veryone',
  '/users/%252565veryone',
  '/users/everyone%253Bx',
  '/users/everyone%3fx=1',
  '/users/everyone%23x',
  '/users%252feveryone',
  '/users/x%252f..%252feveryone',
  '/users/%ef%bd%85veryone',
  '/users/Everyone;x=1.json%20/',
]

for (const spelling of SPELLINGS)
  test(`${spelling} is judged as /users/everyone too`, () => {
    const matches = matcherOf(USERS).match('DELETE', spelling)
    const paths = matches?.operations.map(({ path }) => path) ?? []
    assert.ok(paths.includes('/users/everyone'), paths.join())
  })

for (const spelling of SPELLINGS.filter((one) => /^\/users\/[^/]+$/.test(one) && !/%25?2f/.test(one)))
  test(`${spelling} is judged as /users/{id} too`, () => {
    const matches = matcherOf(USERS).match('DELETE', spelling)
    const paths = matches?.operations.map(({ path }) => path) ?? []
    assert.ok(paths.includes('/users/{id}'), paths.join())
  })

for (const path of [
  '/users/everyone%0a',
  '/users/every%0done',
  '/users/%00',
  '/users/everyone%ff',
  '/users/%c0%ae',
  '/users/x%257f',
])
  test(`${path} has no reading`, () => assert.equal(matcherOf(USERS).match('DELETE', path), null))

for (const [path, operations] of [
  ['/users/everyone', ['/users/everyone']],
  ['/users/42', ['/users/{id}']],
  ['/users/AbC', ['/users/{id}']],
  ['/users/a.b', ['/users/{id}']],
  ['/users/a%20b', ['/users/{id}']],
  ['/users/ABC/keys', ['/users/{id}/keys']],
  ['/users', ['/users']],
  ['/nothing', []],
] as const)
  test(`${path} is one operation at most, and no more than that`, () => {
    const matches = matcherOf(USERS).match('DELETE', path)
    assert.deepEqual(
      matches?.operations.map(({ path: template }) => template),
      operations,
    )
    assert.equal(matches.isDescribed, operations.length > 0)
  })

for (const [what, paths, path, operations] of [
  ['two templates that differ in their format', ['/f/{id}', '/f/{id}.json'], '/f/a.json', ['/f/{id}.json', '/f/{id}']],
  ['no format, one template', ['/f/{id}', '/f/{id}.json'], '/f/a', ['/f/{id}']],
  ['templates that differ in case', ['/f/A', '/f/a'], '/f/a', ['/f/A', '/f/a']],
  ['templates that cross', ['/{a}/me', '/books/{id}'], '/books/me', ['/books/{id}', '/{a}/me']],
  ['a slash at the end', ['/f/', '/f'], '/f', ['/f/', '/f']],
  ['two parameters in one name', ['/r/{y}-{m}', '/r/{id}'], '/r/2026-01', ['/r/{y}-{m}', '/r/{id}']],
  ...['{path+}', '{path*}', '{*path}', '{path:path}', '{path:.*}', '{path:.+}'].map(
    (rest) =>
      [`the rest of a path as ${rest}`, ['/f/{id}/v', `/f/${rest}`], '/f/a/v', ['/f/{id}/v', `/f/${rest}`]] as const,
  ),
  ['the rest of a path that is one name', ['/f/{path+}', '/f/{id}', '/f/all'], '/f/all', ['/f/all']],
  ['a name that only one of two has', ['/a/{x}/c', '/a/b/c'], '/a/b/c', ['/a/b/c']],
  ['a name in other letters before one', ['/a/{x}', '/{y}/b', '/a/b'], '/A/b', ['/a/b', '/{y}/b']],
] as const)
  test(`${what}: judged by each that a router may choose`, () => {
    const matches = matcherOf(paths).match('DELETE', path)
    assert.deepEqual(matches?.operations.map(({ path: template }) => template).toSorted(), [...operations].toSorted())
  })

test('every base path of the contract counts, in other letters too', () => {
  const matcher = matcherOf(['/users/everyone', '/{version}/users/{id}'], ['/v1', ''])
  const pathsOf = (path: string) => matcher.match('DELETE', path)?.operations.map((one) => one.path)
  assert.deepEqual(pathsOf('/v1/users/everyone'), ['/users/everyone', '/{version}/users/{id}'])
  assert.deepEqual(pathsOf('/V1/users/everyone'), ['/users/everyone', '/{version}/users/{id}'])
})

const removal = { delete: { responses: { 200: { description: 'done' } } } }

for (const [what, reference, isDescribed] of [
  ['a component', '#/components/pathItems/Everyone', true],
  ['a component behind another', '#/components/pathItems/Other', true],
  ['a path', '#/paths/~1all', true],
  ['nothing', '#/components/pathItems/None', true],
  ['a file that is not there', './everyone.yaml', true],
  ['itself', '#/components/pathItems/Loop', true],
  ['a component without the operation', '#/components/pathItems/Empty', false],
] as const)
  test(`a path whose operations are those of ${what} is a sibling`, () => {
    const table = readOperations(
      JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'users', version: '1' },
        paths: { '/users/everyone': { $ref: reference }, '/users/{id}': removal, '/all': removal },
        components: {
          pathItems: {
            Everyone: removal,
            Other: { $ref: '#/components/pathItems/Everyone' },
            Loop: { $ref: '#/components/pathItems/Loop' },
            Empty: {},
          },
        },
      }),
    )
    const paths = createOperationMatcher(table)
      .match('DELETE', '/users/everyone')
      ?.operations.map(({ path }) => path)
    assert.deepEqual(paths, [isDescribed ? '/users/everyone' : '/users/{id}'])
  })

/** Path templates and servers of a contract, and a path that a router takes for the first of them. */
const ELSEWHERE: Readonly<Record<string, readonly [contract: object, path: string]>> = {
  'the server of its path': [
    { paths: { '/users': { ...removal, servers: [{ url: '/v2' }] }, '/{a}/{b}': removal } },
    '/v2/users',
  ],
  'the server of the operation': [
    { paths: { '/users': { delete: { servers: [{ url: 'https://a.example/v2/' }] } }, '/{a}/{b}': removal } },
    '/v2/users',
  ],
  'the server of a component': [
    {
      paths: { '/users': { $ref: '#/components/pathItems/Users' }, '/{a}/{b}': removal },
      components: { pathItems: { Users: { ...removal, servers: [{ url: '/v2' }] } } },
    },
    '/v2/users',
  ],
  'a server with a variable': [
    { servers: [{ url: 'https://a.example/{version}' }], paths: { '/users': removal, '/{a}/{b}': removal } },
    '/v2/users',
  ],
  'a variable with several names': [
    {
      servers: [{ url: '{server}', variables: { server: { default: 'https://a.example/api/v2' } } }],
      paths: { '/users': removal, '/{a}/{b}/{c}': removal },
    },
    '/api/v2/users',
  ],
  'a query in its path': [{ paths: { '/users?action=wipe': removal, '/users': removal } }, '/users'],
  'a fragment in its path': [{ paths: { '/{id}#wipe': removal, '/{id}': removal } }, '/users'],
  'a path with escapes': [{ paths: { '/caf%C3%A9%20bar': removal, '/{id}': removal } }, '/caf%C3%A9%20bar'],
  'a list of parameters in its path': [{ paths: { '/users{?page}': removal, '/{id}': removal } }, '/users'],
}

for (const [what, [contract, path]] of Object.entries(ELSEWHERE))
  test(`an operation at ${what} is a sibling`, () => {
    const table = readOperations(JSON.stringify({ openapi: '3.1.0', info: { title: 'u', version: '1' }, ...contract }))
    const [meant] = table.operations
    const matches = createOperationMatcher(table).match('DELETE', path)
    const paths = matches?.operations.map((match) => match.path) ?? []
    assert.ok(paths.includes(meant?.path ?? ''), paths.join())
  })

test('a base path with escapes is described as it is written', () => {
  const table = readOperations(JSON.stringify({ servers: [{ url: '/caf\u00e9' }], paths: { '/users': removal } }))
  const matcher = createOperationMatcher(table)
  assert.equal(matcher.match('DELETE', '/caf%C3%A9/users')?.isDescribed, true)
})

test('operations at a server of their own are not at that of the document', () => {
  const paths = { '/users': { ...removal, servers: [{ url: '/v2' }] }, '/all': removal }
  const table = readOperations(JSON.stringify({ openapi: '3.1.0', servers: [{ url: '/v1' }], paths }))
  const matcher = createOperationMatcher(table)
  assert.equal(matcher.match('DELETE', '/v1/users')?.isDescribed, false)
  assert.equal(matcher.match('DELETE', '/v2/users')?.isDescribed, true)
  assert.equal(matcher.match('DELETE', '/v1/all')?.isDescribed, true)
})

for (const path of ['/users/7;/keys', '/users/7;x=1/keys', '/users;/7/keys'])
  test(`${path} ends at the semicolon for some routers, so the contract as a whole decides`, () => {
    assert.equal(matcherOf(USERS).match('DELETE', path)?.isDescribed, false)
  })

test('a call is judged by every operation, and by the whole contract where none is written so', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('done'))
  const operation = { responses: { 200: { description: 'done' } } }
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-siblings-')), 'openapi.json')
  const paths = Object.fromEntries(USERS.map((path) => [path, { delete: operation }]))
  writeFileSync(file, JSON.stringify({ openapi: '3.0.3', info: { title: 'users', version: '1' }, paths }))
  const proxy = await startProxy({
    decide: ({ context }) => (context.target_id === 'users/DELETE /users/everyone' ? 'BLOCK' : 'ALLOW'),
    routes: [
      {
        name: 'users',
        match: { path: '/' },
        upstream: upstream.origin,
        protocol: 'http',
        contract: { current: { file } },
      },
    ],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const send = async (path: string) => {
    const head = `DELETE ${path} HTTP/1.1\nHost: a`
    return statusOf(await exchangeBytes(proxy.url, requestText(head)))
  }
  assert.equal(await send('/users/42'), 200)
  assert.equal(await send('/users/AbC'), 200)
  for (const spelling of ['/users/everyone', ...SPELLINGS]) assert.ok((await send(spelling)) >= 400, spelling)
  assert.equal(await send('/users/everyone%0a'), 503)
  assert.deepEqual(
    upstream.requests.map(({ url }) => url),
    ['/users/42', '/users/AbC'],
  )
})
