/** Schemas in Gemini's form: keywords under both names of protobuf JSON, and references. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { found, run } from './compared.ts'

const declaredWith = (properties: object, more: object = {}): unknown => [
  { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties, ...more } }] },
]

test('keywords of Gemini count under both names of protobuf JSON, and behind its references', () => {
  const ROWS: readonly (readonly [one: unknown, other: unknown, changed: unknown, place: string])[] = [
    [
      declaredWith({ a: { any_of: [{ type: 'STRING' }, { type: 'INTEGER' }] } }),
      declaredWith({ a: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] } }),
      declaredWith({ a: { any_of: [{ type: 'STRING', max_length: '5' }, { type: 'INTEGER' }] } }),
      'properties/a/any_of/0/max_length',
    ],
    [
      declaredWith({ a: { type: 'ARRAY', items: { type: 'STRING' }, max_items: '3' } }),
      declaredWith({ a: { type: 'ARRAY', items: { type: 'STRING' }, maxItems: 3 } }),
      declaredWith({ a: { type: 'ARRAY', items: { type: 'STRING' }, max_items: '2' } }),
      'properties/a/max_items',
    ],
    [
      declaredWith({ a: { ref: '#/defs/A' } }, { defs: { A: { type: 'STRING' } } }),
      declaredWith({ a: { $ref: '#/$defs/A' } }, { $defs: { A: { type: 'STRING' } } }),
      declaredWith({ a: { ref: '#/defs/A' } }, { defs: { A: { type: 'STRING', enum: ['x'] } } }),
      'defs/A/enum',
    ],
    [
      declaredWith({ a: { type: 'OBJECT', additional_properties: { type: 'STRING' } } }),
      declaredWith({ a: { type: 'OBJECT', additionalProperties: { type: 'STRING' } } }),
      declaredWith({ a: { type: 'OBJECT', additional_properties: { type: 'STRING', enum: ['x'] } } }),
      'properties/a/additional_properties/enum',
    ],
  ]
  for (const [one, other, changed, place] of ROWS) {
    assert.deepEqual([...found(run(one, other)), ...found(run(other, one))], [], place)
    const [first] = run(one, changed).groups
    assert.equal(first?.location, `/0/functionDeclarations/0/parameters/${place}`)
    assert.ok(first.line !== null, place)
  }
  // A property has the name that it is given.
  assert.deepEqual(
    found(run(declaredWith({ any_of: { type: 'STRING' } }), declaredWith({ anyOf: { type: 'STRING' } }))).length,
    2,
  )
})
