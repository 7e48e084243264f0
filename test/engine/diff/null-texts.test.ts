/**
 * Null in a text that has no types: the value of a parameter, of a header, of a field of a form. Callers leave it out, or write an
 * empty text or `null`. So a change of null alone is a warning there, and no break. JSON has a form of null.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf, worstOf } from '../elements.ts'

type Schema = Readonly<Record<string, unknown>>
type Place = (schema: Schema) => Schema

const TEXT = { type: 'string' }
const DONE = { 200: { description: 'd' } }

const api = (post: Schema, path = '/x', openapi = '3.1.0'): Schema => ({
  openapi,
  info: { title: 't', version: '1' },
  paths: { [path]: { post: { responses: DONE, ...post } } },
})
const parameter =
  (where: string, members: Schema = {}): Place =>
  (schema) =>
    api({ parameters: [{ name: 'p', in: where, schema, ...members }] }, where === 'path' ? '/x/{p}' : '/x')
const member = (schema: Schema): Schema => ({ type: 'object', properties: { f: schema } })
const list = (items: Schema): Schema => ({ type: 'array', items })
const form =
  (mediaType: string, wrap: Place, media: Schema = {}): Place =>
  (schema) =>
    api({ requestBody: { content: { [mediaType]: { schema: wrap(schema), ...media } } } })
const answer = (header: Schema): Schema => api({ responses: { 200: { description: 'd', headers: { 'X-A': header } } } })
const URL_ENCODED = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'
const json = (schema: Schema): Schema => ({ content: { 'application/json': { schema } } })

/** Places, and whether the provider writes the text. */
const TEXTS: Readonly<Record<string, readonly [place: Place, isAnswer?: true]>> = {
  'a query': [parameter('query')],
  'a required query': [parameter('query', { required: true })],
  'a path': [parameter('path', { required: true })],
  'a header': [parameter('header')],
  'a cookie': [parameter('cookie')],
  'the items of a query': [(schema) => parameter('query')(list(schema))],
  'a member of a query': [(schema) => parameter('query', { style: 'deepObject' })(member(schema))],
  'a field of a form': [form(URL_ENCODED, member)],
  'a part of a form': [form(MULTIPART, member)],
  'the items of a field': [form(URL_ENCODED, (schema) => member(list(schema)))],
  'a header of a response': [(schema) => answer({ schema }), true],
}

const JSON_PLACES: typeof TEXTS = {
  'a query in JSON': [(schema) => api({ parameters: [{ name: 'p', in: 'query', ...json(schema) }] })],
  'a part in JSON': [form(MULTIPART, member, { encoding: { f: { contentType: 'application/json' } } })],
  'a member of a part': [form(MULTIPART, (schema) => member(member(schema)))],
  'a body': [(schema) => api({ requestBody: json(schema) })],
  'a header of a response in JSON': [(schema) => answer(json(schema)), true],
}

const SCALARS: Readonly<Record<string, readonly [nullable: Schema, plain: Schema]>> = {
  'a text': [{ type: ['string', 'null'] }, TEXT],
  'a text with a length': [
    { type: ['string', 'null'], minLength: 1 },
    { ...TEXT, minLength: 1 },
  ],
  'an integer': [{ type: ['integer', 'null'] }, { type: 'integer' }],
  'a boolean': [{ type: ['boolean', 'null'] }, { type: 'boolean' }],
  'a choice of a number or null': [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, { type: 'number' }],
  'listed texts': [{ enum: ['a', null] }, { enum: ['a'] }],
}

for (const [tables, level] of [
  [TEXTS, 'dangerous'],
  [JSON_PLACES, 'breaking'],
] as const) {
  for (const [where, [place, isAnswer]] of Object.entries(tables)) {
    suite(`null of ${where}`, () => {
      for (const [what, [nullable, plain]] of Object.entries(SCALARS)) {
        test(`beside ${what}: the side that loses it is warned, or breaks`, () => {
          const [one, other] = [place(nullable), place(plain)]
          const [loss, gain] = [worstOf('openapi', one, other), worstOf('openapi', other, one)]
          // A further listed value is a warning to readers anyway.
          const own = isAnswer === true && what === 'listed texts' ? 'dangerous' : level
          assert.deepEqual(isAnswer === true ? [gain, loss] : [loss, gain], [own, 'info'])
        })
      }
    })
  }
}

test('null of OpenAPI 3.0 is the same', () => {
  const [before, after] = [{ ...TEXT, nullable: true }, TEXT].map((schema) =>
    api({ parameters: [{ name: 'p', in: 'query', schema }] }, '/x', '3.0.3'),
  )
  assert.equal(worstOf('openapi', before, after), 'dangerous')
})

test('what goes beside null is judged as ever', () => {
  const query = parameter('query')
  const rows = [
    [{ type: ['string', 'null'] }, { type: 'integer' }],
    [{ enum: ['a', 'b', null] }, { enum: ['a'] }],
    [{ type: ['integer', 'string', 'null'] }, { type: 'integer' }],
  ] as const
  for (const [before, after] of rows) assert.equal(worstOf('openapi', query(before), query(after)), 'breaking')
})

test('the finding says why it is no break', () => {
  const query = parameter('query')
  const [found] = alarmsOf('openapi', query({ type: ['integer', 'null'] }), query({ type: 'integer' }))
  assert.equal(
    found?.message,
    'the request parameter may no longer be null; such a text has no form of null: callers leave it out, or write an empty text or `null`',
  )
})
