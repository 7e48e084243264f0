/**
 * Schemas that hold themselves below a keyword, in each notation on each side. One notation is rewritten as another before the two are
 * compared, and then leads to itself in place. The comparison ends, and no proven break is information.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Keywords = Readonly<Record<string, unknown>>

const SELF = { $ref: '#' }

/** Where a schema holds another one. */
const HOLDERS: Readonly<Record<string, (held: unknown) => Keywords>> = {
  properties: (held) => ({ type: 'object', properties: { a: held } }),
  additionalProperties: (held) => ({ type: 'object', additionalProperties: held }),
  patternProperties: (held) => ({ type: 'object', patternProperties: { '^a': held } }),
  unevaluatedProperties: (held) => ({ type: 'object', unevaluatedProperties: held }),
  propertyNames: (held) => ({ type: ['object', 'string'], propertyNames: held }),
  dependentSchemas: (held) => ({ type: 'object', dependentSchemas: { a: { properties: { a: held } } } }),
  items: (held) => ({ type: 'array', items: held }),
  prefixItems: (held) => ({ type: 'array', prefixItems: [held] }),
  unevaluatedItems: (held) => ({ type: 'array', unevaluatedItems: held }),
  contains: (held) => ({ type: 'array', contains: held }),
  then: (held) => ({ type: 'array', if: { minItems: 1 }, then: { items: held } }),
  'items of not': (held) => ({ type: ['array', 'integer'], not: { type: 'array', items: held, minItems: 1 } }),
  'items of allOf': (held) => ({ allOf: [{ type: 'array' }, { items: held }] }),
  'items of oneOf': (held) => ({ oneOf: [{ type: 'array', items: held }, { type: 'string' }] }),
}

/** What is held: the schema itself, alone or beside others. */
const HELD: Readonly<Record<string, unknown>> = {
  itself: SELF,
  'oneOf with an integer': { oneOf: [{ type: 'integer' }, SELF] },
  'anyOf with an integer': { anyOf: [SELF, { type: 'integer' }] },
  'anyOf with null': { anyOf: [SELF, { type: 'null' }] },
  'allOf with anything': { allOf: [{}, SELF] },
  'allOf with a bound': { allOf: [{ minItems: 1, minProperties: 1 }, SELF] },
  'allOf of one': { allOf: [SELF] },
  'oneOf of one': { oneOf: [SELF] },
  'allOf of a choice': { allOf: [{ title: 'x' }, { anyOf: [SELF, { type: 'integer' }] }] },
  'a choice of allOf': { anyOf: [{ type: 'integer' }, { allOf: [{}, SELF] }] },
  'not of itself': { not: SELF },
  anything: {},
}

function levelsOf(before: Keywords, after: Keywords): readonly string[] {
  const texts = [before, after].map((schema) =>
    JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  )
  const [base = '', head = ''] = texts
  const result = compare({ id: 'self', type: 'json_schema', before: base, after: head }, {}, sha256Hex)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value.groups.map(({ level }) => level)
}

suite('schemas that hold themselves', () => {
  for (const [name, hold] of Object.entries(HOLDERS))
    test(`${name}: any notation becomes any other one`, () => {
      for (const [from, before] of Object.entries(HELD))
        for (const [to, after] of Object.entries(HELD)) {
          const label = `${from} to ${to}`
          const levels = levelsOf(hold(before), hold(after))
          if (from === to) assert.deepEqual(levels, [], label)
        }
    })

  test('a value that only one notation admits makes the change a break', () => {
    for (const name of [
      'items',
      'additionalProperties',
      'patternProperties',
      'unevaluatedItems',
      'unevaluatedProperties',
    ]) {
      const hold = HOLDERS[name]
      assert.ok(hold !== undefined)
      for (const wider of ['oneOf with an integer', 'anyOf with an integer', 'a choice of allOf'])
        for (const narrower of ['itself', 'allOf with anything', 'allOf of one', 'oneOf of one'])
          assert.ok(
            levelsOf(hold(HELD[wider]), hold(HELD[narrower])).includes('breaking'),
            `${name}: ${wider} to ${narrower}`,
          )
    }
  })
})
