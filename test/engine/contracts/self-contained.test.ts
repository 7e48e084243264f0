/** Targets of discriminators count as references: all of them in the document is nothing to report, one that is not is. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

function contract(target: string, more: object = {}): string {
  const discriminator = { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', odd: target } }
  const schema = { oneOf: [{ $ref: '#/components/schemas/Cat' }], discriminator }
  const post = {
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { description: 'x' } },
  }
  const schemas = { Cat: { type: 'object' }, 'a/b~c': { type: 'object' } }
  const document = { openapi: '3.0.3', info: { title: 't', version: '1' }, paths: { '/x': { post } } }
  return JSON.stringify({ ...document, components: { schemas, ...more } })
}

function unresolvedIn(text: string): readonly string[] {
  const compared = compare({ id: 'a', type: 'openapi', before: text, after: text }, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.unresolved.map(({ side, reference }) => `${side} ${reference}`)
}

const WITHIN = ['Cat', '#/components/schemas/Cat', '#/components/schemas/a~1b~0c', 'a/b~c']
const OUTSIDE = ['Dog', '#/components/schemas/Dog', './dog.yaml', './dog.yaml#/Dog', 'https://example.com/dog.json']

suite('targets of a discriminator', () => {
  for (const target of WITHIN) {
    test(`${target} is in the document`, () => {
      assert.deepEqual(unresolvedIn(contract(target)), [])
    })
  }

  for (const target of OUTSIDE) {
    test(`${target} is reported on both sides`, () => {
      assert.deepEqual(unresolvedIn(contract(target)), [`base ${target}`, `head ${target}`])
    })
  }

  test('a property that is called discriminator holds no targets', () => {
    const properties = { discriminator: { type: 'object', properties: { mapping: { type: 'string' } } }, mapping: {} }
    assert.deepEqual(unresolvedIn(contract('Cat', { parameters: { p: { schema: { properties } } } })), [])
  })
})
