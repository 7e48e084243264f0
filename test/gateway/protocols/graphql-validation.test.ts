/** GraphQL operations checked against the pinned schema: violations with places, without values of the caller, and the result in the proxy. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { buildSchema, introspectionFromSchema } from 'graphql'
import { openSchema, operationsConformance } from '../../../gateway/validation/operations.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'
import { listAt, textAt } from '../../json.ts'

const SDL = `
  type Query { user(id: ID!, role: Role, where: Where): User }
  type User { id: ID! friends: [User!]! }
  enum Role { ADMIN MEMBER }
  input Where { age: Int! tags: [String!] }
`
const INTROSPECTED = JSON.stringify({ data: introspectionFromSchema(buildSchema(SDL)) })

type Stated = readonly [query: string, variables?: Readonly<Record<string, unknown>>]

function found(schema: string, ...stated: readonly Stated[]): readonly string[] {
  const operations = stated.map(([text, variables = {}]) => ({ text, variables, operationName: null }))
  const conformance = operationsConformance({ side: 'request', operations }, openSchema(schema))
  return conformance.result === 'violates'
    ? conformance.violations.map(({ where, message }) => `${where} ${message}`)
    : []
}

const CASES: readonly (readonly [what: string, stated: Stated, expected: RegExp | null])[] = [
  ['what is described', ['query($i: ID!) { user(id: $i, role: ADMIN) { friends { id } } }', { i: 7 }], null],
  ['introspection', ['{ __schema { queryType { name } } }'], null],
  [
    'a field that is not there',
    ['{ user(id: 1) { secret } }'],
    /^query:1:17 Cannot query field "secret" on type "User"$/,
  ],
  [
    'an argument that is missing',
    ['{ user { id } }'],
    /^query:1:3 Argument "Query\.user\(id:\)" of type "ID!" is required/,
  ],
  [
    'a value of another type',
    ['{ user(id: 1, where: { age: "secret" }) { id } }'],
    /^query:1:29 is not of the type that is asked for$/,
  ],
  ['a value of an enum that is not there', ['{ user(id: 1, role: SECRET) { id } }'], /^query:1:21 is not of the type/],
  ['no selection', ['{ user(id: 1) }'], /must have a selection of subfields/],
  [
    'a variable of another type',
    ['query($i: ID!) { user(id: $i) { id } }', { i: { secret: 1 } }],
    /^variables\.i is not of the type/,
  ],
  ['a variable that is missing', ['query($i: ID!) { user(id: $i) { id } }'], /^variables\.i is not/],
  [
    'a variable deep within',
    ['query($w: Where) { user(id: 1, where: $w) { id } }', { w: { age: 1, tags: ['a', { secret: 1 }] } }],
    /^variables\.w\.tags\[1\] is not/,
  ],
]

for (const [form, schema] of [
  ['SDL', SDL],
  ['introspection', INTROSPECTED],
] as const)
  for (const [what, stated, expected] of CASES)
    test(`${form}: ${what}`, () => {
      const [first, ...others] = found(schema, stated)
      assert.deepEqual(others, [])
      if (expected === null) assert.equal(first, undefined)
      else assert.match(first ?? '', expected)
    })

test('violations in a batch say which operation is meant, and are no more than ten', () => {
  assert.match(found(SDL, ['{ user(id: 1) { id } }'], ['{ nobody }'])[0] ?? '', /^1\.query:1:3 /)
  const many = Array.from({ length: 30 }, (_, index) => `f${index}`).join(' ')
  assert.equal(found(SDL, [`{ ${many} }`], [`{ ${many} }`]).length, 10)
})

test('a schema that a later edition of the language does not allow is taken as it is', () => {
  const old = 'interface Node { id: ID } type A implements Node { id: ID @deprecated } type Query { a: A }'
  assert.deepEqual(found(old, ['{ a { id } }']), [])
  assert.equal(found(old, ['{ a { no } }']).length, 1)
})

test('no value of the caller is reported', () => {
  const reported = found(SDL, ['{ user(id: 1, role: "hunter2", where: { age: "hunter2", hunter: "hunter2" }) { id } }'])
  assert.ok(reported.length > 0)
  assert.doesNotMatch(reported.join('\n'), /hunter2/)
})

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
  readonly ask: (query: string) => Promise<Response>
}

async function scene(t: TestContext, route: object, sdl = SDL): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('{"data":{}}'))
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-graphql-')), 'schema.graphql')
  writeFileSync(file, sdl)
  const contract = { current: { file } }
  const proxy = await startProxy({
    routes: [
      { name: 'shop', match: { path: '/graphql' }, upstream: upstream.origin, protocol: 'graphql', contract, ...route },
    ],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const headers = { 'content-type': 'application/json' }
  return {
    proxy,
    upstream,
    ask: (query) => fetch(`${proxy.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) }),
  }
}

suite('validate: enforce', () => {
  test('refuses what departs from the pinned schema, in the form of GraphQL', async (t) => {
    const { ask, upstream, proxy } = await scene(t, { validate: 'enforce' })
    assert.equal((await ask('{ user(id: 1) { id } }')).status, 200)
    const answer = await ask('{ user(id: 1) { nobody } }')
    assert.equal(answer.status, 422)
    const body: unknown = await answer.json()
    assert.equal(textAt(body, 'error'), 'CONTRACT_VIOLATION')
    assert.equal(textAt(body, 'details', 0, 'pointer'), 'query:1:17')
    assert.equal(textAt(body, 'errors', 0, 'extensions', 'code'), 'CONTRACT_VIOLATION')
    assert.equal(upstream.requests.length, 1)
    assert.match(
      await proxy.metrics.text(),
      /preflight_contract_checks_total\{route="shop",side="request",result="violates"\} 1/,
    )
    await until(() => proxy.interceptions.some(({ effect }) => effect === 'refused'), 'the refusal is in the ledger')
  })

  test('leaves open what cannot be decided', async (t) => {
    const { ask, upstream } = await scene(t, { validate: 'enforce' }, 'type Query { user: Nobody }')
    const answer = await ask('{ user { id } }')
    assert.equal(answer.status, 503)
    assert.match(textAt(await answer.json(), 'message'), /could not be checked against the schema.*Nobody/)
    assert.equal(upstream.requests.length, 0)
  })

  test('stops nothing on a route that observes', async (t) => {
    const { ask, upstream } = await scene(t, { validate: 'enforce', mode: 'observe' })
    await ask('{ user(id: 1) { nobody } }')
    assert.equal(upstream.requests.length, 1)
  })
})

test('validate: observe counts and logs, and refuses nothing', async (t) => {
  const { ask, upstream, proxy } = await scene(t, { validate: 'observe' })
  await ask('{ user(id: 1) { nobody } }')
  assert.equal(upstream.requests.length, 1)
  const line = proxy.log.find((one) => one.includes('violates the pinned contract'))
  assert.equal(listAt(JSON.parse(line ?? '{}'), 'violations').length, 1)
})
