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
