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
  'another logical type': withField('at', { type: { type: 'long', logicalType: 'local-timestamp-millis' } }),
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

const PAIR: readonly Json[] = [
  { name: 'a', type: 'int' },
  { name: 'b', type: 'int' },
]

const RESOLVED: readonly Resolved[] = [
  ['a wider number', field('int'), field('long'), 'breaking', 'info'],
  ['a number that becomes a fraction', field('long'), field('double'), 'breaking', 'dangerous'],
  ['a text that becomes bytes', field('string'), field('bytes'), 'dangerous', 'info'],
  ['a number that becomes a text', field('int'), field('string'), 'breaking', 'breaking'],
  ['a field without a default', record([]), field('int'), 'info', 'breaking'],
  ['a field with a default', record([]), field('int', { default: 0 }), 'info', 'info'],
  ['a field with a default that goes', field('int', { default: 0 }), record([]), 'dangerous', 'dangerous'],
  ['a null beside a type', field('int'), field(['null', 'int']), 'breaking', 'info'],
  ['a union in another order', field(['int', 'null']), field(['null', 'int']), 'info', 'info'],
  ['a union whose first match is another one', field(['int', 'long']), field(['long', 'int']), 'info', 'dangerous'],
  ['a symbol', symbols(['A']), symbols(['A', 'B']), 'breaking', 'info'],
  ['a symbol between others', symbols(['A', 'C']), symbols(['A', 'B', 'C']), 'breaking', 'info'],
  ['a symbol less', symbols(['A', 'B']), symbols(['A']), 'info', 'breaking'],
  ['the first default of an enum', symbols(['A']), symbols(['A'], { default: 'A' }), 'info', 'info'],
  [
    'a symbol for which the reader has a default',
    symbols(['A'], { default: 'A' }),
    symbols(['A', 'B'], { default: 'A' }),
    'dangerous',
    'info',
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
    'breaking',
    'breaking',
  ],
  [
    'the unit of a time of the day',
    field({ type: 'int', logicalType: 'time-millis' }),
    field({ type: 'long', logicalType: 'time-micros' }),
    'breaking',
    'breaking',
  ],
  [
    'a time of the day whose wider type has no such meaning',
    field({ type: 'int', logicalType: 'time-millis' }),
    field({ type: 'long', logicalType: 'time-millis' }),
    'breaking',
    'dangerous',
  ],
  [
    'a logical type of another type',
    field({ type: 'string', logicalType: 'timestamp-millis' }),
    field({ type: 'string', logicalType: 'timestamp-micros' }),
    'none',
    'none',
  ],
  ['a scale above the precision', field(decimal(4, 5)), field('bytes'), 'none', 'none'],
  [
    'a precision that the size does not hold',
    { type: 'fixed', name: 'F', size: 2, logicalType: 'decimal', precision: 5 },
    { type: 'fixed', name: 'F', size: 2 },
    'none',
    'none',
  ],
  [
    'a precision that the size holds',
    { type: 'fixed', name: 'F', size: 2, logicalType: 'decimal', precision: 4 },
    { type: 'fixed', name: 'F', size: 2 },
    'dangerous',
    'dangerous',
  ],
  ['an exact fraction', field('int'), field('double'), 'breaking', 'info'],
  ['a fraction that loses digits', field('int'), field('float'), 'breaking', 'dangerous'],
  ['the order of fields', record(PAIR), record([...PAIR].reverse()), 'info', 'info'],
  ['a first default', field('int'), field('int', { default: 0 }), 'info', 'info'],
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

/** An optional part of a schema that not every reader takes, so that a new field with a default may be refused. */
const INVALID: Readonly<Record<string, Json>> = {
  'a default of another type': { type: 'int', default: null },
  'a default that is too large': { type: 'int', default: 3_000_000_000 },
  'a default of the second branch': { type: ['string', 'null'], default: null },
  'a number as a text': { type: 'double', default: '1.0' },
  'a default that is no byte': { type: 'bytes', default: '\u0100' },
  'a default of another size': { type: { type: 'fixed', name: 'F', size: 2 }, default: 'a' },
  'a default that is no symbol': { type: symbols(['A']), default: 'B' },
  'a default without a field that it needs': { type: { ...field('int'), name: 'Q' }, default: {} },
  'an item of another type': { type: { type: 'array', items: 'int' }, default: [1, 'a'] },
  'a value of another type': { type: { type: 'map', values: 'int' }, default: { a: 'b' } },
  'a name with a hyphen': { type: 'int', default: 0, name: 'x-y' },
  'a name with a letter outside of ASCII': { type: 'int', default: 0, name: 'ä' },
  'an alias with a hyphen': { type: 'int', default: 0, aliases: ['x-y'] },
  'a type with the name of a primitive one': { type: { ...record([]), name: 'n.string' }, default: {} },
  'a union in a union': { type: ['null', ['int']], default: null },
  'a union with two maps': {
    type: ['null', { type: 'map', values: 'int' }, { type: 'map', values: 'string' }],
    default: null,
  },
  'a symbol twice': { type: symbols(['A', 'A']), default: 'A' },
  'a size of zero': { type: { type: 'fixed', name: 'F', size: 0 }, default: '' },
  'a type that is defined again': { type: { ...field('long'), name: 'R' }, default: { a: 1 } },
  'a type that is not defined': { type: ['null', 'Undefined'], default: null },
  'a default of an enum that is no symbol': { type: symbols(['A'], { default: 'Z' }), default: 'A' },
}

suite('a new field of an Avro schema', () => {
  for (const [what, members] of Object.entries(INVALID))
    test(`is dangerous with ${what}`, () => {
      for (const action of ['send', 'receive'] as const) {
        const head = record([{ name: 'b', ...members }])
        assert.equal(
          worstOf('asyncapi', documentOf(record([]), FORMAT, action), documentOf(head, FORMAT, action)),
          'dangerous',
        )
      }
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
