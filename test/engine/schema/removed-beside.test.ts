/**
 * A property that is removed beside another change explains nothing of that change: the level of the whole is no milder. Where the
 * object refuses the name, or what callers send under it, callers are refused.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { LEVELS, type FindingGroup } from '../../../engine/internal.ts'
import { alarmsOf, worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
/** Parts of an object before and after. */
const CHANGES: Readonly<Record<string, readonly [before: Json, after: Json]>> = {
  'a name becomes required': [{}, { required: ['a'] }],
  'a property becomes required': [{ properties: { a: TEXT } }, { properties: { a: TEXT }, required: ['a'] }],
  'a property becomes a required name': [{ properties: { a: TEXT } }, { required: ['a'] }],
  'a required name gets a schema': [{ required: ['a'] }, { properties: { a: TEXT }, required: ['a'] }],
  'a required name gets a schema, optional': [{ required: ['a'] }, { properties: { a: TEXT } }],
  'a further name gets another schema': [
    { additionalProperties: TEXT },
    { additionalProperties: TEXT, properties: { a: NUMBER } },
  ],
  'a name of a pattern gets a schema': [
    { patternProperties: { '^a': TEXT } },
    { patternProperties: { '^b': TEXT }, properties: { a: NUMBER } },
  ],
  'further names are refused': [{}, { additionalProperties: false }],
  'further names are constrained': [{}, { additionalProperties: NUMBER }],
  'fewer members': [{ maxProperties: 9 }, { maxProperties: 2 }],
  'other names': [{}, { propertyNames: { maxLength: 2 } }],
  'a dependency': [{}, { dependentRequired: { a: ['b'] } }],
  'a part': [{}, { allOf: [{ required: ['a'] }] }],
  'an alternative': [{}, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
  'a negation': [{}, { not: { required: ['a'] } }],
  'a condition': [{}, { if: { required: ['a'] }, then: { required: ['b'] } }],
}

function api(content: Json, isRequest: boolean): Json {
  const body = { content: { 'application/json': { schema: content } } }
  const responses = { 200: { description: 'done', ...(!isRequest && body) } }
  const operation = { responses, ...(isRequest && { requestBody: { required: true, ...body } }) }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post: operation } } }
}

const PLACES: Readonly<Record<string, readonly [type: ArtifactType, whole: (schema: Json) => Json]>> = {
  'a request': ['openapi', (schema) => api(schema, true)],
  'a response': ['openapi', (schema) => api(schema, false)],
  'a JSON Schema': ['json_schema', (schema) => schema],
  'a tool': ['mcp_manifest', (inputSchema) => ({ tools: [{ name: 't', description: 'd', inputSchema }] })],
}

/** The schema with a property that only one side has. */
function withRemoved(schema: Json): Json {
  return { ...schema, properties: { ...Object(schema['properties']), gone: TEXT } }
}

function rank(level: Worst): number {
  return level === 'none' ? LEVELS.length : LEVELS.indexOf(level)
}

for (const [place, [type, whole]] of Object.entries(PLACES)) {
  suite(`a removed property in ${place}`, () => {
    for (const [name, parts] of Object.entries(CHANGES)) {
      for (const [way, index] of [
        ['', 0],
        [', undone', 1],
      ] as const) {
        test(`${name}${way}`, () => {
          const [before = {}, after = {}] = [parts[index], parts[1 - index]].map((part) => ({
            type: 'object',
            ...part,
          }))
          const alone = worstOf(type, whole(before), whole(after))
          const beside = worstOf(type, whole(withRemoved(before)), whole(after))
          assert.ok(rank(beside) <= rank(alone), `${beside}, and ${alone} without the removal`)
        })
      }
    }
  })
}

/** Parts of an object that refuse a name without a schema of its own, or a text under it. */
const CLOSED: Readonly<Record<string, Json>> = {
  'no further names': { additionalProperties: false },
  'further names that no value fits': { additionalProperties: { not: {} } },
  'further names of another type': { additionalProperties: NUMBER },
  'no names that nothing evaluates': { unevaluatedProperties: false },
  'names of a pattern': { patternProperties: { '^keep': {} }, additionalProperties: false },
  'a part that is closed': { allOf: [{ properties: { kept: TEXT }, additionalProperties: false }] },
}

function listOf(items: Json): Json {
  return { type: 'object', properties: { list: { type: 'array', items } } }
}

for (const [place, [type, whole]] of Object.entries(PLACES)) {
  suite(`a property that leaves a closed object in ${place}`, () => {
    for (const [name, closed] of Object.entries(CLOSED)) {
      const kept = { type: 'object', properties: { kept: TEXT } }
      test(name, () => {
        // A part that is closed has refused the name before.
        const before = { ...withRemoved(kept), ...(closed['allOf'] === undefined && closed) }
        const expected = place === 'a response' ? 'dangerous' : 'breaking'
        assert.equal(worstOf(type, whole(before), whole({ ...kept, ...closed })), expected)
        assert.equal(worstOf(type, whole(listOf(before)), whole(listOf({ ...kept, ...closed }))), expected)
      })
    }
    test('of an open object, which takes every name, it is a warning', () => {
      const kept = { type: 'object', properties: { kept: TEXT } }
      const expected = place === 'a tool' ? 'breaking' : 'dangerous'
      assert.equal(worstOf(type, whole(withRemoved(kept)), whole(kept)), expected)
    })
  })
}

/** Objects with the property `gone`, which refuse it when it leaves; the path is that of the object that listed it. */
const LEFT: Readonly<Record<string, readonly [before: Json, after: Json]>> = {
  ...Object.fromEntries(
    Object.entries(CLOSED)
      .filter(([, closed]) => closed['allOf'] === undefined)
      .map(([name, closed]) => [name, [withRemoved({ type: 'object', ...closed }), { type: 'object', ...closed }]]),
  ),
  'a part of an object that is closed as a whole': [
    { type: 'object', allOf: [withRemoved({}), { minProperties: 1 }], unevaluatedProperties: false },
    { type: 'object', allOf: [{ properties: {} }, { minProperties: 1 }], unevaluatedProperties: false },
  ],
  'one of two that leave': [
    withRemoved({ type: 'object', properties: { more: NUMBER }, additionalProperties: false }),
    { type: 'object', properties: {}, additionalProperties: false },
  ],
}

for (const [place, [type, whole]] of Object.entries(PLACES)) {
  if (place === 'a response') continue
  suite(`one finding for each property that a closed object loses in ${place}`, () => {
    for (const [name, [before, after]] of Object.entries(LEFT)) {
      test(name, () => {
        const alarms = alarmsOf(type, whole(before), whole(after))
        const gone = name.startsWith('one of two') ? 2 : 1
        assert.deepEqual(
          alarms.map(({ level, rule }) => [level, rule.endsWith('property-removed')]),
          Array.from({ length: gone }, () => ['breaking', true]),
        )
        if (place !== 'a tool')
          for (const alarm of alarms) assert.match(alarm.message, /refused, such as \{"(gone|more)":/)
      })
    }
  })
}

test('another change beside a property that an open object loses does not raise its level', () => {
  const before = withRemoved({ type: 'object', additionalProperties: TEXT, maxProperties: 9 })
  const after = { type: 'object', additionalProperties: TEXT, maxProperties: 2 }
  const removed = alarmsOf('json_schema', before, after).filter(({ rule }: FindingGroup) => rule.includes('property'))
  assert.deepEqual(
    removed.map(({ level }) => level),
    ['dangerous'],
  )
})
