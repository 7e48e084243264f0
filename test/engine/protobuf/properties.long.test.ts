/** What holds for every protobuf contract: identity and order say nothing, and the same input gives the same answer. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  array,
  assert as check,
  constantFrom,
  integer,
  property,
  record,
  tuple,
  uniqueArray,
  type Arbitrary,
} from 'fast-check'
import { shuffledKeys } from '../../shuffle.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { comparedProtobuf, readProtoSet } from './contracts.ts'

const CORPUS = new URL('../../../../shared/corpus/protobuf/', import.meta.url).pathname
const absent = 'the real contracts lie beside the checkout and are absent'

function pairs(): readonly string[] {
  return readdirSync(CORPUS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}

test('a real contract compared with itself says nothing', (t) => {
  if (!existsSync(CORPUS)) return t.skip(absent)
  for (const pair of pairs()) {
    for (const side of ['before', 'after']) {
      const text = readProtoSet(join(CORPUS, pair, side))
      assert.deepEqual(comparedProtobuf(text, text).groups, [], pair)
    }
  }
})

test('the order of files in a set changes nothing, byte for byte', (t) => {
  if (!existsSync(CORPUS)) return t.skip(absent)
  for (const pair of pairs()) {
    const [before, after] = [readProtoSet(join(CORPUS, pair, 'before')), readProtoSet(join(CORPUS, pair, 'after'))]
    const answer = JSON.stringify(comparedProtobuf(before, after))
    for (const seed of [1, 2, 3]) {
      const [base, head] = [before, after].map((text) => JSON.stringify(shuffledKeys(JSON.parse(text), seed)))
      assert.ok(JSON.stringify(comparedProtobuf(base ?? '', head ?? '')) === answer, pair)
    }
  }
})

/** The parts of a contract, each on its own; their order is free. */
interface Parts {
  readonly messages: readonly (readonly string[])[]
  readonly values: readonly string[]
  readonly methods: readonly string[]
}

const TYPES = [
  'int32',
  'int64',
  'string',
  'bytes',
  'bool',
  'Kind',
  'M0',
  'map<string, M0>',
  'repeated sint32',
  'optional string',
]

const parts: Arbitrary<Parts> = record({
  messages: array(
    uniqueArray(tuple(integer({ min: 1, max: 12 }), constantFrom(...TYPES)), {
      selector: ([number]) => number,
    }).map((fields) => fields.map(([number, type]) => `${type} f${number} = ${number};`)),
    { minLength: 1, maxLength: 4 },
  ),
  values: uniqueArray(integer({ min: 1, max: 8 })).map((numbers) =>
    [0, ...numbers].map((number) => `K${number} = ${number};`),
  ),
  methods: uniqueArray(constantFrom('A', 'B', 'C')).map((names) =>
    names.map((name) => `rpc ${name}(M0) returns (M0);`),
  ),
})

function textOf({ messages, values, methods }: Parts, isReversed: boolean): string {
  const order = <T>(list: readonly T[]): readonly T[] => (isReversed ? list.toReversed() : list)
  // The first value of an enum is what an absent field means: its place is not free.
  const [zero = '', ...others] = values
  const declarations = [
    ...messages.map((fields, index) => `message M${index} { ${order(fields).join(' ')} }`),
    `enum Kind { ${zero} ${order(others).join(' ')} }`,
    `service S { ${order(methods).join(' ')} }`,
  ]
  return `syntax = "proto3"; package p; ${order(declarations).join('\n')}`
}

test('the order of declarations, fields, values and methods says nothing', () => {
  check(
    property(parts, (contract) => {
      assert.deepEqual(comparedProtobuf(textOf(contract, false), textOf(contract, true)).groups, [])
    }),
    { numRuns: 200 },
  )
})

test('the order in which both sides are written does not change which findings there are', () => {
  check(
    property(parts, parts, (before, after) => {
      const ids = (isReversed: boolean): readonly string[] =>
        comparedProtobuf(textOf(before, isReversed), textOf(after, isReversed)).groups.map(({ id }) => id)
      assert.deepEqual(ids(true), ids(false))
    }),
    { numRuns: 200 },
  )
})

test('what comes one way goes the other way', () => {
  const TWINS = [
    ['proto-field-added', /^proto-field-removed/],
    ['proto-enum-value-added', /^proto-enum-value-removed/],
    ['proto-rpc-added', /^proto-rpc-removed$/],
    ['proto-message-added', /^proto-message-removed$/],
  ] as const
  check(
    property(parts, parts, (before, after) => {
      const there = comparedProtobuf(textOf(before, false), textOf(after, false)).groups
      const back = comparedProtobuf(textOf(after, false), textOf(before, false)).groups
      for (const [added, removed] of TWINS) {
        const came = there.filter(({ rule }) => rule === added).map(({ location }) => location)
        const went = back.filter(({ rule }) => removed.test(rule)).map(({ location }) => location)
        assert.deepEqual(came.sort(), went.sort(), added)
      }
    }),
    { numRuns: 200 },
  )
})

function compareOrRefuse(after: string): string {
  const result = compare({ id: 'x', type: 'protobuf', before: '', after }, {}, sha256Hex)
  return result.ok || after === '' ? 'compared' : result.problem.code
}

test('no text makes the reader throw', () => {
  const words = constantFrom(
    'message',
    'A',
    '{',
    '}',
    '=',
    '1',
    ';',
    'string',
    'oneof',
    'map',
    '<',
    '>',
    ',',
    '(',
    ')',
    '"x"',
    'option',
    'enum',
    'rpc',
    '[',
    ']',
    '-',
    '.',
    'reserved',
    'to',
    'max',
    '\n',
    '/*',
    '//',
    "'",
    '\\',
    'extend',
    'service',
    'stream',
    'group',
  )
  check(
    property(
      array(words, { maxLength: 40 }).map((list) => list.join(' ')),
      (text) => {
        const result = compareOrRefuse(text)
        assert.ok(result === 'compared' || result.startsWith('ARTIFACT_'), result)
      },
    ),
    { numRuns: 2000 },
  )
})
