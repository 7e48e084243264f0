/**
 * Objects and arrays that a schema lists (`enum`, `const`) among alternatives. What is not listed is refused, or new, also
 * where the listed value is the smallest one. ajv is an independent check.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { worstOf, type Worst } from '../elements.ts'

type Schema = Readonly<Record<string, unknown>>
type Surface = readonly [type: ArtifactType, documentOf: (schema: Schema) => Schema]

const ajv = new Ajv2020({ strict: false })

function api(schema: Schema, isRequest: boolean): Schema {
  const body = { content: { 'application/json': { schema } } }
  const responses = { 200: { description: 'd', ...(!isRequest && body) } }
  const post = { responses, ...(isRequest && { requestBody: { required: true, ...body } }) }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } }
}

function toolWith(schemas: Schema): Schema {
  return { tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' }, ...schemas }] }
}

const holding = (value: Schema): Schema => ({ type: 'object', properties: { value }, required: ['value'] })

const READS: Readonly<Record<string, Surface>> = {
  'a request body': ['openapi', (schema) => api(schema, true)],
  'a tool input': ['mcp_manifest', (schema) => toolWith({ inputSchema: holding(schema) })],
  'a JSON Schema': ['json_schema', (schema) => schema],
}
const WRITES: Readonly<Record<string, Surface>> = {
  'a response body': ['openapi', (schema) => api(schema, false)],
  'a tool output': ['mcp_manifest', (schema) => toolWith({ outputSchema: holding(schema) })],
}

/** A schema, one that lists some of its values, and a value that is not listed. */
const NARROWED: readonly (readonly [wide: Schema, listed: readonly unknown[], missing: unknown])[] = [
  [{ type: 'object' }, [{}], { a: 1 }],
  [{ type: 'object', properties: { a: { type: 'string' } } }, [{}], { a: 'a' }],
  [{ type: 'object', properties: { a: { type: 'string' } } }, [{}, { a: '' }], { a: 'b' }],
  [{ type: 'object', required: ['a'] }, [{ a: null }, { a: {} }], { a: 1 }],
  [{ type: 'object', additionalProperties: { type: 'array' } }, [{}, { b: [] }], { a: [1] }],
  [{ type: 'array' }, [[]], [1]],
  [{ type: 'array', items: { type: 'string' } }, [[]], ['a']],
  [{ type: 'array', items: { type: 'boolean' }, maxItems: 1 }, [[], [true]], [false]],
  [{ type: 'array', minItems: 1 }, [[[]], [null], [{}]], [1]],
  [{ type: 'array', items: { type: 'object' }, minItems: 1 }, [[{}]], [{ a: 1 }]],
]

/** Both say the same. */
const EQUAL: readonly (readonly [described: Schema, listed: readonly unknown[]])[] = [
  [{ type: 'object', maxProperties: 0 }, [{}]],
  [{ type: 'object', additionalProperties: { const: 1 }, required: ['a'], maxProperties: 1 }, [{ a: 1 }]],
  [{ type: 'object', additionalProperties: { const: [] }, propertyNames: { const: 'a' } }, [{}, { a: [] }]],
  [{ type: 'array', maxItems: 0 }, [[]]],
  [{ type: 'array', items: { type: 'boolean' }, maxItems: 1 }, [[], [true], [false]]],
  [{ type: 'array', prefixItems: [{ const: 'a' }, { const: {} }], minItems: 2, maxItems: 2 }, [['a', {}]]],
]

const choiceOf = (keyword: string, listed: readonly unknown[]): Schema => ({
  [keyword]: [{ type: 'string' }, { enum: listed }],
})

const worst = ([type, documentOf]: Surface, before: Schema, after: Schema): Worst =>
  worstOf(type, documentOf(before), documentOf(after))

suite('objects and arrays that a schema lists', () => {
  for (const [wide, listed, missing] of NARROWED)
    for (const keyword of ['anyOf', 'oneOf']) {
      const narrow = choiceOf(keyword, listed)
      test(`${keyword} with ${JSON.stringify(listed)} refuses ${JSON.stringify(missing)}`, () => {
        assert.equal(ajv.validate(wide, missing), true)
        assert.equal(ajv.validate(narrow, missing), false)
        for (const [name, surface] of Object.entries(READS))
          assert.equal(worst(surface, wide, narrow), 'breaking', name)
        for (const [name, surface] of Object.entries(WRITES))
          assert.equal(worst(surface, narrow, wide), 'breaking', name)
      })
    }

  for (const [described, listed] of EQUAL)
    test(`${JSON.stringify(listed)} is ${JSON.stringify(described)}`, () => {
      const [one, other] = [choiceOf('anyOf', listed), { anyOf: [{ type: 'string' }, described] }]
      for (const [name, surface] of Object.entries({ ...READS, ...WRITES }))
        for (const found of [worst(surface, one, other), worst(surface, other, one)])
          assert.ok(found === 'none' || found === 'info', `${name}: ${found}`)
    })
})
