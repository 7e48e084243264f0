/** The schema of an address parameter in AsyncAPI 2.x: what it demands of a value counts whether it comes, goes or changes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const VERSIONS = ['2.0.0', '2.4.0', '2.6.0']

function api(version: string, parameter: Json): Json {
  const message = { payload: { type: 'object' } }
  return {
    asyncapi: version,
    info: { title: 't', version: '1' },
    channels: { 'a/{q}': { parameters: { q: parameter }, subscribe: { message } } },
  }
}

/** Each with another value of the same member. */
const CONDITIONS: readonly (readonly [one: Json, other: Json])[] = [
  [{ pattern: '^a' }, { pattern: '^b' }],
  [{ minLength: 1 }, { minLength: 2 }],
  [{ maxLength: 9 }, { maxLength: 8 }],
  [{ format: 'uuid' }, { format: 'date' }],
  [{ const: 'a' }, { const: 'b' }],
  [{ enum: ['a', 'b'] }, { enum: ['a'] }],
  [{ type: 'integer' }, { type: 'boolean' }],
  [
    { minimum: 1, type: 'number' },
    { minimum: 2, type: 'number' },
  ],
  [{ allOf: [{ pattern: '^a' }] }, { allOf: [{ pattern: '^b' }] }],
  [{ not: { const: 'a' } }, { not: { const: 'b' } }],
]
const FREE: readonly Json[] = [{}, { schema: { type: 'string' } }, { schema: { type: 'string', title: 't' } }]

suite('the schema of an address parameter', () => {
  for (const version of VERSIONS) {
    for (const [one, other] of CONDITIONS) {
      test(`${JSON.stringify(one)} in AsyncAPI ${version}`, () => {
        const [first, second] = [one, other].map((part) => api(version, { schema: { type: 'string', ...part } }))
        for (const free of FREE.map((part) => api(version, part))) {
          for (const pair of [
            [free, first],
            [first, free],
          ])
            assert.notEqual(worstOf('asyncapi', pair[0] ?? {}, pair[1] ?? {}), 'none')
        }
        assert.notEqual(worstOf('asyncapi', first ?? {}, second ?? {}), 'none')
      })
    }
    for (const free of FREE) {
      test(`${JSON.stringify(free)} takes any text in AsyncAPI ${version}`, () => {
        for (const same of FREE)
          assert.equal(worstOf('asyncapi', api(version, free), api(version, same)), 'none', JSON.stringify(same))
      })
    }
  }
  test('AsyncAPI 3.x cannot state a pattern, so its absence there is reported as the new version only', () => {
    const before = api('2.6.0', { schema: { type: 'string', pattern: '^a' } })
    const after = {
      asyncapi: '3.0.0',
      info: { title: 't', version: '1' },
      channels: { a: { address: 'a/{q}', parameters: { q: {} }, messages: { m: { payload: { type: 'object' } } } } },
      operations: { o: { action: 'send', channel: { $ref: '#/channels/a' } } },
    }
    assert.equal(worstOf('asyncapi', before, after), 'info')
  })
})
