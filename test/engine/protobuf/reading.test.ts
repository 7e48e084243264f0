/** Reading protobuf: what is refused and where, what is read alike, sets of files, empty sides, telling the type. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, DEFAULT_DOCUMENT_LIMITS } from '../../../engine/formats/compare.ts'
import { readProtoContract } from '../../../engine/contracts/protobuf/contract.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import { ARTIFACT_TYPES } from '../../../engine/model/change-set.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { comparedProtobuf } from './contracts.ts'

const GOOD = 'syntax = "proto3";\nmessage Note {\n  string text = 1;\n}\n'

function importing(type: string): string {
  return `syntax = "proto3"; package p; import "x/y.proto"; message A { ${type} a = 1; }`
}

/** Messages that hold each other, one of them with a size of the type. */
function circling(type: string): string {
  return `syntax = "proto3"; package p; service S { rpc A(Q) returns (stream R); rpc B(Q) returns (Q); }
    message Q { } message R { Inner inner = 1; } message Inner { R back = 1; ${type} size = 2; }`
}

function refused(head: string): Problem {
  const result = compare({ id: 'proto', type: 'protobuf', before: GOOD, after: head }, {}, sha256Hex)
  assert.ok(!result.ok, 'it was read')
  return result.problem
}

const FAULTS: readonly (readonly [what: string, text: string, line: number, column: number, message: RegExp])[] = [
  ['a missing semicolon', 'syntax = "proto3";\nmessage A {\n  string a = 1\n}\n', 4, 1, /";" belongs/],
  ['a text that ends early', 'syntax = "proto3";\nmessage A {\n', 3, 1, /the text ends where/],
  ['a field without a number', 'syntax = "proto3";\nmessage A {\n  string a;\n}', 3, 11, /"=" belongs/],
  ['the number zero', 'syntax = "proto3";\nmessage A {\n  string a = 0;\n}', 3, 14, /from 1 to 536870911/],
  ['a number over the bound', 'syntax = "proto3";\nmessage A {\n  string a = 536870912;\n}', 3, 14, /from 1 to/],
  ['a number used twice', 'syntax = "proto3";\nmessage A {\n  string a = 1;\n  string b = 1;\n}', 4, 3, /that of a/],
  [
    'a name used twice',
    'syntax = "proto3";\nmessage A {\n  string a = 1;\n  string a = 2;\n}',
    4,
    10,
    /declared twice/,
  ],
  ['required in proto3', 'syntax = "proto3";\nmessage A {\n  required string a = 1;\n}', 3, 3, /no required fields/],
  ['an unknown syntax', 'syntax = "proto4";', 1, 10, /"proto4" is not a syntax/],
  ['an unknown edition', 'edition = "1999";', 1, 11, /"1999" is not an edition/],
  ['an open string', 'syntax = "proto3;\n', 1, 10, /not closed/],
  ['an open comment', 'syntax = "proto3";\n/* note', 2, 1, /comment is not closed/],
  ['a foreign character', 'syntax = "proto3";\nmessage Ä {}', 2, 9, /where the name of a message/],
  ['a range that ends before it starts', 'syntax = "proto3";\nmessage A { reserved 9 to 2; }', 2, 22, /ends before/],
  ['a second package', 'package a;\npackage b;', 2, 1, /declared twice/],
  ['words that are no declaration', 'hello world', 1, 1, /a declaration belongs/],
]

suite('what is not protobuf is refused with its place', () => {
  for (const [what, text, line, column, message] of FAULTS) {
    test(what, () => {
      const problem = refused(text)
      assert.equal(problem.code, 'ARTIFACT_UNREADABLE')
      assert.match(problem.message, /^The head document cannot be read as protobuf/)
      assert.match(problem.message, message)
      assert.deepEqual([problem.line, problem.column], [line, column])
    })
  }

  test('in a set, by the path of the file', () => {
    const problem = refused(JSON.stringify({ 'a.proto': GOOD, 'b/c.proto': 'message' }))
    assert.equal(problem.pointer, '/b~1c.proto')
    assert.deepEqual([problem.line, problem.column], [1, 8])
  })

  test('a set that holds something else', () => {
    assert.match(refused('{"a.proto": 1}').message, /its path, which ends with .proto/)
    assert.match(refused('{}').message, /holds none/)
  })

  test('a name that two files declare', () => {
    assert.match(
      refused(JSON.stringify({ 'a.proto': GOOD, 'b.proto': GOOD })).message,
      /Note is declared in a.proto and again/,
    )
  })

  test('nesting past the limit, of messages and of values', () => {
    const deep = `syntax = "proto3";${'message A {'.repeat(10_000)}${'}'.repeat(10_000)}`
    assert.equal(refused(deep).code, 'ARTIFACT_OVER_LIMIT')
    const value = `syntax = "proto3"; option (a) = ${'{a'.repeat(10_000)}${'}'.repeat(10_000)};`
    assert.equal(refused(value).code, 'ARTIFACT_OVER_LIMIT')
  })

  test('a full name past the limit', () => {
    assert.equal(refused(inPackage('p'.repeat(8000))).code, 'ARTIFACT_OVER_LIMIT')
    const after = inPackage('p'.repeat(7996))
    assert.ok(compare({ id: 'a', type: 'protobuf', before: '', after }, {}, sha256Hex).ok)
    const nested = `syntax = "proto3"; ${`message ${'M'.repeat(900)} {`.repeat(9)}${'}'.repeat(9)}`
    assert.equal(refused(nested).code, 'ARTIFACT_OVER_LIMIT')
  })

  test('a text past the limit', () => {
    const limits = { ...DEFAULT_DOCUMENT_LIMITS, maxLength: 20 }
    const result = compare({ id: 'proto', type: 'protobuf', before: '', after: GOOD }, { limits }, sha256Hex)
    assert.ok(!result.ok && result.problem.code === 'ARTIFACT_OVER_LIMIT')
  })
})

suite('read alike', () => {
  const same: readonly (readonly [what: string, before: string, after: string])[] = [
    ['comments and layout', GOOD, 'syntax="proto3";// x\nmessage Note{/* y */string text=1;;}'],
    ['strings in parts and escapes', 'option go_package = "a\\x2fb";', `option go_package = 'a' "/b";`],
    ['characters by their code', 'option go_package = "\\u00e9\\U0001F600";', 'option go_package = "é😀";'],
    ['notations of numbers', 'message A { optional int32 a = 10; }', 'message A { optional int32 a = 0xA; }'],
    [
      'a type by its scope or by its whole name',
      'syntax = "proto3"; package a.b; message M { N n = 1; } message N {}',
      'syntax = "proto3"; package a.b; message M { .a.b.N n = 1; } message N {}',
    ],
    [
      'features one by one or together',
      'edition = "2023"; option features.field_presence = IMPLICIT; message A { int32 a = 1; }',
      'edition = "2023"; message A { int32 a = 1; } option features = { field_presence: IMPLICIT };',
    ],
    ['ranges joined', 'message A { reserved 1 to 3, 4 to 6; }', 'message A { reserved 4, 5, 6, 1 to 3; }'],
    [
      'names that objects have of themselves',
      'message constructor { optional int32 __proto__ = 1; }',
      'message constructor { optional int32 __proto__ = 1; }',
    ],
  ]
  for (const [what, before, after] of same) {
    test(what, () => {
      const removed = comparedProtobuf(before, after).groups.filter(({ level }) => level !== 'info')
      assert.deepEqual(
        removed.map(({ rule }) => rule),
        [],
      )
    })
  }

  test('proto3 and the edition that says the same', () => {
    const { groups } = comparedProtobuf(
      'syntax = "proto3"; message A { int32 a = 1; repeated int32 b = 2; }',
      'edition = "2023"; option features.field_presence = IMPLICIT; message A { int32 a = 1; repeated int32 b = 2; }',
    )
    assert.deepEqual(
      groups.map(({ rule }) => rule),
      ['proto-file-syntax-became-edition'],
    )
  })

  test('groups, and messages that are written like groups', () => {
    const { groups } = comparedProtobuf(
      'syntax = "proto2"; message A { optional group Inner = 1 { optional int32 a = 1; } }',
      'edition = "2023"; message A { message Inner { int32 a = 1; } Inner inner = 1 [features.message_encoding = DELIMITED]; }',
    )
    assert.deepEqual(
      groups.filter(({ level }) => level === 'breaking').map(({ message }) => message),
      [],
    )
  })
})

suite('names', () => {
  test('the entries of a renamed map are those of the map', () => {
    const { groups } = comparedProtobuf(
      'syntax = "proto3"; message A { map<string, int32> old = 1; }',
      'syntax = "proto3"; message A { map<string, string> now = 1; }',
    )
    const rules = groups.map(({ rule }) => rule)
    assert.deepEqual(rules, ['proto-field-renamed', 'proto-field-type-changed'])
  })

  test('a field called __proto__ is a field', () => {
    const { groups } = comparedProtobuf('message A { optional int32 __proto__ = 1; }', 'message A { }')
    assert.deepEqual(
      groups.map(({ rule }) => rule),
      ['proto-field-removed'],
    )
  })

  test('types of the files that come with the compiler are known', () => {
    const text =
      'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp a = 1; }'
    assert.deepEqual(
      comparedProtobuf('syntax = "proto3"; message A { }', text).groups.map(({ rule }) => rule),
      ['proto-field-added'],
    )
  })

  test('what a missing import declares is compared by its name', () => {
    assert.deepEqual(comparedProtobuf(importing('x.Y'), importing('.x.Y')).groups, [])
    assert.deepEqual(
      comparedProtobuf(importing('x.Y'), importing('x.Z')).groups.map(({ rule }) => rule),
      ['proto-field-type-changed'],
    )
  })
})

suite('a side that is empty', () => {
  const SERVICE = `${GOOD}service Notes { rpc Get(Note) returns (Note); }`

  test('is a contract that comes: nothing breaks', () => {
    const { groups, spec_versions: versions } = comparedProtobuf('', SERVICE)
    assert.deepEqual(
      groups.map(({ rule, level }) => [rule, level]),
      [
        ['proto-message-added', 'info'],
        ['proto-service-added', 'info'],
      ],
    )
    assert.deepEqual(versions, { base: null, head: 'proto3' })
  })

  test('is a contract that goes: every call breaks', () => {
    const { groups, stats } = comparedProtobuf(SERVICE, '')
    assert.deepEqual(
      groups.map(({ rule, level }) => [rule, level]),
      [
        ['proto-service-removed', 'breaking'],
        ['proto-message-removed', 'dangerous'],
      ],
    )
    assert.deepEqual(stats.operations, { base: 1, head: 0 })
  })
})

test('levels are as the caller asks', () => {
  const after = GOOD.replace('syntax = "proto3";', 'syntax = "proto3";\noption go_package = "x";')
  const levels = { 'proto-file-go-package-changed': 'breaking' } as const
  assert.deepEqual(
    comparedProtobuf(GOOD, after, { levels }).groups.map(({ level }) => level),
    ['breaking'],
  )
  assert.deepEqual(comparedProtobuf(GOOD, after, { levels: { 'proto-file-go-package-changed': 'off' } }).groups, [])
})

test('a change of a message reaches the rpcs that hold it, through others and in circles', () => {
  const [group] = comparedProtobuf(circling('int32'), circling('string')).groups
  assert.deepEqual(
    group?.occurrences.map(({ operation }) => operation),
    [{ method: 'SERVER_STREAM', path: '/p.S/A', operation_id: 'A' }],
  )
})

suite('the type is recognised', () => {
  const texts = [
    GOOD,
    '// Notes.\n\n/* Licence */\npackage a;\n',
    'edition = "2023";\n',
    'import "a.proto";\n',
    'message A {\n  optional string a = 1;\n}',
    'service A {\n  rpc B(C) returns (D);\n}',
    JSON.stringify({ 'a/b.proto': GOOD }),
  ]
  for (const text of texts) {
    test(JSON.stringify(text.slice(0, 30)), () =>
      assert.deepEqual(sniffArtifactType(text, text), { ok: true, value: 'protobuf' }),
    )
  }

  test('by another declaration it is refused', () => {
    for (const type of ARTIFACT_TYPES.filter((name) => name === 'openapi' || name === 'mcp_manifest')) {
      const result = compare({ id: 'x', type, before: GOOD, after: GOOD }, {}, sha256Hex)
      assert.ok(!result.ok && result.problem.code === 'ARTIFACT_TYPE_MISMATCH')
    }
  })
})

test('every declaration has its place', () => {
  const contract = readProtoContract(
    'syntax = "proto3";\n\nmessage A {\n  // x\n  map<string, int32>\n    b = 1;\n}\n',
    DEFAULT_DOCUMENT_LIMITS,
  )
  assert.ok(contract.ok)
  assert.deepEqual(contract.value.locate('/A'), { line: 3, column: 1 })
  assert.deepEqual(contract.value.locate('/A/b'), { line: 5, column: 3 })
  assert.deepEqual(contract.value.locate('/A/b/nothing'), { line: 5, column: 3 })
})

function inPackage(name: string): string {
  return `syntax = "proto3"; package ${name}; message M { int32 a = 1; }`
}
