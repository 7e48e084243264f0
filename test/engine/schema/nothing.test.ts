/**
 * Schemas that admit nothing, in many forms. Where both sides admit nothing, nobody can send or get anything, so nobody breaks:
 * information. Where one side admits something, the direction that loses is never information, and callers that could send
 * nothing before are not broken by what they may send now.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Worst = 'breaking' | 'dangerous' | 'info' | 'none'
type Schema = Readonly<Record<string, unknown>> | boolean

const text = { type: 'string' }
const integer = { type: 'integer' }

const NOTHING: Readonly<Record<string, Schema>> = {
  'the schema false': false,
  'the negation of everything': { not: {} },
  'types that exclude each other': { allOf: [text, integer] },
  'bounds that cross': { ...integer, minimum: 5, maximum: 3 },
  'lengths that cross': { ...text, minLength: 5, maxLength: 3 },
  'a list of values of another type': { ...text, enum: [1] },
  'a required property of a closed object': {
    type: 'object',
    required: ['a'],
    properties: {},
    additionalProperties: false,
  },
  'alternatives that are the same': { oneOf: [text, text] },
  'constants that are the same': { oneOf: [{ const: 'a' }, { enum: ['a'] }] },
  'one reference in two alternatives': {
    oneOf: [{ $ref: '#/components/schemas/Text' }, { $ref: '#/components/schemas/Text' }],
  },
  'alternatives that admit nothing': { anyOf: [false, { not: {} }] },
  'more required properties than there may be': { type: 'object', required: ['a', 'b'], maxProperties: 1 },
  'items that admit nothing': { type: 'array', minItems: 1, items: false },
}

/** Forms that hold a property, which nobody can send or get either. */
const HOLDING_NOTHING: typeof NOTHING = {
  'a required property that admits nothing': { type: 'object', required: ['a'], properties: { a: false } },
  'a property that requires itself without an end': { $ref: '#/components/schemas/Endless' },
  'bounds without an integer between': { ...integer, minimum: 1.2, maximum: 1.8 },
  'patterns without a common text': { ...text, allOf: [{ pattern: '^a' }, { pattern: '^b' }] },
}

/** With all of its properties known to both sides: a property that goes is a finding of its own. */
const SOMETHING: Schema = { type: 'object', properties: { a: text } }

const ANYTHING: Readonly<Record<string, Schema>> = {
  'an object': SOMETHING,
  'a text': text,
  anything: {},
  'the schema true': true,
  'a choice': { anyOf: [text, { type: 'object' }] },
  'a list': { type: 'array', items: { type: 'object' } },
}

function documentOf(place: 'request' | 'response', schema: Schema): string {
  const content = { 'application/json': { schema } }
  const answer = { description: 'd', ...(place === 'response' ? { content } : {}) }
  const body = place === 'request' ? { requestBody: { required: true, content } } : {}
  const paths = { '/x': { post: { ...body, responses: { '200': answer } } } }
  const Endless = { type: 'object', required: ['a'], properties: { a: { $ref: '#/components/schemas/Endless' } } }
  const components = { schemas: { Endless, Text: text } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components })
}

function worstOf(place: 'request' | 'response', one: Schema, other: Schema): Worst {
  const [before, after] = [documentOf(place, one), documentOf(place, other)]
  const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  const levels = result.value.groups.map(({ level }) => level)
  return (['breaking', 'dangerous', 'info'] as const).find((level) => levels.includes(level)) ?? 'none'
}

suite('schemas that admit nothing', () => {
  for (const [name, nothing] of Object.entries(NOTHING)) {
    test(`${name}: in place of another such schema it breaks nobody`, () => {
      for (const [other, one] of Object.entries(NOTHING)) {
        for (const place of ['request', 'response'] as const) {
          const worst = worstOf(place, one, nothing)
          assert.ok(worst === 'info' || worst === 'none', `${place}, ${other} before: ${worst}`)
        }
      }
    })

    test(`${name}: beside a schema that admits something, the side that loses is reported`, () => {
      for (const [other, one] of Object.entries(ANYTHING))
        assert.equal(worstOf('request', one, nothing), 'breaking', `request, ${other} before`)
      const got = worstOf('response', nothing, SOMETHING)
      assert.ok(got === 'breaking' || got === 'dangerous', `response: ${got}`)
      assert.notEqual(worstOf('request', nothing, SOMETHING), 'breaking')
    })
  }
})

const FORMS = Object.entries({ ...NOTHING, ...HOLDING_NOTHING })

const within = (schema: Schema, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties: { p: schema },
  required,
})

suite('a part that admits nothing any more', () => {
  for (const [name, nothing] of FORMS) {
    test(`${name}: a property of a response never occurs, which is no information`, () => {
      for (const [other, one] of Object.entries(ANYTHING)) {
        for (const required of [[], ['p']]) {
          const got = worstOf('response', within(one, required), within(nothing, required))
          assert.ok(got === 'dangerous' || got === 'breaking', `${other} before: ${got}`)
          assert.equal(worstOf('request', within(one, required), within(nothing, required)), 'breaking', other)
        }
      }
    })

    test(`${name}: a whole response never occurs`, () => {
      for (const [other, one] of Object.entries(ANYTHING)) {
        const got = worstOf('response', one, nothing)
        assert.ok(got === 'dangerous' || got === 'breaking', `${other} before: ${got}`)
      }
    })

    test(`${name}: a name that was open is refused`, () => {
      const [open, closed] = [{ type: 'object' }, { type: 'object', additionalProperties: false }]
      const [forbidden, closedToo] = [open, closed].map((schema) => ({ ...schema, properties: { p: nothing } }))
      assert.ok(forbidden !== undefined && closedToo !== undefined)
      assert.equal(worstOf('request', open, forbidden), 'breaking')
      assert.notEqual(worstOf('request', closed, closedToo), 'breaking')
    })

    test(`${name}: a name that was refused is described no more, and callers lose nothing`, () => {
      const rest = { type: 'object', properties: { a: text }, required: ['a'] }
      for (const others of [{}, { additionalProperties: integer }, { patternProperties: { '^p': text } }]) {
        const forbidden = { ...rest, ...others, properties: { ...rest.properties, p: nothing } }
        assert.equal(worstOf('request', forbidden, { ...rest, ...others }), 'info')
        const [inPart, without] = [forbidden, rest].map((part) => ({ allOf: [part, { minProperties: 1 }] }))
        assert.ok(inPart !== undefined && without !== undefined)
        assert.equal(worstOf('request', inPart, without), 'info')
      }
    })
  }
})

test('null beside a schema that admits nothing is the same in the type and as an alternative', () => {
  const crossed = { minimum: 5, maximum: 3 }
  const sides = [
    { type: ['integer', 'null'], ...crossed },
    { oneOf: [{ ...integer, ...crossed }, { type: 'null' }] },
    { anyOf: [{ type: 'null' }, { ...integer, ...crossed }] },
  ]
  for (const before of sides)
    for (const after of sides)
      for (const place of ['request', 'response'] as const)
        for (const wrap of [(schema: Schema) => schema, within])
          assert.ok(['info', 'none'].includes(worstOf(place, wrap(before), wrap(after))))
})

const LIST = { type: 'array', items: text }
const MAP = { type: 'object', additionalProperties: text }

/** Schemas of which empty values are left, beside others of which more is. */
const HOLLOW: Readonly<Record<string, readonly [before: Schema, after: Schema, isHollow: boolean]>> = {
  'no items': [LIST, { type: 'array', items: false }, true],
  'items that nothing meets': [LIST, { type: 'array', items: { not: {} } }, true],
  'the first items': [{ type: 'array' }, { type: 'array', items: false }, true],
  'no items at most': [LIST, { ...LIST, maxItems: 0 }, true],
  'no items by a part': [LIST, { allOf: [LIST, { maxItems: 0 }] }, true],
  'no evaluated items': [{ type: 'array' }, { type: 'array', unevaluatedItems: false }, true],
  'items that exclude each other': [LIST, { type: 'array', items: { allOf: [text, integer] } }, true],
  'no members': [MAP, { type: 'object', additionalProperties: false }, true],
  'no members at most': [MAP, { ...MAP, maxProperties: 0 }, true],
  'no names': [MAP, { ...MAP, propertyNames: false }, true],
  'members that nothing meets': [MAP, { type: 'object', additionalProperties: { not: {} } }, true],
  'items by position only': [
    { type: 'array', prefixItems: [text] },
    { type: 'array', prefixItems: [text], items: false },
    false,
  ],
  'fewer items': [LIST, { ...LIST, maxItems: 1 }, false],
  'fewer members': [MAP, { ...MAP, maxProperties: 1 }, false],
  'members of some names': [MAP, { ...MAP, propertyNames: { enum: ['a'] } }, false],
  'texts in place of any value': [{}, { anyOf: [text, integer] }, false],
  'a list that was empty': [{ ...LIST, maxItems: 0 }, { type: 'array', items: false, maxItems: 0 }, false],
}

test('a part that leaves nothing to the other parts empties a response', () => {
  const open = { type: 'object', properties: { a: text } }
  const needed = { type: 'object', properties: { b: text }, required: ['b'] }
  for (const part of [{ additionalProperties: false }, { maxProperties: 0 }, { propertyNames: { enum: ['a'] } }])
    for (const parts of [
      [{ ...open, ...part }, needed],
      [needed, { ...open, ...part }],
    ])
      for (const wrap of [(schema: Schema) => schema, within]) {
        const sides = [wrap({ allOf: [open, needed] }), wrap({ allOf: parts })] as const
        assert.equal(worstOf('response', ...sides), 'dangerous')
        assert.equal(worstOf('request', ...sides), 'breaking')
      }
})

test('a write-only property is in no response, so readers miss nothing of it', () => {
  for (const [before, after] of [
    [text, { not: {} }],
    [LIST, { ...LIST, items: false }],
    [LIST, { ...LIST, maxItems: 0 }],
    [text, { oneOf: [text, text] }],
  ]) {
    const [one, other] = [before, after].map((schema) => within({ ...schema, writeOnly: true }))
    assert.ok(one !== undefined && other !== undefined)
    assert.ok(['info', 'none'].includes(worstOf('response', one, other)))
    assert.equal(worstOf('request', one, other), 'breaking')
  }
})

suite('a list or an object that holds nothing any more', () => {
  for (const [what, [before, after, isHollow]] of Object.entries(HOLLOW)) {
    test(`${what}: readers ${isHollow ? 'miss what they got' : 'get no less than may be'}`, () => {
      for (const wrap of [(schema: Schema) => schema, within]) {
        const got = worstOf('response', wrap(before), wrap(after))
        assert.equal(got === 'dangerous' || got === 'breaking', isHollow, got)
        if (isHollow) assert.equal(worstOf('request', wrap(before), wrap(after)), 'breaking')
      }
    })
  }
})

test('alternatives of which no value has two are no choice of nothing', () => {
  const number = { type: 'number' }
  const sides = [{ enum: ['a', 'b', 'c'] }, { oneOf: [{ const: 'a' }, { const: 'a' }, { const: 'b' }] }] as const
  assert.equal(worstOf('request', ...sides), 'breaking')
  assert.equal(worstOf('response', ...sides), 'info')
  assert.equal(worstOf('request', number, { oneOf: [number, integer] }), 'breaking')
  assert.equal(worstOf('request', { oneOf: [number, integer] }, { type: ['number', 'integer'] }), 'info')
  // Authors seldom intend that integers are refused.
  assert.equal(worstOf('response', { oneOf: [number, integer] }, { type: ['number', 'integer'] }), 'dangerous')
})

/** Wholes that admit nothing before and after, where one part admitted something alone. */
const EMPTY_WHOLES: Readonly<Record<string, readonly [Schema, Schema]>> = {
  'values that move into the part': [
    { enum: ['ab', 1], allOf: [{ enum: ['b'] }] },
    { allOf: [{ const: 'b', enum: ['ab', 1] }] },
  ],
  'a bound that moves into the part': [
    { ...integer, maximum: 3, allOf: [{ minimum: 5 }] },
    { ...integer, allOf: [{ minimum: 5, maximum: 3 }] },
  ],
}

suite('a part of a whole that admitted nothing', () => {
  for (const [name, [one, other]] of Object.entries(EMPTY_WHOLES))
    test(`${name}: readers lose nothing, in either direction`, () => {
      for (const [before, after] of [
        [one, other],
        [other, one],
      ] as const)
        for (const place of ['request', 'response'] as const) {
          const worst = worstOf(place, before, after)
          assert.ok(worst === 'info' || worst === 'none', `${place}: ${worst}`)
        }
    })
})
