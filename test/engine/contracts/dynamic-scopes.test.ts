/**
 * Dynamic references to an anchor that several resources define: a template, and those that fill it in. What fills it in decides
 * which values are admitted (JSON Schema 2020-12 core §8.2.3.2), also behind further resources.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { alarmsOf, worstOf } from '../elements.ts'

type Schema = Readonly<Record<string, unknown>>
/** The used schema is `S`. */
type Schemas = Readonly<Record<string, Schema>>

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }
const EITHER = { type: ['string', 'integer'] }

const address = (name: string): string => `https://example.com/${name}`
const filled = (as: Schema): Schema => ({ filled: { $dynamicAnchor: 'T', ...as } })
const LIST = {
  $id: address('list'),
  type: 'array',
  items: { $dynamicRef: '#T' },
  $defs: { any: { $dynamicAnchor: 'T' } },
}
const HOLDER = { $id: address('holder'), type: 'object', properties: { l: { $ref: 'list' } }, required: ['l'] }
const OTHER = { $id: address('other'), $ref: 'list', $defs: filled({ type: 'boolean' }) }

/** A template that is filled in, in many ways. */
const FORMS: Readonly<Record<string, (as: Schema) => Schemas>> = {
  'by its address': (as) => ({ list: LIST, S: { $id: address('s'), $ref: address('list'), $defs: filled(as) } }),
  'by a part of its address': (as) => ({ list: LIST, S: { $id: address('s'), $ref: 'list', $defs: filled(as) } }),
  'with addresses that are no more than names': (as) => ({
    list: { ...LIST, $id: 'list' },
    S: { $id: 's', $ref: 'list', $defs: filled(as) },
  }),
  'in allOf': (as) => ({ list: LIST, S: { $id: address('s'), allOf: [{ $ref: 'list' }], $defs: filled(as) } }),
  'in a property': (as) => ({
    list: LIST,
    S: { $id: address('s'), type: 'object', properties: { l: { $ref: 'list' } }, required: ['l'], $defs: filled(as) },
  }),
  'behind another resource': (as) => ({
    list: LIST,
    holder: HOLDER,
    S: { $id: address('s'), $ref: 'holder', $defs: filled(as) },
  }),
  'behind one that fills it in otherwise': (as) => ({
    list: LIST,
    other: OTHER,
    S: { $id: address('s'), $ref: 'other', $defs: filled(as) },
  }),
  'beside another use': (as) => ({
    list: LIST,
    other: OTHER,
    S: {
      $id: address('s'),
      type: 'object',
      properties: { l: { $ref: 'list' }, o: { $ref: 'other' } },
      required: ['l'],
      $defs: filled(as),
    },
  }),
  'within the template': (as) => ({
    list: LIST,
    S: { $id: address('s'), allOf: [{ ...LIST, $id: address('inner') }], $defs: filled(as) },
  }),
  'by a dynamic reference with an address': (as) => ({
    any: { $id: address('any'), $defs: { any: { $dynamicAnchor: 'T' } } },
    S: { $id: address('s'), type: 'array', items: { $dynamicRef: 'any#T' }, $defs: filled(as) },
  }),
}

interface Surface {
  readonly type: ArtifactType
  readonly write: (schemas: Schemas) => unknown
  /** Whether those who lose are callers, readers or both. */
  readonly minds: 'narrowed' | 'widened' | 'both'
}

const api = (schemas: Schemas, place: 'request' | 'response'): unknown => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/S' } } }
  const answer = { description: 'd', ...(place === 'response' && { content }) }
  const body = place === 'request' ? { requestBody: { required: true, content } } : {}
  const paths = { '/x': { post: { ...body, responses: { 200: answer } } } }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components: { schemas } }
}

const SURFACES: Readonly<Record<string, Surface>> = {
  'a request body': { type: 'openapi', write: (schemas) => api(schemas, 'request'), minds: 'narrowed' },
  'a response body': { type: 'openapi', write: (schemas) => api(schemas, 'response'), minds: 'widened' },
  'a schema document': { type: 'json_schema', write: ($defs) => ({ $ref: '#/$defs/S', $defs }), minds: 'both' },
  'a schema document with an address': {
    type: 'json_schema',
    write: ($defs) => ({ $id: address('whole'), $ref: '#/$defs/S', $defs }),
    minds: 'both',
  },
  'arguments of a tool': {
    type: 'mcp_manifest',
    write: ($defs) => ({
      tools: [{ name: 't', inputSchema: { type: 'object', properties: { p: { $ref: '#/$defs/S' } }, $defs } }],
    }),
    minds: 'narrowed',
  },
}

for (const [name, { type, write, minds }] of Object.entries(SURFACES)) {
  suite(`${name}: a template that is filled in`, () => {
    for (const [form, schemas] of Object.entries(FORMS)) {
      const [text, whole, either] = [TEXT, WHOLE, EITHER].map((as) => write(schemas(as)))

      test(`${form}: other values break`, () => {
        assert.equal(worstOf(type, text, whole), 'breaking')
        assert.equal(worstOf(type, whole, text), 'breaking')
      })

      test(`${form}: fewer and more values break those who lose`, () => {
        const [narrowed, widened] = [worstOf(type, either, text), worstOf(type, text, either)]
        if (minds !== 'widened') assert.equal(narrowed, 'breaking')
        if (minds !== 'narrowed') assert.notEqual(widened, 'info')
        if (minds === 'narrowed') assert.equal(widened, 'info')
        if (minds === 'widened') assert.equal(narrowed, 'info')
      })

      test(`${form}: what stays has no finding`, () => {
        assert.deepEqual(alarmsOf(type, text, text), [])
      })
    }

    test('what another use fills in says nothing of the template by itself', () => {
      const [before, after] = [TEXT, WHOLE].map((as) =>
        write({ S: LIST, unused: { $id: address('unused'), $ref: 'list', $defs: filled(as) } }),
      )
      const found = alarmsOf(type, before, after)
      // A definition of a published schema has users of its own.
      if (type !== 'json_schema') assert.deepEqual(found, [])
    })
  })
}

const bounded = (more: Schema): Schemas => ({
  list: { ...LIST, items: { type: 'array', items: { $dynamicRef: '#T' }, ...more } },
  S: { $id: address('s'), $ref: 'list', $defs: filled(TEXT) },
})

suite('what changes within a template is reported where its author wrote it', () => {
  const PLACES: Readonly<Record<string, string>> = {
    'a request body': '/components/schemas/list/items',
    'a response body': '/components/schemas/list/items',
    'a schema document': '/$defs/list/items',
    'a schema document with an address': '/$defs/list/items',
    'arguments of a tool': '/tools/0/inputSchema/$defs/list/items',
  }
  for (const [name, { type, write }] of Object.entries(SURFACES))
    for (const [what, more, place] of [
      ['a bound', { minItems: 2 }, 'minItems'],
      ['a member', { maxItems: 4, minItems: 2 }, 'minItems'],
      ['a reference without a target', { allOf: [{ $ref: '#/$defs/nowhere' }] }, 'allOf/0'],
    ] as const)
      test(`${name}: ${what}`, () => {
        const [before, after] = [{}, more].map((one) => JSON.stringify(write(bounded(one))))
        for (const [base = '', head = ''] of [
          [before, after],
          [after, before],
        ]) {
          const compared = compare({ id: 'x', type, before: base, after: head }, {}, sha256Hex)
          assert.ok(compared.ok)
          const { groups, unresolved } = compared.value
          const places = [...groups, ...unresolved].map(({ location }) => location)
          assert.ok(places.length > 0)
          assert.ok(
            places.every((one) => !one.includes('x-dynamic-scopes')),
            places.join('\n'),
          )
          if (base === before || unresolved.length > 0)
            assert.ok(places.includes(`${PLACES[name]}/${place}`), places.join('\n'))
          assert.equal(new Set(unresolved.map(({ location }) => location)).size, unresolved.length)
        }
      })
})

/** A template and what fills it in, in the document and in further files. */
const FILES: Readonly<Record<string, (as: Schema) => Readonly<Record<string, Schema>>>> = {
  'in a file, filled in by the document': (as) => ({
    'contract.json': { S: { $ref: 'list.json', $defs: filled(as) } },
    'list.json': { ...LIST, $id: undefined },
  }),
  'in a file with an address': (as) => ({
    'contract.json': { S: { $id: address('s'), $ref: address('list'), $defs: filled(as) } },
    'list.json': LIST,
  }),
  'in a file, filled in by another file': (as) => ({
    'contract.json': { S: { $ref: 's.json' } },
    's.json': { $ref: 'list.json', $defs: filled(as) },
    'list.json': { ...LIST, $id: undefined },
  }),
  'in the document, filled in by a file': (as) => ({
    'contract.json': { S: { $ref: 's.json' }, list: { ...LIST, $id: undefined } },
    's.json': { $ref: 'contract.json#/components/schemas/list', $defs: filled(as) },
  }),
  'that names itself, with a document that does so too': (as) => ({
    'contract.json': {
      S: {
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        $id: address('s'),
        $recursiveAnchor: true,
        $ref: 'tree.json',
        properties: { value: as },
      },
    },
    'tree.json': {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      properties: { next: { $recursiveRef: '#' } },
    },
  }),
}

const tree = (anchor: string, type: string): Schema => ({
  $dynamicAnchor: anchor,
  properties: { value: { type }, next: { $dynamicRef: `#${anchor}` } },
})

const inOneFile = (as: Schema): Readonly<Record<string, Schema>> => ({
  'contract.json': { S: { $ref: 's.json#/S' } },
  's.json': { list: LIST, S: { $id: address('s'), $ref: 'list', $defs: filled(as) } },
})

const comparedFiles = (before: Readonly<Record<string, Schema>>, after: Readonly<Record<string, Schema>>) => {
  const [{ 'contract.json': base = {}, ...beside }, { 'contract.json': head = {}, ...besideHead }] = [before, after]
  const files = Object.fromEntries(
    Object.keys(beside).map((name) => [
      name,
      { before: JSON.stringify(beside[name]), after: JSON.stringify(besideHead[name]) },
    ]),
  )
  const [one, other] = [base, head].map((schemas) => JSON.stringify(api(Object(schemas), 'request')))
  const result = compare(
    { id: 'x', type: 'openapi', path: 'contract.json', before: one ?? '', after: other ?? '', files },
    {},
    sha256Hex,
  )
  assert.ok(result.ok)
  return result.value
}

const ofTwoTrees = (type: string): Readonly<Record<string, Schema>> => ({
  'contract.json': { S: { properties: { a: { $ref: 'a.json' }, b: { $ref: 'b.json' } } } },
  'a.json': tree('a', 'string'),
  'b.json': tree('b', type),
})

suite('a template over several files', () => {
  for (const [what, write] of Object.entries(FILES))
    test(`${what}, is a part that was not looked at`, () => {
      assert.ok(comparedFiles(write(TEXT), write(WHOLE)).unresolved.length > 0)
    })

  test('within one further file, is compared', () => {
    const { groups, unresolved } = comparedFiles(inOneFile(TEXT), inOneFile(WHOLE))
    assert.deepEqual(unresolved, [])
    assert.ok(groups.some(({ level }) => level === 'breaking'))
  })

  test('whose files define other anchors, is compared', () => {
    const { groups, unresolved } = comparedFiles(ofTwoTrees('string'), ofTwoTrees('integer'))
    assert.deepEqual(unresolved, [])
    assert.ok(groups.some(({ level }) => level === 'breaking'))
  })
})

test('more scopes than are looked at are a part that was not looked at', () => {
  const names = Array.from({ length: 250 }, (_, index) => `n${index}`)
  const schemas = (as: Schema): Schemas => ({
    list: LIST,
    ...Object.fromEntries(names.map((name) => [name, { $id: address(name), $ref: 'list', $defs: filled(as) }])),
    S: { anyOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
  })
  const before = JSON.stringify(api(schemas(TEXT), 'request'))
  const after = JSON.stringify(api(schemas(WHOLE), 'request'))
  const compared = compare({ id: 'x', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok && compared.value.unresolved.some(({ side }) => side === 'head'))
})

test('properties with names of Object.prototype are kept beside such references', () => {
  const schemas = (as: Schema): Schemas => {
    const members = JSON.stringify({ l: { $ref: 'list' }, NAME: as, constructor: as }).replace('NAME', '__proto__')
    return { list: LIST, S: { $id: address('s'), properties: JSON.parse(members), $defs: filled(TEXT) } }
  }
  const [before, after] = [TEXT, WHOLE].map((as) => JSON.stringify(api(schemas(as), 'request')))
  const compared = compare({ id: 'x', type: 'openapi', before: before ?? '', after: after ?? '' }, {}, sha256Hex)
  assert.ok(compared.ok)
  const places = compared.value.groups.map(({ location }) => location)
  for (const name of ['__proto__', 'constructor'])
    assert.ok(
      places.some((place) => place.includes(name)),
      `${name}: ${places.join(' ')}`,
    )
})
