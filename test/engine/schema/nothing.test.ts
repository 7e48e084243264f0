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
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths })
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
