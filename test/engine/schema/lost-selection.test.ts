/** A discriminator that goes from a schema whose subtypes inherit by `allOf`: nothing else says which values readers get. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const KIND = { type: 'string' }
const BY_KIND = { discriminator: { propertyName: 'kind' } }
const PET = { type: 'object', required: ['kind'], properties: { kind: KIND } }
const REFERENCES = ['Cat', 'Dog'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
const LISTED = { ...PET, properties: { kind: { ...KIND, enum: ['Cat', 'Dog'] } } }
const CATS = { ...PET, properties: { kind: { ...KIND, enum: ['Cat'] } } }

function documentOf(place: 'request' | 'response', pet: Json, used: Json = { $ref: '#/components/schemas/Pet' }): Json {
  const part = { allOf: [{ $ref: '#/components/schemas/Pet' }] }
  const breed = { type: 'object', required: ['breed'], properties: { breed: { type: 'string' } } }
  const content = { 'application/json': { schema: used } }
  const done = { description: 'done', ...(place === 'response' && { content }) }
  const operation = { responses: { '200': done }, ...(place === 'request' && { requestBody: { content } }) }
  return {
    openapi: '3.0.3',
    info: { title: 'Example', version: '1' },
    paths: { '/x': { post: operation } },
    components: { schemas: { Pet: pet, Cat: part, Dog: { allOf: [...part.allOf, breed] } } },
  }
}

const ROWS: readonly (readonly [name: string, before: Json, after: Json, response: string])[] = [
  ['goes', { ...PET, ...BY_KIND }, PET, 'dangerous'],
  [
    'with a mapping goes',
    { ...PET, discriminator: { ...BY_KIND.discriminator, mapping: { dog: 'Dog' } } },
    PET,
    'dangerous',
  ],
  ['goes, and a value that the property lists needed more', { ...LISTED, ...BY_KIND }, LISTED, 'dangerous'],
  ['goes, and the values that the property lists needed no more', { ...CATS, ...BY_KIND }, CATS, 'info'],
]

suite('a discriminator that selects subtypes', () => {
  for (const [name, before, after, response] of ROWS)
    test(name, () => {
      assert.equal(worstOf('openapi', documentOf('response', before), documentOf('response', after)), response)
      assert.equal(worstOf('openapi', documentOf('request', before), documentOf('request', after)), 'info')
    })

  const [before, after] = [{ anyOf: REFERENCES, ...BY_KIND }, { anyOf: REFERENCES }]
  test('goes from alternatives, which hold without it, but for other values', () => {
    assert.equal(
      worstOf('openapi', documentOf('response', PET, before), documentOf('response', PET, after)),
      'dangerous',
    )
  })
  test('goes from alternatives that list their values', () => {
    assert.equal(worstOf('openapi', documentOf('response', CATS, before), documentOf('response', CATS, after)), 'info')
  })
})
