/**
 * Scalars that are written as text: parameters, headers, fields of forms, and items of such lists. Two schemas of one admit the
 * same where they admit the same texts, whatever types they name. Where types are distinguished they do not.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>
/** Whether every text of the one is a text of the other one, and back. */
type Row = readonly [one: Json, other: Json, isWithin: boolean, isWithinBack: boolean]

const INTEGER = { type: 'integer' }
const NUMBER = { type: 'number' }
const TEXT = { type: 'string' }
const BOOLEAN = { type: 'boolean' }
const ALL = { ...TEXT, enum: ['all'] }
const DIGITS = '^(0|-?[1-9][0-9]*)$'

const ROWS: readonly Row[] = [
  [{ ...INTEGER, enum: [1, 2] }, { ...TEXT, enum: ['1', '2'] }, true, true],
  [{ ...INTEGER, enum: [1, 2] }, { ...TEXT, enum: ['1', '2', '3'] }, true, false],
  [{ ...INTEGER, enum: [1, 2] }, { ...TEXT, enum: ['1'] }, false, true],
  [{ enum: [1, 2] }, { enum: ['1', '2'] }, true, true],
  [{ const: 1 }, { const: '1' }, true, true],
  [{ ...INTEGER, const: -7 }, { ...TEXT, const: '-7' }, true, true],
  // A text beside its number is a text that no number may become.
  [{ enum: [1, 2] }, { enum: ['1', '2', 1] }, false, true],
  // A number may be written with a fraction or an exponent. An integer may be refused so.
  [{ ...NUMBER, enum: [1, 2.5] }, { ...TEXT, enum: ['1', '2.5'] }, false, true],
  [{ ...NUMBER, enum: [1] }, { ...TEXT, enum: ['1.0'] }, false, true],
  [{ ...NUMBER, enum: [1] }, { ...TEXT, enum: ['1e0'] }, false, true],
  [{ ...INTEGER, enum: [1] }, { ...TEXT, enum: ['1.0'] }, false, false],
  [{ ...INTEGER, enum: [1] }, { ...TEXT, enum: ['1e0'] }, false, false],
  [{ ...INTEGER, enum: [7] }, { ...TEXT, enum: ['007'] }, false, false],
  [{ ...NUMBER, enum: [7] }, { ...TEXT, enum: ['007'] }, false, false],
  [BOOLEAN, { ...TEXT, enum: ['true', 'false'] }, true, true],
  [{ ...BOOLEAN, enum: [true] }, { ...TEXT, enum: ['true'] }, true, true],
  [BOOLEAN, { ...TEXT, const: 'true' }, false, true],
  [BOOLEAN, { ...TEXT, enum: ['True', 'False'] }, false, false],
  [BOOLEAN, { ...TEXT, enum: ['0', '1'] }, false, false],
  [BOOLEAN, { ...INTEGER, enum: [0, 1] }, false, false],
  [BOOLEAN, { ...TEXT, pattern: '^(true|false)$' }, true, true],
  [INTEGER, { ...TEXT, pattern: DIGITS }, true, true],
  [INTEGER, { ...TEXT, pattern: '^-?[0-9]+$' }, true, false],
  [INTEGER, { ...TEXT, pattern: '^[0-9]+$' }, false, false],
  [{ ...INTEGER, minimum: 0 }, { ...TEXT, pattern: '^(0|[1-9][0-9]*)$' }, true, true],
  [{ ...INTEGER, exclusiveMinimum: 0 }, { ...TEXT, pattern: '^[1-9][0-9]*$' }, true, true],
  [{ ...INTEGER, minimum: -20 }, { ...TEXT, pattern: '^(-(1?[1-9]|10|20)|0|[1-9][0-9]*)$' }, true, true],
  [{ ...INTEGER, maximum: -1 }, { ...TEXT, pattern: '^-[1-9][0-9]*$' }, true, true],
  [{ ...INTEGER, minimum: 10_000 }, { ...TEXT, pattern: '^[1-9][0-9]{4,}$' }, true, true],
  [{ ...INTEGER, minimum: 9999 }, { ...TEXT, pattern: '^[1-9][0-9]{4,}$' }, false, true],
  [{ ...INTEGER, minimum: 1000, maximum: 9_999_999 }, { ...TEXT, pattern: '^[1-9][0-9]{3,6}$' }, true, true],
  [{ ...INTEGER, minimum: 0, maximum: 9 }, { ...TEXT, pattern: '^[0-9]$' }, true, true],
  [{ ...INTEGER, minimum: 0, maximum: 10 }, { ...TEXT, pattern: '^[0-9]$' }, false, true],
  [{ ...INTEGER, minimum: 1, maximum: 3 }, { ...TEXT, enum: ['1', '2', '3'] }, true, true],
  [{ ...INTEGER, multipleOf: 5, minimum: 0, maximum: 10 }, { ...TEXT, enum: ['0', '5', '10'] }, true, true],
  [NUMBER, { ...TEXT, pattern: '^[-+.0-9eE]+$' }, true, false],
  [NUMBER, { ...TEXT, pattern: '^[0-9.]+$' }, false, false],
  [INTEGER, { ...TEXT, maxLength: 3 }, false, false],
  [{ ...INTEGER, minimum: 0, maximum: 999 }, { ...TEXT, maxLength: 3 }, true, false],
  // Clients are generated from a list of types.
  [{ anyOf: [TEXT, INTEGER] }, TEXT, false, true],
  [{ type: ['string', 'boolean'] }, TEXT, true, true],
  [{ oneOf: [ALL, INTEGER] }, { ...TEXT, enum: ['all'] }, false, true],
  [{ anyOf: [ALL, { ...INTEGER, enum: [1] }] }, { ...TEXT, enum: ['all'] }, false, true],
  // How null is written is not known.
  [{ type: ['integer', 'null'], enum: [1, null] }, { ...TEXT, enum: ['1', '', 'null'] }, false, false],
  [{ type: ['integer', 'null'], enum: [1, null] }, { type: ['string', 'null'], enum: ['1', null] }, true, true],
  [TEXT, INTEGER, false, true],
  [BOOLEAN, INTEGER, false, false],
]

interface Place {
  readonly reads: boolean
  readonly document: (schema: Json) => unknown
}

function documentOf(operation: Json, path = '/x'): Json {
  return { openapi: '3.1.0', info: { title: 'Example', version: '1' }, paths: { [path]: { post: operation } } }
}

const DONE = { responses: { '200': { description: 'done' } } }
const parameter = (where: string, path?: string) => (schema: Json) =>
  documentOf({ ...DONE, parameters: [{ name: 'p', in: where, required: path !== undefined, schema }] }, path)
const form = (mediaType: string) => (schema: Json) =>
  documentOf({
    ...DONE,
    requestBody: { content: { [mediaType]: { schema: { type: 'object', properties: { p: schema } } } } },
  })
const list = (document: Place['document']) => (items: Json) => document({ type: 'array', items })
const header = (schema: Json): Json =>
  documentOf({ responses: { '200': { description: 'done', headers: { 'X-P': { schema } } } } })

const PLACES: Readonly<Record<string, Place>> = {
  'a query': { reads: false, document: parameter('query') },
  'a path': { reads: false, document: parameter('path', '/x/{p}') },
  'a header': { reads: false, document: parameter('header') },
  'a cookie': { reads: false, document: parameter('cookie') },
  'a list in a query': { reads: false, document: list(parameter('query')) },
  'a field of a form': { reads: false, document: form('application/x-www-form-urlencoded') },
  'a part of a form': { reads: false, document: form('multipart/form-data') },
  'a header of a response': { reads: true, document: header },
  'a list in a header of a response': { reads: true, document: list(header) },
}

function isAlarm(place: Place, one: Json, other: Json): boolean {
  const [before, after] = place.reads ? [other, one] : [one, other]
  const worst = worstOf('openapi', place.document(before), place.document(after))
  return worst !== 'info' && worst !== 'none'
}

for (const [name, place] of Object.entries(PLACES)) {
  suite(`the texts of ${name}`, () => {
    for (const [one, other, isWithin, isWithinBack] of ROWS) {
      test(`of ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
        assert.deepEqual([!isAlarm(place, one, other), !isAlarm(place, other, one)], [isWithin, isWithinBack])
      })
    }
  })
}

test('a text of any type may be read as any', () => {
  const document = parameter('query')
  const worst = worstOf('openapi', document({ minimum: 3 }), document({ ...TEXT, pattern: '^[3-9]$' }))
  assert.equal(worst, 'breaking')
})

const TYPED: Readonly<Record<string, Place>> = {
  'a JSON body': {
    reads: false,
    document: (schema) => documentOf({ ...DONE, requestBody: { content: { 'application/json': { schema } } } }),
  },
  'a JSON parameter': {
    reads: false,
    document: (schema) =>
      documentOf({ ...DONE, parameters: [{ name: 'p', in: 'query', content: { 'application/json': { schema } } }] }),
  },
  'a part that is JSON': {
    reads: false,
    document: (schema) =>
      documentOf({
        ...DONE,
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { p: schema } },
              encoding: { p: { contentType: 'application/json' } },
            },
          },
        },
      }),
  },
}

for (const [name, place] of Object.entries(TYPED)) {
  test(`types are distinguished in ${name}`, () => {
    for (const [one, other, isWithin] of ROWS.filter(([{ type }, { type: of }]) => type !== of && of === 'string'))
      if (isWithin) assert.ok(isAlarm(place, one, other), JSON.stringify([one, other]))
  })
}
