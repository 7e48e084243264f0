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
