/** Generated schemas in pairs, and values that may or may not be valid by them. */
import * as fc from 'fast-check'

export type Schema = Readonly<Record<string, unknown>>

const NAMES = ['a', 'b', 'c'] as const
const SCALARS: readonly fc.Arbitrary<unknown>[] = [
  fc.constantFrom('', 'a', 'ab', 'abcd', 'x-1'),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.5, 2.5),
  fc.boolean(),
  fc.constant(null),
]

/** Scalars, and lists and objects of them. */
function valuesOf(scalar: fc.Arbitrary<unknown>, names: readonly string[]): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, scalar, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  })).value
}

export const value = valuesOf(fc.oneof(...SCALARS), NAMES)

const count = fc.integer({ min: 0, max: 4 })
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })

/** A schema without the members that were left out. */
export function reported(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, member]) => member !== undefined))
}

const schema: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc
      .record({
        type: fc.constant('string'),
        minLength: optional(count),
        maxLength: optional(count),
        pattern: optional(fc.constantFrom('^a', '^x')),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('string'),
        enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 'abcd'), { minLength: 1 }),
      })
      .map(reported),
    fc
      .record({
        type: fc.constantFrom('integer', 'number'),
        minimum: optional(fc.integer({ min: -3, max: 5 })),
        maximum: optional(fc.integer({ min: 0, max: 12 })),
        exclusiveMinimum: optional(fc.integer({ min: -3, max: 5 })),
        exclusiveMaximum: optional(fc.integer({ min: 0, max: 12 })),
        multipleOf: optional(fc.constantFrom(1, 2, 3, 4)),
      })
      .map(reported),
    fc
      .record({ type: fc.constantFrom<unknown>('boolean', 'null', ['string', 'null'], ['integer', 'boolean']) })
      .map(reported),
    fc
      .record({
        type: fc.constant('array'),
        items: optional(tie('schema')),
        minItems: optional(count),
        maxItems: optional(count),
        uniqueItems: optional(fc.boolean()),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('object'),
        properties: optional(fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 3 })),
        required: optional(fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 })),
        additionalProperties: optional(fc.oneof(fc.boolean(), tie('schema'))),
        minProperties: optional(count),
        maxProperties: optional(count),
      })
      .map(reported),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }).map(reported),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }).map(reported),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }).map(reported),
    fc.record({ not: tie('schema') }).map(reported),
    fc.record({ if: tie('schema'), then: optional(tie('schema')), else: optional(tie('schema')) }).map(reported),
    fc
      .record({
        type: fc.constant('object'),
        patternProperties: fc.dictionary(fc.constantFrom('^a', '^[bc]$'), tie('schema'), { minKeys: 1, maxKeys: 2 }),
        additionalProperties: optional(fc.boolean()),
        unevaluatedProperties: optional(fc.constant(false)),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('object'),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        properties: optional(fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 2 })),
        unevaluatedProperties: optional(fc.oneof(fc.boolean(), tie('schema'))),
      })
      .map(reported),
    fc
      .record({
        anyOf: optional(fc.array(tie('schema'), { minLength: 1, maxLength: 2 })),
        if: optional(tie('schema')),
        then: optional(tie('schema')),
        properties: optional(fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 2 })),
        unevaluatedProperties: fc.oneof(fc.constant(false), tie('schema')),
      })
      .map(reported),
    fc
      .record({
        type: optional(fc.constant('array')),
        allOf: optional(fc.array(tie('schema'), { minLength: 1, maxLength: 2 })),
        prefixItems: optional(fc.array(tie('schema'), { minLength: 1, maxLength: 2 })),
        items: optional(fc.constant(true)),
        contains: optional(tie('schema')),
        unevaluatedItems: fc.oneof(fc.constant(false), tie('schema')),
      })
      .map(reported),
    fc
      .record({
        type: optional(
          fc.uniqueArray(fc.constantFrom('string', 'integer', 'array', 'object', 'null'), {
            minLength: 1,
            maxLength: 3,
          }),
        ),
        enum: optional(fc.uniqueArray(fc.constantFrom<unknown>('a', 1, null, true), { minLength: 1, maxLength: 3 })),
        minLength: optional(count),
        minimum: optional(fc.integer({ min: -3, max: 5 })),
        required: optional(fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 })),
        not: optional(tie('schema')),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('object'),
        dependentSchemas: fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { minKeys: 1, maxKeys: 2 }),
      })
      .map(reported),
    fc.record({ const: fc.constantFrom<unknown>('a', 1, null, true) }).map(reported),
    fc
      .record({
        type: fc.constant('object'),
        dependentRequired: fc.constantFrom({ a: ['b'] }, { a: ['c'] }, { b: ['a', 'c'] }),
        propertyNames: optional(fc.constantFrom<Schema>({ enum: ['a', 'b'] }, { enum: ['a'] }, { maxLength: 0 })),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('array'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        items: optional(fc.oneof(fc.boolean(), tie('schema'))),
      })
      .map(reported),
    fc
      .record({
        type: fc.constant('array'),
        contains: tie('schema'),
        minContains: optional(fc.constantFrom(0, 1, 2)),
        maxContains: optional(fc.constantFrom(1, 2)),
      })
      .map(reported),
    fc.constant({}),
  ),
})).schema

/** A schema and another one that differs from it in one place, or in all. */
export const pair: fc.Arbitrary<readonly [Schema, Schema]> = fc.oneof(
  fc.tuple(schema, schema),
  fc.tuple(schema, schema).map(([base, other]) => [base, { ...base, ...other }] as const),
  fc.tuple(schema, fc.nat()).map(([base, pick]) => [base, dropped(base, pick)] as const),
  fc.tuple(schema, schema, fc.nat()).map(([base, other, pick]) => [base, withPart(base, other, pick)] as const),
  fc.tuple(schema, schema, fc.nat()).map(([head, other, pick]) => [withPart(head, other, pick), head] as const),
)

/** A schema with one of the schemas within it replaced. */
function withPart(whole: Schema, part: Schema, pick: number): Schema {
  const text = JSON.stringify(whole)
  const starts = [...text.matchAll(/\{"(?:type|anyOf|allOf|oneOf|not|const)"/g)].map(({ index }) => index)
  const start = starts[pick % Math.max(1, starts.length)]
  if (start === undefined) return part
  let depth = 0
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '{') depth += 1
    if (text[end] === '}') depth -= 1
    if (depth > 0) continue
    const replaced: Schema = JSON.parse(`${text.slice(0, start)}${JSON.stringify(part)}${text.slice(end + 1)}`)
    return replaced
  }
  return part
}

function dropped(whole: Schema, pick: number): Schema {
  const names = Object.keys(whole)
  const gone = names[pick % Math.max(1, names.length)]
  return Object.fromEntries(Object.entries(whole).filter(([name]) => name !== gone))
}
