/** The builder of schemas writes what TypeBox writes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type as TypeBox, type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { Type, type TypeBuilder } from '../../../engine/common/type-builder.ts'

/** One schema for each thing that is said to the builder, said to both. */
const CASES: Readonly<Record<string, (builder: TypeBuilder) => TSchema>> = {
  'scalars without options': (T) => T.Union([T.String(), T.Integer(), T.Number(), T.Boolean(), T.Null(), T.Unknown()]),
  'scalars with options': (T) =>
    T.Union(
      [
        T.String({ minLength: 1, pattern: '^a' }),
        T.Integer({ minimum: 0 }),
        T.Number({ maximum: 1.5 }),
        T.Boolean({ default: true }),
        T.Null({ description: 'none' }),
        T.Unknown({ description: 'whatever' }),
      ],
      { description: 'one of them' },
    ),
  'an option goes over what the form says': (T) => T.String({ type: 'string', title: 'first' }),
  literals: (T) => T.Union([T.Literal('a'), T.Literal(1, { title: 'one' }), T.Literal(false)]),
  enumerations: (T) => T.Enum(['a', 'b'], { default: 'a' }),
  lists: (T) => T.Array(T.Array(T.Integer()), { minItems: 1, uniqueItems: true }),
  'an object without members': (T) => T.Object({}),
  'an object whose members are all optional': (T) => T.Object({ a: T.Optional(T.String()) }),
  'required and optional members, in their order': (T) =>
    T.Object(
      { b: T.String(), a: T.Optional(T.Integer({ default: 3 })), c: T.Object({ d: T.Optional(T.Null()) }) },
      { additionalProperties: false, title: 'object' },
    ),
  'a copy of an optional schema is required again': (T) =>
    T.Object({ a: { ...T.Optional(T.String()), title: 'copy' } }),
  'optional twice is optional once': (T) => T.Object({ a: T.Optional(T.Optional(T.String())) }),
  'records of any key, and of keys by pattern': (T) =>
    T.Object({
      any: T.Record(T.String(), T.Integer()),
      some: T.Record(T.String({ pattern: '^[a-z]+$' }), T.String(), { default: {}, description: 'by name' }),
    }),
  'schemas written by hand': (T) =>
    T.Object({ a: T.Unsafe<string>({ type: ['string', 'null'] }), b: T.Optional(T.Unsafe<number>({ const: 1 })) }),
}

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  1,
  -1,
  1.5,
  '',
  'a',
  'abc',
  [],
  [[]],
  [[1]],
  {},
  { a: 'x' },
  { a: 1 },
  { a: null },
  { b: 'x', c: {} },
  { b: 'x', a: 1, c: { d: null } },
  { any: { x: 1 }, some: { y: 'z' } },
  { any: { x: 'no' }, some: {} },
]

const verdicts = (schema: TSchema) => VALUES.map((value) => Check(schema, value))

suite('the builder of schemas', () => {
  for (const [name, build] of Object.entries(CASES)) {
    test(`writes what TypeBox writes: ${name}`, () => {
      // As text, since the order of members is published too.
      assert.equal(JSON.stringify(build(Type)), JSON.stringify(build(TypeBox)))
    })

    test(`is read by TypeBox like its own: ${name}`, () => {
      assert.deepEqual(verdicts(build(Type)), verdicts(build(TypeBox)))
    })
  }

  test('leaves what it is given as it was', () => {
    const name = Type.String()
    Type.Object({ name: Type.Optional(name) })
    assert.deepEqual(Type.Object({ name }).required, ['name'])
  })
})
