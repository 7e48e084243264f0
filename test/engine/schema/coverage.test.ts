/** Inclusion that is seen by form, without a search: what is covered is included, and a loop in place proves nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ROOT, type JsonRecord, type Located } from '../../../engine/schema/located.ts'
import type { SchemaSource } from '../../../engine/schema/source.ts'
import { Coverage } from '../../../engine/schema/inclusion/coverage.ts'
import { SchemaNodes } from '../../../engine/schema/inclusion/nodes.ts'

type Definitions = Readonly<Record<string, JsonRecord>>

function sourceOf(definitions: Definitions): SchemaSource {
  const resolve = (reference: string): Located | null => {
    const value = definitions[reference]
    return value === undefined ? null : { value, at: ROOT, document: '' }
  }
  return { dialect: 'json-schema', resolve }
}

/** Whether the schema `A` of the second definitions covers that of the first. */
function covers(sub: Definitions, other: Definitions): boolean {
  const reading = { usage: 'shared', overlap: 'refused', numbering: { next: 1 }, isAnyLanguage: false } as const
  const [own, asked] = [
    new SchemaNodes({ ...reading, side: 'sub', source: sourceOf(sub) }),
    new SchemaNodes({ ...reading, side: 'super', source: sourceOf(other) }),
  ]
  const named: Located = { value: { $ref: 'A' }, at: ROOT, document: '' }
  return new Coverage(() => false).covers(own.at(named), asked.at(named))
}

const A = { $ref: 'A' }
const object = (properties: JsonRecord, more: JsonRecord = {}): JsonRecord => ({ type: 'object', properties, ...more })
const text = { type: 'string' }

const COVERED: Readonly<Record<string, readonly [sub: Definitions, other: Definitions]>> = {
  'a type of several': [{ A: text }, { A: { type: ['string', 'null'] } }],
  'a tighter bound': [{ A: { ...text, maxLength: 3 } }, { A: { ...text, maxLength: 5 } }],
  'a bound of a type that is not admitted': [{ A: text }, { A: { type: 'string', minimum: 3 } }],
  'fewer values': [{ A: { enum: ['a'] } }, { A: { ...text, enum: ['b', 'a'] } }],
  'a format within another': [{ A: { type: 'integer', format: 'int32' } }, { A: { type: 'integer', format: 'int64' } }],
  'a member more': [{ A: object({ a: text, b: text }) }, { A: object({ a: text }) }],
  'members beyond': [
    { A: object({ a: text }, { additionalProperties: false }) },
    { A: { additionalProperties: text } },
  ],
  'an alternative': [{ A: text }, { A: { anyOf: [{ type: 'number' }, text] } }],
  'alternatives by others': [{ A: { oneOf: [text, { enum: [1] }] } }, { A: { anyOf: [{ type: 'number' }, text] } }],
  'items and places': [{ A: { prefixItems: [text], items: text } }, { A: { items: text } }],
  'a list of itself': [
    { A: object({ next: A, a: { ...text, maxLength: 3 } }) },
    { A: object({ next: A, a: { ...text, maxLength: 5 } }) },
  ],
  'schemas that hold each other': [
    { A: object({ b: { $ref: 'B' } }), B: object({ a: A, c: { enum: ['x'] } }) },
    { A: object({ b: { $ref: 'B' } }), B: object({ a: A, c: text }) },
  ],
}

const NOT_SEEN: Readonly<Record<string, readonly [sub: Definitions, other: Definitions]>> = {
  'a looser bound': [{ A: { ...text, maxLength: 5 } }, { A: { ...text, maxLength: 3 } }],
  'an exclusive bound': [{ A: { minimum: 3 } }, { A: { exclusiveMinimum: 3 } }],
  'a value more': [{ A: { enum: ['a', 'c'] } }, { A: { enum: ['b', 'a'] } }],
  'a member that was free': [{ A: { type: 'object' } }, { A: object({ a: text }) }],
  'a member beyond': [
    { A: object({ a: { type: 'number' } }, { additionalProperties: text }) },
    { A: { type: 'object', additionalProperties: text } },
  ],
  'a member that is required': [{ A: object({ a: text }) }, { A: object({ a: text }, { required: ['a'] }) }],
  'items that were free behind places': [{ A: { prefixItems: [text] } }, { A: { items: text } }],
  'alternatives that may exclude each other': [{ A: text }, { A: { oneOf: [text, { maxLength: 3 }] } }],
  'a loop in place': [{ A: { type: ['string', 'number'] } }, { A: { anyOf: [A, text] } }],
  'a loop in place on both sides': [{ A: { anyOf: [A, { type: 'number' }] } }, { A: { anyOf: [A, text] } }],
  'a loop in place beside one through a member': [
    { A: object({ b: { $ref: 'B' }, c: text }), B: { anyOf: [A, { $ref: 'B' }] } },
    { A: object({ b: { $ref: 'B' }, c: { type: 'number' } }), B: { anyOf: [A, { $ref: 'B' }] } },
  ],
  'a list of itself that differs behind the loop': [
    { A: object({ a: A, b: { type: 'number' } }) },
    { A: object({ a: A, b: text }) },
  ],
}

suite('coverage by form', () => {
  for (const [name, [sub, other]] of Object.entries(COVERED))
    test(`sees ${name}`, () => assert.equal(covers(sub, other), true))
  for (const [name, [sub, other]] of Object.entries(NOT_SEEN))
    test(`claims nothing of ${name}`, () => assert.equal(covers(sub, other), false))
})
