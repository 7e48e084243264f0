/** Constraints of protovalidate and its predecessor that change, for messages that callers send, and for those that they read. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf, type Worst } from '../elements.ts'

interface Validated {
  readonly type?: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function contract(field: string, service: string): string {
  return `syntax = "proto3"; package p; message M { ${field} } message N {} service S { ${service}; }`
}

const SENT = 'rpc Get(M) returns (N)'
const READ = 'rpc Get(N) returns (M)'

function fieldWith(type: string, constraints: readonly string[], option: string): string {
  const options = constraints.map((text) => `${option}.${text}`).join(', ')
  return `${type} a = 1${options === '' ? '' : ` [${options}]`};`
}

function worst({ type = 'string', before, after }: Validated, service: string, option: string): Worst {
  const [base, head] = [before, after].map((texts) => contract(fieldWith(type, texts, option), service))
  return worstOf('protobuf', base ?? '', head ?? '')
}

/** What happens to those who send, those who read, and to both if the change is reversed. */
type Row = readonly [validated: Validated, sent: Worst, read: Worst, sentBack: Worst, readBack: Worst]

const narrowed = (before: readonly string[], after: readonly string[], type?: string): Row => [
  { before, after, ...(type !== undefined && { type }) },
  'breaking',
  'info',
  'info',
  'dangerous',
]
const moved = (before: readonly string[], after: readonly string[]): Row => [
  { before, after },
  'breaking',
  'dangerous',
  'breaking',
  'dangerous',
]
const same = (before: readonly string[], after: readonly string[], type?: string): Row => [
  { before, after, ...(type !== undefined && { type }) },
  'info',
  'info',
  'info',
  'info',
]
const unclear = (before: readonly string[], after: readonly string[], type?: string): Row => [
  { before, after, ...(type !== undefined && { type }) },
  'dangerous',
  'dangerous',
  'dangerous',
  'dangerous',
]

const ROWS: readonly Row[] = [
  narrowed(['string.max_len = 9'], ['string.max_len = 5']),
  narrowed([], ['string.max_len = 9']),
  narrowed(['string.min_len = 1'], ['string.min_len = 2']),
  narrowed(['string.max_bytes = 9'], ['string.max_bytes = 5']),
  narrowed(['string.max_len = 5'], ['string.len = 5']),
  narrowed(['bytes.max_len = 9'], ['bytes.max_len = 5'], 'bytes'),
  narrowed(['int32.lte = 9'], ['int32.lt = 9'], 'int32'),
  narrowed(['double.gte = 1'], ['double.gt = 1'], 'double'),
  narrowed(['uint64.gt = 1'], ['uint64.gt = 7'], 'uint64'),
  narrowed(['duration.lt = { seconds: 9 }'], ['duration.lt = { seconds: 5 }'], 'google.protobuf.Duration'),
  narrowed(['string = { in: ["a", "b"] }'], ['string.in = "a"']),
  narrowed(['string = { in: ["a", "b"] }'], ['string.const = "a"']),
  narrowed(['string.not_in = "a"'], ['string = { not_in: ["a", "b"] }']),
  narrowed([], ['enum.const = 1'], 'int32'),
  narrowed([], ['string.email = true']),
  narrowed([], ['string.pattern = "^a"']),
  narrowed(['string.prefix = "a"'], ['string.prefix = "ab"']),
  narrowed(['string.not_contains = "ab"'], ['string.not_contains = "a"']),
  narrowed(['repeated.max_items = 9'], ['repeated.max_items = 5'], 'repeated string'),
  narrowed([], ['repeated.unique = true'], 'repeated string'),
  narrowed(['repeated.items.string.max_len = 9'], ['repeated.items.string.max_len = 5'], 'repeated string'),
  narrowed(['map.max_pairs = 9'], ['map.max_pairs = 5'], 'map<string, string>'),
  narrowed(['map.keys.string.max_len = 9'], ['map.keys.string.max_len = 5'], 'map<string, string>'),
  moved(['string.const = "a"'], ['string.const = "b"']),
  moved(['string.prefix = "a"'], ['string.prefix = "b"']),
  same(['int32.gt = 0'], ['int32.gte = 1'], 'int32'),
  same(['string.len = 5'], ['string.min_len = 5', 'string.max_len = 5']),
  same(['string.in = "a"'], ['string.const = "a"']),
  same([], ['uint32.gte = 0'], 'uint32'),
  unclear(['string.pattern = "^a"'], ['string.pattern = "^b"']),
  unclear(['int32.gt = 9', 'int32.lt = 5'], ['int32.gt = 8', 'int32.lt = 5'], 'int32'),
]

function cel(text: string, message: string): string {
  const value = `{ id: "x" message: "${message}" expression: "${text}" }`
  return contract(`int32 a = 1 [(buf.validate.field).cel = ${value}];`, SENT)
}

suite('a constraint of a field', () => {
  for (const option of ['(buf.validate.field)', '(validate.rules)'])
    for (const [validated, ...expected] of ROWS)
      test(`${option}: ${validated.before.join(', ') || 'nothing'} becomes ${validated.after.join(', ')}`, () => {
        const back = { ...validated, before: validated.after, after: validated.before }
        const found = [validated, back].flatMap((one) => [SENT, READ].map((service) => worst(one, service, option)))
        assert.deepEqual(found, expected)
      })

  test('the message of an expression has no effect, and the expression may have one', () => {
    assert.equal(worstOf('protobuf', cel('this > 1', 'a'), cel('this > 1', 'b')), 'info')
    assert.equal(worstOf('protobuf', cel('this > 1', 'a'), cel('this > 2', 'a')), 'dangerous')
  })
})

/** Two messages, and the level for those who send them, forth and back. */
type SentRow = readonly [what: string, one: string, other: string, forth: Worst, back: Worst]

const KINDS = 'enum Kind { KIND_ZERO = 0; KIND_ONE = 1; }'
const FEWER = 'enum Kind { KIND_ZERO = 0; reserved 1; reserved KIND_ONE; }'
const IGNORED = '(buf.validate.field).ignore = IGNORE_ALWAYS'
const SHORT = '(buf.validate.field).string.min_len = 1'
const REQUIRED = '(buf.validate.field).required = true'
const ZERO_IGNORED = '(buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE'
const defined = (type: string, path: string, rest: string): string =>
  `${type} a = 1 [(buf.validate.field).${path}enum.defined_only = true]; ${rest.replace('reserved KIND_ONE', 'reserved "KIND_ONE"')}`
const choice = (fields: string, rest = ''): string =>
  `option (buf.validate.message).oneof = { fields: [${fields}] ${rest} }; string a = 1; string b = 2; string c = 3;`
const NO_CHOICE = 'string a = 1; string b = 2; string c = 3;'
const format = (name: string): string => `string a = 1 [(buf.validate.field).string.${name} = true];`

const INTERPLAY: readonly SentRow[] = [
  ['a rule that is always ignored', 'string a = 1;', `string a = 1 [${SHORT}, ${IGNORED}];`, 'none', 'none'],
  ['a demand that is always ignored', 'string a = 1;', `string a = 1 [${REQUIRED}, ${IGNORED}];`, 'none', 'none'],
  [
    'another rule that is always ignored',
    `string a = 1 [${SHORT}, ${IGNORED}];`,
    `string a = 1 [(buf.validate.field).string.min_len = 5, ${IGNORED}];`,
    'none',
    'none',
  ],
  [
    'a rule of items that is always ignored',
    'repeated string a = 1;',
    'repeated string a = 1 [(buf.validate.field).repeated.items = { ignore: IGNORE_ALWAYS string { min_len: 1 } }];',
    'none',
    'none',
  ],
  [
    'a rule that comes to be ignored',
    `string a = 1 [${SHORT}];`,
    `string a = 1 [${SHORT}, ${IGNORED}];`,
    'info',
    'breaking',
  ],
  [
    'a demand that comes to be ignored',
    `string a = 1 [${REQUIRED}];`,
    `string a = 1 [${REQUIRED}, ${IGNORED}];`,
    'info',
    'breaking',
  ],
  ['a new field that is always ignored', '', `string a = 1 [${REQUIRED}, ${IGNORED}];`, 'info', 'breaking'],
  [
    'what is meant without it',
    `string a = 1 [${SHORT}];`,
    `string a = 1 [${SHORT}, (buf.validate.field).ignore = IGNORE_UNSPECIFIED];`,
    'none',
    'none',
  ],
  [
    'the zero that is ignored',
    `string a = 1 [${SHORT}];`,
    `string a = 1 [${SHORT}, ${ZERO_IGNORED}];`,
    'info',
    'breaking',
  ],
  [
    'the zero that is ignored and was taken',
    'string a = 1 [(buf.validate.field).string.max_len = 5];',
    `string a = 1 [(buf.validate.field).string.max_len = 5, ${ZERO_IGNORED}];`,
    'info',
    'info',
  ],
  ['presence beside a rule', `optional string a = 1 [${SHORT}];`, `string a = 1 [${SHORT}];`, 'breaking', 'dangerous'],
  [
    'a oneof beside a rule',
    `oneof o { string a = 1 [${SHORT}]; }`,
    `string a = 1 [${SHORT}];`,
    'breaking',
    'dangerous',
  ],
  [
    'presence beside a rule that takes zero',
    'optional string a = 1 [(buf.validate.field).string.max_len = 5];',
    'string a = 1 [(buf.validate.field).string.max_len = 5];',
    'dangerous',
    'dangerous',
  ],
  ['a value that is defined', defined('Kind', '', KINDS), defined('Kind', '', FEWER), 'breaking', 'breaking'],
  [
    'a value that is defined for items',
    defined('repeated Kind', 'repeated.items.', KINDS),
    defined('repeated Kind', 'repeated.items.', FEWER),
    'breaking',
    'breaking',
  ],
  [
    'a value that is defined for values of a map',
    defined('map<string, Kind>', 'map.values.', KINDS),
    defined('map<string, Kind>', 'map.values.', FEWER),
    'breaking',
    'breaking',
  ],
  ['defined values only', `Kind a = 1; ${KINDS}`, defined('Kind', '', KINDS), 'dangerous', 'info'],
  ['a choice', NO_CHOICE, choice('"a", "b"'), 'breaking', 'info'],
  ['a choice of more', choice('"a", "b"'), choice('"a", "b", "c"'), 'breaking', 'info'],
  ['a choice in another order', choice('"a", "b"'), choice('"b", "a"'), 'none', 'none'],
  ['a choice that is required', choice('"a", "b"'), choice('"a", "b"', 'required: true'), 'breaking', 'info'],
  ['a choice that is not required, stated', choice('"a", "b"'), choice('"a", "b"', 'required: false'), 'none', 'none'],
  ['a narrower format', format('ip'), format('ipv4'), 'breaking', 'info'],
  ['an address that is a hostname', format('address'), format('hostname'), 'breaking', 'info'],
  ['a reference that is an address', format('uri_ref'), format('uri'), 'breaking', 'info'],
  ['another format', format('email'), format('uuid'), 'breaking', 'breaking'],
]

suite('the validation of messages that are sent', () => {
  for (const [what, one, other, forth, back] of INTERPLAY)
    test(`changes by ${what}`, () => {
      const [before, after] = [contract(one, SENT), contract(other, SENT)]
      assert.deepEqual([worstOf('protobuf', before, after), worstOf('protobuf', after, before)], [forth, back])
    })
})

/** A message with a field, and with one more whose names JSON has for the first. */
const SHARED: readonly (readonly [syntax: string, one: string, other: string])[] = [
  ['proto2', 'optional int32 a_b = 1;', 'optional int32 aB = 2;'],
  ['proto3', 'int32 a_b = 1;', 'int32 aB = 2;'],
  ['proto3', 'int32 a = 1 [json_name = "z"];', 'int32 z = 2 [json_name = "y"];'],
  ['proto3', 'int32 a_b = 1;', 'int32 c = 2 [json_name = "a_b"];'],
]

suite('a new field that has a name of another field in JSON', () => {
  for (const [syntax, one, other] of SHARED)
    test(`is dangerous: ${one} ${other}`, () => {
      const [before, after] = [one, `${one} ${other}`].map((fields) => contract(fields, SENT).replace('proto3', syntax))
      assert.equal(worstOf('protobuf', before, after), 'dangerous')
    })
})

function operation(info: string): string {
  return contract('int32 a = 1;', `rpc Get(M) returns (google.longrunning.Operation) { ${info} }`)
}

function stated(response: string, metadata: string): string {
  const types = `response_type: "${response}" metadata_type: "${metadata}"`
  return operation(`option (google.longrunning.operation_info) = { ${types} };`)
}

suite('the type in an operation of google.longrunning', () => {
  test('is another one: callers cannot unpack it', () => {
    assert.equal(worstOf('protobuf', stated('M', 'N'), stated('N', 'N')), 'breaking')
    assert.equal(worstOf('protobuf', stated('M', 'N'), stated('M', 'M')), 'breaking')
  })

  test('may be written with its package', () => {
    assert.equal(worstOf('protobuf', stated('M', 'N'), stated('p.M', 'N')), 'none')
  })

  test('is not stated any more: nothing is known of it', () => {
    assert.equal(worstOf('protobuf', stated('M', 'N'), operation('')), 'dangerous')
  })
})
