/** Which changes of a protobuf contract decide on one rpc: those of its own messages, wherever they stand, and of the contract as a whole. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, DEFAULT_DOCUMENT_LIMITS, EMPTY_CONTEXT, judgeChangeSet, readRpcs } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { fakePolicy } from '../../fakes/decisions.ts'

const BASE = `syntax = "proto3";
package a.v1;
import "google/protobuf/any.proto";
message Ask { string id = 1; Inner inner = 2; }
message Inner { string text = 1; }
message Note { string text = 1; Kind kind = 2; } enum Kind { KIND_UNSPECIFIED = 0; KIND_LONG = 1; }
message Event { string name = 1; google.protobuf.Any load = 2; }
message Unsent { string text = 1; }
service Notes {
  rpc Get(Ask) returns (Note);
  rpc Put(Note) returns (Note);
  rpc Watch(Ask) returns (stream Event);
}`

/** The rules that decide on an rpc, where both sides are as given. */
function deciding(path: string, edit: (text: string) => string, before = BASE): readonly string[] {
  const after = edit(before)
  const compared = compare({ id: 'a', type: 'protobuf', before, after }, {}, sha256Hex)
  assert.ok(compared.ok)
  const table = readRpcs(after, DEFAULT_DOCUMENT_LIMITS)
  const known = table.ok ? table.value.rpcs.find((rpc) => rpc.path === path) : undefined
  assert.ok(known)
  const analysis = { id: 'a', type: 'protobuf', ok: true, comparison: compared.value } as const
  const scope = { method: known.exchange, path, carriesAny: known.carriesAny, files: known.files }
  const { artifacts } = judgeChangeSet([analysis], { policy: fakePolicy(), context: EMPTY_CONTEXT, scope, now: 0 })
  return artifacts.flatMap(({ groups }) => groups.map(({ rule }) => rule))
}

const replacing = (from: string, to: string) => (text: string) => text.replace(from, to)

const get = (from: string, to: string): readonly string[] => deciding('/a.v1.Notes/Get', replacing(from, to))

suite('the rpc Get', () => {
  test('is decided by changes of what its messages hold', () => {
    assert.deepEqual(get('Inner { string text = 1', 'Inner { int32 text = 1'), ['proto-field-type-changed'])
    assert.deepEqual(get('KIND_LONG = 1;', ''), ['proto-enum-value-removed'])
  })

  test('is not by changes of what other rpcs send', () => {
    assert.deepEqual(get('Event { string name = 1', 'Event { int32 name = 1'), [])
    assert.deepEqual(get('rpc Put(Note) returns (Note);', ''), [])
  })

  test('is not by a type that no rpc sends: changed, gone or new', () => {
    assert.deepEqual(get('Unsent { string text = 1', 'Unsent { int32 text = 1'), [])
    assert.deepEqual(get('message Unsent { string text = 1; }', ''), [])
    assert.deepEqual(get('message Unsent {', 'message New {} message Unsent {'), [])
  })

  test('is by changes of the file as a whole', () => {
    assert.ok(get('package a.v1;', 'package a.v1;\noption java_package = "b";').length > 0)
  })

  test('is by its own streaming and options', () => {
    assert.deepEqual(get('returns (Note);', 'returns (stream Note);'), ['proto-rpc-server-streaming-changed'])
    assert.deepEqual(get('returns (Note);', 'returns (Note) { option idempotency_level = NO_SIDE_EFFECTS; }'), [
      'proto-rpc-idempotency-changed',
    ])
  })
})

test('what streams now is decided by what its messages lost before it streamed', () => {
  const stream = replacing('returns (Note);', 'returns (stream Note);')
  const lose = replacing('Inner { string text = 1; }', 'Inner {}')
  const rules = deciding('/a.v1.Notes/Get', (text) => stream(lose(text)))
  assert.deepEqual(rules.toSorted(), ['proto-field-removed', 'proto-rpc-server-streaming-changed'])
})

test('an rpc whose messages hold Any is decided by types that no rpc names', () => {
  const edit = replacing('Unsent { string text = 1', 'Unsent { int32 text = 1')
  assert.deepEqual(deciding('/a.v1.Notes/Watch', edit), ['proto-field-type-changed'])
})

test('a type that an extension puts into a message is part of that message', () => {
  const base = `syntax = "proto2";
package a;
message Ask { extensions 100 to 200; }
message Held { optional string text = 1; }
extend Ask { optional Held held = 100; }
service S { rpc Get(Ask) returns (Ask); rpc Other(Plain) returns (Plain); }
message Plain { optional string text = 1; }`
  const retyped = replacing('Held { optional string text = 1', 'Held { optional int32 text = 1')
  assert.deepEqual(deciding('/a.S/Get', retyped, base), ['proto-field-type-changed'])
  assert.deepEqual(deciding('/a.S/Other', retyped, base), [])
  const removed = replacing('extend Ask { optional Held held = 100; }', '')
  assert.deepEqual(deciding('/a.S/Get', removed, base), ['proto-extension-removed'])
  assert.deepEqual(deciding('/a.S/Other', removed, base), [])
})

const FILES = {
  'a.proto':
    'syntax = "proto3"; package a; import "held.proto"; OPTION service A { rpc Get(held.H) returns (held.H); }',
  'held.proto': 'syntax = "proto3"; package held; OPTION message H { E e = 1; } enum E { ZERO = 0; }',
  'b.proto': 'syntax = "proto3"; package b; OPTION message M {} service B { rpc Get(M) returns (M); }',
  'b.proto2.proto': 'syntax = "proto3"; package c; OPTION message N {}',
}

/** @param changed the file that has another option than before */
function fileSet(changed?: string): string {
  const option = 'option java_package = "x";'
  const texts = Object.entries(FILES).map(([name, text]) => [
    name,
    text.replace('OPTION', name === changed ? option : ''),
  ])
  return JSON.stringify(Object.fromEntries(texts))
}

/** The rules that decide on an rpc, where a file has another option. */
const decidingIn = (path: string, file: string): readonly string[] => deciding(path, () => fileSet(file), fileSet())

suite('a set of files', () => {
  test('what is said of a file decides on the rpcs that rest on it', () => {
    for (const file of ['a.proto', 'held.proto']) {
      assert.deepEqual(decidingIn('/a.A/Get', file), ['proto-file-java-package-changed'])
      assert.deepEqual(decidingIn('/b.B/Get', file), [])
    }
    assert.deepEqual(decidingIn('/b.B/Get', 'b.proto'), ['proto-file-java-package-changed'])
    for (const path of ['/a.A/Get', '/b.B/Get']) assert.deepEqual(decidingIn(path, 'b.proto2.proto'), [])
  })
})

test('the table of rpcs names their form, what may carry any type, and the files that are not there', () => {
  const text = `syntax = "proto3"; package a; import "b.proto";
service S { rpc A(stream M) returns (M); rpc B(b.X) returns (M); rpc C(stream L) returns (stream M); } message M {} message L { repeated L more = 1; b.X x = 2; }`
  assert.deepEqual(readRpcs(text, DEFAULT_DOCUMENT_LIMITS), {
    ok: true,
    value: {
      rpcs: [
        { path: '/a.S/A', exchange: 'CLIENT_STREAM', carriesAny: false, files: [''] },
        { path: '/a.S/B', exchange: 'RPC', carriesAny: true, files: [''] },
        { path: '/a.S/C', exchange: 'BIDI_STREAM', carriesAny: true, files: [''] },
      ],
      missing: ['b.proto'],
    },
  })
  assert.equal(readRpcs('service {', DEFAULT_DOCUMENT_LIMITS).ok, false)
})
