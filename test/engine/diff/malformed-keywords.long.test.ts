/** Keywords of a wrong JSON type: a change in them is never silent, in every format and place that holds a schema. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/index.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** Two values of each JSON type. As items and members they are of no use to any keyword. */
const VALUES = { text: ['x', 'y'], number: [5, 6], flag: [true, false], list: [[1], [2]], object: [{ a: 1 }, { a: 2 }] }

type JsonType = keyof typeof VALUES

/** Keywords, and the types of which the values above are no mistake. */
const KEYWORDS: Readonly<Record<string, readonly JsonType[]>> = {
  ...keywords(['number'], 'multipleOf', 'maximum', 'minimum', 'maxLength', 'minLength', 'maxItems', 'minItems'),
  ...keywords(['number'], 'maxProperties', 'minProperties', 'maxContains', 'minContains'),
  ...keywords(['number', 'flag'], 'exclusiveMaximum', 'exclusiveMinimum'),
  ...keywords(['text'], 'pattern', 'format', 'contentEncoding', 'contentMediaType', '$ref', '$dynamicRef'),
  ...keywords(['flag'], 'uniqueItems', 'readOnly', 'writeOnly', 'deprecated', 'nullable'),
  ...keywords(['list'], 'enum'),
  ...keywords([], 'type', 'required', 'properties', 'patternProperties', 'dependentSchemas', 'dependentRequired'),
  ...keywords([], 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...keywords(['flag', 'object'], 'items', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'),
  ...keywords(['flag', 'object'], 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'contentSchema'),
  ...keywords(['text', 'object'], 'discriminator'),
  ...keywords(['object'], 'xml'),
}

function keywords(types: readonly JsonType[], ...names: readonly string[]): typeof KEYWORDS {
  return Object.fromEntries(names.map((name) => [name, types]))
}

interface Place {
  readonly name: string
  readonly type: ArtifactType
  readonly write: (schema: Json) => unknown
  /** Keywords that the place knows; absent: all. */
  readonly knows?: RegExp
  /** Nothing refers to the schema, so that its changes are of no consequence. */
  readonly isUnused?: true
}

const INFO = { title: 'shop', version: '1' }
const json = (schema: Json): Json => ({ content: { 'application/json': { schema } } })

function openapi(name: string, operation: (schema: Json) => Json, openapi = '3.1.0'): Place {
  const write = (schema: Json): Json => ({
    openapi,
    info: INFO,
    paths: { '/x': { post: { responses: { 200: { description: 'ok' } }, ...operation(schema) } } },
  })
  return { name: `OpenAPI ${openapi} ${name}`, type: 'openapi', write }
}

const PLAIN = /^(?:(?:max|min)[ILP]|maximum|minimum|exclusive|multipleOf|pattern$|format|unique|type|enum|\$ref)/

function swagger(name: string, operation: (schema: Json) => Json, knows?: RegExp): Place {
  const write = (schema: Json): Json => ({
    swagger: '2.0',
    info: INFO,
    paths: { '/x': { post: { responses: { 200: { description: 'ok' } }, ...operation(schema) } } },
  })
  return { name: `Swagger ${name}`, type: 'openapi', write, ...(knows && { knows }) }
}

function asyncapi(name: string, write: (schema: Json) => Json): Place {
  return { name: `AsyncAPI ${name}`, type: 'asyncapi', write: (schema) => ({ info: INFO, ...write(schema) }) }
}

const asyncapi3 = (message: Json): Json => ({
  asyncapi: '3.0.0',
  channels: { out: { address: 'out', messages: { note: message } } },
  operations: { act: { action: 'send', channel: { $ref: '#/channels/out' } } },
})

const tool = (members: Json): Json => ({ tools: [{ name: 'act', inputSchema: { type: 'object' }, ...members }] })
const under = (value: Json): Json => ({ type: 'object', properties: { value } })

function agent(name: string, write: (schema: Json) => unknown, knows?: RegExp): Place {
  return {
    name: `tools of ${name}`,
    type: 'agent_tools',
    write: (schema) => write(under(schema)),
    ...(knows && { knows }),
  }
}

const crd = (value: Json): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.shop.example' },
  spec: {
    group: 'shop.example',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: under(value) } }],
  },
})

/** Keywords that a draft introduced later are ignored in it. */
const DRAFT_7 = /^(?!(?:prefixItems|dependent|unevaluated|(?:max|min)Contains|contentSchema|\$dynamicRef))/

const PLACES: readonly Place[] = [
  openapi('request body', (schema) => ({ requestBody: json(schema) })),
  openapi('response body', (schema) => ({ responses: { 200: { description: 'ok', ...json(schema) } } })),
  openapi('property', (schema) => ({ requestBody: json(under(schema)) })),
  openapi('item of allOf', (schema) => ({ requestBody: json({ allOf: [schema, { title: 'b' }] }) })),
  openapi('alternative', (schema) => ({ requestBody: json({ oneOf: [schema, { title: 'b', type: 'null' }] }) })),
  openapi('parameter', (schema) => ({ parameters: [{ in: 'query', name: 'q', schema }] })),
  openapi('parameter with content', (schema) => ({ parameters: [{ in: 'query', name: 'q', ...json(schema) }] })),
  openapi('header', (schema) => ({ responses: { 200: { description: 'ok', headers: { 'X-Rate': { schema } } } } })),
  openapi('callback', (schema) => ({ callbacks: { done: { '{$url}': { post: { requestBody: json(schema) } } } } })),
  openapi('request body', (schema) => ({ requestBody: json(schema) }), '3.0.3'),
  openapi('response body', (schema) => ({ responses: { 200: { description: 'ok', ...json(schema) } } }), '3.0.3'),
  swagger('body', (schema) => ({ parameters: [{ in: 'body', name: 'b', schema }] })),
  swagger('response', (schema) => ({ responses: { 200: { description: 'ok', schema } } })),
  swagger('parameter', (schema) => ({ parameters: [{ in: 'query', name: 'q', ...schema }] }), PLAIN),
  swagger('header', (schema) => ({ responses: { 200: { description: 'ok', headers: { 'X-Rate': schema } } } }), PLAIN),
  {
    name: 'OpenAPI component',
    type: 'openapi',
    isUnused: true,
    write: (schema) => ({ openapi: '3.1.0', info: INFO, paths: {}, components: { schemas: { Thing: schema } } }),
  },
  asyncapi('2 payload', (payload) => ({
    asyncapi: '2.6.0',
    channels: { out: { subscribe: { message: { payload } } } },
  })),
  asyncapi('2 property of a payload', (schema) => ({
    asyncapi: '2.6.0',
    channels: { out: { publish: { message: { oneOf: [{ name: 'note', payload: under(schema) }] } } } },
  })),
  asyncapi('2 parameter', (schema) => ({
    asyncapi: '2.6.0',
    channels: { 'out/{id}': { parameters: { id: { schema } } } },
  })),
  asyncapi('3 payload', (payload) => asyncapi3({ payload })),
  asyncapi('3 headers', (schema) => asyncapi3({ headers: under(schema) })),
  asyncapi('3 payload with its language', (schema) =>
    asyncapi3({ payload: { schemaFormat: 'application/vnd.aai.asyncapi+json;version=3.0.0', schema: under(schema) } }),
  ),
  asyncapi('3 headers of a trait', (schema) => asyncapi3({ traits: [{ headers: under(schema) }] })),
  asyncapi('3 query of a binding', (schema) => ({
    asyncapi: '3.0.0',
    channels: { out: { address: 'out', bindings: { ws: { query: under(schema) } } } },
  })),
  { name: 'MCP input', type: 'mcp_manifest', write: (schema) => tool({ inputSchema: schema }) },
  { name: 'MCP input property', type: 'mcp_manifest', write: (schema) => tool({ inputSchema: under(schema) }) },
  { name: 'MCP output', type: 'mcp_manifest', write: (schema) => tool({ outputSchema: schema }) },
  {
    name: 'MCP definition',
    type: 'mcp_manifest',
    isUnused: true,
    write: (schema) => tool({ inputSchema: { type: 'object', $defs: { Thing: schema } } }),
  },
  agent('OpenAI chat completions', (parameters) => [{ type: 'function', function: { name: 'act', parameters } }]),
  agent('OpenAI responses', (parameters) => [{ type: 'function', name: 'act', parameters }]),
  agent('Anthropic', (schema) => [{ name: 'act', input_schema: schema }]),
  agent('Gemini', (parameters) => [{ functionDeclarations: [{ name: 'act', parameters }] }]),
  agent('Bedrock', (schema) => [{ toolSpec: { name: 'act', inputSchema: { json: schema } } }]),
  agent('LangChain', (schema) => [{ name: 'act', args_schema: schema }]),
  agent('the Vercel AI SDK', (inputSchema) => ({ act: { inputSchema } })),
  {
    name: 'JSON Schema',
    type: 'json_schema',
    write: (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  },
  {
    name: 'JSON Schema draft 7',
    type: 'json_schema',
    write: (schema) => ({ $schema: 'http://json-schema.org/draft-07/schema#', ...under(schema) }),
    knows: DRAFT_7,
  },
  {
    name: 'definition of a JSON Schema',
    type: 'json_schema',
    write: (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { Thing: schema } }),
  },
  { name: 'custom resource', type: 'k8s_crd', write: crd },
]

type Outcome = 'silent' | 'reported' | 'refused'

function outcomeOf({ type, write }: Place, before: Json, after: Json): Outcome {
  const [base, head] = [before, after].map((schema) => JSON.stringify(write(schema)))
  const result = compare({ id: 'x', type, before: base ?? '', after: head ?? '' }, {}, sha256Hex)
  if (!result.ok) return 'refused'
  return result.value.groups.some(({ level }) => level !== 'info') ? 'reported' : 'silent'
}

const TYPES: readonly JsonType[] = ['text', 'number', 'flag', 'list', 'object']

for (const place of PLACES)
  test(`${place.name}: a change of a keyword of a wrong type is reported or refused`, () => {
    for (const [keyword, right] of Object.entries(KEYWORDS)) {
      if (place.knows?.test(keyword) === false) continue
      for (const type of TYPES.filter((one) => !right.includes(one))) {
        const [one, other] = VALUES[type].map((value) => ({ title: 'a', [keyword]: value }))
        assert.ok(one !== undefined && other !== undefined)
        const sides = { becomes: [{ title: 'a' }, one], ceases: [one, { title: 'a' }], differs: [one, other] } as const
        for (const [what, [before, after]] of Object.entries(sides))
          assert.notEqual(outcomeOf(place, before, after), 'silent', `${keyword} of the type ${type} that ${what}`)
        assert.notEqual(outcomeOf(place, one, one), 'reported', `${keyword} of the type ${type} on both sides`)
      }
    }
  })

/** Changes that narrow what is admitted: of strings, of objects, of lists. */
const NARROWED: readonly (readonly [before: Json, after: Json])[] = [
  [{ maxLength: 9 }, { maxLength: 5 }],
  [{ enum: ['a', 'b'] }, { enum: ['a'] }],
  [{ required: ['a'] }, { required: ['a', 'b'] }],
  [{ minItems: 1 }, { minItems: 2 }],
]

function changesBeside(place: Place, malformed: Json): readonly Outcome[] {
  const names = Object.keys(malformed)
  const changes = NARROWED.filter(([before]) => names.every((name) => before[name] === undefined))
  return changes.flatMap(([before, after]): Outcome[] => {
    if (!Object.keys(before).every((name) => place.knows?.test(name) ?? true)) return []
    const sides = [
      { ...before, ...malformed },
      { ...after, ...malformed },
    ] as const
    const forth = outcomeOf(place, ...sides)
    return [forth === 'silent' ? outcomeOf(place, sides[1], sides[0]) : forth]
  })
}

/** Keywords that refuse nothing alone: not to keep to them is to refuse everything. */
const IDLE =
  /^(?:content|readOnly|writeOnly|deprecated|nullable|discriminator|xml|maxContains|minContains|then|else|if)/

for (const place of PLACES.filter(({ isUnused }) => isUnused !== true))
  test(`${place.name}: what is malformed and equal on both sides hides no change beside it`, () => {
    for (const [keyword, right] of Object.entries(KEYWORDS)) {
      if (place.knows?.test(keyword) === false) continue
      for (const type of TYPES.filter((one) => !right.includes(one))) {
        const malformed = { [keyword]: VALUES[type][0] }
        assert.ok(!changesBeside(place, malformed).includes('silent'), `beside ${JSON.stringify(malformed)}`)
        if (IDLE.test(keyword) || place.knows?.test('not') === false) continue
        // A keyword is about values of one type, and its negation refuses all others.
        const outcomes = changesBeside(place, { not: malformed })
        assert.ok(
          outcomes.some((one) => one !== 'silent'),
          `beside a negation of ${JSON.stringify(malformed)}`,
        )
      }
    }
  })
