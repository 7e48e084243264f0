/** `minContains: 0` was taken away, and `contains` began to ask for one item: told as information, while callers were refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

const LIST = { type: 'array', contains: { type: 'integer' } }

function levelsOf(before: object, after: object): readonly string[] {
  const [base, head] = [before, after].map((schema) =>
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
  const artifact = { id: 'x', type: 'openapi', before: base ?? '', after: head ?? '' } as const
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups
    .filter(({ rule }) => rule.includes('contains'))
    .map(({ rule, level }) => `${rule} ${level}`)
}

test('minContains 0 that goes away asks for an item, and that comes asks for none', () => {
  const without = { ...LIST, minContains: 0 }
  assert.deepEqual(levelsOf(without, LIST), ['request-body-min-contains-increased breaking'])
  assert.deepEqual(levelsOf(LIST, without), ['request-body-min-contains-decreased info'])
  assert.deepEqual(levelsOf(LIST, { ...LIST, minContains: 2 }), ['request-body-min-contains-set breaking'])
})
