/**
 * `nullable` of OpenAPI 3.0 beside other conditions, which tools read in two ways. By neither reading may a schema that begins
 * to admit null in a response be information.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Schema = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const NULL_IN_TEXT = { type: 'string', nullable: true }
const NUMBER_AND_TEXT = { allOf: [TEXT], type: 'number', nullable: true }

/** What admits no text, but null by one of the readings. */
const EXCLUDED: Readonly<Record<string, Schema>> = {
  'a type that a part of allOf refuses': NUMBER_AND_TEXT,
  'no type of its own': { allOf: [{ type: 'number' }], nullable: true },
  'alternatives of other types': { anyOf: [{ type: 'number' }, { type: 'boolean' }], nullable: true },
  'exactly one of other types': { oneOf: [{ type: 'number' }, { type: 'boolean' }], nullable: true },
  'listed values': { type: 'number', enum: [1], nullable: true },
}

const AROUND: Readonly<Record<string, (excluded: Schema) => Schema>> = {
  beside: (excluded) => ({ ...NULL_IN_TEXT, not: excluded }),
  'in allOf': (excluded) => ({ ...NULL_IN_TEXT, allOf: [{ not: excluded }] }),
  'below two more': (excluded) => ({ ...NULL_IN_TEXT, not: { not: { not: excluded } } }),
}

function documentOf(schema: Schema): string {
  const answer = { description: 'd', content: { 'application/json': { schema } } }
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: { '/x': { get: { responses: { 200: answer } } } },
  })
}

for (const [where, around] of Object.entries(AROUND))
  suite(`a negation ${where}`, () => {
    for (const [what, excluded] of Object.entries(EXCLUDED))
      test(`of ${what} leaves null in question`, () => {
        const [before, after] = [documentOf(TEXT), documentOf(around(excluded))]
        const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
        assert.ok(result.ok)
        assert.ok(
          result.value.groups.some(({ level }) => level !== 'info'),
          JSON.stringify(result.value.groups.map(({ level, rule }) => `${level} ${rule}`)),
        )
      })
  })
