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

const readOnly = { ...TEXT, readOnly: true }

for (const [name, schemaOf] of Object.entries(SCHEMAS)) {
  test(`required by ${name}`, () => {
    const writeOnly = { ...TEXT, writeOnly: true }
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

/** More alternatives than paths to one schema are followed; `most` of them require the name. */
const crowd = (most: number) => (): object => ({
  oneOf: Array.from({ length: 600 }, (_, index) => ({
    allOf: [{ $ref: '#/components/schemas/Base' }],
    properties: { kind: { const: index } },
    ...(index >= 600 - most && NEEDED),
  })),
})

for (const most of [1, 600])
  test(`a name that ${most} of 600 alternatives require`, () => {
    assert.ok(
      found('request', crowd(most), readOnly, TEXT).includes('breaking request-required-property-became-not-read-only'),
    )
  })

const component = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Schemas that hold each other as alternatives, each with a name that another one requires. */
function circular(x: object): string {
  const schemas = {
    A: { required: ['x', 'y'], properties: { x, y: TEXT }, anyOf: [component('B'), component('C')] },
    B: { required: ['z'], properties: { y: readOnly, z: TEXT }, anyOf: [component('A'), component('C')] },
    C: {
      properties: { z: readOnly, x: TEXT },
      oneOf: [component('A'), component('B')],
      allOf: [{ required: ['x', 'y'] }],
    },
  }
  const requestBody = { content: { 'application/json': { schema: component('A') } } }
  const paths = { '/x': { post: { requestBody, responses: { '200': { description: 'done' } } } } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components: { schemas } })
}

test('schemas that hold each other, with names that are not carried, come to an answer', () => {
  for (const [before, after] of [
    [readOnly, TEXT],
    [TEXT, { type: 'integer' }],
  ] as const) {
    const compared = compareOpenApi(circular(before), circular(after), {}, sha256)
    assert.ok(compared.ok)
    assert.ok(compared.value.groups.some(({ level }) => level === 'breaking'))
  }
})
