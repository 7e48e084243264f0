/** Changes that the specification of OpenAPI excuses, beside changes like them that it does not excuse. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

const INFO = { title: 't', version: '1' }
const DONE = { '200': { description: 'done' } }
const TEXT = { type: 'string' }

function found(before: object, after: object): readonly string[] {
  const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${level} ${rule}`)
}

type Place = readonly [servers: readonly string[], paths: readonly string[]]

function itemOf(path: string, schema: object): object {
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name)
  return {
    get: { parameters: names.map((name) => ({ name, in: 'path', required: true, ...schema })), responses: DONE },
  }
}

function openApi([servers, paths]: Place): object {
  const items = paths.map((path) => [path, itemOf(path, { schema: TEXT })])
  return {
    openapi: '3.1.0',
    info: INFO,
    ...(servers.length > 0 && { servers: servers.map((url) => ({ url })) }),
    paths: Object.fromEntries(items),
  }
}

/** The one address of a server of Swagger 2.0. */
function swagger([[server], paths]: Place): object {
  const [, scheme, host, basePath] = /^(\w+):\/\/([^/]*)(.*)$/.exec(server ?? '') ?? []
  const items = paths.map((path) => [path, itemOf(path, TEXT)])
  const address = server === undefined ? {} : { schemes: [scheme], host, ...(basePath !== '' && { basePath }) }
  return { swagger: '2.0', info: INFO, ...address, paths: Object.fromEntries(items) }
}

/** Servers and paths on both sides. The addresses of operations are the same. */
const SAME: Readonly<Record<string, readonly [Place, Place]>> = {
  'a whole path': [
    [['https://a.x/v1'], ['/u']],
    [['https://a.x'], ['/v1/u']],
  ],
  'a final slash': [
    [['https://a.x/v1/'], ['/u']],
    [['https://a.x/'], ['/v1/u']],
  ],
  'the end of a path': [
    [['https://a.x/api/v1'], ['/u', '/o']],
    [['https://a.x/api'], ['/v1/u', '/v1/o']],
  ],
  'a template': [
    [['https://a.x/v1'], ['/u/{id}']],
    [['https://a.x'], ['/v1/u/{user}']],
  ],
}

const SAME_OF_3: typeof SAME = {
  'several servers': [
    [['https://a.x/v1', 'https://b.x/t/v1'], ['/u']],
    [['https://b.x/t', 'https://a.x'], ['/v1/u']],
  ],
  'a path only': [
    [['/v1'], ['/u']],
    [[], ['/v1/u']],
  ],
  'a variable before it': [
    [['https://{host}.x/v1'], ['/u']],
    [['https://{host}.x'], ['/v1/u']],
  ],
}

/** What is found of others. */
const OTHERS: Readonly<Record<string, readonly [Place, Place, readonly string[]]>> = {
  'another path of the servers': [
    [['https://a.x/v1'], ['/u']],
    [['https://a.x/v2'], ['/u']],
    ['dangerous server-removed', 'info server-added'],
  ],
  'one path stays behind': [
    [['https://a.x/v1'], ['/u', '/o']],
    [['https://a.x'], ['/v1/u', '/o']],
    ['breaking api-path-removed-without-deprecation', 'info endpoint-added'],
  ],
  'another host': [
    [['https://a.x/v1'], ['/u']],
    [['https://b.x'], ['/v1/u']],
    [
      'breaking api-path-removed-without-deprecation',
      'dangerous server-removed',
      'info endpoint-added',
      'info server-added',
    ],
  ],
  'a path that takes calls of a template': [
    [['https://a.x/v1'], ['/u/{id}']],
    [['https://a.x'], ['/v1/u/{id}', '/v1/u/me']],
    ['dangerous api-path-shadowed', 'info endpoint-added'],
  ],
}

/** Of several servers. */
const OTHERS_OF_3: typeof OTHERS = {
  'a server that both sides have': [
    [['https://a.x/v1'], ['/u']],
    [['https://a.x', 'https://a.x/v1'], ['/v1/u']],
    ['breaking api-path-removed-without-deprecation', 'info endpoint-added', 'info server-added'],
  ],
  'a further server goes': [
    [['https://a.x/v1', 'https://b.x/v1'], ['/u']],
    [['https://a.x'], ['/v1/u']],
    ['dangerous server-removed'],
  ],
  'a further server comes': [
    [['https://a.x/v1'], ['/u']],
    [['https://b.x', 'https://a.x'], ['/v1/u']],
    ['info server-added'],
  ],
  'a further server with another path goes': [
    [['https://a.x/v1', 'https://b.x/v2'], ['/u']],
    [['https://a.x'], ['/v1/u']],
    [
      'breaking api-path-removed-without-deprecation',
      'dangerous server-removed',
      'dangerous server-removed',
      'info endpoint-added',
      'info server-added',
    ],
  ],
}

suite('a part of the servers moves into the paths', () => {
  for (const [write, cases] of [
    [openApi, { ...SAME, ...SAME_OF_3 }],
    [swagger, SAME],
  ] as const) {
    for (const [name, [before, after]] of Object.entries(cases)) {
      test(`${write.name}: ${name}`, () => {
        assert.deepEqual(found(write(before), write(after)), [])
        assert.deepEqual(found(write(after), write(before)), [])
      })
    }
  }
  for (const [name, [before, after, rules]] of Object.entries(OTHERS)) {
    test(name, () => {
      assert.deepEqual(found(openApi(before), openApi(after)), rules)
      assert.deepEqual(found(swagger(before), swagger(after)), rules)
    })
  }
  for (const [name, [before, after, rules]] of Object.entries(OTHERS_OF_3))
    test(name, () => assert.deepEqual(found(openApi(before), openApi(after)), rules))
  test('an operation with servers of its own', () => {
    const own = { servers: [{ url: 'https://c.x' }], get: { responses: DONE } }
    const [before, after] = [openApi([['https://a.x/v1'], ['/u']]), openApi([['https://a.x'], ['/v1/u']])]
    const rules = found({ ...before, paths: { '/u': own } }, { ...after, paths: { '/v1/u': own } })
    assert.ok(rules.includes('breaking api-path-removed-without-deprecation'))
  })
})

const header = (name: string, members: object): object => ({ name, in: 'header', schema: TEXT, ...members })

function callOf(version: '2' | '3', parameters: readonly object[], headers: object): object {
  const get = { parameters, responses: { '200': { description: 'done', headers } } }
  return { ...(version === '2' ? { swagger: '2.0' } : { openapi: '3.0.3' }), info: INFO, paths: { '/x': { get } } }
}

suite('header fields whose definition is ignored', () => {
  for (const name of ['Accept', 'Content-Type', 'Authorization', 'authorization', 'CONTENT-TYPE']) {
    test(`the parameter ${name} comes, goes, becomes required or narrower`, () => {
      const [none, some, all] = [[], [header(name, {})], [header(name, { required: true, schema: { enum: ['a'] } })]]
      for (const [before, after] of [
        [none, some],
        [none, all],
        [some, all],
        [all, none],
      ] as const)
        assert.deepEqual(found(callOf('3', before, {}), callOf('3', after, {})), [])
    })
  }
  test('the Content-Type of an answer', () => {
    const needed = { 'content-type': { required: true, schema: TEXT } }
    assert.deepEqual(found(callOf('3', [], needed), callOf('3', [], {})), [])
    assert.notDeepEqual(found(callOf('3', [], { ...needed, Accept: { required: true } }), callOf('3', [], needed)), [])
  })
  test('others, other places and Swagger 2.0 count', () => {
    const query = { ...header('Accept', { required: true }), in: 'query' }
    const text = { name: 'Accept', in: 'header', required: true, ...TEXT }
    for (const [version, parameter] of [
      ['3', header('X-A', { required: true })],
      ['3', query],
      ['2', text],
    ] as const)
      assert.deepEqual(found(callOf(version, [], {}), callOf(version, [parameter], {})), [
        'breaking new-required-request-parameter',
      ])
  })
})

const query = (members: object): object => ({ name: 'q', in: 'query', schema: TEXT, ...members })

function calledBack(parameter: object): object {
  const item = { post: { parameters: [parameter], responses: DONE } }
  const post = { callbacks: { done: { '{$request.query.url}': item } }, responses: DONE }
  return { openapi: '3.0.3', info: INFO, paths: { '/x': { post } } }
}

test('reserved characters that are taken as they are: callers that encode them are still understood', () => {
  const [closed, open] = [query({}), query({ allowReserved: true })]
  assert.deepEqual(found(callOf('3', [closed], {}), callOf('3', [open], {})), [])
  const narrowed = found(callOf('3', [open], {}), callOf('3', [closed], {}))
  assert.deepEqual(narrowed, ['breaking request-parameter-style-changed'])
  assert.deepEqual(found(calledBack(closed), calledBack(open)), ['breaking callback-parameter-style-changed'])
})
