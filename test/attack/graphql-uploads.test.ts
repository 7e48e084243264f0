/** GraphQL uploads whose files or parts would replace the judged operation, and introspection queries with directives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksForSchemaOnly, operationIn, readOperationDocument } from '../../engine/internal.ts'
import { readUpload } from '../../gateway/protocols/graphql/uploads.ts'

const TYPE = 'multipart/form-data; boundary=xx'
const QUERY = '{"query":"mutation($f: Upload, $l: [Upload]) { c }","variables":{"f":null,"l":[null,null],"t":"text"}}'
const OPERATIONS = ['name="operations"', QUERY] as const
const FILE = ['name="0"; filename="a.txt"', 'text'] as const

type Part = readonly [head: string, text: string]

function formOf(parts: readonly Part[]): Buffer {
  const body = parts.map(([head, text]) => `--xx\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`)
  return Buffer.from(`${body.join('')}--xx--\r\n`, 'latin1')
}

function mapped(map: string, operations: Part = OPERATIONS, ...more: readonly Part[]): Buffer {
  return formOf([operations, ['name="map"', map], FILE, ...more])
}

for (const [what, bytes] of [
  ['one file', mapped('{"0":["variables.f"]}')],
  ['one file in two places', mapped('{"0":["variables.l.0","variables.l.1"]}')],
  ['a batch', mapped('{"0":["0.variables.f"]}', ['name="operations"', `[${QUERY}]`])],
  ['no file', formOf([OPERATIONS, ['name="map"', '{}']])],
  [
    'a part with a type',
    formOf([
      ['name="operations"\r\nContent-Type: application/json; charset=utf-8', QUERY],
      ['name="map"', '{}'],
    ]),
  ],
] as const)
  test(`an upload is read: ${what}`, () => {
    const read = readUpload(bytes, TYPE)
    assert.ok(read.ok, read.ok ? '' : read.why)
  })

/** Where no file may go. */
const PLACES = [
  'query',
  'operationName',
  'extensions',
  'extensions.persistedQuery.sha256Hash',
  'variables',
  'Variables.f',
  'variables.t',
  'variables.none',
  'variables.l',
  'variables.l.2',
  'variables.l.-1',
  'variables.l.00',
  'variables.l.length',
  'variables.__proto__',
  'variables.__proto__.x',
  'variables.constructor.prototype',
  'variables.f.x',
  'variables..f',
  ' variables.f',
  '0.variables.f',
  'variables["f"]',
  '',
  '__proto__.query',
]
for (const place of PLACES)
  test(`a file does not go to "${place}"`, () => {
    assert.equal(readUpload(mapped(JSON.stringify({ 0: [place] })), TYPE).ok, false)
    const batch = ['name="operations"', `[${QUERY}]`] as const
    if (place !== '0.variables.f')
      for (const path of [`0.${place}`, `1.${place}`, place])
        assert.equal(readUpload(mapped(JSON.stringify({ 0: [path] }), batch), TYPE).ok, false, path)
  })

const PLAIN = formOf([OPERATIONS, ['name="map"', '{"0":["variables.f"]}'], FILE]).toString('latin1')
for (const [what, bytes, type] of [
  [
    'a part without a filename',
    mapped('{"0":["variables.f"],"1":["variables.l.0"]}', OPERATIONS, ['name="1"', 'x']),
    TYPE,
  ],
  [
    'a part with filename* alone',
    mapped('{"0":["variables.f"],"1":["variables.l.0"]}', OPERATIONS, ['name="1"; filename*=utf-8\'\'a', 'x']),
    TYPE,
  ],
  [
    'a file that the map leaves out',
    mapped('{"0":["variables.f"]}', OPERATIONS, ['name="1"; filename="b"', 'x']),
    TYPE,
  ],
  ['a name that is not a file', formOf([OPERATIONS, ['name="map"', '{"0":["variables.f"]}']]), TYPE],
  ['a second operations', mapped('{"0":["variables.f"]}', OPERATIONS, OPERATIONS), TYPE],
  ['a file called operations', mapped('{"0":["variables.f"]}', ['name="operations"; filename="o"', QUERY]), TYPE],
  ['a second map', mapped('{"0":["variables.f"]}', OPERATIONS, ['name="map"', '{"0":["query"]}']), TYPE],
  ['a map before the operations', formOf([['name="map"', '{}'], OPERATIONS]), TYPE],
  ['no map', formOf([OPERATIONS]), TYPE],
  ['a map with a name twice', mapped('{"0":["variables.f"],"0":["query"]}'), TYPE],
  ['a map of a text', mapped('{"0":"variables.f"}'), TYPE],
  ['a map of one path twice', mapped('{"0":["variables.f","variables.f"]}'), TYPE],
  ['two files of one name', mapped('{"0":["variables.f"]}', OPERATIONS, FILE), TYPE],
  [
    'a transfer coding',
    Buffer.from(PLAIN.replace('name="operations"', 'name="operations"\r\nContent-Transfer-Encoding: base64')),
    TYPE,
  ],
  [
    'a second disposition',
    Buffer.from(
      PLAIN.replace('name="operations"', 'name="operations"\r\nContent-Disposition: form-data; name="query"'),
    ),
    TYPE,
  ],
  [
    'operations in other letters',
    Buffer.from(
      PLAIN.replace('name="operations"', 'name="operations"\r\nContent-Type: application/json; charset=utf-7'),
    ),
    TYPE,
  ],
  ['two names in one head', Buffer.from(PLAIN.replace('name="operations"', 'name="operations"; name="query"')), TYPE],
  ['an unquoted name', Buffer.from(PLAIN.replace('name="operations"', 'name=operations')), TYPE],
  ['something before it', Buffer.from(`x\r\n${PLAIN}`), TYPE],
  [
    'something behind it',
    Buffer.from(`${PLAIN}--xx\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{}\r\n--xx--`),
    TYPE,
  ],
  ['a boundary within a part', Buffer.from(PLAIN.replace('text\r\n', 'te\n--xx\nxt\r\n')), TYPE],
  ['lines that end in LF', Buffer.from(PLAIN.replaceAll('\r\n', '\n')), TYPE],
  ['no end', Buffer.from(PLAIN.replace('--xx--\r\n', '')), TYPE],
  ['two boundaries in its type', Buffer.from(PLAIN), `${TYPE}; boundary=yy`],
  ['an extended boundary', Buffer.from(PLAIN), `multipart/form-data; boundary*=utf-8''xx`],
] as const)
  test(`an upload with ${what} is refused`, () => {
    assert.equal(readUpload(bytes, type).ok, false)
  })

function isSchemaOnly(text: string): boolean {
  const document = readOperationDocument(text, { maxTokens: 1000, maxDepth: 50 })
  assert.ok(document.ok)
  const operation = operationIn(document.value, null)
  assert.ok(operation.ok)
  return asksForSchemaOnly(document.value, operation.value)
}

for (const text of [
  'query @live { __typename }',
  'query ($x: Int @wipe) { __typename }',
  '{ __typename @wipe }',
  '{ __schema @wipe { types { name } } }',
  '{ __schema { types { name @export(as: "x") } } }',
  '{ __schema { types { ...T } } } fragment T on __Type { name @wipe }',
  '{ ...Q @wipe } fragment Q on Query { __typename }',
  '{ ...Q } fragment Q on Query @wipe { __typename }',
  '{ ... @defer { __typename } }',
  '{ __typename @skip(if: false) @wipe }',
])
  test(`${text} is more than a question for the schema`, () => assert.equal(isSchemaOnly(text), false))

for (const text of [
  '{ __typename }',
  '{ __schema { types { name @include(if: true) } } }',
  'query ($x: Boolean!) { __typename @skip(if: $x) }',
])
  test(`${text} is a question for the schema`, () => assert.equal(isSchemaOnly(text), true))
