/** Schemas that are written otherwise and admit the same values: information at most, at every place that holds a schema. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Schema = Readonly<Record<string, unknown>>
type Pair = readonly [Schema, Schema]

const api = (operation: Schema): Schema => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: { '/x': { post: { responses: { 200: { description: 'done' } }, ...operation } } },
})
const content = (schema: Schema): Schema => ({ content: { 'application/json': { schema } } })
const tool = (schema: Schema): Schema => ({ type: 'object', properties: { value: schema }, required: ['value'] })

const PLACES: Readonly<Record<string, { readonly type: ArtifactType; readonly write: (schema: Schema) => unknown }>> = {
  'request body': { type: 'openapi', write: (schema) => api({ requestBody: { required: true, ...content(schema) } }) },
  response: {
    type: 'openapi',
    write: (schema) => api({ responses: { 200: { description: 'done', ...content(schema) } } }),
  },
  'tool input': {
    type: 'mcp_manifest',
    write: (schema) => ({ tools: [{ name: 'act', description: 'Acts.', inputSchema: tool(schema) }] }),
  },
  'JSON Schema': {
    type: 'json_schema',
    write: (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  },
}

const text = { type: 'string' }
const object = (properties: Schema, rest: Schema = {}): Schema => ({ type: 'object', properties, ...rest })

/** By the keyword whose finding the proof takes the weight from. */
const EQUAL: Readonly<Record<string, Pair>> = {
  'a bound of another type in if': [
    { if: { type: 'array', minProperties: 2 }, then: { maxItems: 3 } },
    { if: { type: 'array' }, then: { maxItems: 3 } },
  ],
  'a list of one in if': [
    { if: { const: 'a' }, then: { type: 'string' }, else: { type: 'integer' } },
    { if: { enum: ['a'] }, then: { type: 'string' }, else: { type: 'integer' } },
  ],
  'a condition moved into allOf': [
    { type: 'object', if: { required: ['a'] }, then: { required: ['b'] } },
    { type: 'object', allOf: [{ if: { required: ['a'] }, then: { required: ['b'] } }] },
  ],
  'a condition turned round': [
    { type: 'integer', if: { minimum: 5 }, then: { multipleOf: 2 } },
    { type: 'integer', if: { not: { minimum: 5 } }, else: { multipleOf: 2 } },
  ],
  'minContains of one': [
    { type: 'array', contains: text, minContains: 1 },
    { type: 'array', contains: text },
  ],
  'a position that items describe too': [
    { type: 'array', prefixItems: [text, text], items: text },
    { type: 'array', prefixItems: [text], items: text },
  ],
  'names needed together as a schema': [
    object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }),
    object({ a: text, b: text }, { dependentSchemas: { a: { required: ['b'] } } }),
  ],
  'properties under not of not': [
    object({ a: text }, { required: ['a'] }),
    { not: { not: object({ a: text }, { required: ['a'] }) } },
  ],
  'properties moved into allOf': [object({ a: text }), { type: 'object', allOf: [{ properties: { a: text } }] }],
  'a member of allOf twice': [
    { allOf: [{ type: 'string' }, { maxLength: 3 }, { maxLength: 3 }] },
    { allOf: [{ type: 'string' }, { maxLength: 3 }] },
  ],
  'a member of allOf that another one covers': [
    { allOf: [{ type: 'string' }, { maxLength: 3 }, { maxLength: 5 }] },
    { allOf: [{ type: 'string' }, { maxLength: 3 }] },
  ],
  'a property as a pattern of its name': [object({ a: text }), { type: 'object', patternProperties: { '^a$': text } }],
  'names of a closed object as a pattern': [
    object({ a: text, b: text }, { additionalProperties: false }),
    { type: 'object', patternProperties: { '^[ab]$': text }, additionalProperties: false },
  ],
  'listed texts as a pattern': [
    { type: 'string', enum: ['a', 'b'] },
    { type: 'string', pattern: '^[ab]$' },
  ],
  'a required name with a schema of any value': [
    object({ a: {} }, { required: ['a'] }),
    { type: 'object', required: ['a'] },
  ],
  'a property that no value holds': [
    object({ a: false, b: text }, { additionalProperties: false }),
    object({ b: text }, { additionalProperties: false }),
  ],
  'a format in a choice of one': [{ anyOf: [{ format: 'email' }, { not: {} }] }, { format: 'email' }],
  'a format in a choice of two that are the same': [
    {
      anyOf: [
        { minLength: 3, format: 'email' },
        { minLength: 3, format: 'email' },
      ],
    },
    { minLength: 3, format: 'email' },
  ],
  'not around a format, in allOf': [
    { type: 'string', minLength: 1, not: { format: 'email' } },
    { type: 'string', allOf: [{ minLength: 1 }, { not: { allOf: [{ format: 'email' }] } }] },
  ],
  'equal items of a list of one': [
    { type: 'array', items: { enum: [1, 2] }, maxItems: 1, contains: { minimum: 2 } },
    { type: 'array', items: { enum: [1, 2] }, maxItems: 1, contains: { minimum: 2 }, uniqueItems: true },
  ],
  ...unevaluated(),
}

/** The same alternatives in other words, below a keyword that counts what they evaluate. */
function unevaluated(): Readonly<Record<string, Pair>> {
  const one = { properties: { a: text }, required: ['a'] }
  const oneElse = { allOf: [{ required: ['a'] }, { properties: { a: { anyOf: [text, { ...text, maxLength: 2 }] } } }] }
  const other = { properties: { b: text } }
  const pairs: Readonly<Record<string, readonly [parts: Schema, partsElse: Schema]>> = {
    anyOf: [{ anyOf: [one, other] }, { anyOf: [other, { anyOf: [false, oneElse] }] }],
    oneOf: [{ oneOf: [one, other] }, { oneOf: [oneElse, other, false] }],
    if: [
      { if: one, then: other, else: { properties: { c: text } } },
      { if: oneElse, then: { allOf: [other] }, else: { properties: { c: { allOf: [text] } } } },
    ],
    dependentSchemas: [{ dependentSchemas: { b: oneElse, a: other } }, { dependentSchemas: { a: other, b: one } }],
    'anyOf in allOf': [{ allOf: [{ anyOf: [one, other] }, one] }, { allOf: [one, { anyOf: [other, oneElse] }] }],
  }
  const whole = (parts: Schema, closed: unknown): Schema => ({
    type: 'object',
    ...parts,
    properties: { b: text },
    unevaluatedProperties: closed,
  })
  const rows = Object.entries(pairs).map(([name, [parts, partsElse]]): readonly [string, Pair] => [
    `${name} beside unevaluatedProperties`,
    [whole(parts, false), whole(partsElse, { not: {} })],
  ])
  const tuple = (first: Schema): Schema => ({
    type: 'array',
    anyOf: [{ prefixItems: [first] }, { prefixItems: [{}, { type: 'integer' }] }],
    unevaluatedItems: false,
  })
  return { ...Object.fromEntries(rows), 'anyOf beside unevaluatedItems': [tuple(text), tuple({ allOf: [text] })] }
}

/** The same keywords, where values differ in both directions. */
const UNEQUAL: Readonly<Record<string, Pair>> = {
  if: [
    { if: { type: 'string' }, then: { maxLength: 3 }, else: { type: 'integer' } },
    { if: { type: 'boolean' }, then: { maxLength: 3 }, else: { type: 'integer' } },
  ],
  contains: [
    { type: 'array', contains: text },
    { type: 'array', contains: { type: 'integer' } },
  ],
  prefixItems: [
    { type: 'array', prefixItems: [text, text] },
    { type: 'array', prefixItems: [text, { type: 'integer' }] },
  ],
  dependentRequired: [
    object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }),
    object({ a: text, b: text }, { dependentRequired: { b: ['a'] } }),
  ],
  properties: [object({ a: text }), object({ b: text })],
  'pattern of names': [object({ a: text }), { type: 'object', patternProperties: { '^b$': text } }],
  'pattern of listed texts': [
    { type: 'string', enum: ['a', 'b', 'c'] },
    { type: 'string', pattern: '^[abd]$' },
  ],
  format: [{ anyOf: [{ format: 'email' }, { not: {} }] }, { format: 'uuid' }],
  'format in a choice': [
    { anyOf: [{ format: 'email' }, { minLength: 9 }] },
    { anyOf: [{ format: 'uuid' }, { minLength: 9 }] },
  ],
  'anyOf beside unevaluatedProperties': [
    { type: 'object', anyOf: [object({ a: text }), object({ b: text })], unevaluatedProperties: false },
    { type: 'object', anyOf: [object({ a: text }), object({ c: text })], unevaluatedProperties: false },
  ],
  allOf: [{ allOf: [{ type: 'string' }, { maxLength: 3 }] }, { allOf: [{ type: 'string' }, { minLength: 2 }] }],
}

function levelsOf(place: string, [before, after]: Pair): readonly string[] {
  const { type, write } = PLACES[place] ?? {}
  assert.ok(type && write)
  const sides = { before: JSON.stringify(write(before)), after: JSON.stringify(write(after)) }
  const result = compare({ id: 'x', type, ...sides }, {}, sha256Hex)
  assert.ok(result.ok, place)
  return result.value.groups.filter(({ level }) => level !== 'info').map(({ level, rule }) => `${level} ${rule}`)
}

for (const place of Object.keys(PLACES)) {
  suite(`a schema of a ${place}`, () => {
    for (const [name, [one, other]] of Object.entries(EQUAL)) {
      test(`${name}: information in both directions`, () => {
        assert.deepEqual(levelsOf(place, [one, other]), [])
        assert.deepEqual(levelsOf(place, [other, one]), [])
      })
    }
    for (const [keyword, pair] of Object.entries(UNEQUAL)) {
      test(`another ${keyword} is more than information`, () => {
        assert.notDeepEqual(levelsOf(place, pair), [])
      })
    }
  })
}
