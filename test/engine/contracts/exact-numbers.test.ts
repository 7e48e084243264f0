/** Different numbers that are one double are compared as they are written, wherever they stand. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { acceptOperations } from '../../../engine/contracts/openapi/accepted-operations.ts'
import { compare, type Artifact, type FindingGroup } from '../../../engine/internal.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function found(type: Artifact['type'], before: string, after: string, files = {}): readonly FindingGroup[] {
  const result = compare({ id: 'a', type, before, after, ...files }, {}, sha256)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value.groups
}

type Write = (number: string) => string
const json =
  (keyword: string): Write =>
  (number) =>
    `{"${keyword}": ${number}}`
const yaml =
  (keyword: string): Write =>
  (number) =>
    `${keyword}: ${number}\n`

function levels(write: Write, before: string, after: string): readonly string[] {
  return found('json_schema', write(before), write(after)).map(({ level }) => level)
}

/** Two different numbers, the lower one first, that are one double. */
const PAIRS = [
  ['9007199254740992', '9007199254740993'],
  ['9223372036854775806', '9223372036854775807'],
  ['9223372036854775807', '9223372036854776000'],
  ['-9223372036854775808', '-9223372036854775807'],
  ['18446744073709551614', '18446744073709551615'],
  ['0.1', '0.10000000000000001'],
  ['1.00000000000000001e2', '100.000000000000002'],
] as const

const KEYWORDS = ['const', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'default', 'multipleOf']

for (const [low, high] of PAIRS) {
  test(`${low} and ${high} are two numbers, in JSON and in YAML`, () => {
    assert.equal(Number(low), Number(high))
    for (const keyword of low.startsWith('-') ? KEYWORDS.slice(0, -1) : KEYWORDS) {
      for (const write of [json(keyword), yaml(keyword)]) {
        assert.deepEqual(levels(write, low, low), [])
        const messages = found('json_schema', write(low), write(high)).map(({ message }) => message)
        assert.ok(
          messages.some((message) => message.includes(low) && message.includes(high)),
          `${keyword}: ${messages.join('; ')}`,
        )
      }
      assert.deepEqual(found('json_schema', json(keyword)(low), yaml(keyword)(low)), [])
    }
    assert.deepEqual(levels(json('maximum'), high, low), ['breaking'])
    assert.deepEqual(levels(json('minimum'), low, high), ['breaking'])
  })

  test(`one of ${low} and ${high} leaves an enum that has both`, () => {
    const groups = found('json_schema', `{"enum": [${low}, ${high}, 1]}`, `{"enum": [1, ${low}]}`)
    assert.deepEqual(
      groups.map(({ level, message }) => [level, message.includes(`\`${high}\``)]),
      [['breaking', true]],
    )
  })
}

const fileWith = (number: string) => ({
  path: 'schema.json',
  files: { 'a.yaml': { before: 'enum: [9007199254740992]', after: `enum: [${number}]` } },
})

test('a number in a further file', () => {
  const document = '{"$ref": "a.yaml"}'
  assert.deepEqual(found('json_schema', document, document, fileWith('9007199254740992')), [])
  assert.notDeepEqual(found('json_schema', document, document, fileWith('9007199254740993')), [])
})

test('the same number is the same, however it is written and wherever it moves', () => {
  const [a, b] = ['9223372036854775807', '9223372036854775807.0e0']
  assert.deepEqual(found('json_schema', `{"enum": [${a}, 1]}`, `{"enum": [1, ${b}]}`), [])
  const kept = `"a": {"maximum": ${a}}, "b": {"maximum": 9223372036854776000}`
  assert.deepEqual(found('json_schema', `{"properties": {${kept}}}`, `{"properties": {${kept}}}`), [])
})

const besideTexts: Write = (number) =>
  `{"const": "9007199254740993", "maximum": ${number}, "description": "9007199254740993.0"}`

test('digits in texts stay as they are', () => {
  const groups = found('json_schema', besideTexts('9007199254740992'), besideTexts('9007199254740993'))
  assert.ok(groups.length > 0 && groups.every(({ rule }) => rule.includes('-max-')), JSON.stringify(groups))
})

const manifest: Write = (number) =>
  `{"tools": [{"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"maximum": ${number}}}}}]}`

test('a manifest that the gateway printed holds the numbers of the one that it was given', () => {
  assert.deepEqual(found('mcp_manifest', manifest('9223372036854775807'), manifest('9223372036854776000')), [])
  assert.notDeepEqual(found('mcp_manifest', manifest('9223372036854775807'), manifest('9223372036854775806')), [])
})

const operation = (summary: string): string =>
  `{"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {"/a": {"get": {"summary": "${summary}",
    "parameters": [{"name": "q", "in": "query", "schema": {"maximum": 9223372036854775807}}], "responses": {}}}}}`

test('accepted operations keep the digits of their numbers', () => {
  const accepted = acceptOperations(operation('a'), operation('b'), ['GET /a'], DEFAULT_DOCUMENT_LIMITS)
  assert.ok(accepted.ok)
  assert.match(accepted.value.content, /"maximum":9223372036854775807\b/)
})

test('bounds beyond 2^53 are searched within a bounded number of steps, and exclude what they exclude', () => {
  for (const limit of ['9007199254740992', '9007199254740993', '1e300', '-9007199254740994', '9007199254740991']) {
    const [closed, open] = [
      `{"type": "integer", "minimum": ${limit}}`,
      `{"type": "integer", "exclusiveMinimum": ${limit}}`,
    ]
    const [up, down] = [found('json_schema', closed, open), found('json_schema', open, closed)]
    for (const groups of [up, down])
      assert.ok(
        groups.some(({ level }) => level !== 'info'),
        limit,
      )
  }
})
