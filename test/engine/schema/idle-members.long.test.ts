/** Members of a schema that admit and refuse nothing: that one comes or goes is no change, wherever the schema stands. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const EVERY_TYPE = ['array', 'boolean', 'null', 'number', 'object', 'string']

const SCHEMAS: readonly Json[] = [
  { type: 'object', properties: { a: TEXT, b: { type: 'integer' } }, required: ['a'] },
  { type: 'array', items: { type: 'integer' }, maxItems: 4 },
  { ...TEXT, maxLength: 4 },
  { if: TEXT, then: { maxLength: 3 } },
  // What admits nothing, or is not decided, takes no help from a proof.
  { enum: [1], if: {}, then: false },
  { enum: [1], if: false, else: false },
  { if: TEXT, then: { pattern: '^(?=a)b' } },
]

const MEMBERS: readonly Json[] = [
  { else: {} },
  { else: true },
  { then: {} },
  { then: true },
  { if: TEXT },
  { if: TEXT, then: true, else: {} },
  { minContains: 0 },
  { maxContains: 2 },
  { contains: {}, minContains: 0 },
  { contains: TEXT, minContains: 0 },
  { minItems: 0 },
  { minLength: 0 },
  { minProperties: 0 },
  { uniqueItems: false },
  { items: {} },
  { items: true },
  { unevaluatedItems: true },
  { required: [] },
  { properties: {} },
  { patternProperties: {} },
  { patternProperties: { '^x': true } },
  { additionalProperties: {} },
  { additionalProperties: true },
  { unevaluatedProperties: {} },
  { unevaluatedProperties: true },
  { propertyNames: true },
  { propertyNames: TEXT },
  { dependentRequired: { a: [] } },
  { dependentSchemas: { a: true, q: {} } },
  { not: false },
  { not: { not: {} } },
  { allOf: [{}] },
  { allOf: [true, {}] },
  { anyOf: [true] },
  { anyOf: [{}, TEXT] },
  { oneOf: [{}] },
  { oneOf: [true, false] },
  { contentSchema: {} },
  { pattern: '' },
  { type: EVERY_TYPE },
]
const OF_DRAFT_7: readonly Json[] = [
  { additionalItems: false },
  { dependencies: { a: [], b: {} } },
  { dependencies: { b: true } },
  { else: {} },
  { then: true },
]

const PLACES: Readonly<Record<string, (schema: Json) => Json>> = {
  'at the top': (schema) => schema,
  'as a property': (schema) => ({ type: 'object', properties: { p: schema }, required: ['p'] }),
  'as further properties': (schema) => ({ type: 'object', additionalProperties: schema }),
  'as properties by pattern': (schema) => ({ type: 'object', patternProperties: { '^x': schema } }),
  'as names of properties': (schema) => ({ propertyNames: schema }),
  'as an item': (schema) => ({ type: 'array', items: schema }),
  'as a contained item': (schema) => ({ type: 'array', contains: schema }),
  'in allOf': (schema) => ({ allOf: [schema, { maxProperties: 9 }] }),
  'in anyOf': (schema) => ({ anyOf: [schema, { type: 'null' }] }),
  'in oneOf': (schema) => ({ oneOf: [schema, { type: 'null' }] }),
  'in not': (schema) => ({ not: schema }),
  'in if': (schema) => ({ if: schema, then: { maxLength: 7 } }),
  'in then': (schema) => ({ if: { minimum: 2 }, then: schema }),
  'in else': (schema) => ({ if: { minimum: 2 }, else: schema }),
}
const NEWER_PLACES: typeof PLACES = {
  'as a first item': (schema) => ({ type: 'array', prefixItems: [schema] }),
  'as what is not evaluated': (schema) => ({ type: 'object', unevaluatedProperties: schema }),
  'as a dependency': (schema) => ({ dependentSchemas: { p: schema } }),
  'as a definition': (schema) => ({ $defs: { D: schema }, properties: { p: { $ref: '#/$defs/D' } } }),
}

interface Language {
  readonly type: ArtifactType
  readonly document: (schema: Json) => Json
  readonly members: readonly Json[]
  readonly places: typeof PLACES
}

const document = (dialect: string) => (schema: Json) => ({ $schema: dialect, ...schema })
const LANGUAGES: Readonly<Record<string, Language>> = {
  'JSON Schema 2020-12': {
    type: 'json_schema',
    document: document('https://json-schema.org/draft/2020-12/schema'),
    members: MEMBERS,
    places: { ...PLACES, ...NEWER_PLACES },
  },
  'JSON Schema draft 7': {
    type: 'json_schema',
    document: document('http://json-schema.org/draft-07/schema#'),
    members: OF_DRAFT_7,
    places: PLACES,
  },
  'a body of OpenAPI 3.1': {
    type: 'openapi',
    document: (schema) => ({
      openapi: '3.1.0',
      info: { title: 'Example', version: '1' },
      paths: {
        '/x': {
          post: {
            requestBody: { content: { 'application/json': { schema } } },
            responses: { '200': { description: 'done', content: { 'application/json': { schema } } } },
          },
        },
      },
    }),
    members: MEMBERS,
    places: PLACES,
  },
}

/** A member that meets a keyword of the schema would replace it, or have an effect beside it. */
function isBeside(member: Json, schema: Json): boolean {
  return (
    !Object.keys(member).some((name) => name in schema) && !('if' in member && ('then' in schema || 'else' in schema))
  )
}

for (const [language, { type, document: whole, members, places }] of Object.entries(LANGUAGES)) {
  suite(`a member without effect in ${language}`, () => {
    for (const [where, place] of Object.entries(places)) {
      test(where, () => {
        const found = members.flatMap((member) =>
          SCHEMAS.filter((schema) => isBeside(member, schema)).flatMap((schema) => {
            const [bare, idle] = [whole(place(schema)), whole(place({ ...schema, ...member }))]
            return [...alarmsOf(type, bare, idle), ...alarmsOf(type, idle, bare)].map(
              ({ level, rule }) => `${JSON.stringify(member)} beside ${JSON.stringify(schema)}: ${level} ${rule}`,
            )
          }),
        )
        assert.deepEqual(found, [])
      })
    }
  })
}

const OPEN_IF = { if: { properties: { a: true } } }
const EVALUATING: readonly (readonly [evaluating: Json, none: Json])[] = [
  [{ ...OPEN_IF, unevaluatedProperties: false }, { unevaluatedProperties: false }],
  [{ contains: TEXT, minContains: 0, unevaluatedItems: false }, { unevaluatedItems: false }],
]

test('a member that refuses nothing still evaluates what it matches', () => {
  const { type, document: whole } = LANGUAGES['JSON Schema 2020-12'] ?? assert.fail()
  for (const [evaluating, none] of EVALUATING) {
    const levels = alarmsOf(type, whole(evaluating), whole(none)).map(({ level }) => level)
    assert.ok(levels.includes('breaking'), JSON.stringify(evaluating))
  }
  const [once, twice] = [
    whole({ ...OPEN_IF, unevaluatedProperties: false }),
    whole({ ...OPEN_IF, then: {}, unevaluatedProperties: false }),
  ]
  assert.deepEqual([...alarmsOf(type, once, twice), ...alarmsOf(type, twice, once)], [])
})
