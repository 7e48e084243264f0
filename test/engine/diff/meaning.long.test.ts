/** Meaning over form: a rewrite that keeps the meaning is no change, and one change of a shared part is one group. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import type { CompareOptions, FindingGroup } from '../../../engine/internal.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>

const DONE = { '200': { description: 'done' } }

function api(paths: Json, rest: Json = {}): Json {
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, ...rest, paths }
}

function posting(schema: Json, schemas: Json = {}, rest: Json = {}): Json {
  const requestBody = { content: { 'application/json': { schema } } }
  return api({ '/things': { post: { requestBody, responses: DONE } } }, { components: { schemas }, ...rest })
}

function compare(before: Json, after: Json, options: CompareOptions = {}): readonly FindingGroup[] {
  const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), options, sha256)
  assert.ok(compared.ok)
  return compared.value.groups
}

function rulesOf(groups: readonly FindingGroup[]): readonly string[] {
  return groups.map(({ rule }) => rule)
}

const CAT = { type: 'object', properties: { name: { type: 'string' } } }
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const inThreeZero = { openapi: '3.0.3' }

const SAME_MEANING: readonly (readonly [what: string, before: Json, after: Json])[] = [
  [
    'nullable of 3.0 and null among the types of 3.1',
    posting({ type: 'string', nullable: true }, {}, inThreeZero),
    posting({ type: ['string', 'null'] }),
  ],
  [
    'one item of allOf and the item itself',
    posting({ allOf: [ref('Cat')] }, { Cat: CAT }),
    posting(ref('Cat'), { Cat: CAT }),
  ],
  ['one item of oneOf and the item itself', posting({ oneOf: [CAT] }), posting(CAT)],
  ['a reference and the same schema in place', posting(ref('Cat'), { Cat: CAT }), posting(CAT, { Cat: CAT })],
  [
    'oneOf of constants and an enum',
    posting({ oneOf: [{ const: 'a' }, { const: 'b' }] }),
    posting({ enum: ['b', 'a'] }),
  ],
  [
    'a component of more values, where a schema pins one of the old ones',
    posting({ type: 'integer', enum: [2], allOf: [ref('Kind')] }, { Kind: { oneOf: [{ const: 1 }, { const: 2 }] } }),
    posting(
      { type: 'integer', enum: [2], allOf: [ref('Kind')] },
      { Kind: { oneOf: [{ const: 1 }, { const: 2 }, { const: 3 }] } },
    ),
  ],
  ['a constant and an enum of one value', posting({ const: 'a' }), posting({ enum: ['a'] })],
  [
    'alternatives of types and a list of types in another order',
    posting({ oneOf: [{ type: 'string' }, { type: 'integer' }] }),
    posting({ oneOf: [{ type: 'integer' }, { type: 'string' }] }),
  ],
  [
    'a boolean exclusive bound and a number',
    posting({ type: 'number', minimum: 1, exclusiveMinimum: true }, {}, inThreeZero),
    posting({ type: 'number', exclusiveMinimum: 1 }),
  ],
  [
    'allOf and what it merges to',
    posting({ allOf: [CAT, { required: ['name'] }] }),
    posting({ ...CAT, required: ['name'] }),
  ],
  [
    'true, an empty schema and nothing as the limit of further properties',
    posting({ ...CAT, additionalProperties: true }),
    posting({ ...CAT, additionalProperties: {} }),
  ],
  [
    'a tuple in items and in prefixItems',
    posting({ type: 'array', items: [{ type: 'string' }] }),
    posting({ type: 'array', prefixItems: [{ type: 'string' }] }),
  ],
  [
    'required names in another order',
    posting({ ...CAT, required: ['a', 'b'] }),
    posting({ ...CAT, required: ['b', 'a'] }),
  ],
  [
    'another name of a path parameter',
    api({
      '/things/{id}': {
        get: { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }], responses: DONE },
      },
    }),
    api({
      '/things/{thing}': {
        get: {
          parameters: [{ name: 'thing', in: 'path', required: true, schema: { type: 'string' } }],
          responses: DONE,
        },
      },
    }),
  ],
  [
    'another case of a header name',
    api({
      '/things': {
        get: { parameters: [{ name: 'X-Trace', in: 'header', schema: { type: 'string' } }], responses: DONE },
      },
    }),
    api({
      '/things': {
        get: { parameters: [{ name: 'x-trace', in: 'header', schema: { type: 'string' } }], responses: DONE },
      },
    }),
  ],
  [
    'a parameter that moved from the path to its operations',
    api({
      '/things': { parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }], get: { responses: DONE } },
    }),
    api({
      '/things': { get: { parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }], responses: DONE } },
    }),
  ],
]

suite('a rewrite that keeps the meaning is no change', () => {
  for (const [what, before, after] of SAME_MEANING) {
    test(what, () => {
      assert.deepEqual(rulesOf(compare(before, after)), [])
      assert.deepEqual(rulesOf(compare(after, before)), [])
    })
  }

  test('a component under another name', () => {
    const before = posting({ oneOf: [ref('Cat'), ref('Dog')] }, { Cat: CAT, Dog: { type: 'integer' } })
    const after = posting({ oneOf: [ref('Feline'), ref('Dog')] }, { Feline: CAT, Dog: { type: 'integer' } })
    assert.deepEqual(rulesOf(compare(before, after)), ['api-schema-removed'])
  })

  test('Swagger 2.0 written anew as OpenAPI 3.0', () => {
    const swagger = {
      swagger: '2.0',
      info: { title: 't', version: '1' },
      consumes: ['application/json'],
      produces: ['application/json'],
      paths: {
        '/things': {
          post: {
            parameters: [
              { name: 'thing', in: 'body', required: true, schema: { $ref: '#/definitions/Cat' } },
              { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
            ],
            responses: { '200': { description: 'done', schema: { $ref: '#/definitions/Cat' } } },
          },
        },
      },
      definitions: { Cat: CAT },
    }
    const content = { 'application/json': { schema: ref('Cat') } }
    const parameters = [{ name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } }]
    const post = {
      parameters,
      requestBody: { required: true, content },
      responses: { '200': { description: 'done', content } },
    }
    const modern = api({ '/things': { post } }, { openapi: '3.0.3', components: { schemas: { Cat: CAT } } })
    assert.deepEqual(rulesOf(compare(swagger, modern)), [])
  })
})

/** Three operations that take the same component. */
const operations = (schemas: Json): Json =>
  api(
    Object.fromEntries(
      ['/a', '/b', '/c'].map((path) => [
        path,
        { post: { requestBody: { content: { 'application/json': { schema: ref('Cat') } } }, responses: DONE } },
      ]),
    ),
    { components: { schemas } },
  )

suite('one change of a shared part', () => {
  test('is one group with every operation that it reaches, each with a fingerprint of its own', () => {
    const groups = compare(operations({ Cat: CAT }), operations({ Cat: { ...CAT, required: ['name'] } }))
    assert.deepEqual(rulesOf(groups), ['request-property-became-required'])
    const [group] = groups
    assert.equal(group?.location, '/components/schemas/Cat/required')
    assert.deepEqual(
      group?.occurrences.map(({ operation }) => operation?.path),
      ['/a', '/b', '/c'],
    )
    assert.equal(new Set(group?.occurrences.map(({ fingerprint }) => fingerprint)).size, 3)
  })

  test('keeps its identity when something else changes', () => {
    const changed = { Cat: { ...CAT, required: ['name'] } }
    const [alone] = compare(operations({ Cat: CAT }), operations(changed))
    const withMore = compare(operations({ Cat: CAT, Dog: CAT }), operations(changed))
    assert.deepEqual(
      withMore.find(({ rule }) => rule === 'request-property-became-required')?.occurrences,
      alone?.occurrences,
    )
  })
})

const tree = (value: Json): Json => ({
  type: 'object',
  properties: { value, children: { type: 'array', items: ref('Tree') }, parent: ref('Tree') },
})

suite('a recursive schema', () => {
  test('is the same as itself', () => {
    const document = posting(ref('Tree'), { Tree: tree({ type: 'string' }) })
    assert.deepEqual(compare(document, document), [])
  })

  test('that changed is reported once, at its place', () => {
    const before = posting(ref('Tree'), { Tree: tree({ type: 'string' }) })
    const after = posting(ref('Tree'), { Tree: tree({ type: 'integer' }) })
    const groups = compare(before, after)
    assert.deepEqual(rulesOf(groups), ['request-property-type-changed'])
    assert.equal(groups[0]?.location, '/components/schemas/Tree/properties/value/type')
    assert.equal(groups[0]?.occurrences.length, 1)
  })

  test('is the same when it was unrolled once', () => {
    const before = posting(ref('Tree'), { Tree: tree({ type: 'string' }) })
    const after = posting(tree({ type: 'string' }), { Tree: tree({ type: 'string' }) })
    assert.deepEqual(compare(before, after), [])
  })

  test('of many that name one another is compared without running out of stack', () => {
    const chain = (last: Json): Json =>
      Object.fromEntries(
        Array.from({ length: 20_000 }, (_, index) => [
          `S${index}`,
          index === 19_999 ? last : { type: 'object', properties: { next: ref(`S${index + 1}`) } },
        ]),
      )
    const groups = compare(
      posting(ref('S0'), chain({ type: 'string' })),
      posting(ref('S0'), chain({ type: 'integer' })),
    )
    assert.deepEqual(rulesOf(groups), ['request-property-type-changed'])
  })
})

function schemaFile(type: string): string {
  return `
Cat:
  type: object
  properties:
    name: { $ref: '#/Name' }
Name: { type: ${type} }
`
}

suite('a contract of several files', () => {
  const root = api({
    '/things': { $ref: 'paths/things.yaml' },
  })
  const path = `
post:
  requestBody:
    content:
      application/json:
        schema: { $ref: '../schemas.yaml#/Cat' }
  responses: {}
`
  const files = (type: string): Record<string, string> => ({
    'paths/things.yaml': path,
    'schemas.yaml': schemaFile(type),
  })

  test('is compared through its references, and a change names its file', () => {
    const groups = compare(root, root, { files: { base: files('string'), head: files('integer') } })
    assert.deepEqual(
      groups.map(({ rule, location, line }) => [rule, location, line]),
      [['request-property-type-changed', 'schemas.yaml#/Name/type', null]],
    )
  })

  test('of which a file is missing is compared for the rest, and the missing file is reported', () => {
    const { 'schemas.yaml': _, ...rest } = files('string')
    const groups = compare(
      posting(CAT),
      { ...posting(CAT), webhooks: { w: { $ref: 'gone.yaml' } } },
      { files: { base: {}, head: rest } },
    )
    assert.deepEqual(rulesOf(groups), ['reference-unresolved'])
    assert.equal(groups[0]?.location, '/webhooks/w')
  })

  test('of which a file is missing on both sides is reported, since the file may have changed', () => {
    assert.deepEqual(
      compare(root, root).map(({ rule, level, location }) => [rule, level, location]),
      [['reference-unresolved', 'info', '/paths/~1things']],
    )
  })

  test('of which a file names another one that is missing is reported at the place in the file', () => {
    const { 'schemas.yaml': _, ...rest } = files('string')
    const groups = compare(root, root, { files: { base: files('string'), head: rest } })
    const reported = groups.filter(({ rule }) => rule === 'reference-unresolved')
    assert.deepEqual(
      reported.map(({ location }) => location),
      ['paths/things.yaml#/post/requestBody/content/application~1json/schema'],
    )
  })

  test('that names nothing of its own on both sides has not changed', () => {
    const lost = posting(ref('Gone'))
    assert.deepEqual(compare(lost, lost), [])
  })
})

suite('an odd contract', () => {
  const odd: readonly (readonly [string, unknown])[] = [
    [
      'members of the wrong kind everywhere',
      {
        paths: {
          '/a': { get: { parameters: 'x', responses: [], requestBody: 3, security: {}, tags: 'a', callbacks: [] } },
        },
        components: [],
        servers: {},
        webhooks: 7,
      },
    ],
    [
      'a schema that refers to itself',
      { paths: {}, components: { schemas: { A: { $ref: '#/components/schemas/A' } } } },
    ],
    [
      'parameters that refer to one another',
      {
        paths: { '/a': { get: { parameters: [{ $ref: '#/components/parameters/A' }], responses: {} } } },
        components: {
          parameters: { A: { $ref: '#/components/parameters/B' }, B: { $ref: '#/components/parameters/A' } },
        },
      },
    ],
    [
      'a wrapper around itself',
      {
        paths: {
          '/a': {
            post: {
              requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
              responses: {},
            },
          },
        },
        components: { schemas: { A: { allOf: [{ $ref: '#/components/schemas/A' }] } } },
      },
    ],
    [
      'names of object prototypes',
      {
        paths: { '/constructor': { get: { responses: { toString: { description: 'x' } } } } },
        components: {
          schemas: { hasOwnProperty: { type: 'object', properties: { constructor: { type: 'string' } } } },
        },
      },
    ],
    ['no paths at all', {}],
  ]
  for (const [what, rest] of odd) {
    test(`${what} is compared without an exception`, () => {
      const strange = { openapi: '3.1.0', info: { title: 't', version: '1' }, ...Object(rest) }
      const plain = api({ '/a': { get: { responses: DONE } } })
      assert.ok(Array.isArray(compare(strange, plain)) && Array.isArray(compare(plain, strange)))
      assert.deepEqual(compare(strange, strange), [])
    })
  }

  test('that comes into being adds its operations, and one that ends removes them', () => {
    const text = JSON.stringify(api({ '/a': { get: { responses: DONE } } }))
    const [made, ended] = [compareOpenApi('', text, {}, sha256), compareOpenApi(text, '', {}, sha256)]
    assert.ok(made.ok && ended.ok)
    assert.deepEqual(rulesOf(made.value.groups), ['endpoint-added'])
    assert.deepEqual(rulesOf(ended.value.groups), ['api-path-removed-without-deprecation'])
    assert.deepEqual(made.value.spec_versions, { base: null, head: '3.1.0' })
  })

  test('that is not OpenAPI is a problem that says what is missing', () => {
    const compared = compareOpenApi('{"asyncapi":"2.0.0"}', '{"openapi":"3.1.0"}', {}, sha256)
    assert.ok(!compared.ok && compared.problem.message.includes('openapi'))
  })
})
