/** Contracts with thousands of equal parts: the cost of their comparison grows with them. One file, as one table holds all kinds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../engine/index.ts'
import type { ArtifactType } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { excessiveGrowth } from '../fakes/growth.ts'

type Members = Readonly<Record<string, unknown>>

function members(count: number, member: (index: number) => readonly [name: string, value: unknown]): Members {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => member(index)))
}

const ITEM = { get: { responses: { 200: { description: 'good' } } } }

function openapi(more: Members): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 'a', version: '1' }, paths: {}, ...more })
}

function paths(count: number, ...names: readonly ((index: number) => string)[]): string {
  return openapi({ paths: Object.assign({}, ...names.map((name) => members(count, (i) => [name(i), ITEM]))) })
}

function servers(count: number, host: string): string {
  return openapi({ servers: Array.from({ length: count }, (_, i) => ({ url: `https://${host}${i}.example/v1` })) })
}

function securedServer(count: number, scheme: string): string {
  const names = Array.from({ length: count }, (_, i) => `${scheme}${i}`)
  const security = names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    servers: { s: { host: 'a', protocol: 'kafka', security } },
    components: {
      securitySchemes: members(count, (i) => [names[i] ?? '', { type: 'httpApiKey', in: 'header', name: names[i] }]),
    },
  })
}

function messageTraits(count: number, type: string): string {
  const traits = Array.from({ length: count }, (_, i) => ({
    headers: { type: 'object', properties: { [`h${i}`]: { type } } },
  }))
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    channels: { c: { address: 'a', messages: { m: { payload: {}, traits } } } },
    operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
  })
}

/** Operations that all have every message of their channel, and are answered with every message of it. */
function sharedChannel(count: number, type: string): string {
  const channel = { $ref: '#/channels/c' }
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    channels: { c: { address: 'a', messages: members(count, (i) => [`m${i}`, { payload: { type } }]) } },
    operations: members(count, (i) => [`o${i}`, { action: 'send', channel, reply: { channel } }]),
  })
}

function serverOf(index: number): object {
  return { $ref: `#/servers/s${index}` }
}

function channelsOnServers(count: number, host: string): string {
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    servers: members(count, (i) => [`s${i}`, { host: `${host}${i}`, protocol: 'kafka' }]),
    channels: members(count, (i) => [`c${i}`, { address: `c${i}`, servers: [serverOf(i)] }]),
  })
}

function scopedServer(count: number, scope: string): string {
  const security = Array.from({ length: count }, (_, i) => ({
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl: 'https://a', availableScopes: { [`s${i}`]: '' } } },
    scopes: [`${scope}${i}`],
  }))
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    servers: { s: { host: 'a', protocol: 'kafka', security } },
  })
}

function ownTemplate(index: number): string {
  return `/a/{id}/b${index}/{x}`
}

function ofEveryText(index: number): string {
  return `/{a${index}}`
}

function componentOf(index: number): string {
  return `#/components/schemas/T${index}`
}

function list(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(' ')
}

/** Types with one field in common. Every second one gets another nullability, so that operations conflict. */
function sharedField(count: number, changed: string): string {
  const types = list(count, (i) => `type T${i} { name: String${i % 2 === 0 ? '' : changed} }`)
  return `type Query { q: U } union U = ${list(count, (i) => `| T${i}`)} ${types}`
}

/** Types whose fields of one name are joined one after the other, from the last pair to the first. */
function joinedFields(count: number, changed: string): string {
  const types = list(
    count,
    (i) => `type A${i} { n: A${i + 1} name: Int${changed} } type B${i} { n: B${i + 1} name: Int }`,
  )
  return `union U = A0 | B0 type Query { q: U } ${types} type A${count} { z: Int } type B${count} { z: Int }`
}

function proto(text: string): string {
  return `syntax = "proto3"; package p; ${text}`
}

function rpcs(count: number, binding: (index: number) => string): string {
  const methods = list(count, (i) => `rpc G${i}(R) returns (R) { option (google.api.http) = { ${binding(i)} }; }`)
  return proto(`message R { string id = 1; } service S { ${methods} }`)
}

/** Longer than texts of which V8 hashes more than the length. */
const LONG_PATH = `/${'x'.repeat(17_000)}`
const SHARED = { $ref: '#/components/schemas/A' }

function longPath(count: number, type: string): string {
  const parameters = Array.from({ length: count }, (_, i) => ({ name: `p${i}`, in: 'query', schema: { type } }))
  return openapi({ paths: { [LONG_PATH]: { get: { ...ITEM.get, parameters } } } })
}

function namedChannel(count: number, type: string): string {
  const channels = { [LONG_PATH]: { address: 'a', messages: members(count, (i) => [`m${i}`, { payload: { type } }]) } }
  const channel = { $ref: `#/channels/${LONG_PATH.replace('/', '~1')}` }
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 'a', version: '1' },
    channels,
    operations: { o: { action: 'send', channel } },
  })
}

/** A body of schemas of which each leads to the next one. */
function chained(count: number, link: (index: number, next: object) => object, last: object = {}): string {
  const schema = { $ref: componentOf(0) }
  const requestBody = { content: { 'application/json': { schema } } }
  return openapi({
    paths: { '/b': { post: { requestBody, ...ITEM.get } } },
    components: {
      schemas: members(count + 1, (i) => [`T${i}`, i < count ? link(i, { $ref: componentOf(i + 1) }) : last]),
    },
  })
}

type Pair = (size: number) => readonly [before: string, after: string]

const PAIRS: Readonly<Record<string, readonly [type: ArtifactType, size: number, pair: Pair]>> = {
  'added paths, each below a template of its own': [
    'openapi',
    2000,
    (n) => {
      const added = paths(n, ownTemplate, (i) => `/a/c/b${i}/d`)
      return [paths(n, ownTemplate), added]
    },
  ],
  'added paths, each below every template': [
    'openapi',
    4000,
    (n) => [paths(n, ofEveryText), paths(n, ofEveryText, (i) => `/b${i}`)],
  ],
  'operations with all messages of one channel': [
    'asyncapi',
    2000,
    (n) => [sharedChannel(n, 'string'), sharedChannel(n, 'integer')],
  ],
  'messages of a channel with a long name': [
    'asyncapi',
    2000,
    (n) => [namedChannel(n, 'string'), namedChannel(n, 'integer')],
  ],
  'parameters of a path with a long name': ['openapi', 4000, (n) => [longPath(n, 'string'), longPath(n, 'integer')]],
  'parameters of one schema and a path with a long name': [
    'openapi',
    4000,
    (n) => {
      const side = (type: string): string => {
        const parameters = Array.from({ length: n }, (_, i) => ({ name: `p${i}`, in: 'query', schema: SHARED }))
        // One kind of finding stands for all parameters, so a second change makes more of them.
        const paths = members(10, (i) => [`/${type}/${i}`, ITEM])
        return openapi({
          paths: { ...paths, [LONG_PATH]: { get: { ...ITEM.get, parameters } } },
          components: { schemas: { A: { type } } },
        })
      }
      return [side('string'), side('integer')]
    },
  ],
  'channels with a server each': ['asyncapi', 4000, (n) => [channelsOnServers(n, 'a'), channelsOnServers(n, 'b')]],
  'added servers': ['openapi', 8000, (n) => [servers(n, 'a'), servers(n, 'b')]],
  'fields that are null in other places than others of their name': [
    'graphql',
    2000,
    (n) => [sharedField(n, ''), sharedField(n, '!')],
  ],
  'types that fields of one name join': ['graphql', 2000, (n) => [joinedFields(n, ''), joinedFields(n, '!')]],
  'renamed oneofs': [
    'protobuf',
    2000,
    (n) => {
      const side = (name: string): string =>
        proto(`message M { ${list(n, (i) => `oneof ${name}${i} { int32 f${i} = ${i + 1}; }`)} }`)
      return [side('a'), side('b')]
    },
  ],
  'fields of one renamed oneof': [
    'protobuf',
    2000,
    (n) => {
      const side = (name: string): string =>
        proto(`message M { oneof ${name} { ${list(n, (i) => `int32 a${i} = ${i + 1};`)} } }`)
      return [side('a'), side('b')]
    },
  ],
  'further bindings of an rpc': [
    'protobuf',
    2000,
    (n) => {
      const side = (name: string): string =>
        rpcs(1, () => `get: "/a" ${list(n, (i) => `additional_bindings { get: "/${name}/${i}" }`)}`)
      return [side('b'), side('c')]
    },
  ],
  'bindings that take calls of another rpc': [
    'protobuf',
    2000,
    (n) => [
      rpcs(n, (i) => `get: "/v/${i}"`),
      rpcs(n, (i) => `get: "/v/${i}" additional_bindings { get: "/{id}/${i + 1}" }`),
    ],
  ],
  'bindings that each take calls of every other rpc': [
    'protobuf',
    2000,
    (n) => [
      rpcs(n, (i) => `get: "/a${i}" additional_bindings { get: "/{id}" }`),
      rpcs(n, (i) => `get: "/a${i}" additional_bindings { get: "/{id}" } additional_bindings { get: "/{id=**}" }`),
    ],
  ],
  'messages that contain each other, with as many rpcs': [
    'protobuf',
    2000,
    (n) => {
      const methods = list(n, (i) => `rpc G${i}(M${i}) returns (M${i});`)
      const side = (type: string): string =>
        proto(`${list(n, (i) => `message M${i} { M${(i + 1) % n} n = 1; ${type} v = 2; }`)} service S { ${methods} }`)
      return [side('int32'), side('string')]
    },
  ],
  'a chain of messages with as many rpcs': [
    'protobuf',
    2000,
    (n) => {
      const methods = list(n, (i) => `rpc G${i}(M${i}) returns (M${i});`)
      const side = (type: string): string =>
        proto(
          `${list(n, (i) => `message M${i} { M${i + 1} n = 1; ${type} v = 2; }`)} message M${n} {} service S { ${methods} }`,
        )
      return [side('int32'), side('string')]
    },
  ],
  'options of a service with as many rpcs': [
    'protobuf',
    2000,
    (n) => {
      const methods = list(n, (i) => `rpc G${i}(M) returns (M);`)
      const side = (value: number): string =>
        proto(`message M {} service S { ${list(n, (i) => `option (o${i}) = ${value};`)} ${methods} }`)
      return [side(1), side(2)]
    },
  ],
  'a chain of public imports': [
    'protobuf',
    2000,
    (n) => {
      const side = (type: string): string =>
        JSON.stringify(
          members(n, (i) => [
            `f${i}.proto`,
            `syntax = "proto3"; package p${i}; import public "f${i + 1}.proto"; message M${i} { ${type} a = 1; }`,
          ]),
        )
      return [side('int32'), side('string')]
    },
  ],
  'directives of many names': [
    'graphql',
    4000,
    (n) => {
      const side = (name: string): string => `type Query { a: Int ${list(n, (i) => `@${name}${i}`)} }`
      return [side('x'), side('y')]
    },
  ],
  'parts by position': [
    'openapi',
    8000,
    (n) => {
      const side = (contentType: string): string => {
        const schema = { type: 'array', prefixItems: Array.from({ length: n }, () => ({ type: 'string' })) }
        const prefixEncoding = Array.from({ length: n }, () => ({ contentType }))
        // One kind of finding stands for all parts, so a second change makes more of them.
        const paths = members(10, (i) => [`/${contentType}/${i}`, ITEM])
        const content = { 'multipart/mixed': { schema, prefixEncoding } }
        return openapi({
          openapi: '3.2.0',
          paths: { ...paths, '/b': { post: { requestBody: { content }, ...ITEM.get } } },
        })
      }
      return [side('application/json'), side('text/plain')]
    },
  ],
  'values of a discriminator': [
    'openapi',
    8000,
    (n) => {
      const side = (value: string): string => {
        const mapping = members(n, (i) => [`${value}${i}`, componentOf(i)])
        const oneOf = Array.from({ length: n }, (_, i) => ({ $ref: componentOf(i) }))
        const paths = members(10, (i) => [`/${value}${i}`, ITEM])
        const schema = { oneOf, discriminator: { propertyName: 'k', mapping } }
        const requestBody = { content: { 'application/json': { schema } } }
        return openapi({
          paths: { ...paths, '/b': { post: { requestBody, ...ITEM.get } } },
          components: {
            schemas: members(n, (i) => [`T${i}`, { type: 'object', properties: { k: { type: 'string' } } }]),
          },
        })
      }
      return [side('v'), side('w')]
    },
  ],
  'patterns of names': [
    'json_schema',
    2000,
    (n) => {
      const side = (type: string): string =>
        JSON.stringify({
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          patternProperties: members(n, (i) => [`^p${i}$`, { type }]),
          properties: members(n, (i) => [`p${i}`, { maxLength: 5 }]),
        })
      return [side('string'), side('integer')]
    },
  ],
  'traits of a message': ['asyncapi', 2000, (n) => [messageTraits(n, 'string'), messageTraits(n, 'integer')]],
  'alternatives of security of one kind': ['asyncapi', 2000, (n) => [scopedServer(n, 'a'), scopedServer(n, 'b')]],
  'alternatives of security': ['asyncapi', 2000, (n) => [securedServer(n, 'a'), securedServer(n, 'b')]],
}

function compared(type: ArtifactType, [before, after]: ReturnType<Pair>): number {
  const comparison = compare({ id: 'a', type, before, after }, {}, sha256Hex)
  assert.ok(comparison.ok)
  return comparison.value.groups.length
}

for (const [what, [type, size, pair]] of Object.entries(PAIRS))
  test(`${what} cost in proportion to their number`, { timeout: 120_000 }, async () => {
    assert.ok(compared(type, pair(20)) >= 10)
    assert.equal(await excessiveGrowth((count) => compared(type, pair(count)), size), null)
  })

const CHAINS: Readonly<Record<string, (index: number, next: object) => object>> = {
  allOf: (i, next) => ({ allOf: [next, { properties: { [`p${i}`]: {} } }] }),
  anyOf: (i, next) => ({ anyOf: [next, { required: [`p${i}`] }] }),
  oneOf: (i, next) => ({ oneOf: [next, { required: [`p${i}`] }] }),
  not: (_, next) => ({ not: next }),
  if: (i, next) => ({ if: { required: [`p${i}`] }, then: next }),
  properties: propertyOf,
  additionalProperties: (_, next) => ({ additionalProperties: next }),
  items: (_, next) => ({ items: next }),
}

for (const [keyword, link] of Object.entries(CHAINS)) {
  const run = (count: number): number => {
    const after = chained(count, (i, next) => ({ ...link(i, next), description: 'other' }))
    return compared('openapi', [chained(count, link), after])
  }
  test(`a long chain by ${keyword} is the same with another description`, { timeout: 120_000 }, async () => {
    assert.equal(run(1000), 0)
    assert.equal(await excessiveGrowth(run, 2000), null)
  })
}

function propertyOf(_: number, next: object): object {
  return { properties: { a: next } }
}

test('a change at the end of a long chain is found, wherever the chain leads', { timeout: 120_000 }, () => {
  for (const more of [{}, { properties: { a: { $ref: componentOf(0) } } }]) {
    const side = (type: string): string => chained(1000, propertyOf, { ...more, type })
    assert.equal(compared('openapi', [side('object'), side('object').replace('"1"', '"2"')]), 0)
    assert.ok(compared('openapi', [side('object'), side('string')]) > 0)
  }
})

test('an added path is held against a template of many parameters in one pass', { timeout: 30_000 }, async () => {
  const template = `/${Array.from({ length: 8 }, (_, i) => `{p${i}}`).join('x')}z`
  const run = (length: number): number => {
    const added = `/${'x'.repeat(length)}!z!`
    return compared('openapi', [
      paths(1, () => template),
      paths(
        1,
        () => template,
        () => added,
      ),
    ])
  }
  run(10)
  assert.equal(await excessiveGrowth(run, 4000), null)
})

const SHADOWED: readonly (readonly [template: string, added: string, isShadowed: boolean])[] = [
  ['/{a}', '/b', true],
  ['/{a}/c', '/b/d', false],
  ['/x-{a}', '/x-', false],
  ['/x-{a}', '/x-1', true],
  ['/{a}{b}', '/c', false],
  ['/{a}{b}', '/cd', true],
  ['/{a}.{b}.json', '/c.d.json', true],
  ['/{a}.{b}.json', '/c..json', false],
  ['/{a}/{b}', '/c/{b}', true],
  ['/v1/{a}', '/v2/c', false],
]

test('an added path takes the calls of a template with each parameter of at least one character', () => {
  for (const [template, added, isShadowed] of SHADOWED) {
    const [before, after] = [
      paths(1, () => template),
      paths(
        1,
        () => template,
        () => added,
      ),
    ]
    const comparison = compare({ id: 'a', type: 'openapi', before, after }, {}, sha256Hex)
    assert.ok(comparison.ok)
    const rules = comparison.value.groups.map(({ rule }) => rule)
    assert.equal(
      rules.some((rule) => /shadow/.test(rule)),
      isShadowed,
      `${template} ${added}: ${rules.join(', ')}`,
    )
  }
})
