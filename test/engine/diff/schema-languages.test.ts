/** The language that a contract, or one of its schemas, states. Another one may read the same text in another way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const OF_4 = 'http://json-schema.org/draft-04/schema#'
const OF_7 = 'http://json-schema.org/draft-07/schema#'
const OF_2019 = 'https://json-schema.org/draft/2019-09/schema'
const OF_2020 = 'https://json-schema.org/draft/2020-12/schema'
const OWN = 'https://spec.openapis.org/oas/3.1/dialect/base'

/** A list of which the languages evaluate other items. */
const LIST = { type: 'array', contains: { type: 'string' }, unevaluatedItems: false }

const contract = (schema: Json, members: Json = {}): Json => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  ...members,
  paths: {
    '/x': {
      post: { requestBody: { content: { 'application/json': { schema } } }, responses: { 200: { description: 'd' } } },
    },
  },
})
const shared = (of: Json, members: Json = {}): Json => ({
  ...contract({ $ref: '#/components/schemas/A' }, members),
  components: { schemas: { A: { $id: 'https://x.example/a', ...LIST, ...of } } },
})
const inPlace = (of: Json): Json =>
  contract({ type: 'object', properties: { p: { $id: 'https://x.example/p', ...LIST, ...of } } })

const STRING = { type: 'string' }

const S = { components: { schemas: { S: STRING } } }
const response = (schema: Json): Json => ({ description: 'd', content: { 'application/json': { schema } } })
const answered = (status: string, schema: Json): Json => ({
  ...contract({}),
  ...S,
  paths: { '/x': { get: { responses: { [status]: response(schema) } } } },
})

/** Two contracts, and whether a language changes. */
const ROWS: Readonly<Record<string, readonly [one: Json, other: Json, isOther: boolean]>> = {
  'of the contract': [contract(LIST, { jsonSchemaDialect: OF_2019 }), contract(LIST), true],
  'of a shared schema': [shared({ $schema: OF_2020 }), shared({ $schema: OF_2019 }), true],
  'of a shared schema that states none': [shared({}), shared({ $schema: OF_7 }), true],
  'of a schema in place': [inPlace({}), inPlace({ $schema: OF_2019 }), true],
  'of the default response': [answered('default', LIST), answered('default', { $schema: OF_2019, ...LIST }), true],
  'that a schema states as the contract does': [
    shared({}, { jsonSchemaDialect: OF_2019 }),
    shared({ $schema: OF_2019 }, { jsonSchemaDialect: OF_2019 }),
    false,
  ],
  'of the contract, which a schema states as it was': [
    shared({ $schema: OF_7 }, { jsonSchemaDialect: OF_7 }),
    shared({ $schema: OF_7 }, { jsonSchemaDialect: OF_7, info: { title: 'u', version: '1' } }),
    false,
  ],
  'that OpenAPI has': [shared({ $schema: OF_2020 }), shared({ $schema: OWN }), false],
  'of OpenAPI where none is stated': [shared({}), shared({ $schema: OF_2020 }), false],
  'in an example': [shared({ examples: [{ $schema: OF_2020 }] }), shared({ examples: [{ $schema: OF_7 }] }), false],
  'in an extension': [shared({ 'x-a': { $schema: OF_2020 } }), shared({ 'x-a': { $schema: OF_7 } }), false],
  'of a schema that comes': [
    contract({ type: 'array' }),
    contract({ allOf: [{ $schema: OF_7, type: 'array' }] }),
    false,
  ],
}

for (const [what, [one, other, isOther]] of Object.entries(ROWS)) {
  test(`a language ${what} ${isOther ? 'changes' : 'stays'}`, () => {
    for (const [before, after] of [
      [one, other],
      [other, one],
    ]) {
      const found = alarmsOf('openapi', before, after).filter(({ rule }) => rule === 'api-schema-dialect-changed')
      assert.equal(found.length, isOther ? 1 : 0)
    }
  })
}

const schemas = (of: string): Json =>
  Object.fromEntries(['A', 'B', 'C'].map((name) => [name, { $schema: of, ...LIST }]))

test('one finding names each change of a language', () => {
  const [before, after] = [OF_2020, OF_2019].map((of) => ({ ...contract({}), components: { schemas: schemas(of) } }))
  const alarms = alarmsOf('openapi', before, after)
  assert.deepEqual(
    alarms.map(({ message }) => message),
    [`the language of schemas is ${OF_2019} instead of that of OpenAPI`],
  )
})

/** Keywords that the stated draft does not have, on a schema that states it. */
const UNKNOWN: Readonly<Record<string, readonly [of: string, schema: Json, keyword: Json]>> = {
  minContains: [OF_7, { type: 'array', contains: STRING }, { minContains: 2 }],
  dependentRequired: [OF_7, { type: 'object' }, { dependentRequired: { a: ['b'] } }],
  dependentSchemas: [OF_7, { type: 'object' }, { dependentSchemas: { a: { required: ['b'] } } }],
  unevaluatedProperties: [OF_7, { type: 'object' }, { unevaluatedProperties: false }],
  prefixItems: [OF_7, { type: 'array' }, { prefixItems: [STRING] }],
  'siblings of a reference': [OF_7, { $ref: '#/components/schemas/S' }, { maxLength: 3 }],
  const: [OF_4, STRING, { const: 'a' }],
  contains: [OF_4, { type: 'array' }, { contains: STRING }],
  propertyNames: [OF_4, { type: 'object' }, { propertyNames: { maxLength: 3 } }],
  'if and then': [OF_4, STRING, { if: { minLength: 2 }, then: { maxLength: 3 } }],
  'prefixItems of 2019-09': [OF_2019, { type: 'array' }, { prefixItems: [STRING] }],
}

/** Contracts with a schema that is read by a draft. */
const HOLDERS: Readonly<Record<string, (schema: Json, of: string) => Json>> = {
  'a schema': (schema, $schema) => contract({ $schema, ...schema }, S),
  'a property': (schema, $schema) =>
    contract({ type: 'object', properties: { p: { $id: 'https://x.example/p', $schema, ...schema } } }, S),
  'a shared schema': (schema, $schema) => ({
    ...contract({ $ref: '#/components/schemas/A' }),
    components: { schemas: { A: { $schema, ...schema }, ...S.components.schemas } },
  }),
  'the default response': (schema, $schema) => answered('default', { $schema, ...schema }),
  'all schemas': (schema, jsonSchemaDialect) => contract(schema, { jsonSchemaDialect, ...S }),
}

for (const [name, [of, schema, keyword]] of Object.entries(UNKNOWN)) {
  test(`a keyword that the stated draft does not have says nothing: ${name}`, () => {
    for (const [holder, written] of Object.entries(HOLDERS)) {
      const [without, having] = [written(schema, of), written({ ...schema, ...keyword }, of)]
      for (const [before, after] of [
        [without, having],
        [having, without],
      ] as const)
        assert.deepEqual(alarmsOf('openapi', before, after), [], holder)
    }
  })

  test(`it has a meaning where another draft is stated: ${name}`, () => {
    for (const [holder, written] of Object.entries(HOLDERS)) {
      const [without, having] = [written(schema, OF_2020), written({ ...schema, ...keyword }, OF_2020)]
      const isAnswer = holder === 'the default response'
      const [before, after] = isAnswer ? [having, without] : [without, having]
      assert.notDeepEqual(alarmsOf('openapi', before, after), [], holder)
    }
  })
}
