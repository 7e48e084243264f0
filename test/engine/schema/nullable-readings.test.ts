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

const ITEM = { type: 'object', required: ['id'], properties: { id: TEXT } }
const REFERENCE = { $ref: '#/components/schemas/Item' }

/** An alternative that is only null, in every form of OpenAPI 3.0. */
const NULLS: Readonly<Record<string, Schema>> = {
  'a mark alone': { nullable: true },
  'a mark with words': { nullable: true, description: 'Nothing.', 'x-note': 1 },
  'a mark with a default': { nullable: true, default: null },
  'a reference to a mark': { $ref: '#/components/schemas/Null' },
  'one listed value': { enum: [null], nullable: true },
}

const AROUND: Readonly<Record<string, (excluded: Schema) => Schema>> = {
  beside: (excluded) => ({ ...NULL_IN_TEXT, not: excluded }),
  'in allOf': (excluded) => ({ ...NULL_IN_TEXT, allOf: [{ not: excluded }] }),
  'below two more': (excluded) => ({ ...NULL_IN_TEXT, not: { not: { not: excluded } } }),
}

function documentOf(schema: Schema, openapi = '3.0.3'): string {
  const answer = { description: 'd', content: { 'application/json': { schema } } }
  return JSON.stringify({
    openapi,
    info: { title: 't', version: '1' },
    paths: { '/x': { get: { responses: { 200: answer } } } },
    components: { schemas: { Item: ITEM, Null: { nullable: true } } },
  })
}

function levelsOf(before: string, after: string): readonly string[] {
  const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups.map(({ level, rule }) => `${level} ${rule}`)
}

for (const [where, around] of Object.entries(AROUND))
  suite(`a negation ${where}`, () => {
    for (const [what, excluded] of Object.entries(EXCLUDED))
      test(`of ${what} leaves null in question`, () => {
        const [before, after] = [documentOf(TEXT), documentOf(around(excluded))]
        const levels = levelsOf(before, after)
        assert.ok(
          levels.some((level) => !level.startsWith('info')),
          levels.join(),
        )
      })
  })

for (const keyword of ['anyOf', 'oneOf'])
  for (const [what, nothing] of Object.entries(NULLS))
    suite(`null as ${what} in ${keyword}`, () => {
      const choice = (other: Schema): string => documentOf({ [keyword]: [other, nothing] })
      const sameForms = {
        'null of 3.1': documentOf({ [keyword]: [REFERENCE, { type: 'null' }] }, '3.1.0'),
        'a mark beside allOf': documentOf({ allOf: [REFERENCE], nullable: true }),
      }
      for (const [form, same] of Object.entries(sameForms))
        test(`is the same as ${form}`, () => {
          for (const [before, after] of [
            [choice(REFERENCE), same],
            [same, choice(REFERENCE)],
          ] as const)
            assert.deepEqual(
              levelsOf(before, after).filter((level) => !level.startsWith('info')),
              [],
            )
        })

      test('hides no change of the other alternative', () => {
        assert.deepEqual(levelsOf(choice(ITEM), choice({ ...ITEM, required: [] })), [
          'breaking response-property-became-optional',
        ])
      })
    })

const listed = (...values: readonly unknown[]): Schema => ({ ...NULL_IN_TEXT, enum: values })
const request = (schema: Schema): string => {
  const requestBody = { content: { 'application/json': { schema: { type: 'object', properties: { p: schema } } } } }
  const paths = { '/x': { post: { requestBody, responses: { 200: { description: 'd' } } } } }
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths })
}

suite('null in a list of values beside `nullable`', () => {
  const [without, within] = [listed('a'), listed('a', null)]
  test('that comes is no information for readers, and that goes is none for callers', () => {
    assert.deepEqual(levelsOf(documentOf(without), documentOf(within)), ['dangerous response-body-enum-value-added'])
    assert.deepEqual(levelsOf(request(within), request(without)), ['dangerous request-property-enum-value-removed'])
  })

  test('the other side loses nothing by any reading', () => {
    const levels = [
      ...levelsOf(documentOf(within), documentOf(without)),
      ...levelsOf(request(without), request(within)),
    ]
    assert.ok(levels.length > 0 && levels.every((level) => level.startsWith('info')), levels.join())
  })
})
