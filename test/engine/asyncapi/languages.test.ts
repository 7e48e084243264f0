/** Parts of a message in another language than JSON Schema: the comparison cannot read them, and a change in them is never nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

const message = (parts: Json): Json => ({
  asyncapi: '3.0.0',
  info: { title: 't', version: '1' },
  channels: { c: { address: 'a', messages: { m: { payload: { type: 'string' }, ...parts } } } },
  operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
})

function groupsBetween(base: Json, head: Json): readonly FindingGroup[] {
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const compared = compare({ id: 'api', type: 'asyncapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return compared.value.groups
}

function rulesBetween(base: Json, head: Json): readonly string[] {
  return groupsBetween(base, head).map(({ rule }) => rule)
}

const AVRO = 'application/vnd.apache.avro;version=1.9.0'
const record = (...names: readonly string[]): Json => ({
  type: 'record',
  name: 'r',
  fields: names.map((name) => ({ name, type: 'string' })),
})

const ROWS: readonly (readonly [what: string, before: Json, after: Json, rule: string])[] = [
  ...(['payload', 'headers'] as const).flatMap((part): typeof ROWS => [
    [
      `${part} with a schemaFormat`,
      { [part]: { schemaFormat: AVRO, schema: record('a') } },
      { [part]: { schemaFormat: AVRO, schema: record() } },
      'asyncapi-payload-definition-refused',
    ],
    [
      `${part} with another schemaFormat`,
      { [part]: { schemaFormat: AVRO, schema: record('a') } },
      { [part]: { schemaFormat: 'application/raml+yaml;version=1.0', schema: record('a') } },
      'asyncapi-payload-language-changed',
    ],
    [
      `${part} in Avro without a schemaFormat`,
      { [part]: record('a') },
      { [part]: record() },
      'asyncapi-payload-definition-changed',
    ],
    [
      `${part} as a union of Avro without a schemaFormat`,
      { [part]: ['null', record('a')] },
      { [part]: ['null', record()] },
      'asyncapi-payload-definition-changed',
    ],
  ]),
  [
    'the key of Kafka in Avro',
    { bindings: { kafka: { key: record('a') } } },
    { bindings: { kafka: { key: record() } } },
    'asyncapi-binding-changed',
  ],
]

for (const [what, before, after, rule] of ROWS)
  test(`${what}: a change is reported`, () => {
    assert.deepEqual(rulesBetween(message(before), message(after)), [rule])
    assert.deepEqual(rulesBetween(message(before), message(before)), [])
  })

const PROTOBUF = 'application/vnd.google.protobuf;version=3'
const proto = (...fields: readonly string[]): string => `syntax = "proto3"; message M { ${fields.join(' ')} }`

/** What a message has to name beside the language: the part that is refused, or that changed. */
const NAMED: readonly (readonly [what: string, format: string, before: unknown, after: unknown, named: string])[] = [
  ['a field of Avro that is missing', AVRO, record('a', 'b'), record('a'), 'b: the reader needs it'],
  [
    'a field of Avro of another type',
    AVRO,
    record('a'),
    { ...record(), fields: [{ name: 'a', type: 'int' }] },
    'string',
  ],
  ['a field of protobuf of another type', PROTOBUF, proto('string a = 1;'), proto('int32 a = 1;'), 'M.a'],
  ['a field of protobuf that is new', PROTOBUF, proto('string a = 1;'), proto('string a = 1;', 'string b = 2;'), 'M.b'],
]

for (const [what, schemaFormat, before, after, named] of NAMED)
  for (const part of ['payload', 'headers'] as const)
    test(`the message names ${what}, in the ${part}`, () => {
      const [base, head] = [before, after].map((schema) => message({ [part]: { schemaFormat, schema } }))
      const messages = groupsBetween(base ?? {}, head ?? {}).map((group) => group.message)
      assert.equal(messages.length, 1)
      for (const text of [schemaFormat, named]) assert.ok(messages[0]?.includes(text), `${messages[0]} lacks ${text}`)
    })

const draft = (version: string): string => `application/schema+json;version=${version}`
const REFERENCE = { $ref: '#/components/schemas/S' }

/** A payload of 2.x and 3.x that states its draft. */
const payloads = (schemaFormat: string, schema: Json, shared: Json = { type: 'string' }): readonly Json[] => [
  { ...message({ payload: { schemaFormat, schema } }), components: { schemas: { S: shared } } },
  {
    asyncapi: '2.6.0',
    info: { title: 't', version: '1' },
    channels: { a: { publish: { message: { schemaFormat, payload: schema } } } },
    components: { schemas: { S: shared } },
  },
]

test('keywords beside a reference count in payloads of a draft in which they do, also behind further references', () => {
  const [limited, deep] = [{ ...REFERENCE, maxLength: 3 }, { properties: { p: { ...REFERENCE, maxLength: 3 } } }]
  for (const [version, counts] of [
    ['draft-04', false],
    ['draft-07', false],
    ['2019-09', true],
    ['2020-12', true],
  ] as const) {
    const changed = (bases: readonly Json[], heads: readonly Json[]): readonly boolean[] =>
      bases.map((base, index) => rulesBetween(base, heads[index] ?? {}).length > 0)
    const format = draft(version)
    assert.deepEqual(changed(payloads(format, REFERENCE), payloads(format, limited)), [counts, counts], version)
    const outer = { $ref: '#/components/schemas/S/$defs/outer' }
    const within = (outerSchema: Json): readonly Json[] =>
      payloads(format, outer, { type: 'string', $defs: { outer: outerSchema } })
    const open = within({ properties: { p: REFERENCE } })
    assert.deepEqual(changed(open, within(deep)), [counts, counts], `${version}, behind a reference`)
  }
})

test('a payload that moves to another draft is reported, one that states the draft of AsyncAPI is not', () => {
  const schema = { type: 'array', items: [{ type: 'string' }] }
  const moves = (before: string, after: string): readonly (readonly string[])[] => {
    const heads = payloads(after, schema)
    return payloads(before, schema).map((base, index) => rulesBetween(base, heads[index] ?? {}))
  }
  const reported = [['asyncapi-payload-language-changed'], ['asyncapi-payload-language-changed']]
  assert.deepEqual(moves(draft('draft-07'), draft('2020-12')), reported)
  assert.deepEqual(moves('application/vnd.aai.asyncapi;version=3.0.0', draft('2020-12')), reported)
  assert.deepEqual(moves('application/vnd.aai.asyncapi;version=3.0.0', draft('draft-07')), [[], []])
})
