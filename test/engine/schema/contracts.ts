/**
 * Generated contracts in pairs: schemas of 2.0, 3.0 and 3.1 with formats, null, references to components and to themselves, and
 * discriminators, and what they mean to a validator that knows nothing of OpenAPI.
 */
import * as fc from 'fast-check'
import { SCALARS, told, valuesOf, withPart, type Schema } from './arbitraries.ts'

export interface Contract {
  readonly openapi: string
  /** The schema that an operation refers to is `Thing`. */
  readonly schemas: Readonly<Record<string, Schema>>
}

const NAMES = ['a', 'b'] as const
const ALTERNATIVES = ['One', 'Two'] as const

/** In the order of `FORMATS`, a text of each. */
const FORMATTED = ['2026-11-21T10:00:00Z', '7f9c24e5-1c5f-4f0b-9c39-5c7f2d6a1b11', 'a@b.example', '10.0.0.1'] as const
const FORMATS = ['date-time', 'uuid', 'email', 'ipv4'] as const

export const instance: fc.Arbitrary<unknown> = valuesOf(
  fc.oneof(...SCALARS, fc.constantFrom(...FORMATTED), fc.constantFrom(2 ** 31, -(2 ** 40))),
  NAMES,
)

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const count = fc.integer({ min: 0, max: 4 })
const nullable = maybe(fc.boolean())
const exclusive = maybe(fc.boolean())
const names = maybe(fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }))
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** As 3.0 writes it. What refers to `Thing` stands below a member or an item, so that every value comes to an end. */
const schema: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema; below: Schema }>((tie) => ({
  below: fc.oneof(
    { arbitrary: tie('schema'), weight: 4 },
    fc.constantFrom('Thing', ...ALTERNATIVES).map(reference),
    fc.constant({ allOf: [reference('Thing')], nullable: true }),
  ),
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc
      .record({
        type: fc.constant('string'),
        minLength: maybe(count),
        maxLength: maybe(fc.integer({ min: 0, max: 40 })),
        format: maybe(fc.constantFrom(...FORMATS)),
        nullable,
      })
      .map(told),
    fc
      .record({
        type: fc.constant('number'),
        minimum: maybe(fc.integer({ min: -3, max: 5 })),
        maximum: maybe(fc.integer({ min: 0, max: 12 })),
        exclusiveMinimum: exclusive,
        exclusiveMaximum: exclusive,
        nullable,
      })
      .map(told),
    fc
      .record({ type: fc.constant('integer'), format: maybe(fc.constantFrom('int32', 'int64')), minimum: maybe(count) })
      .map(told),
    fc.record({ type: fc.constant('boolean'), nullable }).map(told),
    fc.record({ type: fc.constant('array'), items: maybe(tie('below')), minItems: maybe(count), nullable }).map(told),
    fc
      .record({
        type: fc.constant('object'),
        properties: maybe(fc.dictionary(fc.constantFrom(...NAMES), tie('below'), { maxKeys: 2 })),
        required: names,
        additionalProperties: maybe(fc.oneof(fc.boolean(), tie('below'))),
        nullable,
      })
      .map(told),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('schema') }),
    fc
      .record({ oneOf: fc.shuffledSubarray([...ALTERNATIVES], { minLength: 1 }), mapping: fc.boolean() })
      .map(({ oneOf, mapping }) => discriminated(oneOf, mapping)),
  ),
})).schema

function discriminated(alternatives: readonly string[], isMapped: boolean): Schema {
  const mapping = Object.fromEntries(alternatives.map((name) => [name.toLowerCase(), reference(name).$ref]))
  return {
    oneOf: alternatives.map(reference),
    discriminator: { propertyName: 'a', ...(isMapped ? { mapping } : {}) },
  }
}

/** An alternative is an object, and refers to no other one: to `Thing` alone, below a member. */
const alternative: fc.Arbitrary<Schema> = fc
  .record({
    type: fc.constant('object'),
    properties: fc.dictionary(
      fc.constantFrom(...NAMES),
      fc.constantFrom<Schema>(
        { type: 'string' },
        { type: 'string', nullable: true },
        { type: 'integer' },
        {},
        reference('Thing'),
      ),
      { maxKeys: 2 },
    ),
    required: names,
    additionalProperties: maybe(fc.boolean()),
  })
  .map(told)

const schemas = fc.record({ Thing: schema, One: alternative, Two: alternative })

const version = fc.constantFrom('2.0', '3.0.3', '3.1.0')

/** Both sides, each written in 2.0, 3.0 or 3.1: one component differs, a part of one, or all. */
export const contracts: fc.Arbitrary<readonly [Contract, Contract]> = fc
  .tuple(
    fc.oneof(
      fc.tuple(schemas, schemas),
      fc.tuple(schemas, schema).map(([old, Thing]) => [old, { ...old, Thing }] as const),
      fc.tuple(schemas, alternative).map(([old, One]) => [old, { ...old, One }] as const),
      fc.tuple(schemas, schema, fc.nat(), fc.boolean()).map(([old, part, pick, isBack]) => {
        const other = { ...old, Thing: withPart(old.Thing, part, pick) }
        return isBack ? ([other, old] as const) : ([old, other] as const)
      }),
    ),
    version,
    version,
  )
  .map(([[old, now], before, after]) => [contract(old, before), contract(now, after)])

function contract(definitions: Readonly<Record<string, Schema>>, openapi: string): Contract {
  const write = WRITERS[openapi] ?? modern
  const entries = Object.entries(definitions).map(([name, definition]) => [name, write(definition)])
  return { openapi, schemas: Object.fromEntries(entries) }
}

/** What generated schemas are written in is 3.0. */
const WRITERS: Readonly<Record<string, (definition: Schema) => Schema>> = {
  '2.0': swagger,
  '3.0.3': (definition) => definition,
}

/** 2.0 knows no choice, no exclusion and no null but by a custom member: of a choice the first alternative is left. */
function swagger(definition: Schema): Schema {
  return rewritten(
    definition,
    ({ oneOf, anyOf, not: _not, discriminator: _discriminator, nullable: isNullable, ...rest }) => {
      const list: readonly unknown[] = [oneOf, anyOf].find((choice) => Array.isArray(choice)) ?? []
      const chosen = list.length === 0 ? rest : { ...rest, allOf: [list[0]] }
      return isNullable === undefined ? chosen : { ...chosen, 'x-nullable': isNullable }
    },
  )
}

/** A schema of JSON Schema 2020-12 that admits what the contract's `Thing` admits. Discriminators are a hint, not a condition. */
export function meaningOf({ schemas: definitions }: Contract): Schema {
  const entries = Object.entries(definitions).map(([name, definition]) => [name, plain(modern(definition))])
  return { $ref: '#/$defs/Thing', $defs: Object.fromEntries(entries) }
}

/** Every schema within, from the inside out. */
function mapped(value: unknown, change: (schema: Schema) => Schema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  return change(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapped(member, change)])))
}

function rewritten(definition: Schema, change: (schema: Schema) => Schema): Schema {
  const all = mapped(definition, change)
  return typeof all === 'object' && all !== null ? { ...all } : definition
}

/** 3.0 as 3.1 writes it: null is a type, and an exclusive bound a number. */
function modern(definition: Schema): Schema {
  return rewritten(definition, (one) => {
    const { nullable, 'x-nullable': custom, exclusiveMinimum, exclusiveMaximum, ...rest } = one
    const isNullable = nullable ?? custom
    const { minimum, maximum, ...others } = rest
    const bounded = {
      ...others,
      ...bound('inimum', minimum, exclusiveMinimum),
      ...bound('aximum', maximum, exclusiveMaximum),
    }
    if (isNullable !== true) return bounded
    return rest.type === undefined ? { anyOf: [bounded, { type: 'null' }] } : { ...bounded, type: [rest.type, 'null'] }
  })
}

function bound(stem: 'inimum' | 'aximum', limit: unknown, isExclusive: unknown): Schema {
  if (typeof isExclusive === 'number') return { [`exclusiveM${stem}`]: isExclusive }
  if (limit === undefined) return {}
  return isExclusive === true ? { [`exclusiveM${stem}`]: limit } : { [`m${stem}`]: limit }
}

function plain(definition: Schema): Schema {
  const text = JSON.stringify(rewritten(definition, ({ discriminator: _discriminator, ...rest }) => rest))
  const read: Schema = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
  return read
}
