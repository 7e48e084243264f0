/** Values that are written in a media type of their own within another text, and sequences of values (OpenAPI 3.2). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>

const contract = (mediaType: string, media: Json): string => {
  const content = { [mediaType]: media }
  const post = { requestBody: { content }, responses: { 200: { description: 'done', content } } }
  return JSON.stringify({ openapi: '3.2.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } })
}

/** Places, by request and response, with a finding that is not information. */
function harmed(mediaType: string, before: Json, after: Json): readonly string[] {
  const compared = compareOpenApi(contract(mediaType, before), contract(mediaType, after), {}, sha256)
  assert.ok(compared.ok)
  const groups = compared.value.groups.filter(({ level }) => level !== 'info')
  return [...new Set(groups.map(({ rule }) => rule.split('-')[0] ?? ''))].sort()
}

const [TEXT, WHOLE] = [{ type: 'string' }, { type: 'integer' }]
const BOTH = ['request', 'response']

const described = (contentSchema: Json): Json => ({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema,
})
const object = (a: Json): Json => ({ type: 'object', properties: { a } })

suite('JSON within a text distinguishes types', () => {
  const PLACES: Readonly<Record<string, readonly [mediaType: string, media: (type: Json) => Json]>> = {
    'a field in JSON': [
      'multipart/form-data',
      (type) => ({ schema: object(type), encoding: { a: { contentType: 'application/json' } } }),
    ],
    'a field of another form': [
      'application/x-www-form-urlencoded',
      (type) => ({ schema: object(type), encoding: { a: { contentType: 'application/problem+json' } } }),
    ],
    'a described text of a form': [
      'application/x-www-form-urlencoded',
      (type) => ({ schema: object(described(object(type))) }),
    ],
    'a described text of an event': ['text/event-stream', (type) => ({ itemSchema: object(described(object(type))) })],
    'a described text': ['text/plain', (type) => ({ schema: described(object(type)) })],
  }
  for (const [what, [mediaType, media]] of Object.entries(PLACES))
    test(what, () => {
      assert.deepEqual(harmed(mediaType, media(TEXT), media(WHOLE)), BOTH)
      assert.deepEqual(harmed(mediaType, media(WHOLE), media(TEXT)), BOTH)
    })

  test('other fields are texts: a whole number is one', () => {
    const encoding = { b: { contentType: 'application/json' } }
    const media = (type: Json): Json => ({ schema: object(type), encoding })
    assert.deepEqual(harmed('multipart/form-data', media(TEXT), media(WHOLE)), ['request'])
    assert.deepEqual(harmed('multipart/form-data', media(WHOLE), media(TEXT)), ['response'])
  })
})

const list = (items: Json, more: Json = {}): Json => ({ schema: { type: 'array', items, ...more } })
const each = (itemSchema: Json): Json => ({ itemSchema })

suite('a sequence as a whole and by items', () => {
  const LINES = 'application/jsonl'

  test('the other form is no change', () => {
    assert.deepEqual(harmed(LINES, list(TEXT), each(TEXT)), [])
    assert.deepEqual(harmed(LINES, each(TEXT), list(TEXT)), [])
    assert.deepEqual(harmed(LINES, each(TEXT), { ...each(TEXT), ...list({}) }), [])
    assert.deepEqual(harmed('text/event-stream', { schema: object(TEXT) }, each(object(TEXT))), [])
  })

  test('another item in the other form is one', () => {
    assert.deepEqual(harmed(LINES, list(TEXT), each(WHOLE)), BOTH)
    assert.deepEqual(harmed(LINES, each(TEXT), list(WHOLE)), BOTH)
    assert.deepEqual(harmed(LINES, { schema: TEXT }, each(WHOLE)), BOTH)
  })

  test('a limit on the whole that comes or goes is one', () => {
    const limited = { ...each(TEXT), ...list({}, { maxItems: 3 }) }
    assert.deepEqual(harmed(LINES, each(TEXT), limited), ['request'])
    assert.deepEqual(harmed(LINES, limited, each(TEXT)), ['response'])
  })
})
