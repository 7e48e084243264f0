/**
 * How many items a list may hold, where several keywords decide it together. Different items come from few values. Some items
 * must meet a schema, and of others only so many may.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Schema = Readonly<Record<string, unknown>>
type Pair = readonly [before: Schema, after: Schema]

const list = (items: unknown, rest: Schema = {}): Schema => ({ type: 'array', items, ...rest })
const object = (properties: Schema, rest: Schema = {}): Schema => ({ type: 'object', properties, ...rest })
const places = (prefixItems: readonly unknown[], rest: Schema = {}): Schema => ({
  type: 'array',
  prefixItems,
  minItems: prefixItems.length,
  ...rest,
})

const text = { type: 'string' }
const boolean = { type: 'boolean' }
const digits = { type: 'integer', minimum: 1, maximum: 3 }
const letters = { enum: ['a', 'b', 'c'] }
const unique = { uniqueItems: true }

const within = (schema: Schema): Schema =>
  object({ x: object({ list: schema }, { required: ['list'] }) }, { required: ['x'] })

/** The list must hold more items than there can be: nobody can send it any more, and readers miss it. */
const EMPTIED: Readonly<Record<string, Pair>> = {
  'four different items of three values': [
    list(letters, { ...unique, minItems: 2 }),
    list(letters, { ...unique, minItems: 4 }),
  ],
  'three different booleans': [list(boolean, unique), list(boolean, { ...unique, minItems: 3 })],
  'three booleans that come to differ': [list(boolean, { minItems: 3 }), list(boolean, { ...unique, minItems: 3 })],
  'four different booleans or nulls': [
    list({ type: ['boolean', 'null'] }, unique),
    list({ type: ['boolean', 'null'] }, { ...unique, minItems: 4 }),
  ],
  'two different nulls': [list({ type: 'null' }, { minItems: 2 }), list({ type: 'null' }, { ...unique, minItems: 2 })],
  'four different integers of a range': [list(digits, unique), list(digits, { ...unique, minItems: 4 })],
  'three different constants of a choice': [
    list({ oneOf: [{ const: 'a' }, { const: 'b' }] }, unique),
    list({ oneOf: [{ const: 'a' }, { const: 'b' }] }, { ...unique, minItems: 3 }),
  ],
  'two different empty texts': [
    list({ ...text, maxLength: 0 }, { minItems: 2 }),
    list({ ...text, maxLength: 0 }, { ...unique, minItems: 2 }),
  ],
  'two different empty objects': [
    list({ type: 'object', maxProperties: 0 }, { minItems: 2 }),
    list({ type: 'object', maxProperties: 0 }, { ...unique, minItems: 2 }),
  ],
  'three different texts of a pattern for two': [
    list({ ...text, pattern: '^[ab]$' }, { minItems: 3 }),
    list({ ...text, pattern: '^[ab]$' }, { ...unique, minItems: 3 }),
  ],
  'equal constants at two positions': [
    places([{ const: 1 }, { const: 1 }]),
    places([{ const: 1 }, { const: 1 }], unique),
  ],
  'three positions for two values': [
    places([{ enum: [1, 2] }, { enum: [1, 2] }, { enum: [1, 2] }]),
    places([{ enum: [1, 2] }, { enum: [1, 2] }, { enum: [1, 2] }], unique),
  ],
  'a hundred different booleans': [list(boolean, unique), list(boolean, { ...unique, minItems: 100 })],
  'conditions in parts': [{ allOf: [list(boolean), unique] }, { allOf: [list(boolean), { ...unique, minItems: 3 }] }],
  'three different items that must be one of two': [
    list({}, { ...unique, contains: { enum: [1, 2] } }),
    list({}, { ...unique, contains: { enum: [1, 2] }, minContains: 3 }),
  ],
  'a value that goes': [
    list({ enum: [1, 2, 3] }, { ...unique, minItems: 3 }),
    list({ enum: [1, 2] }, { ...unique, minItems: 3 }),
  ],
  'a value that goes from a list within': [
    within(list({ enum: [1, 2, 3] }, { ...unique, minItems: 3 })),
    within(list({ enum: [1, 2] }, { ...unique, minItems: 3 })),
  ],
  'a value that goes, and that must be there': [
    list({ enum: ['a', 'b'] }, { contains: { const: 'b' } }),
    list({ enum: ['a'] }, { contains: { const: 'b' } }),
  ],
  'a value that goes, and leaves more of another than there may be': [
    list({ enum: [1, 2] }, { contains: { const: 1 }, maxContains: 1, minItems: 3 }),
    list({ enum: [1] }, { contains: { const: 1 }, maxContains: 1, minItems: 3 }),
  ],
  'a name that goes from an object that needs so many': [
    { type: 'object', propertyNames: { enum: ['a', 'b', 'c'] }, minProperties: 3 },
    { type: 'object', propertyNames: { enum: ['a', 'b'] }, minProperties: 3 },
  ],
  'a value of a property that goes, where the whole refuses the other': [
    object({ p: { enum: [1, 2] } }, { required: ['p'], not: { properties: { p: { const: 1 } } } }),
    object({ p: { enum: [1] } }, { required: ['p'], not: { properties: { p: { const: 1 } } } }),
  ],
}

/** Some lists are refused, and others are left. */
const NARROWED: Readonly<Record<string, Pair>> = {
  'more items that meet a schema': [
    list({ type: 'integer' }, { contains: { minimum: 5 }, minContains: 2 }),
    list({ type: 'integer' }, { contains: { minimum: 5 }, minContains: 3 }),
  ],
  'positions that can differ in one order only': [
    places([{ enum: [1, 2] }, { const: 1 }]),
    places([{ enum: [1, 2] }, { const: 1 }], unique),
  ],
  'a maximum below the number of values': [list(letters, unique), list(letters, { ...unique, maxItems: 2 })],
  'a minimum above the number of items that must meet a schema': [
    list({}, { contains: text, minContains: 2 }),
    list({}, { contains: text, minContains: 2, minItems: 3 }),
  ],
}

/** The added keyword follows from the others. */
const EQUAL: Readonly<Record<string, Pair>> = {
  'as many items as must meet a schema': [
    list({}, { contains: text, minContains: 2 }),
    list({}, { contains: text, minContains: 2, minItems: 2 }),
  ],
  'fewer items than must meet a schema': [
    list({}, { contains: text, minContains: 3 }),
    list({}, { contains: text, minContains: 3, minItems: 2 }),
  ],
  'items that meet a schema, and all another one': [
    list(text, { contains: { minLength: 2 }, minContains: 2 }),
    list(text, { contains: { minLength: 2 }, minContains: 2, minItems: 2 }),
  ],
  'items that meet schemas that exclude each other': [
    { type: 'array', allOf: [{ contains: text }, { contains: boolean }] },
    { type: 'array', minItems: 2, allOf: [{ contains: text }, { contains: boolean }] },
  ],
  'a minimum that is denied, and a maximum': [
    list({}, { not: { contains: text, minContains: 3 } }),
    list({}, { contains: text, minContains: 0, maxContains: 2 }),
  ],
  'two different booleans': [list(boolean, unique), list(boolean, { ...unique, maxItems: 2 })],
  'three different booleans or nulls': [
    list({ type: ['boolean', 'null'] }, unique),
    list({ type: ['boolean', 'null'] }, { ...unique, maxItems: 3 }),
  ],
  'as many different items as there are values': [list(letters, unique), list(letters, { ...unique, maxItems: 3 })],
  'as many different items as a range has': [list(digits, unique), list(digits, { ...unique, maxItems: 3 })],
}

function documentOf(place: 'request' | 'response', schema: Schema): string {
  const content = { 'application/json': { schema } }
  const answer = { description: 'd', ...(place === 'response' ? { content } : {}) }
  const body = place === 'request' ? { requestBody: { required: true, content } } : {}
  const paths = { '/x': { post: { ...body, responses: { '200': answer } } } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths })
}

function worstOf(place: 'request' | 'response', one: Schema, other: Schema): string {
  const [before, after] = [documentOf(place, one), documentOf(place, other)]
  const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  const levels = result.value.groups.map(({ level }) => level)
  return (['breaking', 'dangerous', 'info'] as const).find((level) => levels.includes(level)) ?? 'none'
}

suite('the number of items', () => {
  for (const [name, [before, after]] of Object.entries(EMPTIED)) {
    test(`nothing is left: ${name}`, () => {
      assert.equal(worstOf('request', before, after), 'breaking')
      const got = worstOf('response', before, after)
      assert.ok(got === 'dangerous' || got === 'breaking', got)
    })
  }

  for (const [name, [before, after]] of Object.entries(NARROWED)) {
    test(`something is left: ${name}`, () => {
      assert.equal(worstOf('request', before, after), 'breaking')
      assert.equal(worstOf('response', before, after), 'info')
    })
  }

  for (const [name, [before, after]] of Object.entries(EQUAL)) {
    test(`nothing changes: ${name}`, () => {
      for (const place of ['request', 'response'] as const) {
        for (const [one, other] of [
          [before, after],
          [after, before],
        ] as const) {
          const got = worstOf(place, one, other)
          assert.ok(got === 'info' || got === 'none', `${place}: ${got}`)
        }
      }
    })
  }
})
