/** The language that a contract, or one of its schemas, states. Another one may read the same text in another way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

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

/** Two contracts, and whether a language changes. */
const ROWS: Readonly<Record<string, readonly [one: Json, other: Json, isOther: boolean]>> = {
  'of the contract': [contract(LIST, { jsonSchemaDialect: OF_2019 }), contract(LIST), true],
  'of a shared schema': [shared({ $schema: OF_2020 }), shared({ $schema: OF_2019 }), true],
  'of a shared schema that states none': [shared({}), shared({ $schema: OF_7 }), true],
  'of a schema in place': [inPlace({}), inPlace({ $schema: OF_2019 }), true],
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
