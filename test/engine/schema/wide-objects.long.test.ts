/** However wide an object is, a change of one of its members is judged by that member. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { Finding } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

const WIDE = 4000

const member = (maxLength: number): object => ({
  type: 'object',
  properties: { text: { type: 'string', maxLength }, count: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
})
const members = Object.fromEntries(Array.from({ length: WIDE }, (_, index) => [`p${index}`, member(index + 1)]))

function contract(properties: object): string {
  const content = { 'application/json': { schema: { type: 'object', properties } } }
  const post = { requestBody: { content }, responses: { 200: { description: 'done', content } } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } })
}

function levels(changed: object): Readonly<Record<string, Finding['level']>> {
  const artifact = {
    id: 'a',
    type: 'openapi',
    before: contract(members),
    after: contract({ ...members, ...changed }),
  } as const
  const result = compare(artifact, {}, sha256Hex)
  assert.ok(result.ok)
  return Object.fromEntries(result.value.groups.map(({ rule, level }) => [rule, level]))
}

test('one more optional member of a wide object is information', () => {
  assert.deepEqual(levels({ extra: { type: 'string' } }), {
    'new-optional-request-property': 'info',
    'response-optional-property-added': 'info',
  })
})

test('a member of a wide object that is widened breaks readers, and nothing else is in doubt', () => {
  assert.deepEqual(levels({ p5: member(60_000) }), {
    'request-property-max-length-increased': 'info',
    'response-property-max-length-increased': 'breaking',
  })
})
