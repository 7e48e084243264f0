/** Keywords that JSON Schema writes in several forms, of which the API server takes one: another form is never silent. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

function resource(spec: Json): Json {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'apps.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'apps', kind: 'App' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

const TEXT = { type: 'string' }
const ROWS: readonly (readonly [what: string, taken: Json, refused: Json])[] = [
  ['a list of one type', TEXT, { type: ['string'] }],
  ['a list of items', { type: 'array', items: TEXT }, { type: 'array', items: [TEXT] }],
  ['an exclusive maximum', { type: 'integer', maximum: 9 }, { type: 'integer', exclusiveMaximum: 10 }],
  ['an exclusive minimum', { type: 'integer', minimum: 1 }, { type: 'integer', exclusiveMinimum: 0 }],
]

const rules = (before: Json, after: Json): readonly string[] =>
  alarmsOf('k8s_crd', resource(before), resource(after)).map(({ rule }) => rule)

suite('a form of a keyword that the API server refuses', () => {
  for (const [what, taken, refused] of ROWS)
    test(what, () => {
      assert.ok(rules(taken, refused).includes('crd-part-malformed'))
      assert.ok(rules(refused, taken).includes('crd-part-malformed'))
      assert.deepEqual(rules(refused, refused), [])
    })
})
