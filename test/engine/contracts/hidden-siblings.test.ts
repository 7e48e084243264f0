/**
 * The siblings of a `$ref`: up to draft 7 it is hidden (core §8.3), addresses and drafts included, but for what references
 * lead to. Since 2019-09 it counts. Reference Objects of OpenAPI and AsyncAPI hide it, too.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }

interface Draft {
  readonly meta: string
  readonly id: '$id' | 'id'
  readonly definitions: 'definitions' | '$defs'
  readonly hidesSiblings: boolean
}

const DRAFTS: readonly Draft[] = [
  { meta: 'http://json-schema.org/draft-04/schema#', id: 'id', definitions: 'definitions', hidesSiblings: true },
  { meta: 'http://json-schema.org/draft-06/schema#', id: '$id', definitions: 'definitions', hidesSiblings: true },
  { meta: 'http://json-schema.org/draft-07/schema#', id: '$id', definitions: 'definitions', hidesSiblings: true },
  { meta: 'https://json-schema.org/draft/2019-09/schema', id: '$id', definitions: '$defs', hidesSiblings: false },
  { meta: 'https://json-schema.org/draft/2020-12/schema', id: '$id', definitions: '$defs', hidesSiblings: false },
]

const FORMATS: Readonly<Record<string, { readonly type: ArtifactType; readonly whole: (schema: Json) => unknown }>> = {
  'a schema': { type: 'json_schema', whole: (schema) => schema },
  'a tool': {
    type: 'mcp_manifest',
    whole: (schema) => ({ tools: [{ name: 't', inputSchema: { type: 'object', ...schema } }] }),
  },
}

/** A schema whose property `p` holds a reference to a text, and what else it holds. */
function referring({ meta, id, definitions }: Draft, beside: Json, more: Json = {}): Json {
  const { [definitions]: named, properties, ...rest } = more
  return {
    $schema: meta,
    [id]: 'http://example.com/root.json',
    type: 'object',
    required: ['p'],
    [definitions]: { A: TEXT, ...Object(named) },
    properties: { p: { $ref: `#/${definitions}/A`, ...beside }, ...Object(properties) },
    ...rest,
  }
}

type Sides = readonly [before: Json, after: Json]

/** The address that a reference starts from: another one leads to whole numbers. */
function byAddress(draft: Draft): Sides {
  const { id, definitions } = draft
  const named = {
    N: { [id]: 'http://example.com/a.json', ...TEXT },
    O: { [id]: 'http://example.com/other/a.json', ...WHOLE },
  }
  const by = (beside: Json): Json => referring(draft, { ...beside, $ref: 'a.json' }, { [definitions]: named })
  return [by({}), by({ [id]: 'http://example.com/other/' })]
}

function addedBeside(change: (draft: Draft) => Json): (draft: Draft) => Sides {
  return (draft) => [referring(draft, {}), referring(draft, change(draft))]
}

/** Texts that become whole numbers. */
function narrowed(write: (schema: Json) => Json): Sides {
  return [write(TEXT), write(WHOLE)]
}

/** A change, and its level where siblings are hidden, and where they count. */
const CHANGES: Readonly<Record<string, readonly [sides: (draft: Draft) => Sides, hidden: Worst, counted: Worst]>> = {
  'an address that is used': [byAddress, 'none', 'breaking'],
  'a keyword': [addedBeside(() => ({ minLength: 5 })), 'none', 'breaking'],
  'a type': [addedBeside(() => ({ type: 'integer' })), 'none', 'breaking'],
  'a condition': [addedBeside(() => ({ allOf: [{ minLength: 5 }] })), 'none', 'breaking'],
  'a draft with a keyword': [
    addedBeside(() => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', minLength: 5 })),
    'none',
    'breaking',
  ],
  'a definition that a reference leads to': [
    (draft) =>
      narrowed((one) =>
        referring(
          draft,
          { [draft.definitions]: { B: one } },
          { properties: { q: { $ref: `#/properties/p/${draft.definitions}/B` } } },
        ),
      ),
    'breaking',
    'breaking',
  ],
  'a definition that a reference leads to by its address': [
    (draft) =>
      narrowed((one) =>
        referring(
          draft,
          { [draft.definitions]: { B: { [draft.id]: 'http://example.com/b.json', ...one } } },
          { properties: { q: { $ref: 'b.json' } } },
        ),
      ),
    'breaking',
    'breaking',
  ],
  'an address that a schema elsewhere has': [
    (draft) =>
      narrowed((one) => {
        const named = { [draft.id]: 'http://example.com/c.json' }
        return referring(
          draft,
          { [draft.id]: 'http://example.com/c.json' },
          {
            properties: { q: { $ref: 'c.json' }, z: { ...named, ...one } },
          },
        )
      }),
    'breaking',
    'breaking',
  ],
}

for (const draft of DRAFTS) {
  suite(`beside a reference of ${draft.meta}`, () => {
    for (const [name, [sides, hidden, counted]] of Object.entries(CHANGES)) {
      for (const [format, { type, whole }] of Object.entries(FORMATS)) {
        test(`${name}, in ${format}`, () => {
          const [before, after] = sides(draft)
          assert.equal(worstOf(type, whole(before), whole(after)), draft.hidesSiblings ? hidden : counted)
        })
      }
    }
  })
}

const KEYWORDS: readonly Json[] = [
  { minLength: 5 },
  { type: 'integer' },
  { enum: ['a'] },
  { allOf: [{ minLength: 5 }] },
  { oneOf: [WHOLE] },
  { not: {} },
  { nullable: true, 'x-nullable': true },
  { readOnly: true },
  { writeOnly: true },
  { required: ['q'], properties: { q: TEXT } },
  { default: 'x', deprecated: true },
  { discriminator: { propertyName: 'k' } },
  { xml: { name: 'q' } },
  { 'x-sunset': '2020-01-01', 'x-stability-level': 'alpha' },
  { $id: 'http://example.com/other/', $schema: 'https://json-schema.org/draft/2020-12/schema' },
]

/** A reference, and what it holds that hides nothing. */
interface Contract {
  readonly type: ArtifactType
  readonly whole: (beside: Json) => unknown
  /** The siblings of the reference, which is to a schema if there is nothing. */
  readonly besides?: readonly Json[]
}

const DONE = { description: 'done' }
const INFO = { title: 't', version: '1' }

function openApi(operation: Json): unknown {
  return {
    openapi: '3.0.3',
    info: INFO,
    paths: { '/x': { post: { responses: { 200: DONE }, ...operation } } },
    components: {
      schemas: { A: TEXT },
      parameters: { P: { name: 'q', in: 'query', schema: TEXT } },
      requestBodies: { B: { content: { 'application/json': { schema: TEXT } } } },
      responses: { R: { ...DONE, content: { 'application/json': { schema: TEXT } } } },
      headers: { H: { schema: TEXT } },
    },
  }
}

function swagger(operation: Json): unknown {
  return {
    swagger: '2.0',
    info: INFO,
    paths: { '/x': { post: { responses: { 200: DONE }, ...operation } } },
    definitions: { A: TEXT },
    parameters: { P: { name: 'q', in: 'query', type: 'string' } },
    responses: { R: { ...DONE, schema: TEXT } },
  }
}

function asyncApi(operation: Json): unknown {
  return {
    asyncapi: '2.6.0',
    info: INFO,
    channels: { 'c/{p}': { parameters: { p: {} }, publish: operation } },
    components: { schemas: { A: TEXT }, messages: { M: { payload: TEXT } } },
  }
}

const PROPERTY = (reference: string, beside: Json): Json => ({
  type: 'object',
  required: ['p'],
  properties: { p: { $ref: reference, ...beside } },
})
const JSON_BODY = (schema: Json): Json => ({ content: { 'application/json': { schema } } })

const REFERENCES: Readonly<Record<string, Contract>> = {
  'a schema of OpenAPI 3.0': {
    type: 'openapi',
    whole: (beside) => {
      const body = JSON_BODY(PROPERTY('#/components/schemas/A', beside))
      return openApi({ requestBody: body, responses: { 200: { ...DONE, ...body } } })
    },
  },
  'a schema of Swagger 2.0': {
    type: 'openapi',
    whole: (beside) => {
      const schema = PROPERTY('#/definitions/A', beside)
      return swagger({ parameters: [{ name: 'b', in: 'body', schema }], responses: { 200: { ...DONE, schema } } })
    },
  },
  'a schema of AsyncAPI 2': {
    type: 'asyncapi',
    whole: (beside) => asyncApi({ message: { payload: PROPERTY('#/components/schemas/A', beside) } }),
  },
  'a parameter of OpenAPI 3.0': {
    type: 'openapi',
    whole: (beside) => openApi({ parameters: [{ $ref: '#/components/parameters/P', ...beside }] }),
    besides: [{ required: true }, { schema: WHOLE }, { name: 'z', in: 'header' }],
  },
  'a body of OpenAPI 3.0': {
    type: 'openapi',
    whole: (beside) => openApi({ requestBody: { $ref: '#/components/requestBodies/B', ...beside } }),
    besides: [{ required: true }, JSON_BODY(WHOLE)],
  },
  'a response of OpenAPI 3.0': {
    type: 'openapi',
    whole: (beside) => openApi({ responses: { 200: { $ref: '#/components/responses/R', ...beside } } }),
    besides: [JSON_BODY(WHOLE), { headers: { Z: { required: true, schema: TEXT } } }],
  },
  'a header of OpenAPI 3.0': {
    type: 'openapi',
    whole: (beside) =>
      openApi({ responses: { 200: { ...DONE, headers: { h: { $ref: '#/components/headers/H', ...beside } } } } }),
    besides: [{ required: true }, { schema: WHOLE }],
  },
  'a parameter of Swagger 2.0': {
    type: 'openapi',
    whole: (beside) => swagger({ parameters: [{ $ref: '#/parameters/P', ...beside }] }),
    besides: [{ required: true }, { type: 'integer' }],
  },
  'a response of Swagger 2.0': {
    type: 'openapi',
    whole: (beside) => swagger({ responses: { 200: { $ref: '#/responses/R', ...beside } } }),
    besides: [{ schema: WHOLE }],
  },
  'a message of AsyncAPI 2': {
    type: 'asyncapi',
    whole: (beside) => asyncApi({ message: { $ref: '#/components/messages/M', ...beside } }),
    besides: [{ payload: WHOLE }, { headers: { type: 'object', required: ['q'] } }],
  },
}

suite('beside a reference of another format', () => {
  for (const [name, { type, whole, besides = KEYWORDS }] of Object.entries(REFERENCES)) {
    test(name, () => {
      for (const one of besides) {
        const levels = [worstOf(type, whole({}), whole(one)), worstOf(type, whole(one), whole({}))]
        assert.deepEqual(levels, ['none', 'none'], JSON.stringify(one))
      }
    })
  }
})
