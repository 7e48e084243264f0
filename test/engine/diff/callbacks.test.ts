/** Callbacks are matched by name, then by address: in the same way in every order of their names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

const ADDRESSES = ['{$request.query.url}', '{$request.query.other}']

function callback(type: string, addresses: readonly string[]): object {
  const schema = { type: 'object', properties: { a: { type } }, required: ['a'] }
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  const post = { requestBody, responses: { 200: { description: 'done' } } }
  return Object.fromEntries(addresses.map((address) => [address, { post }]))
}

function api(callbacks: readonly (readonly [name: string, callback: object])[]): string {
  const post = { responses: { 200: { description: 'done' } }, callbacks: Object.fromEntries(callbacks) }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } })
}

function answer(before: string, after: string): string {
  const compared = compare({ id: 'x', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok)
  return JSON.stringify(compared.value.groups.map((group) => ({ ...group, line: null, column: null })))
}

test('several callbacks with the same addresses and other names have one answer in every order', () => {
  const reversed = ADDRESSES.toReversed()
  const before = [
    ['a', callback('string', ADDRESSES)],
    ['b', callback('integer', ADDRESSES)],
  ] as const
  const after = [
    ['c', callback('integer', ADDRESSES)],
    ['d', callback('string', reversed)],
  ] as const
  const answers = [before, before.toReversed()].flatMap((base) =>
    [after, after.toReversed()].map((head) => answer(api(base), api(head))),
  )
  assert.equal(new Set(answers).size, 1)
  assert.notEqual(answers[0], '[]')
})
