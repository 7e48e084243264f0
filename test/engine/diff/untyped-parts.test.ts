/** A part of a multipart body that may be of any type is bytes, in whatever notation (OpenAPI 3.1.1 §4.8.15.1.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const ANY: readonly Json[] = [
  {},
  { allOf: [{}] },
  { anyOf: [{}, TEXT] },
  { oneOf: [{}] },
  { not: { not: {} } },
  { minLength: 0 },
]
const TEXTS: readonly Json[] = [TEXT, { allOf: [TEXT] }, { not: { not: TEXT } }, { anyOf: [TEXT, { not: {} }] }]

function written(openapi: string, part: Json): Json {
  const content = { 'multipart/form-data': { schema: { type: 'object', properties: { f: part } } } }
  const post = { requestBody: { content }, responses: { 200: { description: 'done' } } }
  return { openapi, info: { title: 't', version: '1' }, paths: { '/x': { post } } }
}

for (const from of ['3.0.3', '3.1.0']) {
  for (const to of ['3.0.3', '3.1.0']) {
    test(`it does not matter how the type of a part is written, from ${from} to ${to}`, () => {
      const alarms = [ANY, TEXTS].flatMap((forms) =>
        forms.flatMap((before) =>
          forms.flatMap((after) => alarmsOf('openapi', written(from, before), written(to, after))),
        ),
      )
      assert.deepEqual(alarms, [])
    })
  }
}

test('a part of any type that becomes a text is written otherwise', () => {
  const rules = alarmsOf('openapi', written('3.1.0', { minLength: 0 }), written('3.1.0', TEXT)).map(({ rule }) => rule)
  assert.ok(rules.includes('request-body-encoding-changed'))
})
