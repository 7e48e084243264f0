/**
 * Alone, `unevaluatedProperties` says what `additionalProperties` says, and `unevaluatedItems` what `items` says. This holds
 * where values are written as text, too. The types of the other names are none of a name with a schema of its own. A field
 * that occurs once is a list of one item.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const MEDIA_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
const OTHERS: Readonly<Record<string, Json>> = {
  'a date': { type: 'string', format: 'date-time' },
  'a pattern': { type: 'string', pattern: '^a+$' },
  'a whole number': { type: 'integer' },
  'a bounded number': { type: 'integer', maximum: 5 },
  'a truth value': { type: 'boolean' },
  'a listed value': { enum: ['a'] },
}
const OWN: Readonly<Record<string, Json>> = {
  'a whole number': { type: 'integer' },
  'a number': { type: 'number' },
  'a truth value': { type: 'boolean' },
  'a text': { type: 'string' },
}

function asked(schema: Json, mediaType: string): Json {
  return { requestBody: { required: true, content: { [mediaType]: { schema } } }, responses: DONE }
}
const DONE = { 200: { description: 'done' } }
/** Sent by the caller, and by the provider. */
const DIRECTIONS: Readonly<Record<string, (schema: Json, mediaType: string) => Json>> = {
  request: asked,
  callback: (schema, mediaType) => ({
    responses: DONE,
    callbacks: { done: { '{$request.query.url}': { post: asked(schema, mediaType) } } },
  }),
}

function api(operation: Json): Json {
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post: operation } } }
}

for (const [direction, operation] of Object.entries(DIRECTIONS)) {
  suite(`a name of its own beside others in a ${direction}`, () => {
    for (const [others, other] of Object.entries(OTHERS)) {
      for (const [own, schema] of Object.entries(OWN)) {
        test(`${own} beside ${others}`, () => {
          const levels = MEDIA_TYPES.map((mediaType) => {
            const each = ['additionalProperties', 'unevaluatedProperties'].map((keyword) => {
              const whole = (more: Json): Json =>
                api(operation({ type: 'object', [keyword]: other, ...more }, mediaType))
              const [before, after] = [whole({}), whole({ properties: { a: schema } })]
              return [worstOf('openapi', before, after), worstOf('openapi', after, before)]
            })
            assert.deepEqual(each[1], each[0], mediaType)
            return each[0]
          })
          if (direction === 'callback' && others === 'a date' && own !== 'a text')
            assert.deepEqual(new Set(levels.map((level) => level?.[0])), new Set(['breaking']))
        })
      }
    }
  })
}

/** Lists that hold a field of one text, or refuse it, by either keyword. */
const LISTS: Readonly<Record<string, (keyword: string) => Json>> = {
  'no item': (keyword) => ({ [keyword]: false }),
  'whole numbers': (keyword) => ({ [keyword]: { type: 'integer' } }),
  'bounded numbers': (keyword) => ({ [keyword]: { type: 'integer', maximum: 5 } }),
  'listed values': (keyword) => ({ [keyword]: { enum: ['a'] } }),
  'any item': (keyword) => ({ [keyword]: true }),
  'a whole number, and no more': (keyword) => ({ prefixItems: [{ type: 'integer' }], [keyword]: false }),
  'a whole number, then texts': (keyword) => ({ prefixItems: [{ type: 'integer' }], [keyword]: { type: 'string' } }),
  'no list without items': (keyword) => ({ [keyword]: false, minItems: 1 }),
  'whole numbers in a part': (keyword) => ({ allOf: [{ [keyword]: { type: 'integer' } }] }),
}

for (const [direction, operation] of Object.entries(DIRECTIONS)) {
  suite(`a text of its own beside lists in a ${direction}`, () => {
    for (const [name, list] of Object.entries(LISTS)) {
      test(name, () => {
        for (const mediaType of MEDIA_TYPES) {
          const [byItems, byUnevaluated] = ['items', 'unevaluatedItems'].map((keyword) => {
            const others = { type: 'array', ...list(keyword) }
            const whole = (more: Json): Json =>
              api(operation({ type: 'object', additionalProperties: others, ...more }, mediaType))
            const [before, after] = [whole({}), whole({ properties: { a: { type: 'string' } } })]
            return [worstOf('openapi', before, after), worstOf('openapi', after, before)]
          })
          assert.deepEqual(byUnevaluated, byItems, mediaType)
        }
      })
    }
  })
}
