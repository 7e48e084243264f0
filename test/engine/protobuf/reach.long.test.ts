/** Which rpcs a changed message reaches: through what holds it, round cycles, in one order, however deep. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countPlaces } from '../../../engine/model/finding.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

function reached(messages: (type: string) => string, services: string): ReadonlyMap<string, readonly string[]> {
  const text = (type: string): string => `syntax = "proto3";\npackage a;\n${messages(type)}\n${services}`
  const compared = compare({ id: 'a', type: 'protobuf', before: text('int32'), after: text('string') }, {}, sha256Hex)
  assert.ok(compared.ok)
  return new Map(
    compared.value.groups.map(({ location, occurrences }) => [
      /a\.(\w+)/.exec(location)?.[1] ?? location,
      occurrences.map(({ operation }) => operation?.path ?? 'the contract'),
    ]),
  )
}

suite('the rpcs that a message reaches', () => {
  test('are those of everything that holds it, by path, each once', () => {
    const paths = reached(
      (type) => `message Leaf { ${type} x = 1; } message Left { Leaf l = 1; } message Right { Leaf l = 1; }`,
      'service S { rpc Z(Left) returns (Right); rpc B(Right) returns (Right); rpc A(Leaf) returns (Left); }',
    )
    assert.deepEqual([...paths.values()], [['/a.S/A', '/a.S/B', '/a.S/Z']])
  })

  test('are the same for messages that hold each other', () => {
    const paths = reached(
      (type) =>
        `message P { ${type} x = 1; Q q = 2; } message Q { ${type} x = 1; R r = 2; } message R { ${type} x = 1; P p = 2; }`,
      'service S { rpc Get(Q) returns (Q); }',
    )
    assert.deepEqual([...paths.values()], [['/a.S/Get'], ['/a.S/Get'], ['/a.S/Get']])
  })

  test('are none for a message that no rpc sends', () => {
    const paths = reached(
      (type) =>
        `message Sent { Held h = 1; } message Held { int32 y = 1; } message Alone { ${type} x = 1; Held h = 2; }`,
      'service S { rpc Get(Sent) returns (Sent); }',
    )
    assert.deepEqual([...paths.values()], [['the contract']])
  })

  test('are counted exactly where a flood is not listed', () => {
    const length = 600
    const chain = (type: string): string =>
      Array.from(
        { length },
        (_, i) => `message M${i} { ${type} x = 1; ${i + 1 < length ? `M${i + 1} n = 2;` : ''} }`,
      ).join('\n')
    const methods = Array.from({ length }, (_, i) => `rpc G${i}(M${i}) returns (M${i});`).join('\n')
    const text = (type: string): string => `syntax = "proto3";\npackage a;\n${chain(type)}\nservice S { ${methods} }`
    const compared = compare({ id: 'a', type: 'protobuf', before: text('int32'), after: text('string') }, {}, sha256Hex)
    assert.ok(compared.ok)
    const { groups, stats } = compared.value
    const places = new Map(groups.map((group) => [/a\.M(\d+)/.exec(group.message)?.[1], countPlaces(group)]))
    // The message at a place of the chain is sent by its own rpc and those before it.
    for (let i = 0; i < length; i += 1) assert.equal(places.get(String(i)), i + 1)
    assert.ok(groups.some(({ unlisted = 0 }) => unlisted > 0))
    assert.equal(stats.touched.endpoints, length)
  })

  test('are found along a chain of fifty thousand messages, a third of them changed', () => {
    // As many changes as are listed one by one: past that they are counted.
    const length = 50_000
    const chain = (type: string): string =>
      Array.from(
        { length },
        (_, i) => `message M${i} { ${i % 3 === 0 ? type : 'bool'} x = 1; ${i + 1 < length ? `M${i + 1} n = 2;` : ''} }`,
      ).join('\n')
    const paths = reached(chain, 'service S { rpc Get(M0) returns (M0); }')
    const answers = new Set([...paths.values()].map((list) => list.join()))
    assert.deepEqual([...answers], ['/a.S/Get'])
  })
})
