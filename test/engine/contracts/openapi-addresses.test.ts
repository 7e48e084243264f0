/** References by address in OpenAPI: `$id` and anchors of schemas since 3.1, `$self` of the document since 3.2. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>

function contract(reference: string, schemas: Json, more: Json = {}): string {
  const content = { 'application/json': { schema: { $ref: reference } } }
  const post = { requestBody: { content }, responses: { '200': { description: 'done' } } }
  return JSON.stringify({
    openapi: '3.2.0',
    info: { title: 't', version: '1' },
    ...more,
    paths: { '/x': { post } },
    components: { schemas },
  })
}

const A = '#/components/schemas/A'
const holding = (schema: Json, more: Json = {}): Json => ({ type: 'object', properties: { b: schema }, ...more })
const anchored = (type: string): Json => ({ n: { $anchor: 'n', type } })

/** How a schema of some type is reached, and whether it is one that the reference leads to. */
const CASES: Readonly<Record<string, readonly [reached: (type: string) => string, isReached: boolean]>> = {
  'the address of a schema': [(type) => contract('https://x/a', { A: { $id: 'https://x/a', type } }), true],
  'a pointer within a schema with an address': [
    (type) => contract(A, { A: holding({ $ref: '#/$defs/B' }, { $id: 'https://x/a', $defs: { B: { type } } }) }),
    true,
  ],
  'a pointer within the document': [
    (type) => contract(A, { A: holding({ $ref: '#/components/schemas/B' }, { $id: 'https://x/a' }), B: { type } }),
    true,
  ],
  'a relative address': [
    (type) => contract(A, { A: holding({ $ref: 'b' }, { $id: 'https://x/a' }), B: { $id: 'https://x/b', type } }),
    true,
  ],
  'an anchor of the own schema': [
    (type) =>
      contract(A, {
        A: holding({ $ref: '#n' }, { $id: 'https://x/a', $defs: anchored(type) }),
        B: { $id: 'https://x/b', $defs: anchored('string') },
      }),
    true,
  ],
  'an anchor of another schema': [
    (type) =>
      contract(A, {
        A: holding({ $ref: '#n' }, { $id: 'https://x/a', $defs: anchored('string') }),
        B: { $id: 'https://x/b', $defs: anchored(type) },
      }),
    false,
  ],
  'the address of the document': [
    (type) => contract(`https://x/api${A}`, { A: { type } }, { $self: 'https://x/api' }),
    true,
  ],
  'an address relative to the document': [
    (type) => contract('https://x/a', { A: { $id: 'a', type } }, { $self: 'https://x/api' }),
    true,
  ],
}

suite('references by address', () => {
  for (const [name, [reached, isReached]] of Object.entries(CASES)) {
    test(`${name} ${isReached ? 'is' : 'is not'} followed`, () => {
      const compared = compareOpenApi(reached('string'), reached('integer'), {}, sha256)
      assert.ok(compared.ok)
      assert.deepEqual(compared.value.unresolved, [])
      assert.equal(
        compared.value.groups.some(({ level }) => level === 'breaking'),
        isReached,
      )
    })
  }

  test('a schema that is reached by its address instead of a pointer is the same', () => {
    const schemas = { A: { $id: 'https://x/a', type: 'string' } }
    const compared = compareOpenApi(contract(A, schemas), contract('https://x/a', schemas), {}, sha256)
    assert.ok(compared.ok)
    assert.deepEqual(compared.value.groups, [])
  })
})
