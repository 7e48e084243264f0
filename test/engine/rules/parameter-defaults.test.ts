/** Defaults of parameters are texts, as their values are: another type of the same text changes nothing for callers. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const NUMBER = { type: 'integer' }
const TEXT = { type: 'string' }
const LIST = { type: 'array', items: TEXT }
const NUMBERS = { type: 'array', items: NUMBER }

const ROWS: readonly (readonly [before: Json, after: Json, isChanged: boolean])[] = [
  [{ ...NUMBER, default: 10 }, { ...TEXT, default: '10' }, false],
  [{ ...TEXT, enum: ['10'], default: '10' }, { ...NUMBER, enum: [10], default: 10 }, false],
  [{ type: 'boolean', default: true }, { ...TEXT, default: 'true' }, false],
  [{ ...NUMBERS, default: [1, 2] }, { ...LIST, default: ['1', '2'] }, false],
  [TEXT, { ...TEXT, default: null }, false],
  [{ ...TEXT, default: null }, TEXT, false],
  [{ ...NUMBER, default: 10 }, { ...TEXT, default: '11' }, true],
  [{ ...NUMBER, default: 10 }, { ...TEXT, default: '010' }, true],
  [{ ...NUMBERS, default: [1] }, { ...LIST, default: ['1', '2'] }, true],
  [TEXT, { ...TEXT, default: '' }, true],
  [TEXT, { ...TEXT, default: 'null' }, true],
  [{ ...TEXT, default: null }, { ...TEXT, default: '' }, true],
]

const documentOf = (where: string, parameter: Json): Json => ({
  openapi: '3.1.0',
  info: { title: 'Example', version: '1' },
  paths: {
    '/x': {
      get: { parameters: [{ name: 'p', in: where, ...parameter }], responses: { '200': { description: 'done' } } },
    },
  },
})

function isReported(before: Json, after: Json): boolean {
  return alarmsOf('openapi', before, after).some(({ rule }) => rule.includes('default-value'))
}

for (const where of ['query', 'header', 'cookie'])
  suite(`the default of a parameter in a ${where}`, () => {
    for (const [before, after, isChanged] of ROWS)
      test(`${JSON.stringify(before)} → ${JSON.stringify(after)}`, () => {
        const [base, head] = [documentOf(where, { schema: before }), documentOf(where, { schema: after })]
        assert.equal(isReported(base, head), isChanged)
      })

    test('is a value of its type in JSON', () => {
      const [base = {}, head = {}] = [
        { ...NUMBER, default: 10 },
        { ...TEXT, default: '10' },
      ].map((schema) => documentOf(where, { content: { 'application/json': { schema } } }))
      assert.ok(isReported(base, head))
    })
  })
