/** A property that becomes usable or unusable in one part of a schema, and is required by another part of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

const TEXT = { type: 'string' }
const NEEDED = { required: ['id'] }

/** Where the property stands, and where it is required. */
const SCHEMAS: Readonly<Record<string, (property: object) => object>> = {
  'a sibling in allOf': (id) => ({ allOf: [{ properties: { id } }, NEEDED] }),
  'a sibling of a reference': () => ({ allOf: [{ $ref: '#/components/schemas/Base' }, NEEDED] }),
  'the schema around allOf': (id) => ({ ...NEEDED, allOf: [{ properties: { id } }] }),
  'a part of a part': (id) => ({ properties: { id }, allOf: [{ allOf: [NEEDED] }] }),
  'the schema around an alternative': (id) => ({ ...NEEDED, oneOf: [{ properties: { id } }] }),
}

function found(place: 'request' | 'response', schemaOf: (property: object) => object, before: object, after: object) {
  const contract = (id: object): string => {
    const content = { 'application/json': { schema: schemaOf(id) } }
    const done = { description: 'done', ...(place === 'response' && { content }) }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: {
        '/x': { post: { responses: { '200': done }, ...(place === 'request' && { requestBody: { content } }) } },
      },
      components: { schemas: { Base: { type: 'object', properties: { id } } } },
    })
  }
  const compared = compareOpenApi(contract(before), contract(after), {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${level} ${rule}`)
}

for (const [name, schemaOf] of Object.entries(SCHEMAS)) {
  test(`required by ${name}`, () => {
    const [readOnly, writeOnly] = [
      { ...TEXT, readOnly: true },
      { ...TEXT, writeOnly: true },
    ]
    const [sent, answered] = [found('request', schemaOf, readOnly, TEXT), found('response', schemaOf, TEXT, writeOnly)]
    assert.deepEqual(sent, ['breaking request-required-property-became-not-read-only'])
    assert.deepEqual(answered, ['breaking response-required-property-became-write-only'])
  })
}

const nested = (id: object): object => ({ allOf: [{ properties: { o: { properties: { id } } } }, NEEDED] })

test('a name that another object requires', () => {
  assert.deepEqual(found('request', nested, { ...TEXT, readOnly: true }, TEXT), [
    'info request-optional-property-became-not-read-only',
  ])
})
