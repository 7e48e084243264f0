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
  const components = { schemas: { Endless } }
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

/** Alternatives that are the same admit nothing by the letter. Authors mean that one of them matches. */
const BY_THE_LETTER = 'alternatives that are the same'

const FORMS = Object.entries({ ...NOTHING, ...HOLDING_NOTHING }).filter(([name]) => name !== BY_THE_LETTER)

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
  }
})
