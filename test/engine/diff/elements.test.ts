/**
 * Every element of an OpenAPI operation that is no schema, with each action, in both directions: what it is at the worst.
 * What refuses a caller or takes something from a reader is never information.
 * It is one table, so that an element which is missing can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { LEVELS, type Level } from '../../../engine/internal.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>
type Worst = Level | 'none'

/** An element on one side and on the other one, and the worst level forth and back. */
type Row = readonly [what: string, one: Json, other: Json, forth: Worst, back: Worst]

const DONE = { 200: { description: 'ok' } }
const TEXT = { type: 'string' }
const LIST = { type: 'array', items: TEXT }
const ONE = { type: 'object', required: ['a'], properties: { a: TEXT } }
const NONE = { type: 'object', properties: { a: TEXT } }
const CHANGED = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }

const call = (parts: Json): Json => ({ responses: DONE, ...parts })
const parameters = (...list: readonly Json[]): Json => call({ parameters: list })
const query = (more: Json): Json => parameters({ name: 'q', in: 'query', schema: TEXT, ...more })
const taking = (content: Json, more: Json = {}): Json => call({ requestBody: { content, ...more } })
const answering = (content: Json): Json => call({ responses: { 200: { description: 'ok', content } } })
const statuses = (...list: readonly string[]): Json =>
  call({ responses: Object.fromEntries(list.map((status) => [status, { description: 'ok' }])) })
const replies = (list: Readonly<Record<string, Json>>): Json =>
  call({
    responses: Object.fromEntries(
      Object.entries(list).map(([status, schema]) => [
        status,
        { description: 'ok', content: { 'application/json': { schema } } },
      ]),
    ),
  })
const heading = (header: Json | null): Json =>
  call({ responses: { 200: { description: 'ok', ...(header === null ? {} : { headers: { 'X-H': header } }) } } })
const linked = (links: Json): Json => call({ responses: { 200: { description: 'ok', links } } })
const form = (encoding: Json): Json =>
  taking({ 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { a: LIST } }, encoding } })

/** Of what callers send. */
const REQUEST: readonly Row[] = [
  ['an optional parameter', call({}), query({}), 'info', 'dangerous'],
  ['a required parameter', call({}), query({ required: true }), 'breaking', 'dangerous'],
  ['requiredness of a parameter', query({}), query({ required: true }), 'breaking', 'info'],
  ['an empty value of a parameter', query({ allowEmptyValue: true }), query({}), 'breaking', 'info'],
  ['the schema of a parameter', query({}), query({ schema: { type: 'integer' } }), 'breaking', 'info'],
  [
    'the first schema of a parameter',
    query({ schema: undefined }),
    query({ schema: { type: 'integer' } }),
    'breaking',
    'info',
  ],
  [
    'the style of a parameter',
    query({ schema: LIST }),
    query({ schema: LIST, style: 'pipeDelimited' }),
    'breaking',
    'breaking',
  ],
  ['explode of a parameter', query({ schema: LIST }), query({ schema: LIST, explode: false }), 'breaking', 'breaking'],
  [
    'the media type of a parameter',
    query({}),
    query({ schema: undefined, content: { 'application/json': { schema: TEXT } } }),
    'breaking',
    'breaking',
  ],
  ['the place of a parameter', query({}), query({ in: 'header' }), 'dangerous', 'dangerous'],
  ['the name of a parameter', query({}), query({ name: 'p' }), 'dangerous', 'dangerous'],
  [
    'a header parameter in other letters',
    query({ in: 'header', name: 'X-A' }),
    query({ in: 'header', name: 'x-a' }),
    'none',
    'none',
  ],
  ['an optional body', call({}), taking({ 'text/plain': {} }), 'info', 'breaking'],
  ['a required body', call({}), taking({ 'text/plain': {} }, { required: true }), 'breaking', 'breaking'],
  [
    'requiredness of the body',
    taking({ 'text/plain': {} }),
    taking({ 'text/plain': {} }, { required: true }),
    'breaking',
    'info',
  ],
  [
    'a media type of the body',
    taking({ 'text/plain': {} }),
    taking({ 'text/plain': {}, 'text/csv': {} }),
    'info',
    'breaking',
  ],
  ['another media type of the body', taking({ 'text/plain': {} }), taking({ 'text/csv': {} }), 'breaking', 'breaking'],
  ['a range of media types of the body', taking({ 'text/plain': {} }), taking({ 'text/*': {} }), 'info', 'breaking'],
  ['any media type of the body', taking({ 'text/*': {} }), taking({ '*/*': {} }), 'info', 'breaking'],
  [
    'a parameter of a media type of the body',
    taking({ 'text/plain': {} }),
    taking({ 'text/plain; version=1': {} }),
    'breaking',
    'info',
  ],
  [
    'UTF-8 of a media type of the body',
    taking({ 'text/plain': {} }),
    taking({ 'text/plain; charset=utf-8': {} }),
    'none',
    'none',
  ],
  [
    'UTF-8 instead of another charset of the body',
    taking({ 'text/plain; charset=latin1': {} }),
    taking({ 'text/plain; charset=utf-8': {} }),
    'breaking',
    'breaking',
  ],
  [
    'another charset of the body',
    taking({ 'text/plain': {} }),
    taking({ 'text/plain; charset=latin1': {} }),
    'breaking',
    'info',
  ],
  [
    'a suffix that a range does not admit',
    taking({ 'application/*+json': {} }),
    taking({ 'application/*+xml': {} }),
    'breaking',
    'breaking',
  ],
  [
    'a type with a suffix beside the type of that suffix',
    taking({ 'application/json': { schema: ONE } }),
    taking({ 'application/json': { schema: ONE }, 'application/json-patch+json': { schema: LIST } }),
    'info',
    'breaking',
  ],
  [
    'the type of a suffix instead of one with it',
    taking({ 'application/vnd.a+json': {} }),
    taking({ 'application/json': {} }),
    'breaking',
    'breaking',
  ],
  [
    'the schema behind a range',
    taking({ 'application/json': { schema: NONE }, '*/*': { schema: NONE } }),
    taking({ '*/*': { schema: ONE } }),
    'breaking',
    'info',
  ],
  [
    'a media type of its own beside a range',
    taking({ '*/*': { schema: NONE } }),
    taking({ '*/*': { schema: NONE }, 'application/json': { schema: ONE } }),
    'breaking',
    'info',
  ],
  [
    'the first schema of a media type',
    taking({ 'application/json': {} }),
    taking({ 'application/json': { schema: ONE } }),
    'breaking',
    'info',
  ],
  ['the encoding of a field', form({}), form({ a: { explode: false } }), 'breaking', 'breaking'],
]

/** Of what readers receive. */
const RESPONSE: readonly Row[] = [
  ['a success status', statuses('200'), statuses('200', '202'), 'info', 'breaking'],
  ['another success status', statuses('200'), statuses('201'), 'breaking', 'breaking'],
  ['another error status', statuses('200'), statuses('200', '404'), 'info', 'info'],
  ['a range of statuses', statuses('200'), statuses('2XX'), 'breaking', 'info'],
  ['the default', statuses('200'), statuses('200', 'default'), 'info', 'dangerous'],
  [
    'what a range answers',
    replies({ '4XX': ONE, '200': ONE }),
    replies({ '404': NONE, '200': ONE }),
    'breaking',
    'info',
  ],
  [
    'what the default answers',
    replies({ '200': ONE, default: ONE }),
    replies({ '200': ONE, '404': NONE, default: ONE }),
    'breaking',
    'info',
  ],
  ['the default as the only answer', replies({ default: ONE }), replies({ '200': CHANGED }), 'breaking', 'breaking'],
  ['an optional header', heading(null), heading({ schema: TEXT }), 'info', 'dangerous'],
  ['a required header', heading(null), heading({ required: true, schema: TEXT }), 'info', 'breaking'],
  [
    'requiredness of a header',
    heading({ schema: TEXT }),
    heading({ required: true, schema: TEXT }),
    'info',
    'breaking',
  ],
  ['the schema of a header', heading({ schema: TEXT }), heading({ schema: { type: 'integer' } }), 'info', 'breaking'],
  ['the first schema of a header', heading({}), heading({ schema: { type: 'integer' } }), 'info', 'breaking'],
  [
    'explode of a header',
    heading({ schema: { type: 'object' } }),
    heading({ explode: true, schema: { type: 'object' } }),
    'breaking',
    'breaking',
  ],
  [
    'the media type of a header',
    heading({ schema: TEXT }),
    heading({ content: { 'application/json': { schema: TEXT } } }),
    'breaking',
    'breaking',
  ],
  ['the first media type of an answer', call({}), answering({ 'text/plain': {} }), 'info', 'breaking'],
  [
    'a media type of an answer',
    answering({ 'text/plain': {} }),
    answering({ 'text/plain': {}, 'text/csv': {} }),
    'info',
    'breaking',
  ],
  [
    'another media type of an answer',
    answering({ 'text/plain': {} }),
    answering({ 'text/csv': {} }),
    'breaking',
    'breaking',
  ],
  [
    'a type with a suffix beside another answer',
    answering({ 'application/json': { schema: ONE } }),
    answering({ 'application/json': { schema: ONE }, 'application/json-patch+json': { schema: LIST } }),
    'info',
    'breaking',
  ],
  [
    'a type with a suffix instead of the type of that suffix',
    answering({ 'application/json': {} }),
    answering({ 'application/problem+json': {} }),
    'info',
    'breaking',
  ],
  [
    'a range of media types of an answer',
    answering({ 'text/plain': {} }),
    answering({ 'text/*': {} }),
    'breaking',
    'info',
  ],
  [
    'a parameter of a media type of an answer',
    answering({ 'text/plain; version=1': {} }),
    answering({ 'text/plain; version=2': {} }),
    'breaking',
    'breaking',
  ],
  [
    'UTF-8 of a media type of an answer',
    answering({ 'text/plain': {} }),
    answering({ 'text/plain; charset=utf-8': {} }),
    'info',
    'info',
  ],
  [
    'another encoding of an answer of text',
    answering({ 'text/csv; charset=utf-8': {} }),
    answering({ 'text/csv; charset=iso-8859-1': {} }),
    'breaking',
    'breaking',
  ],
  [
    'another encoding than the default of text',
    answering({ 'text/csv': {} }),
    answering({ 'text/csv; charset=iso-8859-1': {} }),
    'breaking',
    'breaking',
  ],
  [
    'another encoding than JSON has',
    answering({ 'application/problem+json': {} }),
    answering({ 'application/problem+json; charset=utf-16': {} }),
    'breaking',
    'breaking',
  ],
  [
    'an encoding of a type without a default',
    answering({ 'application/xml': {} }),
    answering({ 'application/xml; charset=iso-8859-1': {} }),
    'info',
    'breaking',
  ],
  [
    'a range that becomes text in another encoding',
    answering({ 'text/*': {} }),
    answering({ 'text/csv; charset=iso-8859-1': {} }),
    'info',
    'breaking',
  ],
  [
    'a quoted parameter',
    answering({ 'text/plain; version=1': {} }),
    answering({ 'text/plain;version="1"': {} }),
    'none',
    'none',
  ],
  [
    'the schema of an answer',
    answering({ 'text/plain': { schema: TEXT } }),
    answering({ 'text/plain': {} }),
    'dangerous',
    'info',
  ],
  ['a link', linked({}), linked({ next: { operationId: 'a' } }), 'info', 'dangerous'],
  [
    'where a link leads',
    linked({ next: { operationId: 'a' } }),
    linked({ next: { operationId: 'b' } }),
    'dangerous',
    'dangerous',
  ],
  [
    'the server of a link',
    linked({ next: { operationId: 'a' } }),
    linked({ next: { operationId: 'a', server: { url: 'https://x' } } }),
    'dangerous',
    'dangerous',
  ],
]

/** Where the level of a call by the provider is not that of the same element the other way round. */
const OF_WEBHOOKS: Readonly<Record<string, readonly [forth: Worst, back: Worst]>> = {
  'an optional parameter': ['info', 'dangerous'],
  'a required parameter': ['info', 'breaking'],
  'requiredness of a parameter': ['info', 'breaking'],
  'an empty value of a parameter': ['info', 'dangerous'],
  'the schema of a parameter': ['info', 'breaking'],
  'a media type of the body': ['breaking', 'dangerous'],
  'requiredness of the body': ['info', 'breaking'],
  'an optional body': ['info', 'breaking'],
  'a required body': ['info', 'breaking'],
  'a range of media types of the body': ['breaking', 'info'],
  'the first schema of a media type': ['info', 'dangerous'],
  'a success status': ['info', 'breaking'],
  'another error status': ['info', 'dangerous'],
  'the first media type of an answer': ['dangerous', 'breaking'],
  'an optional header': ['info', 'dangerous'],
  'a required header': ['breaking', 'dangerous'],
  'requiredness of a header': ['breaking', 'info'],
  'a media type of an answer': ['info', 'breaking'],
  'the encoding of a field': ['breaking', 'breaking'],
}

const WRAPPERS: Readonly<Record<string, (operation: Json) => Json>> = {
  operation: (operation) => ({ paths: { '/a': { post: operation } } }),
  webhook: (operation) => ({ paths: {}, webhooks: { sent: { post: operation } } }),
  callback: (operation) => ({
    paths: { '/a': { post: { responses: DONE, callbacks: { sent: { '{$request.query.u}': { post: operation } } } } } },
  }),
}

function worst(place: string, before: Json, after: Json): Worst {
  const wrap = WRAPPERS[place]
  assert.ok(wrap)
  const [base, head] = [before, after].map((operation) =>
    JSON.stringify({ openapi: '3.1.0', info: { title: 't' }, ...wrap(operation) }),
  )
  const compared = compareOpenApi(base ?? '', head ?? '', {}, sha256)
  assert.ok(compared.ok)
  const found = new Set(compared.value.groups.map(({ level }) => level))
  return LEVELS.find((level) => found.has(level)) ?? 'none'
}

suite('an element of an operation', () => {
  for (const [what, one, other, forth, back] of [...REQUEST, ...RESPONSE]) {
    test(`${what} that comes, goes or changes`, () => {
      assert.deepEqual([worst('operation', one, other), worst('operation', other, one)], [forth, back])
    })
  }
})

for (const place of ['webhook', 'callback']) {
  suite(`an element of a ${place}`, () => {
    for (const [what, one, other] of [...REQUEST, ...RESPONSE]) {
      const expected = OF_WEBHOOKS[what]
      if (expected === undefined) continue
      test(`${what}, which the provider sends or reads`, () => {
        assert.deepEqual([worst(place, one, other), worst(place, other, one)], expected)
      })
    }
  })
}

const REGION = { region: { default: 'eu', enum: ['eu', 'us'] }, version: { default: 'v1' } }
const at = (url: string, variables: Json = REGION): Json => call({ servers: [{ url, variables }] })
const ZONE = 'https://{zone}.example.com'
const ZONES = { default: 'eu', enum: ['eu', 'us'] }
const HOST = 'https://{region}.example.com/{version}'

/** Of where the operation is reached. */
const SERVERS: readonly Row[] = [
  [
    'a server',
    at(HOST),
    call({ servers: [{ url: HOST, variables: REGION }, { url: 'https://b.example.com' }] }),
    'info',
    'dangerous',
  ],
  ['another server', at(HOST), at('https://b.example.com'), 'dangerous', 'dangerous'],
  [
    'the names of variables',
    at(HOST),
    at('https://{zone}.example.com/{release}', { zone: REGION.region, release: REGION.version }),
    'none',
    'none',
  ],
  ['variables that change places', at(HOST), at('https://{version}.example.com/{region}'), 'dangerous', 'dangerous'],
  [
    'a value of a variable',
    at(HOST),
    at(HOST, { ...REGION, region: { default: 'eu', enum: ['eu'] } }),
    'dangerous',
    'info',
  ],
  [
    'the default of a variable',
    at(HOST),
    at(HOST, { ...REGION, region: { default: 'us', enum: ['eu', 'us'] } }),
    'dangerous',
    'dangerous',
  ],
  [
    'the values of a variable as addresses',
    at(ZONE, { zone: ZONES }),
    call({ servers: [{ url: 'https://eu.example.com' }, { url: 'https://us.example.com' }] }),
    'none',
    'none',
  ],
  [
    'one value of a variable as an address',
    at(ZONE, { zone: ZONES }),
    at('https://eu.example.com', {}),
    'dangerous',
    'info',
  ],
  [
    'any value of a variable',
    at(ZONE, { zone: { default: 'eu' } }),
    at('https://eu.example.com', {}),
    'dangerous',
    'dangerous',
  ],
  [
    'letter case and a default port',
    at('https://A.example.com/X', {}),
    at('HTTPS://a.EXAMPLE.com:443/X/', {}),
    'none',
    'none',
  ],
  [
    'letter case of the path',
    at('https://a.example.com/x', {}),
    at('https://a.example.com/X', {}),
    'dangerous',
    'dangerous',
  ],
  ['the definition of a variable', at(ZONE, { zone: ZONES }), at(ZONE, {}), 'dangerous', 'none'],
  ['another port', at('https://a.example.com', {}), at('https://a.example.com:8443', {}), 'dangerous', 'dangerous'],
  ['a first server with a path', call({}), at('/v2', {}), 'dangerous', 'dangerous'],
  ['a first server with a host and a path', call({}), at('https://a.example.com/v2', {}), 'dangerous', 'dangerous'],
  ['a first server without a path', call({}), at('https://a.example.com/', {}), 'none', 'dangerous'],
]

suite('a server of an operation', () => {
  for (const [what, one, other, forth, back] of SERVERS) {
    test(`${what} that comes, goes or changes`, () => {
      assert.deepEqual([worst('operation', one, other), worst('operation', other, one)], [forth, back])
    })
  }
})

/** What OpenAPI takes for granted, written out. */
const DEFAULTS: readonly (readonly [what: string, silent: Json, stated: Json])[] = [
  ['required of a parameter', query({}), query({ required: false })],
  ['allowEmptyValue', query({}), query({ allowEmptyValue: false })],
  ['deprecated of a parameter', query({}), query({ deprecated: false })],
  ['style and explode of a query', query({ schema: LIST }), query({ schema: LIST, style: 'form', explode: true })],
  [
    'style and explode of a header',
    query({ in: 'header', schema: LIST }),
    query({ in: 'header', schema: LIST, style: 'simple', explode: false }),
  ],
  [
    'style and explode of a cookie',
    query({ in: 'cookie', schema: LIST }),
    query({ in: 'cookie', schema: LIST, style: 'form', explode: true }),
  ],
  ['allowReserved', query({}), query({ allowReserved: false })],
  ['required of the body', taking({ 'text/plain': {} }), taking({ 'text/plain': {} }, { required: false })],
  ['required of a header', heading({ schema: TEXT }), heading({ schema: TEXT, required: false })],
  ['style of a header', heading({ schema: LIST }), heading({ schema: LIST, style: 'simple', explode: false })],
  ['deprecated of an operation', call({}), call({ deprecated: false })],
  ['no security', call({}), call({ security: [] })],
  ['an empty list of parameters', call({}), call({ parameters: [] })],
  ['an empty list of tags', call({}), call({ tags: [] })],
  ['the server', call({ servers: [] }), call({ servers: [{ url: '/' }] })],
  ['empty callbacks', call({}), call({ callbacks: {} })],
  ['style of a field', form({}), form({ a: { style: 'form', explode: true, allowReserved: false } })],
]

suite('a default of OpenAPI', () => {
  for (const [what, silent, stated] of DEFAULTS) {
    test(`says nothing when it is written out, or no more: ${what}`, () => {
      assert.deepEqual([worst('operation', silent, stated), worst('operation', stated, silent)], ['none', 'none'])
    })
  }
})

/** Names that no message shows. */
const UNSENT_NAMES: readonly (readonly [what: string, one: Json, other: Json])[] = [
  ['a header field in other letters', query({ in: 'header' }), query({ name: 'Q', in: 'header' })],
  [
    'the parameter that is the whole query',
    parameters({ name: 'q', in: 'querystring', content: { 'application/json': { schema: TEXT } } }),
    parameters({ name: 'filter', in: 'querystring', content: { 'application/json': { schema: TEXT } } }),
  ],
]

suite('a name that is not sent', () => {
  for (const [what, one, other] of UNSENT_NAMES) {
    test(`may change: ${what}`, () => {
      assert.deepEqual([worst('operation', one, other), worst('operation', other, one)], ['none', 'none'])
    })
  }
})

const PAIR = { type: 'object', properties: { a: TEXT, b: TEXT } }
const kind = (name: string): Json => ({
  allOf: [PAIR, { type: 'object', required: ['kind'], properties: { kind: { type: 'string', enum: [name] } } }],
})

/** A schema, and the same with alternatives or positions that refuse some of its values. */
const STRUCTURES: readonly (readonly [what: string, free: Json, restricted: Json])[] = [
  ['one of two members (anyOf)', PAIR, { ...PAIR, anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ['one of two members (oneOf)', PAIR, { ...PAIR, oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  [
    'objects with a member each',
    PAIR,
    {
      anyOf: [
        { ...PAIR, required: ['a'] },
        { ...PAIR, required: ['b'] },
      ],
    },
  ],
  ['kinds of an object', PAIR, { oneOf: [kind('x'), kind('y')], discriminator: { propertyName: 'kind' } }],
  [
    'ranges',
    { type: 'integer' },
    {
      anyOf: [
        { type: 'integer', maximum: 3 },
        { type: 'integer', minimum: 10 },
      ],
    },
  ],
  ['items by position', { type: 'array' }, { type: 'array', prefixItems: [TEXT] }],
]

const sent = (schema: Json): Json => taking({ 'application/json': { schema } })
const returned = (schema: Json): Json => replies({ 200: schema })

/** Alternatives that admit every value, and those of which nobody can tell. */
const IDLE = { anyOf: [{ maxLength: 5 }, { minLength: 1 }] }
const UNPROVED = { anyOf: [{ pattern: '^.(?!a)b' }, { pattern: '^.(?=c)' }] }

suite('alternatives or positions that come or go as a whole', () => {
  for (const [what, free, restricted] of STRUCTURES) {
    test(`break whom a value shows to be broken: ${what}`, () => {
      for (const [place, callers, readers] of [
        ['operation', sent, returned],
        ['callback', returned, sent],
        ['webhook', returned, sent],
      ] as const) {
        assert.equal(worst(place, callers(free), callers(restricted)), 'breaking', `${place}: refused`)
        assert.equal(worst(place, readers(restricted), readers(free)), 'breaking', `${place}: new`)
        assert.notEqual(worst(place, callers(restricted), callers(free)), 'breaking', `${place}: admitted`)
        assert.notEqual(worst(place, readers(free), readers(restricted)), 'breaking', `${place}: kept back`)
      }
    })
  }
  test('break nobody where they refuse nothing', () => {
    assert.equal(worst('operation', sent(TEXT), sent({ ...TEXT, ...IDLE })), 'info')
    assert.equal(worst('operation', returned({ ...TEXT, ...IDLE }), returned(TEXT)), 'info')
  })
  test('are warned of once where nothing is proved', () => {
    assert.equal(worst('operation', sent(TEXT), sent({ ...TEXT, ...UNPROVED })), 'dangerous')
    assert.equal(worst('operation', returned({ ...TEXT, ...UNPROVED }), returned(TEXT)), 'dangerous')
  })
})
