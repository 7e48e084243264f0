/** Parts of a message in another language than JSON Schema: the comparison cannot read them, and a change in them is never nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

const message = (parts: Json): Json => ({
  asyncapi: '3.0.0',
  info: { title: 't', version: '1' },
  channels: { c: { address: 'a', messages: { m: { payload: { type: 'string' }, ...parts } } } },
  operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
})

function rulesBetween(base: Json, head: Json): readonly string[] {
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const compared = compare({ id: 'api', type: 'asyncapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return compared.value.groups.map(({ rule }) => rule)
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
      'asyncapi-payload-definition-changed',
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
