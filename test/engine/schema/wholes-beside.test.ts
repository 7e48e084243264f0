/**
 * Alternatives or positions that come as a whole beside a warning, about a member or about the same value. The level is that
 * without the warning.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const object = (member: Json): Json => ({ type: 'object', properties: { a: member, b: TEXT } })
const array = (member: Json): Json => ({ type: 'array', items: member })

/** Changes of a member that requests are warned of. */
const WARNINGS: Readonly<Record<string, readonly [before: Json, after: Json]>> = {
  'a first maximum length': [TEXT, { ...TEXT, maxLength: 5 }],
  'a first minimum': [{ type: 'integer' }, { type: 'integer', minimum: 3 }],
  'another pattern': [
    { ...TEXT, pattern: '^a' },
    { ...TEXT, pattern: '^b' },
  ],
}

/** What refuses some values, whatever the member is. */
const OF_OBJECTS: Readonly<Record<string, Json>> = {
  'one name of two': { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  'exactly one name of two': { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
  'values of another member': { anyOf: [{ properties: { b: { const: 'x' } } }, { required: ['b', 'c'] }] },
}
/** What refuses some values of a warning's own, by the warning. */
const OF_THE_SAME: Readonly<Record<keyof typeof WARNINGS, readonly Json[]>> = {
  'a first maximum length': [
    { anyOf: [{ pattern: '^a' }, { pattern: '^b' }] },
    { oneOf: [{ const: 'a' }, { const: 'b' }] },
  ],
  'a first minimum': [{ anyOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, { oneOf: [{ const: 4 }, { const: 5 }] }],
  'another pattern': [{ oneOf: [{ const: 'a' }, { const: 'b' }] }],
}
const FIRST = { const: 'first' }

const PLACES: Readonly<Record<string, readonly [type: ArtifactType, whole: (schema: Json) => Json]>> = {
  'a request': ['openapi', (schema) => api({ requestBody: content(schema), responses: { 200: { description: 'd' } } })],
  'a tool': ['mcp_manifest', (schema) => ({ tools: [{ name: 't', description: 'd', inputSchema: within(schema) }] })],
  'a JSON Schema': ['json_schema', (schema) => schema],
}

function content(schema: Json): Json {
  return { content: { 'application/json': { schema } } }
}

function api(operation: Json): Json {
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post: operation } } }
}

function sent(schema: Json): Json {
  return api({ responses: { 200: { description: 'd', ...content(schema) } } })
}

function within(value: Json): Json {
  return { type: 'object', properties: { value } }
}

suite('a choice beside a warning', () => {
  for (const [place, [type, whole]] of Object.entries(PLACES))
    for (const [warning, [before, after]] of Object.entries(WARNINGS)) {
      const worst = (base: Json, head: Json): string => worstOf(type, whole(base), whole(head))
      for (const [what, choice] of Object.entries(OF_OBJECTS))
        test(`${place}: ${what} and ${warning}`, () => {
          assert.equal(worst(object(before), object(after)), 'dangerous')
          assert.equal(worst(object(before), { ...object(before), ...choice }), 'breaking')
          assert.equal(worst(object(before), { ...object(after), ...choice }), 'breaking')
        })
      for (const choice of OF_THE_SAME[warning] ?? [])
        test(`${place}: ${JSON.stringify(choice)} and ${warning}`, () => {
          assert.equal(worst(before, after), 'dangerous')
          assert.equal(worst(before, { ...after, ...choice }), 'breaking')
        })
      test(`${place}: a first item and ${warning}`, () => {
        assert.equal(worst(array(before), { ...array(after), prefixItems: [FIRST] }), 'breaking')
      })
    }

  test('a response: a choice that is gone, and a new value of a member', () => {
    const [one, more] = [object({ enum: ['x'] }), object({ enum: ['x', 'y'] })]
    assert.equal(worstOf('openapi', sent(one), sent(more)), 'dangerous')
    for (const choice of Object.values(OF_OBJECTS))
      assert.equal(worstOf('openapi', sent({ ...one, ...choice }), sent(more)), 'breaking')
  })

  test('a tuple of an earlier draft', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    const [before, after] = [TEXT, { ...TEXT, maxLength: 5 }]
    const tuple = { $schema, type: 'array', items: [FIRST], additionalItems: after }
    assert.equal(worstOf('json_schema', { $schema, ...array(before) }, tuple), 'breaking')
  })
})
