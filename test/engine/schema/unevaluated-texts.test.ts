/**
 * Alone, `unevaluatedProperties` says what `additionalProperties` says. It does so too where values are written as text: the
 * types of the other names are none of a name with a schema of its own.
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
