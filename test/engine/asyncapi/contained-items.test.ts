/** Whether `contains` evaluates items depends on the draft that a payload states: in 2020-12 it does, in 2019-09 it does not. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const CONTAINS = { contains: { type: 'string' } }
const CLOSED = { type: 'array', unevaluatedItems: false }

/** @param other the draft of a second message */
function documentOf(payload: Json, draft: string, other: string): Json {
  const messages = [draft, other].map((one, index) => ({
    name: `m${index}`,
    schemaFormat: `application/schema+json;version=${one}`,
    payload: index === 0 ? payload : { type: 'object' },
  }))
  const publish = { message: { oneOf: messages } }
  return { asyncapi: '2.6.0', info: { title: 'Example', version: '1' }, channels: { notes: { publish } } }
}

/** A closed list whose items `contains` matches, and one without it: in 2019-09 both admit the empty list, or nothing. */
const ROWS: readonly (readonly [draft: string, other: string, isSame: boolean])[] = [
  ['2020-12', '2020-12', false],
  ['2019-09', '2019-09', true],
  ['2019-09', '2020-12', false],
]

suite('contains in a payload of a stated draft', () => {
  for (const [draft, other, isSame] of ROWS)
    test(`${draft} beside ${other}`, () => {
      const [before, after] = [
        { ...CLOSED, ...CONTAINS, minContains: 0 },
        { ...CLOSED, ...CONTAINS, minContains: 0, maxItems: 0 },
      ].map((payload) => documentOf(payload, draft, other))
      const worst = worstOf('asyncapi', before, after)
      assert.equal(worst === 'info' || worst === 'none', isSame, worst)
    })
})
