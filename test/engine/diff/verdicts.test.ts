/** Small changes and all their findings. Each was once wrong or missing, as a comparison with the reference showed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>
type Case = readonly [what: string, before: Json, after: Json, rules: readonly string[]]

const DONE = { '200': { description: 'done' } }
const TEXT = { type: 'string' }
const CAT = { type: 'object', properties: { name: TEXT } }
const ref = { $ref: '#/components/schemas/Cat' }

function api(operation: Json, openapi = '3.1.0'): Json {
  const paths = { '/things': { post: { responses: DONE, ...operation } } }
  return { openapi, info: { title: 't', version: '1' }, components: { schemas: { Cat: CAT } }, paths }
}

function taking(schema: Json, openapi?: string): Json {
  return api({ requestBody: { content: { 'application/json': { schema } } } }, openapi)
}

function holding(schema: Json, more: Json = {}): Json {
  return taking({ type: 'object', properties: { held: schema }, ...more })
}

function reading(schema: Json, more: Json = {}): Json {
  const content = { 'application/json': { schema: { type: 'object', properties: { held: schema }, ...more } } }
  return api({ responses: { 200: { description: 'done', content } } })
}

function accepting(...names: readonly string[]): Json {
  return api({ requestBody: { content: Object.fromEntries(names.map((name) => [name, {}])) } })
}

function answering(...names: readonly string[]): Json {
  return api({
    responses: { 200: { description: 'done', content: Object.fromEntries(names.map((name) => [name, {}])) } },
  })
}

function queried(parameter: Json): Json {
  return api({ parameters: [{ name: 'q', in: 'query', ...parameter }] })
}

function streamed(media: Json, name = 'application/jsonl'): Json {
  return api({ responses: { 200: { description: 'done', content: { [name]: media } } } }, '3.2.0')
}

function reached(own: Json): Json {
  const components = { pathItems: { Things: { put: { responses: DONE } } } }
  return { ...api({}), components, paths: { '/things': { $ref: '#/components/pathItems/Things', ...own } } }
}

function copied(method: string): Json {
  return {
    ...api({}),
    openapi: '3.2.0',
    paths: { '/things': { additionalOperations: { [method]: { responses: DONE } } } },
  }
}

function called(callbacks: Json): Json {
  const call = (inner: Json): Json => ({ '{$request.query.url}': { post: { responses: DONE, callbacks: inner } } })
  return api({ callbacks: { done: call(callbacks) } })
}

function secured(name: string): Json {
  const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
  return { ...api({}, '3.2.0'), components, security: [{ [name]: [] }] }
}

const USAGE: readonly Case[] = [
  [
    'a wrapper that deprecates what it holds',
    holding(ref),
    holding({ allOf: [ref], deprecated: true }),
    ['request-property-deprecated'],
  ],
  [
    'a wrapper that deprecated what it held',
    holding({ allOf: [ref], deprecated: true }),
    holding(ref),
    ['request-property-reactivated'],
  ],
  [
    'a default beside a reference',
    holding(ref),
    holding({ ...ref, default: {} }),
    ['request-property-default-value-added'],
  ],
  [
    'a wrapper that makes its property read-only',
    holding(ref),
    holding({ allOf: [ref], readOnly: true }),
    ['request-optional-property-became-read-only'],
  ],
  [
    'what a wrapper says instead of the schema inside',
    holding({ allOf: [CAT], readOnly: true }),
    holding({ ...CAT, readOnly: true }),
    [],
  ],
  [
    'a property that was required while it was read-only',
    holding({ ...TEXT, readOnly: true }, { required: ['held'] }),
    holding(TEXT),
    ['request-property-became-optional', 'request-required-property-became-not-read-only'],
  ],
]

const READERS: readonly Case[] = [
  [
    'a property that readers could count on, and that is only written from now on',
    reading(TEXT, { required: ['held'] }),
    reading({ ...TEXT, writeOnly: true }),
    ['response-property-became-optional', 'response-required-property-became-write-only'],
  ],
  [
    'a required property that readers never had, and may have from now on',
    reading({ ...TEXT, writeOnly: true }, { required: ['held'] }),
    reading(TEXT),
    ['response-required-property-became-not-write-only', 'response-write-only-property-became-optional'],
  ],
]

const NULLABLE_CAT = { ...CAT, nullable: true }

const VALUES: readonly Case[] = [
  [
    'null that goes where one type becomes several',
    taking({ type: 'boolean', nullable: true }, '3.0.3'),
    taking({ oneOf: [{ type: 'boolean' }, { type: 'integer' }] }, '3.0.3'),
    ['request-body-became-not-nullable', 'request-body-list-of-types-widened'],
  ],
  [
    'null that goes from around alternatives',
    taking({ nullable: true, oneOf: [TEXT, { type: 'integer' }] }, '3.0.3'),
    taking({ oneOf: [TEXT, { type: 'integer' }, { type: 'boolean' }] }, '3.0.3'),
    ['request-body-became-not-nullable', 'request-body-list-of-types-widened'],
  ],
  [
    'a format that comes where one type becomes several',
    taking({ type: 'integer' }),
    taking({ oneOf: [{ type: 'integer', format: 'int32' }, TEXT] }),
    ['request-body-list-of-types-widened', 'request-body-type-changed'],
  ],
  [
    'null that a further condition on the type refuses',
    taking(NULLABLE_CAT, '3.0.3'),
    taking({ allOf: [NULLABLE_CAT, { type: 'object', properties: { more: TEXT } }] }, '3.0.3'),
    ['new-optional-request-property', 'request-body-became-not-nullable'],
  ],
  [
    'null that a further condition without a type leaves alone',
    taking(NULLABLE_CAT, '3.0.3'),
    taking({ allOf: [NULLABLE_CAT, { properties: { more: TEXT } }] }, '3.0.3'),
    ['new-optional-request-property'],
  ],
  [
    'null that only one of several conditions on the type would admit',
    taking(CAT, '3.0.3'),
    taking({ allOf: [NULLABLE_CAT, CAT] }, '3.0.3'),
    [],
  ],
  [
    'items that were anything',
    taking({ type: 'array', items: {} }),
    taking({ type: 'array', items: TEXT }),
    ['request-property-type-changed'],
  ],
  [
    'a bound that no longer excludes its own value',
    taking({ type: 'number', maximum: 9, exclusiveMaximum: true }, '3.0.3'),
    taking({ type: 'number', maximum: 9 }, '3.0.3'),
    ['request-body-exclusive-max-unset'],
  ],
  [
    'a bound that excludes its own value from now on',
    taking({ type: 'number', minimum: 1 }, '3.0.3'),
    taking({ type: 'number', minimum: 1, exclusiveMinimum: true }, '3.0.3'),
    ['request-body-exclusive-min-set'],
  ],
  [
    'several values of a discriminator, told at once',
    taking({ oneOf: [CAT], discriminator: { propertyName: 'k' } }),
    taking({ oneOf: [CAT], discriminator: { propertyName: 'k', mapping: { a: 'Cat', b: 'Cat' } } }),
    ['request-body-discriminator-mapping-added'],
  ],
]

const PARAMETERS: readonly Case[] = [
  [
    'a number in a query that may be any text',
    queried({ schema: { type: 'integer' } }),
    queried({ schema: TEXT }),
    ['request-parameter-type-generalized'],
  ],
  [
    'a number in the JSON of a parameter that becomes a text',
    queried({ content: { 'application/json': { schema: { type: 'integer' } } } }),
    queried({ content: { 'application/json': { schema: TEXT } } }),
    ['request-parameter-type-changed'],
  ],
  [
    'a plain value that becomes JSON, whose schemas have nothing to be compared by',
    queried({ schema: TEXT }),
    queried({ content: { 'application/json': { schema: { type: 'object' } } } }),
    ['request-parameter-content-type-changed'],
  ],
  [
    'a default that goes as the parameter becomes required',
    queried({ schema: { ...TEXT, default: 'a' } }),
    queried({ required: true, schema: TEXT }),
    ['request-parameter-became-required'],
  ],
]

const MEDIA_TYPES: readonly Case[] = [
  [
    'a range that a request may be no more',
    accepting('application/*'),
    accepting('application/json'),
    ['request-body-media-type-removed'],
  ],
  [
    'a range instead of one type in a request',
    accepting('application/json'),
    accepting('application/*'),
    ['request-body-media-type-added'],
  ],
  [
    'another version in the name of a request',
    accepting('application/json; version=1'),
    accepting('application/json; version=2'),
    ['request-body-media-type-added', 'request-body-media-type-removed'],
  ],
  ['UTF-8, named in a request', accepting('application/json'), accepting('application/json; charset=utf-8'), []],
  [
    'UTF-8, named in an answer',
    answering('application/json'),
    answering('application/json; charset=UTF-8'),
    ['response-media-type-name-changed'],
  ],
  ['spaces in a name', answering('application/json; charset=utf-8'), answering('application/json;charset=utf-8'), []],
  [
    'one of two types of an answer that becomes more special',
    answering('application/json', 'text/csv'),
    answering('application/problem+json', 'text/csv'),
    ['response-media-type-name-specialized'],
  ],
]

const LANGUAGE: readonly Case[] = [
  [
    'a method of its own in other letters (3.2)',
    copied('Copy'),
    copied('COPY'),
    ['api-removed-without-deprecation', 'endpoint-added'],
  ],
  [
    'a callback of a callback',
    called({ undone: { '{$request.body#/url}': { post: { responses: DONE } } } }),
    called({}),
    ['callback-removed'],
  ],
  [
    'a security scheme by its address (3.2)',
    secured('key'),
    secured('#/components/securitySchemes/key'),
    ['api-global-security-added', 'api-global-security-removed'],
  ],
  [
    'the items of a sequence of JSON (3.2)',
    streamed({ itemSchema: TEXT }),
    streamed({ itemSchema: { type: 'integer' } }),
    ['response-body-type-changed'],
  ],
  [
    'items of a sequence that nothing is said of any more (3.2)',
    streamed({ itemSchema: TEXT }),
    streamed({}),
    ['response-body-media-type-schema-removed'],
  ],
  [
    'how each part is written (3.2)',
    streamed({ itemSchema: {}, itemEncoding: { contentType: 'image/png' } }, 'multipart/mixed'),
    streamed({ itemSchema: {}, itemEncoding: { contentType: 'image/jpeg' } }, 'multipart/mixed'),
    ['response-body-encoding-changed'],
  ],
  [
    'an encoding of parts where nothing has parts (3.2)',
    streamed({ itemSchema: {}, itemEncoding: { contentType: 'image/png' } }),
    streamed({ itemSchema: {}, itemEncoding: { contentType: 'image/jpeg' } }),
    [],
  ],
  [
    'where all other values of a discriminator lead (3.2)',
    taking({ oneOf: [CAT], discriminator: { propertyName: 'k', defaultMapping: 'Cat' } }, '3.2.0'),
    taking({ oneOf: [CAT], discriminator: { propertyName: 'k', defaultMapping: 'Dog' } }, '3.2.0'),
    ['request-body-discriminator-mapping-changed'],
  ],
  [
    'an operation that stood beside the reference of its path',
    reached({ get: { responses: DONE } }),
    reached({}),
    ['api-removed-without-deprecation'],
  ],
  ['an operation that a path has by its reference', reached({}), reached({ summary: 'things' }), []],
]

const LIFE: readonly Case[] = [
  [
    'the end of an operation that was deprecated without a sunset day',
    api({ deprecated: true }),
    { ...api({}), paths: {} },
    ['api-path-removed-with-deprecation'],
  ],
  [
    'a sunset day that is moved to no day',
    api({ deprecated: true, 'x-sunset': '2999-01-01' }),
    api({ deprecated: true, 'x-sunset': 'soon' }),
    ['api-path-sunset-parse'],
  ],
  [
    'an operation that was not stable enough to be held to anything',
    api({ 'x-stability-level': 'alpha' }),
    api({}),
    [],
  ],
  [
    'an operation that is no longer stable, and what becomes of it then',
    api({}),
    api({ 'x-stability-level': 'alpha', parameters: [{ name: 'q', in: 'query', required: true, schema: TEXT }] }),
    ['api-stability-decreased'],
  ],
  [
    'a parameter that was deprecated with a day that is past',
    queried({ deprecated: true, 'x-sunset': '2001-01-01', schema: TEXT }),
    api({}),
    [],
  ],
  [
    'an operation that is no longer stable',
    api({}),
    api({ 'x-stability-level': 'alpha' }),
    ['api-stability-decreased'],
  ],
]

const OPTIONS = { today: '2026-11-21' }

function rulesOf(before: Json, after: Json): readonly string[] {
  const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), OPTIONS, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule }) => rule).sort()
}

for (const [area, cases] of Object.entries({ USAGE, READERS, VALUES, PARAMETERS, MEDIA_TYPES, LANGUAGE, LIFE })) {
  suite(area.toLowerCase().replace('_', ' '), () => {
    for (const [what, before, after, rules] of cases) test(what, () => assert.deepEqual(rulesOf(before, after), rules))
  })
}
