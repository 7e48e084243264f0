/** Schemas that are written the same, but for what has no part in which values are admitted. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InclusionProver } from '../../../engine/schema/inclusion/inclusion.ts'
import { ROOT, type Located } from '../../../engine/schema/located.ts'
import type { SchemaSource } from '../../../engine/schema/source.ts'
import type { Schema } from './arbitraries.ts'

/** `#` leads to the whole document, as in a contract that was converted by machine. */
function isSame(before: Schema, after: Schema): boolean {
  const sourceOf = (root: Schema): SchemaSource => ({
    dialect: 'json-schema',
    resolve: (reference) => (reference === '#' ? at(root) : null),
  })
  const prover = new InclusionProver({ before: sourceOf(before), after: sourceOf(after) })
  return prover.isSame(at(before), at(after))
}

function at(schema: Schema): Located {
  return { value: schema, at: ROOT, document: '' }
}

const string = { type: 'string' }
const number = { type: 'number' }

const documentOf = (...tags: readonly string[]): Schema => ({ tags, properties: { a: { $ref: '#' }, b: string } })

/** Two values of every keyword that has a part in which values are admitted. */
const CONDITIONS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  type: ['string', 'number'],
  nullable: [true, false],
  'x-nullable': [true, false],
  enum: [['a'], ['b']],
  const: [{ a: 1, b: 2 }, { a: 1 }],
  pattern: ['^a', '^b'],
  format: ['date', 'uri'],
  minimum: [1, 2],
  maximum: [1, 2],
  exclusiveMinimum: [1, 2],
  exclusiveMaximum: [1, 2],
  multipleOf: [1, 2],
  minLength: [1, 2],
  maxLength: [1, 2],
  minItems: [1, 2],
  maxItems: [1, 2],
  minProperties: [1, 2],
  maxProperties: [1, 2],
  uniqueItems: [true, false],
  contains: [string, number],
  minContains: [1, 2],
  maxContains: [1, 2],
  items: [string, number],
  prefixItems: [[string], [number]],
  additionalItems: [string, number],
  unevaluatedItems: [string, number],
  properties: [{ tags: string }, { tags: number }],
  patternProperties: [{ tags: string }, { tags: number }],
  additionalProperties: [string, number],
  unevaluatedProperties: [string, number],
  propertyNames: [{ maxLength: 1 }, { maxLength: 2 }],
  required: [['a'], ['b']],
  dependentRequired: [{ a: ['b'] }, { a: ['c'] }],
  dependentSchemas: [{ a: string }, { a: number }],
  dependencies: [{ a: ['b'] }, { a: string }],
  allOf: [
    [string, { maxLength: 1 }],
    [string, { maxLength: 2 }],
  ],
  anyOf: [
    [string, number],
    [string, { type: 'null' }],
  ],
  oneOf: [
    [string, number],
    [string, { type: 'null' }],
  ],
  not: [string, number],
  if: [string, number],
  then: [string, number],
  else: [string, number],
  readOnly: [true, false],
  writeOnly: [true, false],
  discriminator: [{ propertyName: 'a' }, { propertyName: 'b' }],
  $dynamicRef: ['#a', '#b'],
  $recursiveRef: ['#', '#a'],
}

suite('schemas that are written the same', () => {
  for (const [keyword, [one, other]] of Object.entries(CONDITIONS)) {
    test(`differ in ${keyword}`, () => {
      assert.equal(isSame({ [keyword]: one }, { [keyword]: other }), false)
      assert.equal(isSame({ [keyword]: one }, {}), false)
      assert.equal(isSame({ [keyword]: one }, { [keyword]: structuredClone(one) }), true)
    })
  }

  test('may differ in what has no part in which values are admitted', () => {
    for (const name of [
      'title',
      'description',
      'default',
      'example',
      'deprecated',
      'x-order',
      'tags',
      'paths',
      'other',
    ])
      assert.equal(
        isSame({ type: 'string', [name]: ['a', { b: 1 }] }, { type: 'string', [name]: [{ b: 2 }] }),
        true,
        name,
      )
  })

  test('may hold a reference to the whole document, of which only the keywords of schemas count', () => {
    assert.equal(isSame(documentOf('a', 'b'), documentOf('b', 'a')), true)
    const other = { ...documentOf('a', 'b'), properties: { a: { $ref: '#' }, b: number } }
    assert.equal(isSame(documentOf('a', 'b'), other), false)
  })

  test('have lists without an order in any order', () => {
    const pairs: readonly (readonly [Schema, Schema])[] = [
      [{ enum: ['a', 'b'] }, { enum: ['b', 'a'] }],
      [{ type: ['string', 'null'] }, { type: ['null', 'string'] }],
      [{ required: ['a', 'b'] }, { required: ['b', 'a'] }],
      [{ dependentRequired: { c: ['a', 'b'] } }, { dependentRequired: { c: ['b', 'a'] } }],
    ]
    for (const [one, other] of pairs) assert.equal(isSame(one, other), true, JSON.stringify(one))
    assert.equal(isSame({ prefixItems: [string, number] }, { prefixItems: [number, string] }), false)
  })
})
