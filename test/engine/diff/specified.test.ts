/**
 * Sentences of the OpenAPI specifications about what callers may send and what readers get: members that are ignored,
 * defaults, and what takes precedence. Each row is a pair of contracts that differs in that alone, with the worst level in
 * both directions. `same`: neither is more than information. It is past 400 lines,
 * because it is one table: a sentence that is missing can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>
type Version = '2.0' | '3.0.4' | '3.1.1' | '3.2.0'
type Worst = 'breaking' | 'dangerous' | 'info'
type Wanted = 'same' | readonly [forth: Worst, back: Worst]
/** What is written at the place, on both sides. */
type Row = readonly [sentence: string, versions: readonly Version[], base: Json, head: Json, wanted: Wanted]

const T = { type: 'string' }
const N = { type: 'integer' }
const L = { type: 'array', items: T }
const O = { type: 'object', properties: { a: T, b: N } }
const THREE: readonly Version[] = ['3.0.4', '3.1.1', '3.2.0']
const SINCE_31: readonly Version[] = ['3.1.1', '3.2.0']
const BEFORE_32: readonly Version[] = ['3.0.4', '3.1.1']
const ONLY_32: readonly Version[] = ['3.2.0']
const BOTH_BREAK: Wanted = ['breaking', 'breaking']
/** Only the way back refuses what callers send. */
const OPENED: Wanted = ['info', 'breaking']

function contract(version: Version, operation: Json, path: string, rest: Json = {}): string {
  const head = version === '2.0' ? { swagger: version } : { openapi: version }
  const post = { responses: { 200: { description: 'd' } }, ...operation }
  return JSON.stringify({ ...head, info: { title: 't', version: '1' }, paths: { [path]: { post } }, ...rest })
}

function worstOf(before: string, after: string): Worst {
  const result = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  assert.deepEqual(result.value.unresolved, [])
  const levels = result.value.groups.map(({ level }) => level)
  return (['breaking', 'dangerous'] as const).find((level) => levels.includes(level)) ?? 'info'
}

function check(place: string, rows: readonly Row[], write: (version: Version, part: Json) => string): void {
  suite(place, () => {
    for (const [sentence, versions, base, head, wanted] of rows)
      test(sentence, () => {
        for (const version of versions) {
          const [before, after] = [write(version, base), write(version, head)]
          assert.notEqual(before, after)
          const found = [worstOf(before, after), worstOf(after, before)]
          assert.deepEqual(found, wanted === 'same' ? ['info', 'info'] : wanted, version)
        }
      })
  })
}

const inPath = { name: 'p', in: 'path', required: true, schema: T }
const inQuery = { name: 'p', in: 'query', schema: T }
const inHeader = { name: 'p', in: 'header', schema: T }
const inCookie = { name: 'p', in: 'cookie', schema: T }
const whole = (name: string, media: Json): Json => ({ name: 'p', in: 'querystring', content: { [name]: media } })
const FORM = 'application/x-www-form-urlencoded'
const lists = (encoding: Json): Json => ({ schema: { type: 'object', properties: { a: L } }, encoding })
const JOINED = { a: { style: 'form', explode: false } }

check(
  'a parameter',
  [
    [
      'the style of a query is form, exploded',
      THREE,
      { ...inQuery, schema: L },
      { ...inQuery, schema: L, style: 'form', explode: true },
      'same',
    ],
    [
      'the style of a cookie is form, exploded',
      THREE,
      { ...inCookie, schema: L },
      { ...inCookie, schema: L, style: 'form', explode: true },
      'same',
    ],
    [
      'the style of a header is simple',
      THREE,
      { ...inHeader, schema: O },
      { ...inHeader, schema: O, style: 'simple', explode: false },
      'same',
    ],
    [
      'other styles do not explode by default',
      THREE,
      { ...inQuery, schema: L, style: 'pipeDelimited' },
      { ...inQuery, schema: L, style: 'pipeDelimited', explode: false },
      'same',
    ],
    [
      'the style cookie explodes by default',
      ONLY_32,
      { ...inCookie, schema: L, style: 'cookie' },
      { ...inCookie, schema: L, style: 'cookie', explode: true },
      'same',
    ],
    [
      'the style cookie separates by semicolons',
      ONLY_32,
      { ...inCookie, schema: L },
      { ...inCookie, schema: L, style: 'cookie' },
      BOTH_BREAK,
    ],
    ['the style cookie does not percent-encode', ONLY_32, inCookie, { ...inCookie, style: 'cookie' }, BOTH_BREAK],
    [
      'a number needs no percent-encoding',
      ONLY_32,
      { ...inCookie, schema: N },
      { ...inCookie, schema: N, style: 'cookie' },
      'same',
    ],
    [
      'explode has no effect on deepObject',
      THREE,
      { ...inQuery, schema: O, style: 'deepObject' },
      { ...inQuery, schema: O, style: 'deepObject', explode: true },
      'same',
    ],
    ['allowReserved of a query admits more', THREE, inQuery, { ...inQuery, allowReserved: true }, OPENED],
    ['allowReserved of a path applies since 3.2', BEFORE_32, inPath, { ...inPath, allowReserved: true }, 'same'],
    ['allowReserved of a path admits more in 3.2', ONLY_32, inPath, { ...inPath, allowReserved: true }, OPENED],
    ['allowReserved of a cookie applies since 3.2', BEFORE_32, inCookie, { ...inCookie, allowReserved: true }, 'same'],
    [
      'allowReserved of a cookie in form admits more in 3.2',
      ONLY_32,
      inCookie,
      { ...inCookie, allowReserved: true },
      OPENED,
    ],
    [
      'allowReserved does not apply to the style cookie',
      ONLY_32,
      { ...inCookie, style: 'cookie' },
      { ...inCookie, style: 'cookie', allowReserved: true },
      'same',
    ],
    ['allowReserved does not apply to a header', THREE, inHeader, { ...inHeader, allowReserved: true }, 'same'],
    ['allowEmptyValue of a query admits more', THREE, inQuery, { ...inQuery, allowEmptyValue: true }, OPENED],
    [
      'allowEmptyValue is valid for queries only: header',
      THREE,
      inHeader,
      { ...inHeader, allowEmptyValue: true },
      'same',
    ],
    [
      'allowEmptyValue is valid for queries only: cookie',
      THREE,
      inCookie,
      { ...inCookie, allowEmptyValue: true },
      'same',
    ],
    [
      'allowEmptyValue is ignored where a style cannot write it',
      THREE,
      { ...inQuery, schema: O, style: 'deepObject' },
      { ...inQuery, schema: O, style: 'deepObject', allowEmptyValue: true },
      'same',
    ],
    [
      'Accept, Content-Type and Authorization are ignored in headers',
      THREE,
      { ...inHeader, name: 'Accept', schema: { enum: ['a'] } },
      { ...inHeader, name: 'AUTHORIZATION', required: true },
      'same',
    ],
    [
      'Authorization is a cookie like any other',
      THREE,
      { ...inCookie, name: 'Authorization' },
      { ...inCookie, name: 'Authorization', required: true },
      ['breaking', 'info'],
    ],
    [
      'a parameter with content has no style',
      THREE,
      { name: 'p', in: 'query', content: { 'application/json': { schema: O } } },
      { name: 'p', in: 'query', style: 'form', explode: false, content: { 'application/json': { schema: O } } },
      'same',
    ],
    [
      'the name of a querystring is not sent',
      ONLY_32,
      whole(FORM, lists({})),
      { ...whole(FORM, lists({})), name: 'q' },
      'same',
    ],
    [
      'a querystring is written by its encodings',
      ONLY_32,
      whole(FORM, lists({})),
      whole(FORM, lists(JOINED)),
      BOTH_BREAK,
    ],
    [
      'encodings apply to forms only',
      ONLY_32,
      whole('application/json', lists({})),
      whole('application/json', lists(JOINED)),
      'same',
    ],
  ],
  (version, part) => contract(version, { parameters: [part] }, part['in'] === 'path' ? '/{p}' : '/a'),
)

check(
  'a parameter of Swagger 2.0',
  [
    [
      'allowEmptyValue is valid for queries and forms only',
      ['2.0'],
      { name: 'p', in: 'header', type: 'string' },
      { name: 'p', in: 'header', type: 'string', allowEmptyValue: true },
      'same',
    ],
    [
      'allowEmptyValue of a form admits more',
      ['2.0'],
      { name: 'p', in: 'formData', type: 'string' },
      { name: 'p', in: 'formData', type: 'string', allowEmptyValue: true },
      OPENED,
    ],
    [
      'lists have commas by default',
      ['2.0'],
      { name: 'p', in: 'query', ...L },
      { name: 'p', in: 'query', ...L, collectionFormat: 'csv' },
      'same',
    ],
    [
      'only lists have a collectionFormat',
      ['2.0'],
      { name: 'p', in: 'query', ...T },
      { name: 'p', in: 'query', ...T, collectionFormat: 'pipes' },
      'same',
    ],
    [
      'Authorization is not ignored',
      ['2.0'],
      { name: 'Authorization', in: 'header', ...T },
      { name: 'Authorization', in: 'header', ...T, required: true },
      ['breaking', 'info'],
    ],
    [
      'the name of a body has no effect',
      ['2.0'],
      { name: 'a', in: 'body', schema: O },
      { name: 'b', in: 'body', schema: O },
      'same',
    ],
  ],
  (version, part) => contract(version, { parameters: [part] }, '/a'),
)

const field = (schema: Json, encoding?: Json): Json => ({
  schema: { type: 'object', properties: { f: schema } },
  ...(encoding !== undefined && { encoding: { f: encoding } }),
})
const of = (name: string, media: Json): Json => ({ [name]: media })
const MULTI = 'multipart/form-data'
const MIXED = 'multipart/mixed'
const PARTS = { type: 'array', prefixItems: [O, T, L] }

check(
  'a request body',
  [
    [
      'encodings of JSON are ignored',
      THREE,
      of('application/json', field(T)),
      of('application/json', field(T, { contentType: 'a/b' })),
      'same',
    ],
    ['a text is text/plain', THREE, of(MULTI, field(T)), of(MULTI, field(T, { contentType: 'text/plain' })), 'same'],
    ['an object is JSON', THREE, of(MULTI, field(O)), of(MULTI, field(O, { contentType: 'application/json' })), 'same'],
    [
      'a list is as its items',
      THREE,
      of(MULTI, field({ type: 'array', items: O })),
      of(MULTI, field({ type: 'array', items: O }, { contentType: 'application/json' })),
      'same',
    ],
    [
      'a value without a type is bytes',
      SINCE_31,
      of(MULTI, field({})),
      of(MULTI, field({}, { contentType: 'application/octet-stream' })),
      'same',
    ],
    [
      'a value without a type is no JSON',
      THREE,
      of(MULTI, field({})),
      of(MULTI, field({}, { contentType: 'application/json' })),
      BOTH_BREAK,
    ],
    ['a part that loses its type becomes bytes', SINCE_31, of(MULTI, field(T)), of(MULTI, field({})), BOTH_BREAK],
    [
      'a field of a form that loses its type only admits more',
      SINCE_31,
      of(FORM, field(T)),
      of(FORM, field({ description: 'd' })),
      OPENED,
    ],
    [
      'a text of a form is text/plain',
      THREE,
      of(FORM, field(T)),
      of(FORM, field(T, { contentType: 'text/plain' })),
      'same',
    ],
    [
      'texts of a form are text/plain, one by one',
      THREE,
      of(FORM, field(L)),
      of(FORM, field(L, { contentType: 'text/plain' })),
      'same',
    ],
    [
      'a text of a form is written as in the style form',
      THREE,
      of(FORM, field(T)),
      of(FORM, field(T, { style: 'form' })),
      'same',
    ],
    [
      'a text of a form is no JSON',
      THREE,
      of(FORM, field(T)),
      of(FORM, field(T, { contentType: 'application/json' })),
      BOTH_BREAK,
    ],
    [
      'an object of a form is JSON since 3.2',
      ONLY_32,
      of(FORM, field(O)),
      of(FORM, field(O, { contentType: 'application/json' })),
      'same',
    ],
    [
      'an object of a form has no style since 3.2',
      ONLY_32,
      of(FORM, field(O)),
      of(FORM, field(O, { style: 'form' })),
      BOTH_BREAK,
    ],
    ['a list in a style is one field', THREE, of(FORM, field(L)), of(FORM, field(L, { explode: false })), BOTH_BREAK],
    [
      'headers apply to multipart bodies only',
      THREE,
      of(FORM, field(T)),
      of(FORM, field(T, { headers: { 'X-P': { required: true, schema: T } } })),
      'same',
    ],
    [
      'parts are not percent-encoded',
      ONLY_32,
      of(MULTI, field(T, { style: 'form' })),
      of(MULTI, field(T, { style: 'form', allowReserved: true })),
      'same',
    ],
    [
      'positions are of multipart bodies only',
      ONLY_32,
      of(FORM, field(T)),
      of(FORM, { ...field(T), prefixEncoding: [{ contentType: 'a/b' }], itemEncoding: { contentType: 'a/b' } }),
      'same',
    ],
    [
      'a part has the content type of its schema',
      ONLY_32,
      of(MIXED, { schema: PARTS }),
      of(MIXED, {
        schema: PARTS,
        prefixEncoding: [{ contentType: 'application/json' }, { contentType: 'text/plain' }],
      }),
      'same',
    ],
    [
      'a list as a part is JSON',
      ONLY_32,
      of(MIXED, { schema: PARTS }),
      of(MIXED, { schema: PARTS, prefixEncoding: [{}, {}, { contentType: 'application/json' }] }),
      'same',
    ],
    [
      'a part by position changes',
      ONLY_32,
      of(MIXED, { schema: PARTS }),
      of(MIXED, { schema: PARTS, prefixEncoding: [{ contentType: 'application/xml' }] }),
      BOTH_BREAK,
    ],
    [
      'items have the content type of their schema',
      ONLY_32,
      of(MIXED, { itemSchema: O }),
      of(MIXED, { itemSchema: O, itemEncoding: { contentType: 'application/json' } }),
      'same',
    ],
    [
      'the encoding of items applies to those without an own one',
      ONLY_32,
      of(MIXED, { schema: PARTS, itemEncoding: { contentType: 'a/b' } }),
      of(MIXED, { schema: PARTS, prefixEncoding: [{ contentType: 'a/b' }], itemEncoding: { contentType: 'a/b' } }),
      'same',
    ],
    [
      'no schema admits what an empty one does',
      THREE,
      of('application/json', {}),
      of('application/json', { schema: { description: 'd' } }),
      'same',
    ],
    [
      'the key of a content is its media type',
      SINCE_31,
      of('image/png', {}),
      of('image/png', { schema: { contentMediaType: 'image/png' } }),
      'same',
    ],
    [
      'a schema that admits less',
      THREE,
      of('application/json', {}),
      of('application/json', { schema: O }),
      ['breaking', 'info'],
    ],
    [
      'the most specific media type applies',
      THREE,
      of('*/*', { schema: O }),
      { '*/*': { schema: O }, 'application/json': { schema: O } },
      'same',
    ],
  ],
  (version, content) => contract(version, { requestBody: { content } }, '/a'),
)

const answer = (schema: Json, links?: Json): Json => ({
  description: 'd',
  content: { 'application/json': { schema } },
  ...(links !== undefined && { links }),
})

check(
  'responses',
  [
    [
      'a range describes a status that is not listed',
      THREE,
      { 200: answer(O), '2XX': answer(O) },
      { '2XX': answer(O) },
      'same',
    ],
    ['a listed status takes precedence', THREE, { 200: answer(T), '2XX': answer(O) }, { '2XX': answer(O) }, BOTH_BREAK],
    [
      'another range describes nothing of it',
      THREE,
      { 200: answer(O), '4XX': answer(O) },
      { '4XX': answer(O) },
      ['breaking', 'info'],
    ],
    [
      'a range has links of its own',
      THREE,
      { 200: answer(O, { l: { operationId: 'o' } }), '2XX': answer(O) },
      { '2XX': answer(O) },
      ['dangerous', 'info'],
    ],
    [
      'Content-Type is ignored in headers',
      THREE,
      { 200: { ...answer(O), headers: { 'content-type': { required: true, schema: T } } } },
      { 200: answer(O) },
      'same',
    ],
  ],
  (version, responses) => contract(version, { operationId: 'o', responses }, '/a'),
)

check(
  'servers',
  [
    ['an empty list is the root', THREE, { servers: [] }, { servers: [{ url: '/' }] }, 'same'],
    [
      'a segment of one dot is the same folder',
      THREE,
      { servers: [{ url: 'v1' }] },
      { servers: [{ url: './v1' }] },
      'same',
    ],
    [
      'the root is another folder',
      THREE,
      { servers: [{ url: 'v1' }] },
      { servers: [{ url: '/v1' }] },
      ['dangerous', 'dangerous'],
    ],
    [
      '$self is no address of servers',
      ONLY_32,
      { $self: 'https://a.example/o', servers: [{ url: '/v1' }] },
      { $self: 'https://b.example/o', servers: [{ url: '/v1' }] },
      'same',
    ],
  ],
  (version, rest) => contract(version, {}, '/a', rest),
)
