/** A pattern of names was taken away where all other names are refused: told as information, while callers that sent them were refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

const PATTERN = { patternProperties: { '^x-': { type: 'string' } } }

function reported(side: 'requestBody' | 'response', before: object, after: object): readonly string[] {
  const [base, head] = [before, after].map((rest) => {
    const body = { content: { 'application/json': { schema: { type: 'object', ...rest } } } }
    const done = { description: 'done' }
    const operation =
      side === 'requestBody'
        ? { requestBody: body, responses: { '200': done } }
        : { responses: { '200': { ...done, ...body } } }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/x': { post: operation } },
    })
  })
  const artifact = { id: 'x', type: 'openapi', before: base ?? '', after: head ?? '' } as const
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${rule} ${level}`).filter((text) => text.includes('pattern'))
}

test('a pattern that goes where other names are refused narrows, and one that comes widens', () => {
  const [open, closed] = [{}, { additionalProperties: false }]
  assert.deepEqual(reported('requestBody', { ...PATTERN, ...closed }, closed), [
    'request-body-pattern-property-closed breaking',
  ])
  assert.deepEqual(reported('response', closed, { ...PATTERN, ...closed }), [
    'response-body-pattern-property-opened breaking',
  ])
  assert.deepEqual(reported('requestBody', { ...PATTERN, ...open }, open), [
    'request-body-pattern-property-removed info',
  ])
})

test('a pattern that goes where other names must be of a schema moves what is admitted', () => {
  const numbers = { additionalProperties: { type: 'integer' } }
  assert.deepEqual(reported('requestBody', { ...PATTERN, ...numbers }, numbers), [
    'request-body-pattern-property-closed breaking',
    'request-body-pattern-property-removed info',
  ])
})
