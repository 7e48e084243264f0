/** However many items an array must contain, a change of them is judged as of few. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Demand = (side: number, index: number) => object

/** Parts of an `allOf`, whose items put each other apart, overlap, or are more than the array may hold. */
const KINDS: Readonly<Record<string, Demand>> = {
  'items of one value': (side, index) => ({ contains: { const: index + side }, minContains: 2, maxContains: 5 }),
  'items that overlap': (side, index) => ({ contains: { type: 'integer', minimum: index + side }, minContains: 2 }),
  'more items than fit': (side, index) => ({ contains: { const: index + side }, maxItems: 2 + side }),
  'items that differ': (side, index) => ({ contains: { enum: [index, index + 1 + side] }, uniqueItems: true }),
  'items in places': (side, index) => ({
    prefixItems: Array.from({ length: index + 1 }, () => ({ type: 'integer' })),
    contains: { const: `${index + side}` },
  }),
}

function schema(parts: readonly object[]): string {
  return JSON.stringify({ type: 'array', allOf: parts })
}

function found(demand: Demand, sides: readonly [number, number], count: number): readonly string[] {
  const [before = '', after = ''] = sides.map((side) =>
    schema(Array.from({ length: count }, (_, index) => demand(side, index))),
  )
  const result = compare({ id: 'a', type: 'json_schema', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return [...new Set(result.value.groups.map(({ level }) => level))]
}

for (const [name, demand] of Object.entries(KINDS)) {
  suite(name, () => {
    for (const count of [12, 24]) {
      test(`a change of ${count} is judged as of 6`, () => {
        assert.deepEqual(found(demand, [0, 1], count), found(demand, [0, 1], 6))
      })
    }
    test('the same list is no change', () => assert.deepEqual(found(demand, [1, 1], 24), []))
  })
}
