/**
 * `nullable` of OpenAPI 3.0 beside other conditions, which tools read in two ways. By neither reading may a schema that begins
 * to admit null in a response be information.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Schema = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const NULL_IN_TEXT = { type: 'string', nullable: true }
const NUMBER_AND_TEXT = { allOf: [TEXT], type: 'number', nullable: true }

/** What admits no text, but null by one of the readings. */
const EXCLUDED: Readonly<Record<string, Schema>> = {
  'a type that a part of allOf refuses': NUMBER_AND_TEXT,
  'no type of its own': { allOf: [{ type: 'number' }], nullable: true },
  'alternatives of other types': { anyOf: [{ type: 'number' }, { type: 'boolean' }], nullable: true },
  'exactly one of other types': { oneOf: [{ type: 'number' }, { type: 'boolean' }], nullable: true },
  'listed values': { type: 'number', enum: [1], nullable: true },
}

const ITEM = { type: 'object', required: ['id'], properties: { id: TEXT } }
const REFERENCE = { $ref: '#/components/schemas/Item' }

/** An alternative that is only null, in every form of OpenAPI 3.0. */
const NULLS: Readonly<Record<string, Schema>> = {
  'a mark alone': { nullable: true },
  'a mark with words': { nullable: true, description: 'Nothing.', 'x-note': 1 },
  'a mark with a default': { nullable: true, default: null },
  'a reference to a mark': { $ref: '#/components/schemas/Null' },
  'one listed value': { enum: [null], nullable: true },
}

const AROUND: Readonly<Record<string, (excluded: Schema) => Schema>> = {
  beside: (excluded) => ({ ...NULL_IN_TEXT, not: excluded }),
  'in allOf': (excluded) => ({ ...NULL_IN_TEXT, allOf: [{ not: excluded }] }),
  'below two more': (excluded) => ({ ...NULL_IN_TEXT, not: { not: { not: excluded } } }),
}

function documentOf(schema: Schema, openapi = '3.0.3'): string {
  const answer = { description: 'd', content: { 'application/json': { schema } } }
  return JSON.stringify({
    openapi,
    info: { title: 't', version: '1' },
    paths: { '/x': { get: { responses: { 200: answer } } } },
    components: { schemas: { Item: ITEM, Null: { nullable: true } } },
  })
}

function levelsOf(before: string, after: string): readonly string[] {
  const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups.map(({ level, rule }) => `${level} ${rule}`)
}

for (const [where, around] of Object.entries(AROUND))
  suite(`a negation ${where}`, () => {
    for (const [what, excluded] of Object.entries(EXCLUDED))
      test(`of ${what} leaves null in question`, () => {
        const [before, after] = [documentOf(TEXT), documentOf(around(excluded))]
        const levels = levelsOf(before, after)
        assert.ok(
          levels.some((level) => !level.startsWith('info')),
          levels.join(),
        )
      })
  })

for (const keyword of ['anyOf', 'oneOf'])
  for (const [what, nothing] of Object.entries(NULLS))
    suite(`null as ${what} in ${keyword}`, () => {
      const choice = (other: Schema): string => documentOf({ [keyword]: [other, nothing] })
      const sameForms = {
        'null of 3.1': documentOf({ [keyword]: [REFERENCE, { type: 'null' }] }, '3.1.0'),
        'a mark beside allOf': documentOf({ allOf: [REFERENCE], nullable: true }),
      }
      for (const [form, same] of Object.entries(sameForms))
        test(`is the same as ${form}`, () => {
          for (const [before, after] of [
            [choice(REFERENCE), same],
            [same, choice(REFERENCE)],
          ] as const)
            assert.deepEqual(
              levelsOf(before, after).filter((level) => !level.startsWith('info')),
              [],
            )
        })

      test('hides no change of the other alternative', () => {
        assert.deepEqual(levelsOf(choice(ITEM), choice({ ...ITEM, required: [] })), [
          'breaking response-property-became-optional',
        ])
      })
    })

const listed = (...values: readonly unknown[]): Schema => ({ ...NULL_IN_TEXT, enum: values })
const request = (schema: Schema): string => {
  const requestBody = { content: { 'application/json': { schema: { type: 'object', properties: { p: schema } } } } }
  const paths = { '/x': { post: { requestBody, responses: { 200: { description: 'd' } } } } }
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths })
}

suite('null in a list of values beside `nullable`', () => {
  const [without, within] = [listed('a'), listed('a', null)]
  test('that comes is no information for readers, and that goes is none for callers', () => {
    assert.deepEqual(levelsOf(documentOf(without), documentOf(within)), ['dangerous response-body-enum-value-added'])
    assert.deepEqual(levelsOf(request(within), request(without)), ['dangerous request-property-enum-value-removed'])
  })

  test('the other side loses nothing by any reading', () => {
    const levels = [
      ...levelsOf(documentOf(within), documentOf(without)),
      ...levelsOf(request(without), request(within)),
    ]
    assert.ok(levels.length > 0 && levels.every((level) => level.startsWith('info')), levels.join())
  })
})

const OTHER = { type: 'object', required: ['other'], properties: { other: TEXT } }
const OBJECT = { type: 'object' }

/** A schema of 3.0, and the same in 3.1 as those write it who read `nullable` as 3.0.3 states it. */
const MOVED: Readonly<Record<string, readonly [of30: Schema, of31: Schema]>> = {
  'beside oneOf': [{ nullable: true, oneOf: [REFERENCE, OTHER] }, { oneOf: [REFERENCE, OTHER] }],
  'beside anyOf': [{ nullable: true, anyOf: [REFERENCE, TEXT] }, { anyOf: [REFERENCE, TEXT] }],
  'beside allOf': [{ nullable: true, allOf: [REFERENCE] }, { allOf: [REFERENCE] }],
  'beside allOf that becomes a reference': [{ nullable: true, allOf: [REFERENCE] }, REFERENCE],
  'beside oneOf, kept': [
    { nullable: true, oneOf: [REFERENCE, OTHER] },
    { nullable: true, oneOf: [REFERENCE, OTHER] },
  ],
  'beside a type and oneOf': [
    { ...OBJECT, nullable: true, oneOf: [REFERENCE, OTHER] },
    { type: ['object', 'null'], oneOf: [REFERENCE, OTHER] },
  ],
  'beside a type and allOf': [
    { ...OBJECT, nullable: true, allOf: [REFERENCE] },
    { type: ['object', 'null'], allOf: [REFERENCE] },
  ],
  'beside a type and listed values': [listed('a'), { type: ['string', 'null'], enum: ['a'] }],
  'beside listed values': [{ nullable: true, enum: ['a'] }, { enum: ['a'] }],
}

/** It adds null by both readings. */
const LOST: typeof MOVED = {
  'of a type': [NULL_IN_TEXT, TEXT],
  'of a type, kept': [NULL_IN_TEXT, NULL_IN_TEXT],
  'of a type beside allOf that admits null': [
    { ...NULL_IN_TEXT, allOf: [{ ...NULL_IN_TEXT, minLength: 1 }] },
    { ...TEXT, allOf: [{ ...TEXT, minLength: 1 }] },
  ],
  'of a type, and of oneOf besides, with another break': [
    { nullable: true, oneOf: [TEXT, OTHER] },
    { oneOf: [TEXT, { ...OTHER, required: ['other', 'more'] }] },
  ],
}

const PLACES: Readonly<Record<string, (schema: Schema) => Schema>> = {
  'the whole': (schema) => schema,
  'a property': (schema) => ({ ...OBJECT, properties: { p: schema }, required: ['p'] }),
  'an item': (schema) => ({ type: 'array', items: schema }),
}

function exchanged(place: 'request' | 'response', schema: Schema, openapi: string): string {
  const content = { 'application/json': { schema } }
  const answer = { description: 'd', ...(place === 'response' && { content }) }
  const body = place === 'request' ? { requestBody: { required: true, content } } : {}
  return JSON.stringify({
    openapi,
    info: { title: 't', version: '1' },
    paths: { '/x': { post: { ...body, responses: { 200: answer } } } },
    components: { schemas: { Item: ITEM } },
  })
}

function worst(levels: readonly string[]): string {
  return ['breaking', 'dangerous'].find((level) => levels.some((one) => one.startsWith(level))) ?? 'info'
}

suite('`nullable` beside other conditions, in a contract that moves to 3.1', () => {
  for (const [where, within] of Object.entries(PLACES)) {
    for (const [what, [of30, of31]] of Object.entries(MOVED))
      test(`${what}, at ${where}: null that goes by one reading only is no break, and no information`, () => {
        const request30 = exchanged('request', within(of30), '3.0.3')
        const request31 = exchanged('request', within(of31), '3.1.0')
        const response30 = exchanged('response', within(of30), '3.0.3')
        const response31 = exchanged('response', within(of31), '3.1.0')
        assert.equal(worst(levelsOf(request30, request31)), 'dangerous')
        assert.equal(worst(levelsOf(response31, response30)), 'dangerous')
        assert.equal(worst(levelsOf(request31, request30)), 'info')
        assert.equal(worst(levelsOf(response30, response31)), 'info')
      })

    for (const [what, [of30, of31]] of Object.entries(LOST))
      test(`${what}, at ${where}: null that goes by both readings breaks callers`, () => {
        const [before, after] = [
          exchanged('request', within(of30), '3.0.3'),
          exchanged('request', within(of31), '3.1.0'),
        ]
        assert.equal(worst(levelsOf(before, after)), 'breaking')
      })
  }
})

/** The siblings of a reference are ignored in 3.0 (OpenAPI 3.0.3 §4.7.23), so null is admitted from 3.1 on. There is one reading. */
suite('`nullable` beside a reference, in a contract that moves to 3.1', () => {
  const beside = { ...REFERENCE, nullable: true }
  const orNull = { anyOf: [REFERENCE, { type: 'null' }] }
  for (const [where, within] of Object.entries(PLACES)) {
    for (const [what, after, forth, back] of [
      ['null as an alternative is new', orNull, 'breaking', 'breaking'],
      ['the reference alone is the same', REFERENCE, 'info', 'info'],
      ['the same words are the same', beside, 'info', 'info'],
    ] as const)
      test(`${what}, at ${where}`, () => {
        const [request30, request31] = [
          exchanged('request', within(beside), '3.0.3'),
          exchanged('request', within(after), '3.1.0'),
        ]
        const [response30, response31] = [
          exchanged('response', within(beside), '3.0.3'),
          exchanged('response', within(after), '3.1.0'),
        ]
        assert.equal(worst(levelsOf(request30, request31)), 'info')
        assert.equal(worst(levelsOf(response30, response31)), forth)
        assert.equal(worst(levelsOf(request31, request30)), back)
        assert.equal(worst(levelsOf(response31, response30)), 'info')
      })
  }
})
