/**
 * A schema that combines itself, and closes what it combines (`unevaluated*`). Validators do not end on it, so it says
 * little; its comparison ends, and reports what changed.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const SELF = { $ref: '#/$defs/L' }
const OTHER = { required: ['q'] }
const FORMS: Readonly<Record<string, Json>> = {
  'as a part': { allOf: [SELF] },
  'as a part of a part': { allOf: [{ allOf: [SELF] }] },
  'as an alternative': { anyOf: [SELF, OTHER] },
  'as the only alternative that matches': { oneOf: [SELF, OTHER] },
  'as a condition': { if: SELF, then: OTHER },
  'under a condition': { if: OTHER, then: SELF },
  'where a condition is not met': { if: OTHER, else: SELF },
  'with a member': { dependentSchemas: { a: SELF } },
  'as what it is not': { not: SELF },
  'by a reference of its own': SELF,
  'through another schema': { allOf: [{ $ref: '#/$defs/M' }] },
}

suite('a schema that combines itself', () => {
  for (const [how, form] of Object.entries(FORMS))
    for (const keyword of ['unevaluatedProperties', 'unevaluatedItems'])
      test(`${how}, beside ${keyword}`, () => {
        const [before, after] = ['string', 'integer'].map((type) => ({
          type: 'object',
          properties: { x: SELF },
          $defs: {
            L: { ...form, properties: { a: { type } }, [keyword]: false },
            M: { allOf: [SELF], [keyword]: false },
          },
        }))
        assert.equal(worstOf('json_schema', before, after), 'breaking')
        assert.equal(worstOf('json_schema', before, before), 'none')
      })
})
