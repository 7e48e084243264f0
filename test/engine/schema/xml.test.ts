/** The form of values in XML: what is another form breaks callers and readers, and what is written otherwise breaks nobody. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Schema = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const list = (more: Schema, items: Schema = TEXT): Schema => ({ type: 'array', items, ...more })
const named = (name: string): Schema => ({ ...TEXT, xml: { name } })

/** A property `id` on one side and on the other one. */
const OTHER_FORM: readonly (readonly [what: string, base: Schema, head: Schema])[] = [
  ['another name', named('a'), named('b')],
  ['a name of its own', TEXT, named('b')],
  ['an attribute', TEXT, { ...TEXT, xml: { attribute: true } }],
  ['text', TEXT, { ...TEXT, xml: { nodeType: 'text' } }],
  ['a CDATA section', TEXT, { ...TEXT, xml: { nodeType: 'cdata' } }],
  ['a namespace', named('a'), { ...TEXT, xml: { name: 'a', namespace: 'https://example.com/ns' } }],
  ['a list in an element', list({}), list({ xml: { wrapped: true } })],
  ['a name of the items', list({}), list({}, named('item'))],
  [
    'a name beside a reference',
    { $ref: '#/components/schemas/A' },
    { allOf: [{ $ref: '#/components/schemas/A' }], xml: { name: 'b' } },
  ],
  ['the name of its component', { $ref: '#/components/schemas/Plain' }, { $ref: '#/components/schemas/Plainly' }],
]

const SAME_FORM: readonly (readonly [what: string, base: Schema, head: Schema])[] = [
  ['the name that the property has', TEXT, named('id')],
  ['an element, as by default', TEXT, { ...TEXT, xml: { attribute: false } }],
  [
    'an attribute by its newer keyword',
    { ...TEXT, xml: { attribute: true } },
    { ...TEXT, xml: { nodeType: 'attribute' } },
  ],
  ['a wrapped list by its newer keyword', list({ xml: { wrapped: true } }), list({ xml: { nodeType: 'element' } })],
  ['the name of a list without an element', list({}), list({ xml: { name: 'b' } })],
  [
    'the name of a text node',
    { ...TEXT, xml: { nodeType: 'text' } },
    { ...TEXT, xml: { nodeType: 'text', name: 'b' } },
  ],
  ['text in a CDATA section', { ...TEXT, xml: { nodeType: 'text' } }, { ...TEXT, xml: { nodeType: 'cdata' } }],
  [
    'the name of text in a CDATA section',
    { ...TEXT, xml: { nodeType: 'cdata', name: 'a' } },
    { ...TEXT, xml: { nodeType: 'text', name: 'b' } },
  ],
  [
    'a reference without a node, as by default',
    { $ref: '#/components/schemas/A' },
    { $ref: '#/components/schemas/A', xml: { nodeType: 'none' } },
  ],
  ['another prefix', { ...TEXT, xml: { prefix: 'a' } }, { ...TEXT, xml: { prefix: 'b' } }],
  ['the name of the list at its items', list({}), list({}, named('id'))],
  [
    'a wrapper around the only schema',
    { $ref: '#/components/schemas/A' },
    { allOf: [{ $ref: '#/components/schemas/A' }] },
  ],
  ['a reference to a schema with the name of the property', TEXT, { $ref: '#/components/schemas/B' }],
  [
    'a wrapper around a schema with the name of the property',
    { $ref: '#/components/schemas/B' },
    { allOf: [{ $ref: '#/components/schemas/B' }] },
  ],
]

const OBJECT = { type: 'object', properties: { id: TEXT } }
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** The schema of a whole body on one side and on the other one. */
const OTHER_ROOT: readonly (readonly [what: string, base: Schema, head: Schema])[] = [
  ['the name of the component', ref('P'), ref('Q')],
  ['the name of a component behind a wrapper', ref('P'), { allOf: [ref('Q')] }],
  ['the name of the component of the items', list({}, ref('P')), list({}, ref('Q'))],
  ['the name of a component that states one', ref('P'), ref('NamedX')],
  ['the names of alternatives', { oneOf: [ref('P'), ref('NamedX')] }, { oneOf: [ref('Q'), ref('NamedX')] }],
  ['a stated name in place', { ...OBJECT, xml: { name: 'a' } }, { ...OBJECT, xml: { name: 'b' } }],
]

const SAME_ROOT: readonly (readonly [what: string, base: Schema, head: Schema])[] = [
  ['a component that states the former name', ref('P'), ref('NamedP')],
  ['components that state one name', ref('NamedX'), ref('AlsoX')],
  ['a component and a wrapper around it', ref('P'), { allOf: [ref('P')] }],
  ['a schema in place, which has no name', OBJECT, ref('P')],
  ['alternatives in another order', { oneOf: [ref('P'), ref('NamedX')] }, { oneOf: [ref('NamedX'), ref('P')] }],
  [
    'the component of a property, which has the name of the property',
    { ...OBJECT, properties: { id: ref('P') } },
    { ...OBJECT, properties: { id: ref('Q') } },
  ],
]

function bodyContract(schema: Schema, mediaType: string): string {
  const content = { [mediaType]: { schema } }
  const post = { requestBody: { content }, responses: { 200: { description: 'done', content } } }
  const schemas = {
    P: OBJECT,
    Q: OBJECT,
    NamedP: { ...OBJECT, xml: { name: 'P' } },
    NamedX: { ...OBJECT, xml: { name: 'x' } },
    AlsoX: { ...OBJECT, xml: { name: 'x' } },
  }
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } }
  return JSON.stringify({ ...document, components: { schemas } })
}

/** Renamed alternatives are information of their own. */
function rootRulesOf(base: Schema, head: Schema, mediaType: string): readonly string[] {
  const result = compareOpenApi(bodyContract(base, mediaType), bodyContract(head, mediaType), {}, sha256)
  assert.ok(result.ok)
  const found = result.value.groups.map(({ rule, level }) => `${level} ${rule}`)
  return found.filter((one) => one.includes('xml')).sort()
}

function contract(property: Schema, mediaType: string): string {
  const content = { [mediaType]: { schema: { type: 'object', properties: { id: property } } } }
  const post = { requestBody: { content }, responses: { 200: { description: 'done', content } } }
  const components = { schemas: { A: named('a'), B: named('id'), Plain: TEXT, Plainly: named('Plainly') } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } }, components })
}

function rulesOf(base: Schema, head: Schema, mediaType: string): readonly string[] {
  const result = compareOpenApi(contract(base, mediaType), contract(head, mediaType), {}, sha256)
  assert.ok(result.ok)
  return result.value.groups.map(({ rule, level }) => `${level} ${rule}`).sort()
}

const CHANGED = ['breaking request-property-xml-changed', 'breaking response-property-xml-changed']
const BODY_CHANGED = ['breaking request-body-xml-changed', 'breaking response-body-xml-changed']
const XML = ['application/xml', 'text/xml; charset=utf-8', 'application/atom+xml', '*/*', 'application/*']

suite('the form of a value in XML', () => {
  for (const [what, base, head] of OTHER_FORM)
    test(`is another one: ${what}`, () => {
      for (const mediaType of XML) {
        assert.deepEqual(rulesOf(base, head, mediaType), CHANGED, mediaType)
        assert.deepEqual(rulesOf(head, base, mediaType), CHANGED, mediaType)
      }
    })

  for (const [what, base, head] of SAME_FORM)
    test(`is the same: ${what}`, () => {
      assert.deepEqual(rulesOf(base, head, 'application/xml'), [])
      assert.deepEqual(rulesOf(head, base, 'application/xml'), [])
    })

  test('is of no concern in other media types', () => {
    for (const mediaType of ['application/json', 'application/x-www-form-urlencoded', 'text/plain'])
      for (const [what, base, head] of OTHER_FORM) assert.deepEqual(rulesOf(base, head, mediaType), [], what)
  })

  for (const [what, base, head] of OTHER_ROOT)
    test(`of a whole body is another one: ${what}`, () => {
      for (const mediaType of ['application/xml', 'application/atom+xml']) {
        assert.deepEqual(rootRulesOf(base, head, mediaType), BODY_CHANGED, mediaType)
        assert.deepEqual(rootRulesOf(head, base, mediaType), BODY_CHANGED, mediaType)
      }
      assert.deepEqual(rootRulesOf(base, head, 'application/json'), [])
    })

  for (const [what, base, head] of SAME_ROOT)
    test(`of a whole body is the same: ${what}`, () => {
      assert.deepEqual(rootRulesOf(base, head, 'application/xml'), [])
      assert.deepEqual(rootRulesOf(head, base, 'application/xml'), [])
    })

  test('follows from a component in XML, and not in a range that may contain it', () => {
    assert.deepEqual(rootRulesOf(ref('P'), ref('Q'), '*/*'), [])
    assert.deepEqual(rootRulesOf(ref('P'), ref('NamedX'), '*/*'), BODY_CHANGED)
  })
})
