/** Keywords that invert the meaning of their schema: a wider `contains` under `maxContains`, and the rest that `unevaluated…` sees. They are breaking. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

function reported(before: object, after: object): readonly string[] {
  const [base = '', head = ''] = [before, after].map((schema) =>
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: {
        '/x': {
          post: {
            requestBody: { content: { 'application/json': { schema } } },
            responses: { '200': { description: 'done' } },
          },
        },
      },
    }),
  )
  const compared = compare({ id: 'x', type: 'openapi', before: base, after: head }, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${rule} ${level}`)
}

const CLOSED = { type: 'object', unevaluatedProperties: false } as const

function list(contains: object): object {
  return { type: 'array', contains, maxContains: 1 }
}

test('another `contains` under `maxContains` is one that went and one that came', () => {
  assert.deepEqual(reported(list({ type: 'string' }), list({})), [
    'request-body-contains-added breaking',
    'request-body-contains-removed info',
  ])
  assert.deepEqual(reported(list({ type: 'string' }), list({ title: 'text', type: 'string' })), [])
})

test('`additionalProperties` evaluates every name, so that nothing is left to refuse', () => {
  assert.deepEqual(reported({ ...CLOSED, additionalProperties: true }, CLOSED), [
    'request-body-unevaluated-properties-added breaking',
  ])
  assert.deepEqual(
    reported({ type: 'object', additionalProperties: true }, { ...CLOSED, additionalProperties: true }),
    [],
  )
})

test('a pattern lets its names in where unevaluated ones are refused, also from within `allOf`', () => {
  const pattern = { patternProperties: { '^x-': {} } }
  assert.ok(reported({ ...CLOSED, ...pattern }, CLOSED).some((one) => one.endsWith(' breaking')))
  const within = (part: object) => ({ ...CLOSED, allOf: [{ type: 'object', ...part }] })
  assert.ok(reported(within(pattern), within({})).includes('request-body-unevaluated-properties-narrowed breaking'))
  assert.deepEqual(
    reported(within({}), within(pattern)).filter((one) => one.includes('unevaluated')),
    ['request-body-unevaluated-properties-widened info'],
  )
})

test('null that is removed from an enum by its type is reported', () => {
  assert.ok(reported({ type: ['null'], enum: [null, true] }, { const: true }).some((one) => !one.endsWith(' info')))
})
