/** OpenAPI 3.1 has two ways to say that a text is bytes: the formats of its registry, and the words of JSON Schema. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const BINARY = { ...TEXT, format: 'binary' }
const OCTETS = { ...TEXT, contentMediaType: 'application/octet-stream' }
const BYTE = { ...TEXT, format: 'byte' }
const BASE64 = { ...TEXT, contentEncoding: 'base64' }

const ROWS: readonly (readonly [name: string, one: Json, other: Json, isSame: boolean])[] = [
  ['octets', BINARY, OCTETS, true],
  ['base64', BYTE, BASE64, true],
  ['a list', { type: 'array', items: BINARY }, { type: 'array', items: OCTETS }, true],
  ['an alternative', { anyOf: [BINARY, { type: 'null' }] }, { anyOf: [OCTETS, { type: 'null' }] }, true],
  ['octets with a length', { ...BINARY, maxLength: 9 }, { ...OCTETS, maxLength: 9 }, true],
  ['octets and base64', OCTETS, BASE64, false],
  ['bytes and base64', BINARY, BASE64, false],
  ['another media type', BINARY, { ...TEXT, contentMediaType: 'image/png' }, false],
  ['another encoding', BYTE, { ...TEXT, contentEncoding: 'base32' }, false],
  ['octets with another length', { ...BINARY, maxLength: 9 }, { ...OCTETS, maxLength: 8 }, false],
]

const MEDIA_TYPES = ['multipart/form-data', 'application/json']

function documentOf(place: 'request' | 'response', mediaType: string, schema: Json): Json {
  const content = { [mediaType]: { schema: { type: 'object', properties: { file: schema } } } }
  const done = { description: 'done', ...(place === 'response' && { content }) }
  const operation = { responses: { '200': done }, ...(place === 'request' && { requestBody: { content } }) }
  return { openapi: '3.1.0', info: { title: 'Example', version: '1' }, paths: { '/x': { post: operation } } }
}

function isAlarm(place: 'request' | 'response', mediaType: string, before: Json, after: Json): boolean {
  const [base, head] = [before, after].map((schema) => documentOf(place, mediaType, schema))
  return !['info', 'none'].includes(worstOf('openapi', base, head))
}

for (const place of ['request', 'response'] as const)
  for (const mediaType of MEDIA_TYPES)
    suite(`bytes in a ${place} of ${mediaType}`, () => {
      for (const [name, one, other, isSame] of ROWS)
        test(name, () => {
          const alarms = [isAlarm(place, mediaType, one, other), isAlarm(place, mediaType, other, one)]
          if (isSame) assert.deepEqual(alarms, [false, false])
          else assert.ok(alarms.includes(true))
        })
    })
