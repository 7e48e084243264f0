/**
 * A field of a form, or a parameter, that becomes a list of its former values: without an encoding a list is written by repeating the field (OpenAPI
 * 3.1.1 §4.8.15.1), so one value has the same text. Servers take more, and readers may get more.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const FILE = { type: 'string', format: 'binary' }
const WHOLE = { type: 'integer', minimum: 1 }
const list = (items: Json, more: Json = {}): Json => ({ type: 'array', items, ...more })
const JOINED = { encoding: { f: { style: 'form', explode: false } } }

const MEDIA_TYPES = ['multipart/form-data', 'application/x-www-form-urlencoded']
const DONE = { 200: { description: 'd' } }

const form = (mediaType: string, field: Json, media: Json = {}): Json => ({
  requestBody: { content: { [mediaType]: { schema: { type: 'object', properties: { f: field } }, ...media } } },
  responses: DONE,
})
const api = (post: Json): Json => ({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post } } })
const sent = (...parts: Parameters<typeof form>): Json => api(form(...parts))
const received = (...parts: Parameters<typeof form>): Json =>
  api({ responses: DONE, callbacks: { c: { '{$request.query.u}': { post: form(...parts) } } } })

/** The field on both sides, the encoding of the list, and the worst level forth and back, for callers. */
const ROWS: Readonly<Record<string, readonly [one: Json, other: Json, media: Json, forth: Worst, back: Worst]>> = {
  'of a text': [TEXT, list(TEXT), {}, 'info', 'breaking'],
  'of a file': [FILE, list(FILE), {}, 'info', 'breaking'],
  'of a number with a bound': [WHOLE, list(WHOLE), {}, 'info', 'breaking'],
  'of something else': [TEXT, list(WHOLE), {}, 'breaking', 'breaking'],
  'of one at most': [TEXT, list(TEXT, { maxItems: 1 }), {}, 'info', 'breaking'],
  'of exactly one': [TEXT, list(TEXT, { minItems: 1, maxItems: 1 }), {}, 'info', 'breaking'],
  'of items that differ': [TEXT, list(TEXT, { uniqueItems: true }), {}, 'info', 'breaking'],
  'of nothing': [TEXT, list(TEXT, { maxItems: 0 }), {}, 'breaking', 'breaking'],
  'of two at least': [TEXT, list(TEXT, { minItems: 2 }), {}, 'breaking', 'breaking'],
  'that is joined by commas': [TEXT, list(TEXT), JOINED, 'breaking', 'breaking'],
}

for (const mediaType of MEDIA_TYPES) {
  suite(`a field of ${mediaType} that becomes a list`, () => {
    for (const [what, [one, other, media, forth, back]] of Object.entries(ROWS)) {
      test(what, () => {
        const [before, after] = [sent(mediaType, one), sent(mediaType, other, media)]
        assert.deepEqual([worstOf('openapi', before, after), worstOf('openapi', after, before)], [forth, back])
      })

      test(`${what}, for a reader`, () => {
        const [before, after] = [received(mediaType, one), received(mediaType, other, media)]
        assert.equal(worstOf('openapi', before, after), 'breaking')
      })
    }
  })
}

type Row = readonly [
  one: Json,
  other: Json,
  style: Json,
  place: 'query' | 'cookie' | 'header',
  forth: Worst,
  back?: Worst,
]

/**
 * A parameter on both sides, how the list is written, and what callers of the scalar lose. Back, callers of the list mostly lose. A
 * list of one item at most is written as the item, or not at all.
 */
const PARAMETERS: Readonly<Record<string, Row>> = {
  'of one text at most': [TEXT, list(TEXT, { maxItems: 1 }), {}, 'query', 'info', 'info'],
  'of exactly one text': [TEXT, list(TEXT, { minItems: 1, maxItems: 1 }), {}, 'query', 'info', 'info'],
  'of two texts at most': [TEXT, list(TEXT, { maxItems: 2 }), {}, 'query', 'info'],
  'of one text at most in an alternative': [
    TEXT,
    { ...list(TEXT), anyOf: [{ maxItems: 1 }, { minItems: 3 }] },
    {},
    'query',
    'info',
  ],
  'of one text at most from a number': [WHOLE, list(TEXT, { maxItems: 1 }), {}, 'query', 'info'],
  'of one number at most from a text': [TEXT, list(WHOLE, { maxItems: 1 }), {}, 'query', 'breaking', 'info'],
  'of one longer text at most': [{ ...TEXT, minLength: 3 }, list(TEXT, { maxItems: 1 }), {}, 'query', 'info'],
  'of one object at most': [TEXT, list({ type: 'object' }, { maxItems: 1 }), {}, 'query', 'breaking'],
  'of one list at most': [TEXT, list(list(TEXT), { maxItems: 1 }), {}, 'query', 'breaking'],
  'of one item at most of any type': [TEXT, list({}, { maxItems: 1 }), {}, 'query', 'breaking'],
  'of texts that differ': [TEXT, list(TEXT, { uniqueItems: true }), {}, 'cookie', 'info'],
  'of two texts at least': [TEXT, list(TEXT, { minItems: 2 }), {}, 'query', 'breaking'],
  'of no text': [TEXT, list(TEXT, { maxItems: 0 }), {}, 'query', 'breaking'],
  'of numbers': [WHOLE, list(WHOLE, { maxItems: 3 }), {}, 'query', 'info'],
  'of larger numbers': [WHOLE, list({ ...WHOLE, minimum: 2 }), {}, 'query', 'breaking'],
  'of listed values': [{ enum: ['a'] }, list({ enum: ['b', 'a'] }), {}, 'query', 'info'],
  'of fewer listed values': [{ enum: ['a', 'b'] }, list({ enum: ['a'] }), {}, 'query', 'breaking'],
  'of listed numbers': [{ enum: [1] }, list({ enum: [2, 1] }), { explode: false }, 'query', 'info'],
  'of one text at most that is joined by commas': [
    TEXT,
    list(TEXT, { maxItems: 1 }),
    { explode: false },
    'query',
    'breaking',
    'info',
  ],
  'of numbers that are joined by commas': [WHOLE, list(WHOLE), { explode: false }, 'query', 'info'],
  'of numbers in a header field': [WHOLE, list(WHOLE, { maxItems: 1 }), {}, 'header', 'info', 'info'],
  'of texts in a header field': [TEXT, list(TEXT), {}, 'header', 'breaking'],
  'of numbers or one': [
    WHOLE,
    { ...WHOLE, type: ['integer', 'array'], items: WHOLE },
    { explode: false },
    'query',
    'info',
  ],
}

const taking = (place: string, schema: Json, style: Json = {}): Json =>
  api({ parameters: [{ name: 'f', in: place, schema, ...style }], responses: DONE })

suite('a parameter that becomes a list', () => {
  for (const [what, [one, other, style, place, forth, back = 'breaking']] of Object.entries(PARAMETERS)) {
    test(what, () => {
      const [before, after] = [taking(place, one), taking(place, other, style)]
      assert.deepEqual([worstOf('openapi', before, after), worstOf('openapi', after, before)], [forth, back])
    })
  }
})

test('in JSON one value is no list of one', () => {
  const [before, after] = [sent('application/json', TEXT), sent('application/json', list(TEXT))]
  assert.equal(worstOf('openapi', before, after), 'breaking')
})
