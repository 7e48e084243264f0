/** The API server fills in defaults before it validates: a property that has one may be required without harm. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf, worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const FILLED = { ...TEXT, default: 'a' }
const IN_OBJECT = { type: 'object', default: {}, properties: { q: TEXT } }

/** Where an object stands in the schema of a resource. */
const PLACES: Readonly<Record<string, (object: Json) => Json>> = {
  'a property': (object) => object,
  'a list': (object) => ({ type: 'array', items: object }),
  'a map': (object) => ({ type: 'object', additionalProperties: object }),
  'a nested object': (object) => ({ type: 'object', properties: { y: object } }),
}

const ROWS: readonly (readonly [name: string, before: Json, after: Json, worst: string])[] = [
  ['becomes required', { x: FILLED }, { x: FILLED }, 'info'],
  [
    'that is nullable becomes required',
    { x: { ...FILLED, nullable: true } },
    { x: { ...FILLED, nullable: true } },
    'info',
  ],
  ['is new and required', {}, { x: FILLED }, 'info'],
  ['is a new required object', {}, { x: IN_OBJECT }, 'info'],
  ['becomes required with its default', { x: TEXT }, { x: FILLED }, 'dangerous'],
  ['becomes required and loses its default', { x: FILLED }, { x: TEXT }, 'breaking'],
  ['becomes required with a default of null', { x: TEXT }, { x: { ...TEXT, default: null } }, 'breaking'],
  ['becomes required without a default', { x: TEXT }, { x: TEXT }, 'breaking'],
  ['is new, required and without a default', {}, { x: TEXT }, 'breaking'],
  ['becomes required and narrower', { x: FILLED }, { x: { ...FILLED, enum: ['a'] } }, 'breaking'],
]

function resource(spec: Json): Json {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const names = { plural: 'apps', kind: 'App' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'apps.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  }
}

for (const [place, within] of Object.entries(PLACES))
  suite(`a property with a default in ${place}`, () => {
    for (const [name, before, after, worst] of ROWS)
      test(name, () => {
        const sides = [
          { type: 'object', properties: { z: TEXT, ...before } },
          { type: 'object', properties: { z: TEXT, ...after }, required: ['x'] },
        ] as const
        const [base, head] = sides.map((object) => resource(within(object)))
        assert.equal(worstOf('k8s_crd', base, head), worst)
      })
  })

test('a warning because of unknown names does not name alternatives', () => {
  const open = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
  const [alarm] = alarmsOf('k8s_crd', resource(open), resource({ ...open, properties: { x: TEXT } }))
  assert.equal(alarm?.level, 'dangerous')
  assert.match(alarm.message, /names which were allowed, but not described/)
})
