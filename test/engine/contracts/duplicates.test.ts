/** What is defined twice has two readings: every format refuses it, and names both places. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256 } from '../../fakes/keys.ts'

type Place = readonly [line: number, column: number]
type Case = readonly [type: ArtifactType, what: string, text: string, first: Place, second: Place]

const VERSION = 'schema: {openAPIV3Schema: {type: object}}'
const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: w.example.com}
spec:
  group: example.com
  names: {kind: W, plural: w}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, ${VERSION}}
`

const CASES: readonly Case[] = [
  ['graphql', 'a type', 'type A { a: Int }\ntype A { b: Int }', [1, 6], [2, 6]],
  ['graphql', 'a field', 'type A {\n a: Int\n b: Int\n a: Int }', [2, 2], [4, 2]],
  ['graphql', 'a field of an extension', 'type A { a: Int }\nextend type A { a: Int }', [1, 10], [2, 17]],
  ['graphql', 'a field of an input', 'input A {\n a: Int\n a: Int }', [2, 2], [3, 2]],
  ['graphql', 'an argument', 'type A { a(x: Int,\nx: Int): Int }', [1, 12], [2, 1]],
  ['graphql', 'an enum value', 'enum A { B\nB }', [1, 10], [2, 1]],
  ['graphql', 'a member of a union', 'type A { a: Int }\nunion U = A |\nA', [2, 11], [3, 1]],
  ['graphql', 'an interface', 'interface I { a: Int }\ntype A implements I &\nI { a: Int }', [2, 19], [3, 1]],
  ['graphql', 'a directive', 'directive @a on FIELD\ndirective @a on QUERY', [1, 12], [2, 12]],
  ['graphql', 'an argument of a directive', 'directive @a(x: Int,\nx: Int) on FIELD', [1, 14], [2, 1]],
  ['graphql', 'the schema', 'type Q { a: Int }\nschema { query: Q }\nschema { query: Q }', [2, 1], [3, 1]],
  ['graphql', 'a root', 'type Q { a: Int }\nschema { query: Q\nquery: Q }', [2, 17], [3, 8]],
  ['protobuf', 'a message', 'syntax = "proto3";\nmessage A {}\nmessage A {}', [2, 9], [3, 9]],
  ['protobuf', 'a field', 'syntax = "proto3";\nmessage A {\n  int32 a = 1;\n  int32 a = 2;\n}', [3, 9], [4, 9]],
  [
    'protobuf',
    'an rpc',
    'syntax = "proto3";\nmessage A {}\nservice S {\n  rpc R(A) returns (A);\n  rpc R(A) returns (A);\n}',
    [4, 7],
    [5, 7],
  ],
  ['protobuf', 'the package', 'syntax = "proto3";\npackage a;\npackage a;', [2, 1], [3, 1]],
  ['k8s_crd', 'a version', `${CRD}  - {name: v1, served: true, storage: false, ${VERSION}}`, [9, 5], [10, 5]],
  ['k8s_crd', 'a definition', `${CRD}---\n${CRD}`, [1, 1], [11, 1]],
  [
    'mcp_manifest',
    'a tool',
    '{"tools": [\n{"name": "a", "inputSchema": {}},\n{"name": "a", "inputSchema": {}}]}',
    [2, 1],
    [3, 1],
  ],
  ['mcp_manifest', 'a prompt', '{"tools": [], "prompts": [\n{"name": "a"},\n{"name": "a"}]}', [2, 1], [3, 1]],
  [
    'agent_tools',
    'a tool',
    '[\n{"name": "a", "input_schema": {"type": "object"}},\n{"name": "a", "input_schema": {"type": "object"}}]',
    [2, 1],
    [3, 1],
  ],
  ['openapi', 'a path in JSON', '{"openapi": "3.1.0", "paths": {\n"/a": {},\n"/a": {}}}', [2, 1], [3, 1]],
  ['openapi', 'a path in YAML', 'openapi: 3.1.0\npaths:\n  /a: {}\n  /b:\n    get: {}\n  /a: {}\n', [3, 3], [6, 3]],
  [
    'openapi',
    'a member of a parameter',
    'openapi: 3.1.0\npaths:\n  /a:\n    parameters:\n    - name: a\n      in: query\n      name: b\n',
    [5, 7],
    [7, 7],
  ],
  [
    'openapi',
    'an operation',
    'openapi: 3.1.0\npaths:\n  /a:\n    get:\n      tags: []\n    get:\n      tags: []\n',
    [4, 5],
    [6, 5],
  ],
  ['asyncapi', 'a channel', 'asyncapi: 3.0.0\nchannels:\n  a: {}\n  a: {}\n', [3, 3], [4, 3]],
  ['json_schema', 'a property', '{"properties": {\n"a": {},\n"a": {}}}', [2, 1], [3, 1]],
]

suite('what is defined twice', () => {
  for (const [type, what, text, first, second] of CASES) {
    for (const side of ['base', 'head'] as const) {
      test(`${what} of ${type} is refused with both places, in the ${side}`, () => {
        const compared = compare(
          { id: 'd', type, before: side === 'base' ? text : '', after: side === 'head' ? text : '' },
          {},
          sha256,
        )
        assert.ok(!compared.ok)
        const { code, message, line, column } = compared.problem
        assert.equal(code, 'ARTIFACT_UNREADABLE')
        assert.match(message, new RegExp(`^The ${side} document `))
        assert.ok(message.includes(`first at line ${first[0]}, column ${first[1]}`), message)
        assert.deepEqual([line, column], second)
      })
    }
  }

  test('of an introspection result is named by its places in it', () => {
    const field = { name: 'a', args: [], type: { kind: 'SCALAR', name: 'Int' } }
    const type = { kind: 'OBJECT', name: 'Q', fields: [field, field], interfaces: [] }
    const text = JSON.stringify({ __schema: { queryType: { name: 'Q' }, types: [type], directives: [] } })
    const compared = compare({ id: 'd', type: 'graphql', before: '', after: text }, {}, sha256)
    assert.ok(!compared.ok)
    assert.match(compared.problem.message, /a in `fields` is defined twice, first at line 1, column \d+/)
  })
})
