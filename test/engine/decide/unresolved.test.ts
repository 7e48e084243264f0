/** What was not looked at is not unchanged: a reference without a target, in every format, place and form, leaves no ALLOW. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, type ArtifactType } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { decideOn } from '../../fakes/decisions.ts'

type Sides = Readonly<Record<'base' | 'head', string>>

interface Gap {
  readonly name: string
  readonly type: ArtifactType
  /** The contract with the reference in it. */
  readonly text: (reference: string) => string
  readonly reference: string
  /** What takes the place of the reference in the same contract without a gap. */
  readonly resolved: string
}

const openapi = (parts: object, version = '3.1.0'): string =>
  JSON.stringify({ openapi: version, info: { title: 'a', version: '1' }, paths: {}, ...parts })
const swagger = (parts: object): string =>
  JSON.stringify({ swagger: '2.0', info: { title: 'a', version: '1' }, paths: {}, ...parts })
const operation = (parts: object): object => ({
  paths: { '/p': { get: { responses: { 200: { description: 'ok' } }, ...parts } } },
})
const components = { schemas: { Known: { type: 'string' } } }
const asyncapi2 = (message: object): string =>
  JSON.stringify({
    asyncapi: '2.6.0',
    info: { title: 'a', version: '1' },
    channels: { c: { publish: { message } } },
    components: { messages: { Known: { payload: { type: 'string' } } } },
  })
const mcp = (inputSchema: object): string =>
  JSON.stringify({ tools: [{ name: 'search', description: 'd', inputSchema }] })
const crd = (schema: object): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'pets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'pets', kind: 'Pet' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })

const FORMS: readonly (readonly [form: string, reference: string])[] = [
  ['a file that is not there', './missing.yaml#/X'],
  ['a file above', '../common/missing.json'],
  ['a remote address', 'https://schemas.example/missing.json#/X'],
  ['a dangling pointer', '#/components/schemas/Missing'],
  ['an anchor that nobody has', '#missing'],
]

const OPENAPI_PLACES: Readonly<Record<string, (reference: object) => object>> = {
  'a path item': (reference) => ({ paths: { '/p': reference } }),
  'a webhook': (reference) => ({ webhooks: { default: reference } }),
  'a parameter': (reference) => operation({ parameters: [reference] }),
  'a parameter of a path item': (reference) => ({ paths: { '/p': { parameters: [reference] } } }),
  'a request body': (reference) => operation({ requestBody: reference }),
  'the default response': (reference) => operation({ responses: { default: reference } }),
  'a header': (reference) => operation({ responses: { 200: { description: 'ok', headers: { 'x-rate': reference } } } }),
  'a media type schema': (reference) => operation({ requestBody: { content: { 'a/b': { schema: reference } } } }),
  'a callback': (reference) => operation({ callbacks: { example: reference } }),
  'a path item of a callback': (reference) => operation({ callbacks: { done: { '{$request.body#/url}': reference } } }),
  'a link': (reference) => operation({ responses: { 200: { description: 'ok', links: { next: reference } } } }),
  'a security scheme': (reference) => ({ components: { securitySchemes: { default: reference } } }),
  'a component that nothing uses': (reference) => ({ components: { schemas: { enum: reference } } }),
  'a property called default': (reference) => ({
    components: { schemas: { A: { properties: { default: reference } } } },
  }),
  'a property called x-more': (reference) => ({
    components: { schemas: { A: { properties: { 'x-more': reference } } } },
  }),
  'an alternative': (reference) => ({ components: { schemas: { A: { oneOf: [{ type: 'string' }, reference] } } } }),
  'an operation of a link': (reference) =>
    operation({
      responses: { 200: { description: 'ok', links: { next: { operationRef: Object.values(reference)[0] } } } },
    }),
  'the mapping of a discriminator': (reference) => ({
    components: {
      schemas: { A: { discriminator: { propertyName: 'kind', mapping: { a: Object.values(reference)[0] } } } },
    },
  }),
  'a dynamic reference': (reference) => ({
    components: { schemas: { A: { $dynamicRef: Object.values(reference)[0] } } },
  }),
}

const named = (text: (schema: object) => string) => (reference: string) => text({ $ref: reference })

function gaps(): readonly Gap[] {
  const of = (
    type: ArtifactType,
    name: string,
    text: (reference: string) => string,
    resolved: string,
  ): readonly Gap[] => FORMS.map(([form, reference]) => ({ name: `${name}: ${form}`, type, text, reference, resolved }))
  return [
    ...Object.entries(OPENAPI_PLACES).flatMap(([place, parts]) =>
      of(
        'openapi',
        `openapi, ${place}`,
        (reference) => {
          const built: { readonly components?: object } = parts({ $ref: reference })
          const schemas = 'schemas' in (built.components ?? {}) ? Reflect.get(built.components ?? {}, 'schemas') : {}
          return openapi({
            ...built,
            components: { ...built.components, schemas: { ...components.schemas, ...schemas } },
          })
        },
        '#/components/schemas/Known',
      ),
    ),
    ...of(
      'openapi',
      'swagger, a body',
      named((schema) =>
        swagger({
          ...operation({ parameters: [{ in: 'body', name: 'b', schema }] }),
          definitions: { Known: { type: 'string' } },
        }),
      ),
      '#/definitions/Known',
    ),
    ...of(
      'openapi',
      'swagger, a response',
      named((response) =>
        swagger({ ...operation({ responses: { default: response } }), responses: { Known: { description: 'ok' } } }),
      ),
      '#/responses/Known',
    ),
    ...of('asyncapi', 'asyncapi 2, a message', named(asyncapi2), '#/components/messages/Known'),
    ...of(
      'asyncapi',
      'asyncapi 2, a payload',
      named((payload) => asyncapi2({ payload })),
      '#/components/messages/Known/payload',
    ),
    ...of(
      'asyncapi',
      'asyncapi 2, a channel',
      named((channel) =>
        JSON.stringify({
          asyncapi: '2.6.0',
          info: { title: 'a', version: '1' },
          channels: { c: channel },
          components: { channels: { Known: {} } },
        }),
      ),
      '#/components/channels/Known',
    ),
    ...of(
      'json_schema',
      'json schema, a property',
      named((schema) => JSON.stringify({ properties: { a: schema }, $defs: { Known: { type: 'string' } } })),
      '#/$defs/Known',
    ),
    ...of(
      'json_schema',
      'json schema, a dynamic reference',
      (reference) =>
        JSON.stringify({ properties: { a: { $dynamicRef: reference } }, $defs: { Known: { type: 'string' } } }),
      '#/$defs/Known',
    ),
    ...of(
      'json_schema',
      'json schema with an address',
      named((schema) =>
        JSON.stringify({
          $id: 'https://example.org/root.json',
          properties: { a: schema },
          $defs: { Known: { type: 'string' } },
        }),
      ),
      'root.json#/$defs/Known',
    ),
    ...of(
      'mcp_manifest',
      'a tool',
      named((schema) => mcp({ type: 'object', properties: { a: schema }, $defs: { Known: { type: 'string' } } })),
      '#/$defs/Known',
    ),
    ...of(
      'mcp_manifest',
      'the result of a tool',
      named((schema) =>
        JSON.stringify({
          tools: [
            {
              name: 'search',
              description: 'd',
              inputSchema: { type: 'object' },
              outputSchema: { type: 'object', properties: { a: schema }, $defs: { Known: { type: 'string' } } },
            },
          ],
        }),
      ),
      '#/$defs/Known',
    ),
    ...of(
      'agent_tools',
      'the tool of an agent',
      named((schema) =>
        JSON.stringify([
          {
            type: 'function',
            function: {
              name: 'search',
              description: 'd',
              parameters: { type: 'object', properties: { a: schema }, $defs: { Known: { type: 'string' } } },
            },
          },
        ]),
      ),
      '#/$defs/Known',
    ),
    ...FORMS.map(([form, reference]): Gap => ({
      name: `a custom resource: ${form}`,
      type: 'k8s_crd',
      text: (given) => crd({ type: 'object', properties: { a: given === '' ? { type: 'string' } : { $ref: given } } }),
      reference,
      resolved: '',
    })),
    {
      name: 'protobuf, an import',
      type: 'protobuf',
      text: (path) => `syntax = "proto3"; import "${path}"; message A { string name = 1; }`,
      reference: 'common/money.proto',
      resolved: 'google/protobuf/empty.proto',
    },
    {
      name: 'protobuf, a type that nothing declares',
      type: 'protobuf',
      text: (type) => `syntax = "proto3"; message A { ${type} name = 1; }`,
      reference: 'Missing',
      resolved: 'string',
    },
    {
      name: 'graphql, a type that nothing defines',
      type: 'graphql',
      text: (type) => `type Query { a: ${type} }`,
      reference: 'Missing',
      resolved: 'String',
    },
  ]
}

function decideAbout(type: ArtifactType, { base, head }: Sides) {
  const compared = compare({ id: 'the-contract', type, before: base, after: head }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  const analysis = { id: 'the-contract', type, ok: true, comparison: compared.value } as const
  const verdict = decideOn([], { analyses: [analysis] })
  return { verdict, unresolved: compared.value.unresolved }
}

const withSchemas = (schemas: object): string => openapi({ components: { schemas } })

const twoTools = (properties: object): string =>
  JSON.stringify({
    tools: [
      { name: 'search', description: 'd', inputSchema: { type: 'object', properties } },
      { name: 'other', description: 'd', inputSchema: { type: 'object' } },
    ],
  })

suite('a reference that leads to nothing that was handed in', () => {
  for (const { name, type, text, reference, resolved } of gaps()) {
    test(`${name}: on either side or both, nothing is allowed and the reference is named`, () => {
      const whole = text(resolved)
      const open = text(reference)
      const control = decideAbout(type, { base: whole, head: whole })
      assert.deepEqual(control.unresolved, [], 'the same contract without the gap is complete')
      assert.equal(control.verdict.decision, 'ALLOW')
      for (const [base, head, sides] of [
        [open, open, ['base', 'head']],
        [open, whole, ['base']],
        [whole, open, ['head']],
        ['', open, ['head']],
        [open, '', ['base']],
      ] as const) {
        const { verdict, unresolved } = decideAbout(type, { base, head })
        const named = unresolved.filter((one) => one.reference === reference)
        assert.deepEqual([...new Set(named.map(({ side }) => side))].sort(), sides)
        assert.equal(verdict.analysis_complete, false)
        assert.equal(verdict.evidence_quality, 'LOW')
        assert.equal(verdict.decision, 'BLOCK')
        assert.notEqual(verdict.artifacts[0]?.decision, 'ALLOW')
        const reported = verdict.degraded_reasons.find(({ message }) => message.includes(JSON.stringify(reference)))
        assert.equal(reported?.code, 'REFERENCE_UNRESOLVED')
      }
    })
  }

  test('is none where data only looks like one', () => {
    const $ref = './missing.yaml'
    const text = openapi({
      ...operation({ responses: { 200: { description: 'ok', content: { 'a/b': { examples: { a: { $ref } } } } } } }),
      components: { schemas: { A: { default: { $ref }, enum: [{ $ref }], example: { $ref }, 'x-note': { $ref } } } },
    })
    assert.deepEqual(decideAbout('openapi', { base: text, head: text }).unresolved, [])
  })

  test('is at the same place whatever the order of members', () => {
    const gap = { $ref: './missing.yaml' }
    const [one, other] = [withSchemas({ A: gap, B: gap }), withSchemas({ B: gap, A: gap })]
    assert.deepEqual(
      decideAbout('openapi', { base: one, head: one }).unresolved,
      decideAbout('openapi', { base: other, head: other }).unresolved,
    )
  })

  test('behind a file that was handed in is found there, and again behind that one', () => {
    const before = openapi({ paths: { '/p': { $ref: 'a.json#/item' } } })
    const files = {
      'a.json': JSON.stringify({ item: { get: { responses: { 200: { $ref: '#/ok' } } } }, ok: { $ref: 'b.json' } }),
    }
    const compared = compare(
      { id: 'a', type: 'openapi', before, after: before },
      { files: { base: files, head: files } },
      sha256Hex,
    )
    assert.ok(compared.ok)
    assert.deepEqual(compared.value.unresolved, [
      { side: 'base', reference: 'b.json', location: 'a.json#/ok', tool: null },
      { side: 'head', reference: 'b.json', location: 'a.json#/ok', tool: null },
    ])
  })

  test('in the schema of one tool does not bear on the call of another one', () => {
    const text = twoTools({ a: { $ref: 'https://schemas.example/a.json' } })
    const compared = compare({ id: 'm', type: 'mcp_manifest', before: text, after: text }, {}, sha256Hex)
    assert.ok(compared.ok)
    assert.deepEqual(
      compared.value.unresolved.map(({ tool }) => tool),
      ['search', 'search'],
    )
    const analyses = [{ id: 'm', type: 'mcp_manifest', ok: true, comparison: compared.value } as const]
    assert.equal(decideOn([], { analyses, scope: { tool: 'other' } }).decision, 'ALLOW')
    assert.equal(decideOn([], { analyses, scope: { tool: 'search' } }).decision, 'BLOCK')
    assert.equal(decideOn([], { analyses }).decision, 'BLOCK')
  })
})
