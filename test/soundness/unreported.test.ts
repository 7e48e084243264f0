/**
 * Breaks that no keyword reports by itself: names that were constrained before they got a schema of their own, alternatives that
 * come to overlap, schemas that hold each other. Each at every surface that has its keywords, directly and within other schemas.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DIALECTS } from './dialects.ts'
import { answerOf, documentsOf, type Pair } from './judge.ts'
import type { Keywords, Schema } from './schema.ts'
import { isIn } from './schemas.ts'
import { fitsBoth, surfacesFor } from './surfaces.ts'

const string = { type: 'string' }
const number = { type: 'number' }

/** What constrains, or allows, the name `a` without a schema of its own. */
const CONSTRAINED: Readonly<Record<string, Keywords>> = {
  required: { required: ['a'] },
  additionalProperties: { additionalProperties: string },
  'additionalProperties of anything': { additionalProperties: {} },
  'additionalProperties: true': { additionalProperties: true },
  patternProperties: { patternProperties: { '^a$': string } },
  propertyNames: { propertyNames: { maxLength: 5 } },
  unevaluatedProperties: { unevaluatedProperties: string },
  'dependentRequired of it': { dependentRequired: { a: ['b'] } },
  'dependentRequired on it': { dependentRequired: { b: ['a'] } },
  dependentSchemas: { dependentSchemas: { a: { minProperties: 2 } } },
  not: { not: { required: ['a', 'b'] } },
  'a branch of anyOf': { anyOf: [{ properties: { a: string } }, { minProperties: 1 }] },
  'a condition': { if: { required: ['a'] }, then: { minProperties: 2 } },
  'a required name in allOf': { allOf: [{ required: ['a'] }] },
}

const named = (keywords: Keywords): readonly [Schema, Schema] => {
  const before = { type: 'object', ...keywords }
  return [before, { ...before, properties: { a: number } }]
}

const object = (properties: Keywords): Keywords => ({ type: 'object', properties, required: Object.keys(properties) })

/** Where an object holds another schema, or a list does. */
const HOLDERS: Readonly<Record<string, (one: Schema) => Schema>> = {
  'a member': (one) => object({ b: one }),
  'a member that is optional': (one) => ({ type: 'object', properties: { b: one } }),
  'a member of a member': (one) => object({ b: object({ c: one }) }),
  'any member': (one) => ({ type: 'object', minProperties: 1, additionalProperties: one }),
  'members of a pattern': (one) => ({ type: 'object', minProperties: 1, patternProperties: { '^[a-z]+$': one } }),
  'what is unevaluated': (one) => ({ type: 'object', minProperties: 1, unevaluatedProperties: one }),
  items: (one) => ({ type: 'array', minItems: 1, items: one }),
  'items of a member': (one) => object({ b: { type: 'array', minItems: 1, items: one } }),
  'the first item': (one) => ({ type: 'array', minItems: 1, prefixItems: [one] }),
  'some item': (one) => ({ type: 'array', contains: one }),
}

/** What refuses more when one of its schemas admits more. */
const OPPOSED: Readonly<Record<string, (one: Schema) => Schema>> = {
  'oneOf beside any value of a type': (one) => ({ oneOf: [{ type: ['object', 'array'] }, one] }),
  'oneOf beside an object and an array': (one) => ({ oneOf: [{ type: 'object' }, { type: 'array' }, one] }),
  not: (one) => ({ not: one }),
  'not of a choice': (one) => ({ not: { anyOf: [string, one] } }),
  'not beside a type': (one) => ({ allOf: [{ type: ['object', 'array'] }, { not: one }] }),
  'a condition': (one) => ({ if: one, then: string }),
  'a dependent schema': (one) => ({ dependentSchemas: { b: { not: one } } }),
}

const needing = (names: readonly string[]): Schema => ({ type: 'object', properties: { x: {} }, required: names })

/** A required name goes from a schema that counts against a value: names that were described only there are known. */
const OVERLAPPING: Readonly<Record<string, readonly [Schema, Schema]>> = Object.fromEntries(
  Object.entries(OPPOSED).flatMap(([name, oppose]) =>
    Object.entries(HOLDERS).flatMap(([place, hold]) => {
      // A dependency looks at a member of the same object.
      if (name === 'a dependent schema' && !place.includes('member')) return []
      const pair = [oppose(hold(needing(['t', 'x']))), oppose(hold(needing(['x'])))] as const
      return [[`${name}, ${place}`, pair] as const]
    }),
  ),
)

/** Every pair refuses values that were admitted. */
const NARROWED: Readonly<Record<string, readonly [Schema, Schema]>> = {
  ...Object.fromEntries(Object.entries(CONSTRAINED).map(([name, keywords]) => [name, named(keywords)])),
  ...OVERLAPPING,
  'oneOf that overlaps': [
    {
      oneOf: [
        { ...number, maximum: 3 },
        { ...number, minimum: 10 },
      ],
    },
    {
      oneOf: [
        { ...number, maximum: 20 },
        { ...number, minimum: 10 },
      ],
    },
  ],
  'oneOf that overlaps by a member': [
    { oneOf: [{ allOf: [string, object({ d: {} })] }, object({ d: string })] },
    { oneOf: [{ allOf: [{}, object({ d: {} })] }, object({ d: string })] },
  ],
}

/** Places of a schema within another one. */
const WITHIN: Readonly<Record<string, (one: Schema) => Schema>> = {
  directly: (one) => one,
  'as a member': (one) => object({ held: one }),
  'as an item': (one) => ({ type: 'array', items: one }),
  'in allOf': (one) => ({ allOf: [one] }),
  'in anyOf': (one) => ({ anyOf: [one, { type: 'boolean' }] }),
  'by reference': (one) => ({ $ref: '#/$defs/A', $defs: { A: one } }),
  'in a schema that holds itself': (one) => ({
    $ref: '#/$defs/A',
    $defs: { A: { type: 'object', properties: { held: one, below: { $ref: '#/$defs/A' } } } },
  }),
}

const JSON_TYPE = 'application/json'

/** The surfaces that call a pair information, or say nothing of it. */
function missedAt(
  name: string,
  before: Schema,
  after: Schema,
  isSender: boolean,
  mediaType = JSON_TYPE,
): readonly string[] {
  return DIALECTS.flatMap((dialect) => {
    if (!isIn(dialect, before) || !isIn(dialect, after)) return []
    const pair: Pair = { dialect, before, after }
    return surfacesFor(dialect).flatMap((surface) => {
      if (surface.audience === (isSender ? 'reader' : 'sender')) return []
      if (!fitsBoth(surface, before, after)) return []
      const documents = documentsOf(pair, surface)
      if (mediaType !== JSON_TYPE && !documents[0].includes(`"${JSON_TYPE}"`)) return []
      const [base, head] = documents.map((text) => text.replaceAll(`"${JSON_TYPE}"`, `"${mediaType}"`))
      const { level, findings } = answerOf(surface, base ?? '', head ?? '')
      const isReported = level === 'breaking' || level === 'dangerous'
      return isReported ? [] : [`${name}, ${surface.name}, ${dialect.name}: ${level} ${findings.join('; ')}`]
    })
  })
}

/** Media types that distinguish types, as JSON does, and those in which all values are text. */
const TYPED = [
  '*/*',
  'application/*',
  'text/json',
  'application/problem+json',
  'application/yaml',
  'application/openapi+yaml; charset=utf-8',
  'application/cbor',
  'application/senml+cbor',
  'application/msgpack',
]
const TEXTUAL = [
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/mixed; boundary=x',
  'application/xml',
  'application/atom+xml',
  'text/plain',
  'text/csv',
  'application/octet-stream',
  'application/vnd.thing',
]

/** Two schemas that hold each other, one of them a choice. */
const mutual = (alternatives: readonly Schema[]): Schema => ({
  $ref: '#/$defs/A',
  $defs: {
    A: { oneOf: [{ $ref: '#/$defs/B' }] },
    B: { type: 'array', oneOf: alternatives, items: { $ref: '#/$defs/A' } },
  },
})

/** An object that holds another one, with a property in it that is not sent on one side. */
const beside = (one: Schema, mark: Keywords): Schema => {
  const keywords: Keywords = Object(one)
  const held = { type: 'object', properties: { r: { ...string, ...mark } } }
  return { ...keywords, properties: { ...Object(keywords.properties), m: held } }
}

const choice = (alternatives: readonly Schema[], mark: Keywords): Schema => ({
  oneOf: [{ $ref: '#/$defs/C' }, ...alternatives],
  $defs: { C: { properties: { r: { ...string, ...mark } } } },
})

suite('breaks that no keyword reports', () => {
  for (const [place, within] of Object.entries(WITHIN)) {
    test(`are reported ${place}`, () => {
      const missed = Object.entries(NARROWED).flatMap(([name, [before, after]]) => [
        ...missedAt(name, within(before), within(after), true),
        ...missedAt(name, within(after), within(before), false),
      ])
      assert.deepEqual(missed, [])
    })
  }

  for (const [name, pair] of Object.entries(CONSTRAINED).map(([key, one]) => [key, named(one)] as const)) {
    test(`are reported where a property besides comes to be sent, or ceases to be: ${name}`, () => {
      const [before, after] = pair
      const missed = (['readOnly', 'writeOnly'] as const).flatMap((keyword) =>
        [true, false].flatMap((isFirst) => {
          const mark = { [keyword]: true }
          const base = beside(before, isFirst ? mark : {})
          const head = beside(after, isFirst ? {} : mark)
          return [
            ...missedAt(`${keyword} narrowed`, base, head, true),
            ...missedAt(`${keyword} widened`, head, base, false),
          ]
        }),
      )
      assert.deepEqual(missed, [])
    })
  }

  for (const mediaType of [...TYPED, ...TEXTUAL]) {
    test(`are reported of ${mediaType}`, () => {
      const missed = Object.entries(NARROWED).flatMap(([name, [before, after]]) => [
        ...missedAt(name, before, after, true, mediaType),
        ...missedAt(name, after, before, false, mediaType),
      ])
      assert.deepEqual(missed, [])
    })
  }

  for (const mediaType of TYPED) {
    test(`numbers that become texts are reported of ${mediaType}`, () => {
      const [before, after] = [object({ a: { type: 'integer' } }), object({ a: string })]
      const missed = [true, false].flatMap((isSender) => missedAt('type', before, after, isSender, mediaType))
      assert.deepEqual(missed, [])
    })
  }

  test('are reported of a choice whose only alternative comes to be sent whole', () => {
    const narrowed = missedAt('narrowed', choice([], { readOnly: true }), choice([{}], {}), true)
    const widened = missedAt('widened', choice([{}], {}), choice([], { writeOnly: true }), false)
    assert.deepEqual([...narrowed, ...widened], [])
  })

  test('are reported of schemas that hold each other', () => {
    const [none, all] = [mutual([{}, {}]), mutual([{}])]
    assert.deepEqual([...missedAt('widened', none, all, false), ...missedAt('narrowed', all, none, true)], [])
  })
})
