/**
 * A keyword that only one version of OpenAPI has takes effect where a contract moves to that version, or loses its effect, though
 * its text stays the same. One table over the keywords: what the move comes to, for callers and for readers.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { KEYWORD_FORMS } from '../../../engine/schema/keyword-forms.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>
type Levels = readonly [request: Worst, response: Worst]

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const member = (value: unknown): Json => ({ type: 'object', required: ['a'], properties: { a: value } })
const list = (own: Json): Json => member({ type: 'array', items: {}, ...own })
const object = (own: Json): Json => ({ type: 'object', ...own })
const A = '#/components/schemas/A'

const TIGHTENED: Levels = ['breaking', 'info']
const LOOSENED: Levels = ['info', 'breaking']
const NOTHING: Levels = ['none', 'none']
/** A response may only hold empty objects or lists any more. */
const EMPTIED: Levels = ['breaking', 'dangerous']

/** Keywords with a value, and what the move from the version without them to the one with them comes to, and back. */
type Rows = Readonly<Record<string, readonly [schema: Json, forth: Levels, back: Levels]>>

/** OpenAPI 3.1 has these, and 3.0 and Swagger 2.0 do not. */
const SINCE_31: Rows = {
  const: [member({ ...TEXT, const: 'x' }), TIGHTENED, LOOSENED],
  patternProperties: [object({ patternProperties: { '^x': TEXT } }), TIGHTENED, LOOSENED],
  'patternProperties of a closed object': [
    object({ patternProperties: { '^x': TEXT }, additionalProperties: false }),
    LOOSENED,
    EMPTIED,
  ],
  'if and then': [object({ if: { required: ['a'] }, then: { required: ['b'] } }), TIGHTENED, LOOSENED],
  'if and else': [object({ if: { required: ['a'] }, else: { required: ['b'] } }), TIGHTENED, LOOSENED],
  contains: [list({ contains: TEXT }), TIGHTENED, LOOSENED],
  'contains and minContains': [list({ contains: TEXT, minContains: 2 }), TIGHTENED, LOOSENED],
  'contains and maxContains': [list({ contains: TEXT, maxContains: 2 }), TIGHTENED, LOOSENED],
  prefixItems: [list({ prefixItems: [TEXT] }), ['breaking', 'dangerous'], ['dangerous', 'breaking']],
  'prefixItems and no further items': [list({ prefixItems: [TEXT], items: false }), LOOSENED, EMPTIED],
  propertyNames: [object({ propertyNames: { maxLength: 3 } }), TIGHTENED, LOOSENED],
  dependentRequired: [object({ dependentRequired: { a: ['b'] } }), TIGHTENED, LOOSENED],
  dependentSchemas: [object({ dependentSchemas: { a: { required: ['b'] } } }), TIGHTENED, LOOSENED],
  unevaluatedProperties: [object({ properties: { a: TEXT }, unevaluatedProperties: false }), TIGHTENED, LOOSENED],
  unevaluatedItems: [member({ type: 'array', unevaluatedItems: TEXT }), TIGHTENED, LOOSENED],
  // A bound that is set for the first time is a warning.
  'exclusiveMinimum in numbers': [member({ ...NUMBER, exclusiveMinimum: 3 }), ['dangerous', 'info'], LOOSENED],
  'exclusiveMaximum in numbers': [member({ ...NUMBER, exclusiveMaximum: 3 }), ['dangerous', 'info'], LOOSENED],
  'siblings of $ref': [member({ $ref: A, minLength: 4 }), TIGHTENED, LOOSENED],
  $dynamicRef: [member({ $dynamicRef: A }), TIGHTENED, LOOSENED],
}

/** OpenAPI 3.0 has these, and 3.1 does not. */
const ONLY_30: Rows = {
  nullable: [member({ ...TEXT, nullable: true }), LOOSENED, TIGHTENED],
  // By 3.0.3 §4.7.24.1 it admits null with a type beside it only. Many tools read it as of the whole.
  'nullable beside a reference': [
    member({ allOf: [{ $ref: A }], nullable: true }),
    ['info', 'dangerous'],
    ['dangerous', 'info'],
  ],
}

/** In 3.1 they are malformed, which is a warning. Swagger 2.0 has them as well. */
const UNTIL_30: Rows = {
  'exclusiveMinimum as a mark': [
    member({ ...NUMBER, minimum: 3, exclusiveMinimum: true }),
    ['breaking', 'dangerous'],
    ['dangerous', 'breaking'],
  ],
  'exclusiveMaximum as a mark': [
    member({ ...NUMBER, maximum: 3, exclusiveMaximum: true }),
    ['breaking', 'dangerous'],
    ['dangerous', 'breaking'],
  ],
}

/** OpenAPI 3 has these, and Swagger 2.0 does not. */
const SINCE_30: Rows = {
  oneOf: [member({ oneOf: [TEXT, NUMBER] }), TIGHTENED, LOOSENED],
  anyOf: [member({ anyOf: [TEXT, NUMBER] }), TIGHTENED, LOOSENED],
  not: [member({ not: NUMBER }), TIGHTENED, LOOSENED],
}

/** No version refuses a value by them, or all have them. */
const SAME: Rows = Object.fromEntries(
  Object.entries({
    type: member(TEXT),
    $defs: { ...member(TEXT), $defs: { A: NUMBER } },
    writeOnly: member({ ...TEXT, writeOnly: true }),
    examples: member({ ...TEXT, examples: ['a'] }),
    contentEncoding: member({ ...TEXT, contentEncoding: 'base64' }),
    contentSchema: member({ ...TEXT, contentMediaType: 'application/json', contentSchema: NUMBER }),
    dependencies: object({ dependencies: { a: ['b'] } }),
    'minContains alone': list({ minContains: 2 }),
    'then without if': object({ then: { required: ['b'] } }),
    'names of properties that are keywords': member({ type: 'object', properties: { const: TEXT, nullable: TEXT } }),
  }).map(([keyword, schema]) => [keyword, [schema, NOTHING, NOTHING]] as const),
)

type Version = '2.0' | '3.0.3' | '3.1.0'

/** Which rows a move shows, from the version without the keywords to the one with them. */
const MOVES: readonly (readonly [without: Version, with_: Version, rows: readonly Rows[]])[] = [
  ['3.0.3', '3.1.0', [SINCE_31, SAME]],
  ['2.0', '3.1.0', [SINCE_31, SINCE_30, SAME]],
  ['2.0', '3.0.3', [ONLY_30, SINCE_30, SAME]],
  ['3.1.0', '3.0.3', [ONLY_30, UNTIL_30]],
  ['3.1.0', '2.0', [UNTIL_30]],
]

const INFO = { title: 't', version: '1' }
const DONE = { description: 'done' }

function swagger(schema: Json, isRequest: boolean): Json {
  const parameters = [{ name: 'b', in: 'body', required: true, schema }]
  const post = isRequest ? { parameters, responses: { 200: DONE } } : { responses: { 200: { ...DONE, schema } } }
  const media = { consumes: ['application/json'], produces: ['application/json'] }
  const document = { swagger: '2.0', info: INFO, ...media, paths: { '/p': { post } }, definitions: { A: TEXT } }
  return JSON.parse(JSON.stringify(document).replaceAll('#/components/schemas', '#/definitions'))
}

function written(version: Version, schema: Json, isRequest: boolean): Json {
  if (version === '2.0') return swagger(schema, isRequest)
  const content = { 'application/json': { schema } }
  const post = isRequest
    ? { requestBody: { required: true, content }, responses: { 200: DONE } }
    : { responses: { 200: { ...DONE, content } } }
  return { openapi: version, info: INFO, paths: { '/p': { post } }, components: { schemas: { A: TEXT } } }
}

function levelsOf(from: Version, to: Version, schema: Json): readonly Worst[] {
  return [true, false].map((isRequest) =>
    worstOf('openapi', written(from, schema, isRequest), written(to, schema, isRequest)),
  )
}

/** Findings about schemas that do not say that the move did it. A malformed part is reported as that. */
function unexplained(from: Version, to: Version, schema: Json): readonly string[] {
  const move = `by the move from OpenAPI ${from} to ${to}`
  return [true, false].flatMap((isRequest) => {
    const [before, after] = [from, to].map((version) => JSON.stringify(written(version, schema, isRequest)))
    const compared = compare({ id: 'a', type: 'openapi', before: before ?? '', after: after ?? '' }, {}, sha256Hex)
    assert.ok(compared.ok)
    const findings = compared.value.groups.filter(({ rule }) => /^(?:request|response)-/.test(rule))
    return findings
      .flatMap(({ message, occurrences }) => [message, ...occurrences.map((place) => place.message)])
      .filter((message) => !message.includes(move))
  })
}

for (const [one, other, tables] of MOVES) {
  suite(`the same text in OpenAPI ${one} and ${other}`, () => {
    for (const [keyword, [schema, forth, back]] of tables.flatMap((rows) => Object.entries(rows))) {
      test(keyword, () => {
        assert.deepEqual([levelsOf(one, other, schema), levelsOf(other, one, schema)], [forth, back])
        assert.deepEqual([...unexplained(one, other, schema), ...unexplained(other, one, schema)], [])
      })
    }
  })
}

test('a change that the move did not make is not put down to it', () => {
  const moved = ['3.0.3', '3.1.0'].map((version, index) =>
    JSON.stringify({
      ...written(
        version === '3.0.3' ? '3.0.3' : '3.1.0',
        member({ ...TEXT, maxLength: 5 - index, $id: 'https://x/a' }),
        true,
      ),
    }),
  )
  const [before = '', after = ''] = moved
  const compared = compare({ id: 'a', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok)
  assert.deepEqual(
    compared.value.groups.flatMap(({ rule, message }) => (rule.startsWith('request-') ? [message] : [])),
    ['the request property `a` had its maxLength lowered from 5 to 4'],
  )
})

test('a contract of one version keeps what the version does not have, as many readers do', () => {
  const wider = member({ ...TEXT, const: 'x' })
  const other = member({ ...TEXT, const: 'y' })
  for (const version of ['2.0', '3.0.3', '3.1.0'] as const)
    assert.equal(worstOf('openapi', written(version, wider, true), written(version, other, true)), 'breaking')
})

test('a language that a contract states has its own keywords', () => {
  const schema = member({ ...NUMBER, minimum: 3, exclusiveMinimum: true })
  const stated = ['https://spec.openapis.org/oas/3.1/dialect/base', 'https://example.com/dialect']
  const levels = stated.map((jsonSchemaDialect) =>
    worstOf('openapi', written('3.0.3', schema, false), { ...written('3.1.0', schema, false), jsonSchemaDialect }),
  )
  assert.deepEqual(levels, ['breaking', 'none'])
})

/** Keywords of schemas that every version reads in one way, or that are about the place of a schema. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  [
    ['$schema', '$id', '$anchor', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', '$vocabulary', '$ref'],
    ['definitions', 'additionalItems', 'contentMediaType'],
    ['allOf', 'items', 'properties', 'additionalProperties', 'required', 'enum', 'format', 'pattern', 'multipleOf'],
    ['maximum', 'minimum', 'maxLength', 'minLength', 'maxItems', 'minItems', 'uniqueItems'],
    ['maxProperties', 'minProperties'],
  ].flat(),
)

test('every keyword has a row', () => {
  const text = JSON.stringify([SINCE_31, ONLY_30, UNTIL_30, SINCE_30, SAME])
  const missing = [...KEYWORD_FORMS.keys()].filter((name) => !ELSEWHERE.has(name) && !text.includes(`"${name}":`))
  assert.deepEqual(missing, [])
})
