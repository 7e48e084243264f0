/** The order of keys in a document has no meaning: an answer has the same bytes for every order, whatever the change is about. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { canonicalArtifactType, type ArtifactType } from '../../../engine/model/change-set.ts'
import { compare, type CompareOptions } from '../../../engine/formats/compare.ts'
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { caseFormats, ruleCases } from '../../rules/cases.ts'
import { shuffledKeys } from '../../shuffle.ts'

const SHUFFLES = 4

/** What does not depend on where things stand in the text. */
function answerTo(type: ArtifactType, before: unknown, after: unknown, options: CompareOptions): string {
  const [base, head] = [textOf(before), textOf(after)]
  const compared = compare({ id: 'contract', type, before: base, after: head }, options, sha256)
  if (!compared.ok) return compared.problem.code
  const { groups, ...rest } = compared.value
  return JSON.stringify([groups.map((group) => ({ ...group, line: null, column: null })), rest])
}

/** An empty side is a contract that does not exist. */
function textOf(side: unknown): string {
  return side === null ? '' : JSON.stringify(side)
}

function sorted(value: unknown, direction: 1 | -1): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, direction))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -direction : direction))
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member, direction)]))
}

function checkOrders(type: ArtifactType, before: unknown, after: unknown, options: CompareOptions = {}): void {
  const answers = new Set([
    answerTo(type, before, after, options),
    answerTo(type, sorted(before, 1), sorted(after, -1), options),
    answerTo(type, sorted(before, -1), sorted(after, 1), options),
  ])
  for (let seed = 1; seed <= SHUFFLES; seed += 1) {
    answers.add(answerTo(type, shuffledKeys(before, seed), shuffledKeys(after, -seed), options))
  }
  assert.equal(answers.size, 1)
}

for (const format of caseFormats()) {
  suite(`every order of keys in the cases of ${format}`, () => {
    for (const { rule, before, after, options = {}, syntax } of ruleCases(format)) {
      if (syntax === 'text') continue
      const [base, head]: unknown[] = [parse(before), parse(after)]
      // A side that is no document stays as it is written.
      if (!isRecord(base) || !isRecord(head)) continue
      test(rule, () => {
        const type = canonicalArtifactType(format)
        assert.ok(type)
        checkOrders(type, base, head, options)
      })
    }
  })
}

const NAMES = ['b', 'a', 'c']

/** An object with several members, written in an order that no sort gives. */
function each(member: (name: string) => unknown, names: readonly string[] = NAMES): JsonRecord {
  return Object.fromEntries(names.map((name) => [name, member(name)]))
}

const DONE = { '200': { description: 'done' } }
const REF = (name: string): JsonRecord => ({ $ref: `#/components/schemas/${name}` })

function ofSchema(schema: unknown, schemas: JsonRecord = {}): JsonRecord {
  const content = { 'application/json': { schema } }
  const operation = { requestBody: { content }, responses: { '200': { description: 'done', content } } }
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/x': { post: operation } },
    components: { schemas },
  }
}

function ofOperation(operation: JsonRecord, rest: JsonRecord = {}): JsonRecord {
  const paths = { '/x': { post: { responses: DONE, ...operation } } }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, ...rest }
}

const OBJECT = (name: string): JsonRecord => ({ type: 'object', properties: { t: { const: name } }, required: ['t'] })

function choice(mapping: JsonRecord, keyword = 'anyOf'): JsonRecord {
  const schema = { [keyword]: NAMES.map(REF), discriminator: { propertyName: 't', mapping } }
  return ofSchema(schema, each(OBJECT))
}

function oauth(token: string): JsonRecord {
  const flows = each(
    () => ({ tokenUrl: token, authorizationUrl: token, scopes: each(String) }),
    ['implicit', 'authorizationCode', 'clientCredentials'],
  )
  return ofOperation(
    { security: [{ o: ['a'] }] },
    { components: { securitySchemes: { o: { type: 'oauth2', flows } } } },
  )
}

function keys(names: readonly string[]): JsonRecord {
  const securitySchemes = each(() => ({ type: 'apiKey', in: 'header', name: 'k' }), names)
  return ofOperation({ security: names.map((name) => ({ [name]: [] })) }, { components: { securitySchemes } })
}

function consumed(names: readonly string[]): JsonRecord {
  const paths = Object.fromEntries(
    names.map((name) => [`/${name}`, { get: { responses: DONE, 'x-consumers': [name] } }]),
  )
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths }
}

function called(expressions: readonly string[]): JsonRecord {
  return ofOperation({ callbacks: each(() => each(() => ({ post: { responses: DONE } }), expressions)) })
}

function parameterOf(content: JsonRecord): JsonRecord {
  return ofOperation({ parameters: [{ name: 'q', in: 'query', content }] })
}

function templated(names: readonly string[]): JsonRecord {
  const paths = names.map((name) => {
    const parameters = [{ name, in: 'path', required: true, schema: { type: 'string' } }]
    return [`/x/{${name}}`, { get: { responses: DONE, parameters } }]
  })
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: Object.fromEntries(paths) }
}

function answering(members: JsonRecord): JsonRecord {
  return ofOperation({ responses: { '200': { description: 'done', ...members } } })
}

const TYPED = (type: string): JsonRecord => ({ schema: { type } })

/** Members in which several names are added, removed or changed together. */
const ROWS: readonly (readonly [name: string, before: JsonRecord, after: JsonRecord])[] = [
  ['values of a mapping come', choice({}), choice({ z: 'b', y: 'a', x: 'c' })],
  ['values of a mapping go', choice({ z: 'b', y: 'a', x: 'c' }), choice({})],
  ['values of a mapping change', choice({ z: 'b', y: 'a', x: 'c' }), choice({ z: 'a', y: 'c', x: 'b' })],
  ['values of a mapping in oneOf come', choice({}, 'oneOf'), choice({ z: 'b', y: 'a', x: 'c' }, 'oneOf')],
  ['addresses of several flows move', oauth('https://a.example'), oauth('https://b.example')],
  ['schemes of one definition get other names', keys(['b', 'a']), keys(['d', 'c'])],
  ['operations with consumers go', consumed(NAMES), consumed(['c'])],
  ['consumers of all operations are named', consumed(NAMES), consumed([...NAMES, 'd'])],
  ['calls of callbacks move', called(['{$url}/b', '{$url}/a']), called(['{$url}/c', '{$url}/d'])],
  [
    'a parameter has several media types',
    parameterOf({ 'text/plain': TYPED('string'), 'application/json': TYPED('integer') }),
    parameterOf({ 'text/plain': TYPED('integer'), 'application/json': TYPED('string') }),
  ],
  ['paths differ in the names of parameters only', templated(['b', 'a']), templated(['d', 'c'])],
  [
    'media types differ in parameters only',
    answering({ content: { 'text/a; v=2': TYPED('string'), 'text/a; v=1': TYPED('integer') } }),
    answering({ content: { 'text/a; v=4': TYPED('string'), 'text/a; v=3': TYPED('integer') } }),
  ],
  [
    'header names differ in case only',
    answering({ headers: { 'X-B': TYPED('string'), 'x-b': TYPED('integer') } }),
    answering({ headers: { 'x-B': TYPED('integer'), 'X-b': TYPED('string') } }),
  ],
  ['links come', answering({ links: {} }), answering({ links: each(() => ({ operationId: 'o' })) })],
  ...(
    [
      ['properties', () => ({ type: 'string' })],
      ['patternProperties', () => ({ type: 'string' })],
      ['dependentSchemas', () => ({ required: ['z'] })],
      ['dependentRequired', () => ['z']],
    ] as const
  ).flatMap(([keyword, member]): [string, JsonRecord, JsonRecord][] => {
    const [none, some] = [
      ofSchema({ type: 'object', [keyword]: {} }),
      ofSchema({ type: 'object', [keyword]: each(member) }),
    ]
    return [
      [`${keyword} come`, none, some],
      [`${keyword} go`, some, none],
    ]
  }),
]

suite('every order of keys where several names change together', () => {
  for (const [name, before, after] of ROWS) test(name, () => checkOrders('openapi', before, after))
})
