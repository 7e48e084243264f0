/** SDL and introspection results are read to the same schema, whatever their order and layout; what is faulty or too large is refused with its place. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { buildSchema, introspectionFromSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { answer, compared, refused, reported } from './compared.ts'

const SDL = `
  """Notes and who wrote them"""
  schema { query: Query mutation: Mutation }
  directive @audit(reason: String = "law", level: Int! = 1) repeatable on FIELD_DEFINITION | OBJECT
  type Query { note(id: ID!, lang: [Lang!] = [DE, EN]): Note @deprecated(reason: "Use node") search(by: Filter = {text: "a", max: 3}): [Found!]! }
  type Mutation { write(note: NoteInput!): Note! }
  interface Node { id: ID! }
  "A note" type Note implements Node { id: ID! weight: Float  at: Day author: Person }
  type Person implements Node { id: ID! name: String! }
  union Found = Note | Person
  enum Lang { DE EN @deprecated }
  input Filter { text: String max: Int = 10 }
  input NoteInput @oneOf { draft: String final: String }
  scalar Day @specifiedBy(url: "https://example.com/day")
`

function introspected(sdl: string): string {
  return JSON.stringify({ data: introspectionFromSchema(buildSchema(sdl), { oneOf: true }) }, null, 1)
}

suite('two forms of one schema', () => {
  test('are equal', () => {
    assert.deepEqual(reported(compared(SDL, introspected(SDL))), [])
    assert.deepEqual(reported(compared(introspected(SDL), SDL)), [])
  })

  test('tell the same changes at the same places', () => {
    const after = SDL.replace('weight: Float', 'weight: String!')
      .replace('max: 3', 'max: 4')
      .replace('DE EN', 'DE FR EN')
      .replace(' author: Person', '')
      .replace('draft: String ', '')
      .replace('union Found = Note | Person', 'union Found = Note')
      .replace('@oneOf', '')
    const ofSdl = compared(SDL, after)
    assert.ok(ofSdl.groups.length >= 7)
    assert.equal(answer(compared(introspected(SDL), introspected(after))), answer(ofSdl))
    assert.equal(answer(compared(SDL, introspected(after))), answer(ofSdl))
  })

  test('point into the JSON of an introspection result by line and column', () => {
    const after = introspected(SDL.replace('"A note" type Note', '"A short note" type Note'))
    const [group] = compared(introspected(SDL), after).groups
    assert.equal(group?.location, '/types/Note')
    const lines = after.split('\n').slice((group?.line ?? 1) - 1)
    assert.match(lines.slice(0, 4).join('\n'), /"name": "Note"/)
  })

  test('say nothing of applied directives where one of them is an introspection result', () => {
    const after = SDL.replace('at: Day', 'at: Day @audit')
    assert.deepEqual(reported(compared(SDL, after)), [
      'dangerous graphql-directive-usage-added /types/Note/fields/at/directives/audit',
    ])
    assert.deepEqual(reported(compared(introspected(SDL), after)), [])
  })
})

function link(list: string): string {
  return `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: [${list}])\n`
}

suite('what means nothing', () => {
  test('is the order of definitions and members, layout, comments and the form of strings', () => {
    const sorted = printSchema(lexicographicSortSchema(buildSchema(SDL)))
    assert.notEqual(sorted, SDL)
    assert.deepEqual(reported(compared(SDL, sorted.replaceAll('\n', '\r\n# a comment {[(\r\n'))), [])
  })

  test('is the order of fields in a default, and how a number is written', () => {
    const after = SDL.replace('{text: "a", max: 3}', '{ max: 3, text: """a""" }')
    assert.deepEqual(reported(compared(SDL, after)), [])
    assert.deepEqual(reported(compared('input A { x: Float = 1.50 }', 'input A { x: Float = 15e-1 }')), [])
  })

  test('is whether a type is written in one piece or extended', () => {
    const after = SDL.replace('id: ID! weight: Float', 'weight: Float')
      .replace('enum Lang { DE', 'enum Lang {')
      .concat('extend type Note { id: ID! } extend enum Lang { DE }')
    assert.deepEqual(reported(compared(SDL, after)), [])
  })

  test('is the order of directives, of their arguments and of the fields in a key', () => {
    const before = 'type A @key(fields: "id owner { id name }") @key(fields: "sku") @tag(name: "x") { id: ID }'
    const after = 'type A @tag(name: "x") @key(fields: "sku") @key(fields: """owner{name,id}  id""") { id: ID }'
    assert.deepEqual(reported(compared(before, after)), [])
  })

  test('is the name under which a subgraph imports a directive of federation', () => {
    const before = `${link('"@key"')}type A @key(fields: "id") { id: ID @federation__external }`
    const after = `${link('"@key"')}type A @federation__key(fields: "id") { id: ID @federation__external }`
    assert.deepEqual(reported(compared(before, after)), [])
    const spaced = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", as: "f")
      type A @f__key(fields: "id") { id: ID @f__external }`
    assert.deepEqual(reported(compared(before, spaced)), [])
    const renamed = `${link('{name: "@key", as: "@by"}')}type A @by(fields: "sku") { id: ID @federation__external }`
    assert.deepEqual(reported(compared(before, renamed)), [
      'breaking graphql-federation-key-changed /types/A/directives/key',
    ])
  })
})

suite('schemas that are not whole', () => {
  test('of subgraphs are read though they extend, apply and name what they do not define', () => {
    const before =
      'extend type Query { me: User } extend type User @key(fields: "id") { id: ID! @external seen: Instant @unknown }'
    const after = before.replace('seen: Instant', 'seen: Instant!')
    assert.deepEqual(reported(compared(before, before)), [])
    assert.deepEqual(reported(compared(before, after)), ['info graphql-field-became-non-null /types/User/fields/seen'])
  })

  test('tell each name that newly leads nowhere once', () => {
    const after = 'type Query { a: Gone b(x: Gone): Int c: Other }'
    assert.deepEqual(reported(compared('type Query { a: Int b(x: Int): Int c: Int }', after)).slice(-2), [
      'dangerous graphql-type-reference-unresolved /types/Query/fields/a',
      'dangerous graphql-type-reference-unresolved /types/Query/fields/c',
    ])
  })

  test('are created and deleted: an empty side offers nothing', () => {
    const created = compared('', 'type Query { a: Int } directive @x on FIELD')
    assert.deepEqual(reported(created), [
      'info graphql-directive-added /directives/x',
      'info graphql-root-operation-added /schema/query',
      'info graphql-type-added /types/Query',
    ])
    const deleted = compared('type Query { a: Int } directive @x on FIELD', '')
    assert.deepEqual(reported(deleted), [
      'breaking graphql-directive-removed /directives/x',
      'breaking graphql-root-operation-removed /schema/query',
      'breaking graphql-type-removed /types/Query',
    ])
    assert.ok(deleted.patterns.includes('ENDPOINT_REMOVED'))
  })
})

suite('a text that cannot be read is refused with its place', () => {
  const refusals: readonly (readonly [name: string, text: string, place: readonly [number, number], words: RegExp])[] =
    [
      ['a syntax error', 'type Query {\n  a: [Int\n}', [3, 1], /Expected "\]", found "\}"/],
      ['an unclosed string', 'type Query {\n  "abc\n  a: Int }', [2, 7], /Unterminated string/],
      ['an operation', 'type Query { a: Int }\nquery { a }', [2, 1], /an operation or a fragment/],
      ['a type of two definitions', 'type A { a: Int }\ntype A { b: Int }', [2, 6], /the type A is defined twice/],
      ['a type of two kinds', 'type A { a: Int }\nextend enum A { B }', [2, 13], /both object and enum/],
      ['a field that comes twice', 'type A { a: Int }\nextend type A {\n a: Int }', [3, 2], /a of A is defined twice/],
      ['an argument that comes twice', 'type A { a(x: Int,\nx: Int): Int }', [2, 1], /x of A\.a is defined twice/],
      ['a value that comes twice', 'enum A { B\nB }', [2, 1], /B of A is defined twice/],
      [
        'a directive of two definitions',
        'directive @a on FIELD\ndirective @a on QUERY',
        [2, 12],
        /@a is defined twice/,
      ],
      ['two roots for queries', 'schema { query: A\nquery: B }', [2, 8], /root of query operations is defined twice/],
      ['two schemas', 'schema { query: A }\nschema { query: A }', [2, 1], /the schema is defined twice/],
      ['JSON that is no answer to an introspection query', '{"data": {"user": 1}}', [1, 1], /no `__schema`/],
      ['an introspection result without types', '{"__schema": {\n"types": 3}}', [2, 1], /`types` is not a list/],
      [
        'an introspection result cut at a depth',
        '{"__schema":{"types":[{"kind":"OBJECT","name":"Q","fields":[\n{"name":"a","type":{"kind":"LIST","ofType":{"kind":"LIST"}}}]}]}}',
        [2, 1],
        /more levels of ofType/,
      ],
      [
        'a default that is not a literal',
        '{"__schema":{"types":[{"kind":"INPUT_OBJECT","name":"Q","inputFields":[\n{"name":"a","defaultValue":"{{","type":{"kind":"SCALAR","name":"Int"}}]}]}}',
        [2, 13],
        /"\{\{" is not a literal, or nests/,
      ],
      ['a member that comes twice in JSON', '{"__schema": {"types": [],\n"types": []}}', [2, 1], /written twice/],
    ]
  for (const [name, text, [line, column], words] of refusals) {
    test(name, () => {
      const problem = refused('', text)
      assert.equal(problem.code, 'ARTIFACT_UNREADABLE')
      assert.match(problem.message, words)
      assert.match(problem.message, /^The head document/)
      assert.deepEqual([problem.line, problem.column], [line, column])
    })
  }

  test('a blank text, and half a character', () => {
    assert.match(refused('type Query { a: Int }', ' \n').message, /blank/)
    assert.match(refused('type Query { a: Int } # \ud800', '').message, /half of a surrogate pair/)
  })
})

suite('a text that costs too much is refused before it is parsed', () => {
  const limits = { ...DEFAULT_DOCUMENT_LIMITS, maxLength: 200_000 }

  test('by its length', () => {
    const problem = refused('', `# ${'x'.repeat(200_000)}`, { limits })
    assert.equal(problem.code, 'ARTIFACT_OVER_LIMIT')
  })

  for (const [name, text] of [
    ['lists', `type Query { a: ${'['.repeat(50_000)}Int${']'.repeat(50_000)} }`],
    ['defaults', `input A { a: B = ${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)} }`],
    ['brackets that never close', 'type Query {'.repeat(15_000)],
  ] as const) {
    test(`by the nesting of ${name}`, () => {
      const problem = refused('', text, { limits })
      assert.equal(problem.code, 'ARTIFACT_OVER_LIMIT')
      assert.equal(problem.line, 1)
    })
  }

  test('by its tokens', () => {
    const problem = refused('', `enum A {${' a'.repeat(3_100_000)}}`)
    assert.equal(problem.code, 'ARTIFACT_OVER_LIMIT')
    assert.match(problem.message, /more than 3000000 tokens/)
  })

  test('but not by brackets in strings and comments', () => {
    const noise = '['.repeat(300)
    const text = `# ${noise}\n"${noise} \\" ${noise}" type Query { """${noise} \\""" ${noise}""" a: Int }`
    assert.deepEqual(reported(compared(text, text)), [])
  })

  test('nor does a selection in a key, or a default in an introspection result', () => {
    const key = `type A @key(fields: "${'a { '.repeat(10_000)}b${' }'.repeat(10_000)}") { a: Int }`
    assert.deepEqual(reported(compared(key, key)), [])
    const literal = '['.repeat(100_000)
    const json = JSON.stringify({
      __schema: {
        types: [
          { kind: 'INPUT_OBJECT', name: 'A', inputFields: [{ name: 'a', type: { name: 'A' }, defaultValue: literal }] },
        ],
      },
    })
    assert.equal(refused('', json).code, 'ARTIFACT_UNREADABLE')
  })
})

suite('the type of a GraphQL contract', () => {
  test('is recognised by its content', () => {
    const texts = [
      SDL,
      introspected(SDL),
      '\uFEFF# a comment\n"words" type A { a: Int }',
      '"""\nlong "quoted" words\n"""\nextend schema @link(url: "x")',
      'directive @a on FIELD',
      'scalar Day',
    ]
    for (const text of texts) assert.deepEqual(sniffArtifactType(text, text), { ok: true, value: 'graphql' })
  })

  test('is not seen in YAML and JSON of other kinds', () => {
    for (const text of [
      'type: object\nproperties: {}',
      '{"type": "object"}',
      'openapi: 3.0.0\ninfo: {title: type A}',
    ]) {
      const sniffed = sniffArtifactType(text, text)
      assert.ok(!sniffed.ok || sniffed.value !== 'graphql')
    }
  })

  test('is named where another was declared, and the other way round', () => {
    const declared = compare({ id: 'x', type: 'openapi', before: SDL, after: SDL }, {}, sha256Hex)
    assert.ok(!declared.ok && declared.problem.code === 'ARTIFACT_TYPE_MISMATCH')
    assert.match(declared.ok ? '' : declared.problem.message, /is of the type graphql/)
    const openapi = '{"openapi":"3.0.0","info":{"title":"a","version":"1"},"paths":{}}'
    assert.equal(refused(openapi, openapi).code, 'ARTIFACT_TYPE_MISMATCH')
  })
})
