/** Generated forms in pairs: fields of a form in Swagger 2.0 and in OpenAPI 3, and texts that may or may not be valid in them. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { told, type Schema } from './arbitraries.ts'

/** One version of a form: what it admits, and the contract that describes it. */
export interface Version {
  readonly admits: (instance: unknown) => boolean
  readonly document: string
}

const NAMES = ['a', 'b', 'c'] as const

/** All that is in a form is text, which is read as the type that the field is of. */
const ajv = new Ajv2020({ strict: false, coerceTypes: true })

export const form: fc.Arbitrary<unknown> = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.constantFrom('', 'a', 'ab', 'abcd', '-3', '0', '2.5', '7', '12', 'true'),
  { maxKeys: 3, noNullPrototype: true },
)

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const count = maybe(fc.integer({ min: 0, max: 4 }))
const bound = maybe(fc.integer({ min: -3, max: 12 }))

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: count, maxLength: count }).map(told),
  fc.record({
    type: fc.constant('string'),
    enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 'abcd', '7'), { minLength: 1 }),
  }),
  fc
    .record({
      type: fc.constantFrom('number', 'integer'),
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: maybe(fc.boolean()),
    })
    .map(told),
  fc.constant({ type: 'boolean' }),
)

interface Field {
  readonly schema: Schema
  readonly isRequired: boolean
}

type Fields = Readonly<Record<string, Field>>

const field: fc.Arbitrary<Field> = fc.record({ schema: scalar, isRequired: fc.boolean() })
const fields: fc.Arbitrary<Fields> = fc.dictionary(fc.constantFrom(...NAMES), field, {
  minKeys: 1,
  maxKeys: 3,
  noNullPrototype: true,
})

function schemaOf(all: Fields): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(all).map(([name, { schema }]) => [name, schema])),
    required: Object.keys(all).filter((name) => all[name]?.isRequired === true),
  }
}

function operationOf(all: Fields, isSwagger: boolean): object {
  const responses = { '200': { description: 'done' } }
  const mediaType = 'application/x-www-form-urlencoded'
  const required = Object.values(all).some(({ isRequired }) => isRequired)
  if (!isSwagger) return { requestBody: { required, content: { [mediaType]: { schema: schemaOf(all) } } }, responses }
  const parameters = Object.entries(all).map(([name, { schema, isRequired }]) => ({
    in: 'formData',
    name,
    required: isRequired,
    ...schema,
  }))
  return { consumes: [mediaType], parameters, responses }
}

function versionOf(all: Fields, isSwagger: boolean): Version {
  const validate = ajv.compile(withNumericBounds(schemaOf(all)))
  const language = isSwagger ? { swagger: '2.0' } : { openapi: '3.0.3' }
  const paths = { '/x': { post: operationOf(all, isSwagger) } }
  const document = JSON.stringify({ ...language, info: { title: 't', version: '1' }, paths })
  // The judge writes what it reads into the value.
  return { admits: (instance) => validate(structuredClone(instance)), document }
}

/** An exclusive bound as 2020-12 writes it: a number instead of a mark at another one. */
function withNumericBounds(definition: Schema): Schema {
  const { properties, ...rest } = definition
  const entries = Object.entries(Object(properties)).map(([name, schema]) => [name, withNumericBound(Object(schema))])
  return { ...rest, properties: Object.fromEntries(entries) }
}

function withNumericBound({ exclusiveMinimum, minimum, ...rest }: Schema): Schema {
  if (exclusiveMinimum === true && minimum !== undefined) return { ...rest, exclusiveMinimum: minimum }
  return minimum === undefined ? rest : { ...rest, minimum }
}

/** Both sides, each in 2.0 or in 3.0: another form, or one field that is another, came or went. */
export const forms: fc.Arbitrary<readonly [Version, Version]> = fc
  .tuple(
    fc.oneof(
      fc.tuple(fields, fields),
      fc
        .tuple(fields, fc.constantFrom(...NAMES), field)
        .map(([old, name, other]) => [old, { ...old, [name]: other }] as const),
      fc
        .tuple(fields, fc.constantFrom(...NAMES), field)
        .map(([old, name, other]) => [{ ...old, [name]: other }, old] as const),
    ),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([[old, now], wasSwagger, isSwagger]) => [versionOf(old, wasSwagger), versionOf(now, isSwagger)])
