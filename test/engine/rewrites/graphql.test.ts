/** GraphQL schemas written in two ways that mean the same: SDL and introspection, extensions, order, what is built in. */
import { buildSchema, introspectionFromSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { checkRewrites, type Rewrite, type Written } from './run.ts'

const SDL = `
"""A schema."""
schema { query: Query mutation: Mutation subscription: Subscription }
directive @own(a: Int = 1, b: [String!] = ["x"]) repeatable on FIELD | FIELD_DEFINITION
interface Node { id: ID! }
interface Named implements Node { id: ID! name(lang: Lang = EN, upper: Boolean! = false): String }
type Thing implements Named & Node { id: ID! name(lang: Lang = EN, upper: Boolean! = false): String old: Int @deprecated(reason: "gone") at: Time }
type Other implements Node { id: ID! }
union Any = Thing | Other
"d" enum Lang { EN DE @deprecated }
scalar Time @specifiedBy(url: "https://a.example/time")
input Filter { text: String = "a\\"b" limit: Int! = 3 in: [Lang!] = [EN] nested: Filter factor: Float = 1.5 }
input One @oneOf { id: ID name: String }
type Query { things(filter: Filter = { limit: 4, text: "x" }, one: One): [Any!]! node(id: ID!): Node }
type Mutation { add(name: String!): Thing }
type Subscription { added: Thing }
`

const written = (document: unknown): Written => ({ document })
const small = (text: string): Written => written(`type Query { a(x: Int): T }\n${text}`)
const INTROSPECTION = introspectionFromSchema(buildSchema(SDL), {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
})

const SMALL: readonly Rewrite[] = [
  [
    'a type that is shareable, and its fields',
    small('type T @shareable { a: Int b: Int }'),
    small('type T { a: Int @shareable b: Int @shareable }'),
  ],
  [
    'an external type, and its fields',
    small('extend type T @key(fields: "a") @external { a: Int b: Int }'),
    small('extend type T @key(fields: "a") { a: Int @external b: Int @external }'),
  ],
  [
    'arguments of a selection in another order',
    small('type T { a(x: Int, y: [Int]): Int @external c: Int @requires(fields: "a(x: 1, y: [2])") }'),
    small('type T { a(x: Int, y: [Int]): Int @external c: Int @requires(fields: "a(y:[2] x:1)") }'),
  ],
  [
    'an introspection that asks for less than the SDL states',
    written(
      'directive @r repeatable on FIELD scalar D @specifiedBy(url: "a") input I { x: D } type Query { a(i: I): D }',
    ),
    written({
      data: introspectionFromSchema(
        buildSchema(
          'directive @r repeatable on FIELD scalar D @specifiedBy(url: "a") input I { x: D } type Query { a(i: I): D }',
        ),
        { specifiedByUrl: false, directiveIsRepeatable: false, oneOf: false },
      ),
    }),
  ],
  ['a field of an extension', small('type T { a: Int b: Int }'), small('type T { a: Int } extend type T { b: Int }')],
  [
    'an extension before its type',
    small('type T { a: Int b: Int }'),
    small('extend type T { b: Int } type T { a: Int }'),
  ],
  [
    'an interface of an extension',
    small('interface I { a: Int } type T implements I { a: Int }'),
    small('interface I { a: Int } type T { a: Int } extend type T implements I'),
  ],
  [
    'a member of a union of an extension',
    small('type T { u: U } type O { b: Int } union U = T | O'),
    small('type T { u: U } type O { b: Int } union U = T extend union U = O'),
  ],
  [
    'a value of an enum of an extension',
    small('type T { e: E } enum E { A B }'),
    small('type T { e: E } enum E { A } extend enum E { B }'),
  ],
  [
    'a field of an input of an extension',
    small('type T { a(i: I): Int } input I { a: Int b: Int }'),
    small('type T { a(i: I): Int } input I { a: Int } extend input I { b: Int }'),
  ],
  [
    'an address of a scalar of an extension',
    small('type T { s: S } scalar S @specifiedBy(url: "https://s")'),
    small('type T { s: S } scalar S extend scalar S @specifiedBy(url: "https://s")'),
  ],
  [
    'an extension of the schema',
    small('type T { a: Int } type M { a: Int } schema { query: Query mutation: M }'),
    small('type T { a: Int } type M { a: Int } schema { query: Query } extend schema { mutation: M }'),
  ],
  [
    'root types by name and by a schema definition',
    small('type T { a: Int } type Mutation { a: Int }'),
    small('type T { a: Int } type Mutation { a: Int } schema { query: Query mutation: Mutation }'),
  ],
  [
    'built-in scalars and directives written out',
    small('type T { a: Int }'),
    small(
      'type T { a: Int } directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT directive @deprecated(reason: String = "No longer supported") on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE',
    ),
  ],
  [
    'comments and commas',
    small('type T { a(x: Int, y: Int): Int }'),
    small('# T\ntype T { # a\n a(x: Int y: Int,): Int,,, }'),
  ],
  ['a description as a block', small('type T { "d" a: Int }'), small('type T { """\n    d\n  """ a: Int }')],
  [
    'fields of a default in another order',
    small('type T { a(i: I = { a: 1, b: 2 }): Int } input I { a: Int b: Int }'),
    small('type T { a(i: I = { b: 2, a: 1 }): Int } input I { a: Int b: Int }'),
  ],
  [
    'a list of one item as a default',
    small('type T { a(x: [Int] = [1]): Int }'),
    small('type T { a(x: [Int] = 1): Int }'),
  ],
  ['a number as a default', small('type T { a(x: Float = 1.0): Int }'), small('type T { a(x: Float = 1): Int }')],
  ['an id as a default', small('type T { a(x: ID = "1"): Int }'), small('type T { a(x: ID = 1): Int }')],
  [
    'a bar before the first member and location',
    small('type T { u: U } union U = T directive @d on FIELD | QUERY'),
    small('type T { u: U } union U = | T directive @d on | QUERY | FIELD'),
  ],
  [
    'interfaces in another order',
    small('interface I { a: Int } interface J { a: Int } type T implements I & J { a: Int }'),
    small('interface I { a: Int } interface J { a: Int } type T implements & J & I { a: Int }'),
  ],
  [
    'the reason of a deprecation that is the default',
    small('type T { a: Int @deprecated }'),
    small('type T { a: Int @deprecated(reason: "No longer supported") }'),
  ],
]

checkRewrites('GraphQL', 'graphql', [
  ...SMALL,
  ['SDL and introspection', written(SDL), written(INTROSPECTION)],
  ['SDL and introspection as an answer', written(SDL), written({ data: INTROSPECTION })],
  ['SDL and SDL as it is printed', written(SDL), written(printSchema(buildSchema(SDL)))],
  ['SDL in the order of names', written(SDL), written(printSchema(lexicographicSortSchema(buildSchema(SDL))))],
  [
    'introspection in the order of names',
    written(INTROSPECTION),
    written(
      introspectionFromSchema(lexicographicSortSchema(buildSchema(SDL)), {
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      }),
    ),
  ],
])
