/** Avro schemas that mean the same in another notation, and small changes that mean something else. */
import { suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const FORMAT = 'application/vnd.apache.avro;version=1.9.0'
const KIND = { type: 'enum', name: 'Kind', symbols: ['A', 'B'] }
const KEY = { name: 'key', type: 'string' }
const FIELDS: readonly Json[] = [
  KEY,
  { name: 'kind', type: KIND },
  { name: 'other', type: ['null', 'Kind'], default: null },
  { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
  { name: 'list', type: { type: 'array', items: 'Kind' } },
  { name: 'map', type: { type: 'map', values: { type: 'fixed', name: 'F', size: 4 } } },
]
const ORDER: Json = { type: 'record', name: 'Order', namespace: 'a.b', fields: FIELDS }

function withField(name: string, change: Json): Json {
  return { ...ORDER, fields: FIELDS.map((field) => (field['name'] === name ? { ...field, ...change } : field)) }
}

function documentOf(payload: unknown, schemaFormat = FORMAT): Json {
  return {
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    channels: { c: { address: 'a', messages: { m: { payload: { schemaFormat, schema: payload } } } } },
    operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
  }
}

/** An order whose key has the type of another part of the document. */
function referring(type: string): Json {
  const components = { schemas: { key: { type } } }
  return { ...documentOf(withField('key', { type: { $ref: '#/components/schemas/key' } })), components }
}

const SAME: Readonly<Record<string, unknown>> = {
  'another doc': { ...ORDER, doc: 'An order.' },
  'the doc of a field': withField('key', { doc: 'The key.' }),
  'a type as an object': withField('key', { type: { type: 'string' } }),
  'its full name': { ...ORDER, name: 'a.b.Order', namespace: undefined },
  'the full name of a part': withField('kind', { type: { ...KIND, name: 'a.b.Kind' } }),
  'the namespace of a part': withField('kind', { type: { ...KIND, namespace: 'a.b' } }),
  'a reference by its full name': withField('list', { type: { type: 'array', items: 'a.b.Kind' } }),
  'the order that is meant without one': withField('key', { order: 'ascending' }),
  'the text of its JSON': JSON.stringify(ORDER, null, 2),
}

const CHANGED: Readonly<Record<string, unknown>> = {
  'another namespace': { ...ORDER, namespace: 'a.c' },
  'another name': { ...ORDER, name: 'Orders' },
  'another type': withField('key', { type: 'bytes' }),
  'another logical type': withField('at', { type: { type: 'long', logicalType: 'timestamp-micros' } }),
  'another default': withField('other', { default: 'A' }),
  'another order of a union': withField('other', { type: ['Kind', 'null'] }),
  'another symbol': withField('kind', { type: { ...KIND, symbols: ['A', 'C'] } }),
  'another order of symbols': withField('kind', { type: { ...KIND, symbols: ['B', 'A'] } }),
  'another order of fields': { ...ORDER, fields: [...FIELDS].reverse() },
  'another size': withField('map', { type: { type: 'map', values: { type: 'fixed', name: 'F', size: 8 } } }),
  'an alias': withField('key', { aliases: ['id'] }),
  'a descending order': withField('key', { order: 'descending' }),
  'a part in another namespace': withField('kind', { type: { ...KIND, namespace: 'z' } }),
  'a text that is no JSON': '{"type": "record"',
}

suite('an Avro schema', () => {
  for (const [what, other] of Object.entries(SAME))
    test(`is the same with ${what}`, () => {
      assert.equal(worstOf('asyncapi', documentOf(ORDER), documentOf(other)), 'none')
      assert.equal(worstOf('asyncapi', documentOf(other), documentOf(ORDER)), 'none')
    })
  for (const [what, other] of Object.entries(CHANGED))
    test(`is another one with ${what}`, () => {
      assert.equal(worstOf('asyncapi', documentOf(ORDER), documentOf(other)), 'dangerous')
      assert.equal(worstOf('asyncapi', documentOf(other), documentOf(ORDER)), 'dangerous')
    })
  test('is the same under the name of its text', () => {
    const other = documentOf(ORDER, 'application/vnd.apache.avro+json;version=1.9.0')
    assert.equal(worstOf('asyncapi', documentOf(ORDER), other), 'none')
  })
  test('is another one in another version of the language', () => {
    const other = documentOf(ORDER, 'application/vnd.apache.avro;version=1.8.0')
    assert.equal(worstOf('asyncapi', documentOf(ORDER), other), 'dangerous')
  })
  test('is another one where the target of a reference changed', () => {
    assert.equal(worstOf('asyncapi', referring('string'), referring('bytes')), 'dangerous')
  })
})
