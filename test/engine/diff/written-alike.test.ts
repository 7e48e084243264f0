/**
 * Texts of a contract that are written in two ways and mean one, beside others that mean two. They are escapes in addresses,
 * header fields in expressions, media types of parameters, and names of parameters.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comparableEscapes } from '../../../engine/common/percent-decoding.ts'
import { worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const LIST = { type: 'array', items: TEXT }
const OBJECT = { type: 'object', properties: { a: TEXT } }
const DONE = { 200: { description: 'd' } }

const api = (paths: Json, rest: Json = {}): Json => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths,
  ...rest,
})
const path = (written: string, members: Json = {}): Json => api({ [written]: { get: { responses: DONE, ...members } } })
const operation = (members: Json): Json => path('/x', members)
const server = (url: string): Json => api({ '/x': { get: { responses: DONE } } }, { servers: [{ url }] })
const named = (name: string, members: Json = {}): Json =>
  path(`/x/{${name}}`, { parameters: [{ name, in: 'path', required: true, schema: TEXT, ...members }] })
const sent = (name: string, members: Json = {}): Json =>
  operation({ parameters: [{ name, in: 'query', schema: OBJECT, ...members }] })
const both = (one: string, other: string): Json =>
  operation({
    parameters: [
      { name: one, in: 'query', schema: OBJECT, required: true },
      { name: other, in: 'query', schema: { type: 'object', properties: { b: TEXT } } },
    ],
  })
const query = (mediaType: string): Json =>
  operation({ parameters: [{ name: 'q', in: 'query', content: { [mediaType]: { schema: TEXT } } }] })
const taking = (mediaType: string): Json => operation({ requestBody: { content: { [mediaType]: { schema: TEXT } } } })
const callback = (expression: string): Json =>
  operation({ callbacks: { c: { [expression]: { post: { responses: DONE } } } } })
const link = (call: Json): Json =>
  operation({ responses: { 200: { description: 'd', links: { l: { operationId: 'o', ...call } } } } })

const plain = (place: string, members: Json): Json =>
  path(place === 'path' ? '/x/{q}' : '/x', {
    parameters: [{ name: 'q', in: place, ...(place === 'path' && { required: true }), ...members }],
  })
const asText = (schema: Json, mediaType = 'text/plain'): Json => ({ content: { [mediaType]: { schema } } })

/** Two contracts, and the worst level in both directions. */
type Row = readonly [what: string, one: Json, other: Json, worst: Worst]

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'a parameter in the default style, and as plain text': [
    ...['query', 'path'].flatMap((place) =>
      [TEXT, { type: 'integer' }, { type: 'boolean' }, { enum: ['a', 1] }, { type: ['number', 'null'] }].flatMap(
        (schema): readonly Row[] => [
          [`${place}: ${JSON.stringify(schema)}`, plain(place, { schema }), plain(place, asText(schema)), 'none'],
          [
            `${place}: ${JSON.stringify(schema)} in UTF-8`,
            plain(place, { schema }),
            plain(place, asText(schema, 'text/plain; charset=utf-8')),
            'none',
          ],
        ],
      ),
    ),
    ['a list', plain('query', { schema: LIST }), plain('query', asText(LIST)), 'breaking'],
    ['an object', plain('query', { schema: OBJECT }), plain('query', asText(OBJECT)), 'breaking'],
    ['of any type', plain('query', { schema: {} }), plain('query', asText({})), 'breaking'],
    // Whether a field value is percent-encoded depends on the tool.
    ['in a header', plain('header', { schema: TEXT }), plain('header', asText(TEXT)), 'breaking'],
    ['in a cookie', plain('cookie', { schema: TEXT }), plain('cookie', asText(TEXT)), 'breaking'],
    ['in another style', plain('path', { schema: TEXT, style: 'matrix' }), plain('path', asText(TEXT)), 'breaking'],
    ['as JSON', plain('query', { schema: TEXT }), plain('query', asText(TEXT, 'application/json')), 'breaking'],
    [
      'with reserved characters as they are',
      plain('query', { schema: TEXT, allowReserved: true }),
      plain('query', asText(TEXT)),
      'breaking',
    ],
  ],
  'escapes of a path': [
    ['an escape that is not needed', path('/%7Ea'), path('/~a'), 'none'],
    ['an escaped letter', path('/%61'), path('/a'), 'none'],
    ['the case of an escape', path('/a%2fb'), path('/a%2Fb'), 'none'],
    ['a space', path('/a b'), path('/a%20b'), 'none'],
    ['a letter beyond ASCII', path('/caf\u00E9'), path('/caf%C3%A9'), 'none'],
    ['beside a template', path('/%7E/{a}'), path('/~/{b}'), 'none'],
    ['an escaped slash', path('/a%2Fb'), path('/a/b'), 'breaking'],
    ['the case of a letter', path('/a'), path('/A'), 'breaking'],
    ['a final slash', path('/a'), path('/a/'), 'breaking'],
  ],
  'escapes of a server': [
    ['an escape that is not needed', server('https://a.example/%7Ev1'), server('https://a.example/~v1'), 'none'],
    ['the case of an escape', server('https://a.example/%2fv1'), server('https://a.example/%2Fv1'), 'none'],
    ['an escaped slash', server('https://a.example/a%2Fb'), server('https://a.example/a/b'), 'dangerous'],
    ['a query', server('https://a.example/v1'), server('https://a.example/v1?x=1'), 'dangerous'],
    [
      'a part that moves into the paths',
      api({ '/x': { get: { responses: DONE } } }, { servers: [{ url: 'https://a.example/%7Ev1' }] }),
      api({ '/~v1/x': { get: { responses: DONE } } }, { servers: [{ url: 'https://a.example' }] }),
      'none',
    ],
  ],
  'fields in expressions': [
    ['the case in a callback', callback('{$request.header.X-Url}'), callback('{$request.header.x-url}'), 'none'],
    ['the case of a query', callback('{$request.query.Url}'), callback('{$request.query.url}'), 'breaking'],
    ['another field', callback('{$request.header.X-Url}'), callback('{$request.header.X-Uri}'), 'breaking'],
    [
      'the case in a link',
      link({ parameters: { id: '$response.header.X-Id' } }),
      link({ parameters: { id: '$response.header.x-id' } }),
      'none',
    ],
    [
      'the case in the body of a link',
      link({ requestBody: { id: '{$response.header.X-Id}' } }),
      link({ requestBody: { id: '{$response.header.x-id}' } }),
      'none',
    ],
    [
      'the case of a pointer in a link',
      link({ parameters: { id: '$response.body#/Id' } }),
      link({ parameters: { id: '$response.body#/id' } }),
      'dangerous',
    ],
  ],
  'media types of a parameter, which are not sent': [
    ['UTF-8 of JSON', query('application/json'), query('application/json; charset=utf-8'), 'none'],
    ['a type that is based on JSON', query('application/json'), query('application/vnd.a+json'), 'none'],
    ['another encoding', query('application/json'), query('application/json; charset=utf-16'), 'breaking'],
    ['another syntax', query('application/json'), query('application/xml'), 'breaking'],
  ],
  'encodings of a JSON body': [
    ['UTF-8', taking('application/json'), taking('application/json; charset=UTF-8'), 'none'],
    ['ASCII, which is a part of it', taking('application/json'), taking('application/json; charset=us-ascii'), 'none'],
    ['another one', taking('application/json'), taking('application/json; charset=utf-16'), 'breaking'],
    ['another one of a type that is based on JSON', taking('a/b+json'), taking('a/b+json; charset=utf-16'), 'breaking'],
  ],
  'names of a path parameter': [
    ['in the default style', named('a'), named('b'), 'none'],
    ['in the style label', named('a', { style: 'label' }), named('b', { style: 'label' }), 'none'],
    ['in the style matrix', named('a', { style: 'matrix' }), named('b', { style: 'matrix' }), 'breaking'],
    [
      'of a list in matrix',
      named('a', { style: 'matrix', explode: true, schema: LIST }),
      named('b', { style: 'matrix', explode: true, schema: LIST }),
      'breaking',
    ],
    [
      'of an object in matrix',
      named('a', { style: 'matrix', schema: OBJECT }),
      named('b', { style: 'matrix', schema: OBJECT }),
      'breaking',
    ],
    [
      'of an object that explodes: its members are named',
      named('a', { style: 'matrix', explode: true, schema: OBJECT }),
      named('b', { style: 'matrix', explode: true, schema: OBJECT }),
      'none',
    ],
  ],
  'names of a parameter of a query or cookie': [
    ['of an object that explodes: its members are named', sent('a'), sent('b'), 'none'],
    ['of a required one', sent('a', { required: true }), sent('b', { required: true }), 'none'],
    ['of one in a cookie', sent('a', { in: 'cookie' }), sent('b', { in: 'cookie' }), 'none'],
    [
      'of one that is combined of several',
      sent('a', { schema: { allOf: [OBJECT, { required: ['a'] }] } }),
      sent('b', { schema: { allOf: [OBJECT, { required: ['a'] }] } }),
      'none',
    ],
    [
      'of one with members of any name',
      sent('a', { schema: { type: 'object' } }),
      sent('b', { schema: { type: 'object' } }),
      'none',
    ],
    ['of two that exchange their names', both('a', 'b'), both('b', 'a'), 'none'],
    ['of two with other members', both('a', 'b'), both('d', 'c'), 'none'],
    ['of an object that is one text', sent('a', { explode: false }), sent('b', { explode: false }), 'dangerous'],
    ['of deep fields', sent('a', { style: 'deepObject' }), sent('b', { style: 'deepObject' }), 'dangerous'],
    ['of a text', sent('a', { schema: TEXT }), sent('b', { schema: TEXT }), 'dangerous'],
    ['of a list that explodes', sent('a', { schema: LIST }), sent('b', { schema: LIST }), 'dangerous'],
    [
      'of an object or a list',
      sent('a', { schema: { anyOf: [OBJECT, LIST] } }),
      sent('b', { schema: { anyOf: [OBJECT, LIST] } }),
      'dangerous',
    ],
    ['of any value', sent('a', { schema: {} }), sent('b', { schema: {} }), 'dangerous'],
    [
      'of a text of JSON',
      sent('a', { schema: undefined, content: { 'application/json': { schema: OBJECT } } }),
      sent('b', { schema: undefined, content: { 'application/json': { schema: OBJECT } } }),
      'dangerous',
    ],
  ],
}

for (const [of, rows] of Object.entries(ROWS)) {
  suite(of, () => {
    for (const [what, one, other, worst] of rows) {
      test(what, () => {
        const levels = [worstOf('openapi', one, other), worstOf('openapi', other, one)]
        // Information is of names that nobody sends.
        const known = levels.map((level) => (level === 'info' ? 'none' : level))
        assert.deepEqual(known, [worst, worst])
      })
    }
  })
}

test('two paths that are the same address stay two', () => {
  const both = api({ '/~a': { get: { responses: DONE } }, '/%7Ea': { get: { responses: DONE } } })
  assert.equal(worstOf('openapi', both, both), 'none')
  assert.equal(worstOf('openapi', both, path('/~a')), 'breaking')
})

test('what is no escape stays', () => {
  const texts = ['/100%', '/%zz', '/{a b}', '/{%7E}', '/a?b=c&d', '/\uD800']
  assert.deepEqual(texts.map(comparableEscapes), texts)
})
