/** However many alternatives a choice has, and in whatever order, a change of it is judged as of few, and in time that grows with them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Alternative = (side: string, index: number) => object

const TEXT = { type: 'string' }

/** Alternatives that listed values put apart, that a required name puts apart for an example, and that overlap. */
const KINDS: Readonly<Record<string, Alternative>> = {
  'listed values': (side, index) => ({ const: `${side}${index}` }),
  'a listed member': (side, index) => ({
    type: 'object',
    properties: { kind: { const: `${side}${index}` }, x: { type: 'integer' } },
    required: ['kind'],
  }),
  'two listed members': (side, index) => ({
    type: 'object',
    properties: { group: { enum: ['a', 'b'] }, kind: { enum: [`${side}${index}`, `${side}-${index}`] } },
    required: ['group', 'kind'],
  }),
  'a required name': (side, index) => ({
    type: 'object',
    properties: { [`${side}${index}`]: TEXT },
    required: [`${side}${index}`],
  }),
}

function schema(alternatives: readonly object[]): string {
  return JSON.stringify({ type: 'object', properties: { p: { oneOf: alternatives } } })
}

function found(before: string, after: string): readonly string[] {
  const result = compare({ id: 'a', type: 'json_schema', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return [...new Set(result.value.groups.map(({ rule, level }) => `${level} ${rule}`))]
}

function list(kind: Alternative, side: string, from: number, to: number): readonly object[] {
  return Array.from({ length: to - from }, (_, index) => kind(side, from + index))
}

/** Both sides of a changed choice of so many alternatives. */
const CHANGES: Readonly<Record<string, (kind: Alternative, wide: number) => readonly [string, string]>> = {
  'all are exchanged': (kind, wide) => [schema(list(kind, 'a', 0, wide)), schema(list(kind, 'b', 0, wide))],
  'one is exchanged': (kind, wide) => {
    const kept = list(kind, 'a', 1, wide)
    return [schema([kind('a', 0), ...kept]), schema([...kept, kind('b', 0)])]
  },
  'one comes': (kind, wide) => {
    const kept = list(kind, 'a', 1, wide)
    return [schema(kept), schema([...kept.toReversed(), kind('a', 0)])]
  },
  'another order': (kind, wide) => {
    const all = list(kind, 'a', 0, wide)
    return [schema(all), schema(all.toReversed())]
  },
}

function cpuOf(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return user + system
}

function exchange(kind: Alternative, wide: number): void {
  void found(schema(list(kind, 'a', 0, wide)), schema(list(kind, 'b', 0, wide)))
}

suite('wide choices', () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    for (const [change, sides] of Object.entries(CHANGES)) {
      test(`${name}, ${change}`, () => {
        const [few, many] = [sides(kind, 50), sides(kind, 100)]
        assert.deepEqual(found(...many), found(...few))
        assert.deepEqual(found(many[1], many[0]), found(few[1], few[0]))
      })
    }
    test(`${name}: time grows with the alternatives, not with their pairs`, () => {
      exchange(kind, 250)
      const [few, many] = [cpuOf(() => exchange(kind, 250)), cpuOf(() => exchange(kind, 2000))]
      // Eight times as many alternatives have 64 times as many pairs.
      assert.ok(many < 30 * Math.max(few, 20_000), `${few} µs, then ${many} µs`)
    })
  }
})
