/** Avro schemas that mean the same in another notation, changes that a reader may notice, and changes that it refuses. */
import { suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { worstOf, type Worst } from '../elements.ts'

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

type Action = 'send' | 'receive'

function documentOf(payload: unknown, schemaFormat = FORMAT, action: Action = 'send'): Json {
  return {
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    channels: { c: { address: 'a', messages: { m: { payload: { schemaFormat, schema: payload } } } } },
    operations: { o: { action, channel: { $ref: '#/channels/c' } } },
  }
}

/** An order whose key has the type of another part of the document. */
function referring(type: string): Json {
  const components = { schemas: { key: { type } } }
  return { ...documentOf(withField('key', { type: { $ref: '#/components/schemas/key' } })), components }
}

/** A list whose items are the list. */
function looped(doc: string): Json {
  const items = { $ref: '#/components/schemas/s' }
  return {
    ...documentOf({ type: 'array', items }),
    components: { schemas: { s: { type: 'array', items, doc } } },
  }
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
  'attributes that the specification does not define': withField('key', {
    type: { type: 'string', 'avro.java.string': 'String' },
    'connect.name': 'x',
  }),
  'the text of its JSON': JSON.stringify(ORDER, null, 2),
}

const CHANGED: Readonly<Record<string, unknown>> = {
  'another namespace': { ...ORDER, namespace: 'a.c' },
  'another type': withField('key', { type: 'bytes' }),
  'another logical type': withField('at', { type: { type: 'long', logicalType: 'timestamp-micros' } }),
  'another default': withField('other', { default: 'A' }),
  'another order of a union': withField('other', { type: ['Kind', 'null'] }),
  'another order of symbols': withField('kind', { type: { ...KIND, symbols: ['B', 'A'] } }),
  'another order of fields': { ...ORDER, fields: [...FIELDS].reverse() },
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
    assert.equal(worstOf('asyncapi', referring('string'), referring('int')), 'breaking')
  })
  test('is the same where a reference stands for its target', () => {
    assert.equal(worstOf('asyncapi', documentOf(ORDER), referring('string')), 'none')
  })
  test('is nothing that is known where a reference leads to itself', () => {
    assert.equal(worstOf('asyncapi', looped('a'), looped('b')), 'dangerous')
  })
})

const record = (fields: readonly Json[], members: Json = {}): Json => ({
  type: 'record',
  name: 'R',
  fields,
  ...members,
})
const field = (type: unknown, members: Json = {}): Json => record([{ name: 'a', type, ...members }])
const decimal = (precision: number, scale?: number): Json => ({
  type: 'bytes',
  logicalType: 'decimal',
  precision,
  ...(scale !== undefined && { scale }),
})
const symbols = (list: readonly string[], members: Json = {}): Json => ({
  type: 'enum',
  name: 'E',
  symbols: list,
  ...members,
})

/** Two schemas, and the level if an application that sends, or one that receives, moves from the first to the second. */
type Resolved = readonly [what: string, before: unknown, after: unknown, sent: Worst, received: Worst]

const RESOLVED: readonly Resolved[] = [
  ['a wider number', field('int'), field('long'), 'breaking', 'dangerous'],
  ['a number that becomes a fraction', field('long'), field('double'), 'breaking', 'dangerous'],
  ['a text that becomes bytes', field('string'), field('bytes'), 'dangerous', 'dangerous'],
  ['a number that becomes a text', field('int'), field('string'), 'breaking', 'breaking'],
  ['a field without a default', record([]), field('int'), 'dangerous', 'breaking'],
  ['a field with a default', record([]), field('int', { default: 0 }), 'dangerous', 'dangerous'],
  ['a null beside a type', field('int'), field(['null', 'int']), 'breaking', 'dangerous'],
  ['a union in another order', field(['int', 'null']), field(['null', 'int']), 'dangerous', 'dangerous'],
  ['a symbol', symbols(['A']), symbols(['A', 'B']), 'breaking', 'dangerous'],
  [
    'a symbol for which the reader has a default',
    symbols(['A'], { default: 'A' }),
    symbols(['A', 'B'], { default: 'A' }),
    'dangerous',
    'dangerous',
  ],
  [
    'the size of a fixed type',
    { type: 'fixed', name: 'F', size: 4 },
    { type: 'fixed', name: 'F', size: 8 },
    'breaking',
    'breaking',
  ],
  ['the name of a type', record([]), record([], { name: 'S' }), 'breaking', 'breaking'],
  ['the name of a type, with an alias', record([]), record([], { name: 'S', aliases: ['R'] }), 'breaking', 'dangerous'],
  ['a namespace', record([]), record([], { namespace: 'n' }), 'dangerous', 'dangerous'],
  [
    'the name of a field, with an alias',
    field('int'),
    record([{ name: 'b', aliases: ['a'], type: 'int' }]),
    'breaking',
    'dangerous',
  ],
  ['an alias', field('int'), field('int', { aliases: ['b'] }), 'none', 'none'],
  ['an alias less', field('int', { aliases: ['b'] }), field('int'), 'dangerous', 'dangerous'],
  ['the scale of a decimal', field(decimal(4, 2)), field(decimal(4, 1)), 'breaking', 'breaking'],
  ['the default scale of a decimal', field(decimal(4)), field(decimal(4, 0)), 'none', 'none'],
  [
    'the unit of a time',
    field({ type: 'long', logicalType: 'timestamp-millis' }),
    field({ type: 'long', logicalType: 'timestamp-micros' }),
    'dangerous',
    'dangerous',
  ],
  ['the items of a list', { type: 'array', items: 'int' }, { type: 'array', items: 'boolean' }, 'breaking', 'breaking'],
  ['a record that holds itself', field(['null', 'R']), field(['null', 'R'], { doc: 'x' }), 'none', 'none'],
  ['a type that is not defined', field('X'), field('Y'), 'dangerous', 'dangerous'],
]

suite('data by another Avro schema', () => {
  for (const [what, before, after, sent, received] of RESOLVED)
    test(`${what} changes`, () => {
      const levels = (['send', 'receive'] as const).map((action) =>
        worstOf('asyncapi', documentOf(before, FORMAT, action), documentOf(after, FORMAT, action)),
      )
      assert.deepEqual(levels, [sent, received])
    })
})

const PROTOBUF = 'application/vnd.google.protobuf;version=3'
const proto = (fields: string, rest = ''): string =>
  `syntax = "proto3";\npackage p;\n${rest}\nmessage M {\n  ${fields}\n}\n`

const PROTO_ROWS: readonly (readonly [what: string, before: string, after: string, worst: Worst])[] = [
  ['other spaces', proto('string a = 1;'), 'syntax="proto3"; package p; /* M */ message M{string a=1;}', 'none'],
  ['the type of a field', proto('string a = 1;'), proto('int32 a = 1;'), 'breaking'],
  ['a field less', proto('string a = 1; string b = 2;'), proto('string a = 1;'), 'breaking'],
  ['a field more', proto('string a = 1;'), proto('string a = 1; string b = 2;'), 'info'],
  [
    'what only generated code notices',
    proto('string a = 1;'),
    proto('string a = 1;', 'option java_package = "j";'),
    'dangerous',
  ],
  ['a text that cannot be read', proto('string a = 1;'), proto('string a = ;'), 'dangerous'],
  [
    'the file of a type, which is not there',
    proto('o.X a = 1;', 'import "o.proto";'),
    proto('o.X a = 1;', 'import "q.proto";'),
    'dangerous',
  ],
  [
    'a field more beside a file that is not there',
    proto('o.X a = 1;', 'import "o.proto";'),
    proto('o.X a = 1; string b = 2;', 'import "o.proto";'),
    'dangerous',
  ],
]

suite('a payload in protobuf', () => {
  for (const [what, before, after, worst] of PROTO_ROWS)
    test(`${what} changes`, () => {
      assert.equal(worstOf('asyncapi', documentOf(before, PROTOBUF), documentOf(after, PROTOBUF)), worst)
    })
})
