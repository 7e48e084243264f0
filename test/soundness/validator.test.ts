/** The schemas that ajv misreads are left to the evaluator, which reads them by the letter of the specification. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { dialectOf } from './dialects.ts'
import { evaluatorOf } from './evaluator.ts'
import type { Schema } from './schema.ts'
import { isMisread } from './validator.ts'

const TUPLE = [{ type: 'object', minProperties: 1 }]

/** A schema and a value that it refuses, though ajv takes it in one of the notations. */
const MISREAD: Readonly<Record<string, readonly [schema: Schema, refused: unknown]>> = {
  'contains within contains, with a tuple beside': [
    { contains: { type: 'array', prefixItems: TUPLE, contains: { type: 'string' } } },
    [[{}, 'b'], []],
  ],
  'contains within contains, with a tuple that holds it apart': [
    { contains: { type: 'array', prefixItems: TUPLE, allOf: [{ contains: { type: 'string' } }] } },
    [[{}, 'b'], []],
  ],
  'what a part leaves unevaluated, beside a condition of the whole': [
    {
      type: 'object',
      if: { type: 'string' },
      dependentSchemas: { a: true },
      allOf: [{ unevaluatedProperties: { type: 'object' } }],
    },
    { c: [1] },
  ],
}

suite('what ajv misreads', () => {
  for (const [name, [schema, refused]] of Object.entries(MISREAD))
    test(name, () => {
      assert.equal(isMisread(schema), true)
      assert.equal(evaluatorOf(schema, dialectOf('2020-12'))(refused), false)
    })

  test('not a schema with one of these alone', () => {
    for (const schema of [
      { contains: { type: 'array', prefixItems: TUPLE } },
      { prefixItems: TUPLE, contains: { type: 'string' } },
      { unevaluatedProperties: { type: 'object' }, allOf: [{ properties: { a: true } }] },
    ])
      assert.equal(isMisread(schema), false, JSON.stringify(schema))
  })
})
