/** An enum of strings became alternatives of strings with one value each: told as a change of type, though only a value came. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

function reported(before: object, after: object): readonly string[] {
  const [base, head] = [before, after].map((schema) => {
    const done = { description: 'done', content: { 'application/json': { schema } } }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/x': { get: { responses: { '200': done } } } },
    })
  })
  const artifact = { id: 'x', type: 'openapi', before: base ?? '', after: head ?? '' } as const
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${rule} ${level}`)
}

const ENUM = { type: 'string', enum: ['a', 'b'] }
const alternatives = (...values: readonly unknown[]) => ({ oneOf: values.map((value) => ({ const: value })) })

test('alternatives of constants have the type of their values', () => {
  assert.deepEqual(reported(ENUM, alternatives('a', 'b')), [])
  assert.deepEqual(reported(alternatives('a', 'b'), ENUM), [])
  assert.deepEqual(reported(ENUM, alternatives('a', 'b', 'c')), ['response-body-enum-value-added dangerous'])
  const stated = { oneOf: ['a', 'b'].map((value) => ({ type: 'string', enum: [value] })) }
  assert.deepEqual(reported(ENUM, stated), [])
})

test('a constant of another type is a change of type', () => {
  assert.ok(reported(ENUM, alternatives('a', 'b', 5)).includes('response-body-type-changed breaking'))
})
