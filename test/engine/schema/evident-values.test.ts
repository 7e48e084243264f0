/** Schemas that are seen to admit a value without a search: what is seen is there, and nothing is claimed of the rest. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { met } from '../../../engine/schema/inclusion/atoms.ts'
import { hasEvidentValue } from '../../../engine/schema/inclusion/evident-values.ts'
import { SchemaNodes } from '../../../engine/schema/inclusion/nodes.ts'
import { Search } from '../../../engine/schema/inclusion/search.ts'
import { ROOT, type JsonRecord, type Located } from '../../../engine/schema/located.ts'
import { dialectOf } from '../../soundness/dialects.ts'
import { Random } from '../../soundness/random.ts'
import { drawingFor, drawSchema } from '../../soundness/schemas.ts'

function nodesOf(definitions: JsonRecord, usage: 'shared' | 'request' = 'shared'): SchemaNodes {
  const resolve = (reference: string): Located | null => {
    const value = definitions[reference]
    return value === undefined ? null : { value, at: ROOT, document: '' }
  }
  const source = { dialect: 'json-schema', resolve } as const
  const numbering = { next: 1 }
  return new SchemaNodes({ usage, overlap: 'refused', numbering, isAnyLanguage: false, side: 'sub', source })
}

const located = (value: unknown): Located => ({ value, at: ROOT, document: '' })
const isSeen = (value: unknown, definitions: JsonRecord = {}, usage: 'shared' | 'request' = 'shared'): boolean =>
  hasEvidentValue(nodesOf(definitions, usage).at(located(value)))

const text = { type: 'string' }
const requiring = (properties: JsonRecord, more: JsonRecord = {}): JsonRecord => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})

const SEEN: Readonly<Record<string, unknown>> = {
  anything: {},
  'a type': text,
  'a text of some length': { ...text, minLength: 1, maxLength: 40 },
  'a known format': { ...text, format: 'date-time' },
  'a positive integer': { type: 'integer', minimum: 1 },
  'an integer of 64 bits': { type: 'integer', format: 'int64' },
  'listed values': { ...text, enum: ['on', 'off'] },
  'a listed value of the type': { type: 'integer', enum: ['a', 7] },
  'a list': { type: 'array', items: false, uniqueItems: true },
  'a list with items': { type: 'array', items: text, minItems: 3 },
  'required members': requiring({ a: text, b: requiring({ c: { enum: [1] } }) }),
  'as many members as there must be': { type: 'object', properties: { a: text, b: false, c: text }, minProperties: 2 },
  'a member that is required and not described': { type: 'object', required: ['a'], additionalProperties: text },
  'parts of one value': { allOf: [requiring({ a: text }), { type: 'object', maxProperties: 4 }] },
  'null or something': { anyOf: [{ type: 'null' }, { not: {} }] },
  'an alternative': { type: 'object', anyOf: [false, requiring({ a: text })] },
}

const NOT_SEEN: Readonly<Record<string, unknown>> = {
  nothing: false,
  'types that exclude each other': { allOf: [{ type: 'string' }, { type: 'number' }] },
  'listed values of another type': { type: 'integer', enum: ['a'] },
  'bounds that exclude each other': { ...text, minLength: 4, maxLength: 3 },
  'a pattern': { ...text, pattern: '^a' },
  'an unknown format': { ...text, format: 'customer' },
  'a number out of reach of the plain ones': { type: 'integer', minimum: 7, maximum: 9 },
  'items that nothing meets': { type: 'array', items: false, minItems: 1 },
  'different items': { type: 'array', items: text, minItems: 2, uniqueItems: true },
  'items that must hold something': { type: 'array', contains: text },
  'a required member that nothing meets': requiring({ a: text, b: false }),
  'more members than there may be': requiring({ a: text, b: text }, { maxProperties: 1 }),
  'more members than are described': { type: 'object', properties: { a: text }, minProperties: 2 },
  'names that are refused': requiring({ a: text }, { propertyNames: { minLength: 2 } }),
  'a member that is another by its pattern': requiring({ a: text }, { patternProperties: { '^a': false } }),
  'alternatives that may exclude each other': { oneOf: [text, { type: 'string', maxLength: 3 }] },
  'what is not': { not: text },
}

suite('values that are seen', () => {
  for (const [name, schema] of Object.entries(SEEN)) test(`of ${name}`, () => assert.equal(isSeen(schema), true))
  for (const [name, schema] of Object.entries(NOT_SEEN))
    test(`not of ${name}`, () => assert.equal(isSeen(schema), false))

  test('of an object that may hold itself, and not of one that must', () => {
    const [may, must] = [
      requiring({ a: text }, { properties: { a: text, next: { $ref: 'A' } } }),
      requiring({ next: { $ref: 'A' } }),
    ]
    assert.deepEqual([isSeen({ $ref: 'A' }, { A: may }), isSeen({ $ref: 'A' }, { A: must })], [true, false])
  })

  test('as deep as sixty members, whichever of them is asked about first', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`A${index}`, requiring({ next: { $ref: `A${index + 1}` } })]),
    )
    const definitions = { ...chain, A80: text }
    const asked = (first: readonly string[]): readonly boolean[] => {
      const nodes = nodesOf(definitions)
      for (const name of first) hasEvidentValue(nodes.at(located({ $ref: name })))
      return ['A0', 'A19', 'A22', 'A79'].map((name) => hasEvidentValue(nodes.at(located({ $ref: name }))))
    }
    assert.deepEqual(asked([]), [false, false, true, true])
    assert.deepEqual(asked(['A79', 'A60', 'A40', 'A20']), asked([]))
  })

  /** What takes more steps than there is time for, where each way to it is gone again. */
  const MANY_WAYS: Readonly<Record<string, readonly [schema: unknown, definitions: JsonRecord]>> = {
    'members of which none may be there': [
      { $ref: 'A0' },
      {
        ...Object.fromEntries(
          Array.from({ length: 50 }, (_, index) => {
            const below = { $ref: `A${index + 1}` }
            return [`A${index}`, { type: 'object', properties: { a: below, b: below }, minProperties: 1 }]
          }),
        ),
        A50: { type: 'object', additionalProperties: false, minProperties: 1 },
      },
    ],
    'choices beside each other': [
      { allOf: Array.from({ length: 60 }, (_, index) => ({ anyOf: [{ minLength: index + 3 }, { maxLength: 0 }] })) },
      {},
    ],
    'a choice of itself': [{ $ref: 'A' }, { A: { anyOf: [{ $ref: 'A' }, { allOf: [{ $ref: 'A' }, false] }] } }],
    'choices in each other': [
      { $ref: 'A0' },
      {
        ...Object.fromEntries(
          Array.from({ length: 60 }, (_, index) => [
            `A${index}`,
            { anyOf: [{ allOf: [{ $ref: `A${index + 1}` }] }, { $ref: `A${index + 1}` }] },
          ]),
        ),
        A60: false,
      },
    ],
  }
  for (const [name, [schema, definitions]] of Object.entries(MANY_WAYS))
    test(`not behind ${name}`, () => assert.equal(isSeen(schema, definitions), false))

  test('not by a member that requests do not carry', () => {
    const schema = requiring({ a: { ...text, readOnly: true } }, { minProperties: 1 })
    assert.equal(isSeen(schema, {}, 'request'), false)
  })

  test('are there: a search finds no proof that there is none', () => {
    const drawing = drawingFor(new Random(7), dialectOf('2020-12'), null)
    let seen = 0
    for (let drawn = 0; drawn < 4_000; drawn += 1) {
      const nodes = nodesOf({})
      const schema = drawSchema(drawing, 3)
      const node = nodes.at(located(schema))
      if (!hasEvidentValue(node)) continue
      seen += 1
      const steps = { own: 0, all: 1_000_000 }
      const search = new Search(nodes, { convention: 'none', isWithin: () => false, plain: null, steps })
      assert.notEqual(search.ask([met(node)], 2_500).kind, 'unsat', JSON.stringify(schema))
    }
    assert.ok(seen > 1_000, String(seen))
  })
})
