/**
 * Every element of a GraphQL schema (September 2025), with each action, in both directions: what it is at the worst.
 * It is one table, so that an element which is missing can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkElements, worstOf, type ElementRow, type Worst } from '../elements.ts'

const QUERY = 'type Query { a(x: Int, i: I): Int b: T n: N u: U e: E s: S }'

/** Definitions that a row may write otherwise. */
const PARTS = {
  Query: QUERY,
  T: 'type T implements N { id: ID! name: String }',
  O: 'type O implements N { id: ID! }',
  N: 'interface N { id: ID! }',
  U: 'union U = T | O',
  E: 'enum E { A B }',
  I: 'input I { a: Int b: String }',
  S: 'scalar S',
  rest: '',
}

type Parts = Partial<typeof PARTS>

function schema(parts: Parts): string {
  return Object.values({ ...PARTS, ...parts }).join('\n')
}

const query = (field: string): Parts => ({ Query: QUERY.replace('a(x: Int, i: I): Int', field) })
const more = (rest: string): Parts => ({ rest })
const directive = (declared: string): Parts => more(`directive @d${declared}`)

/** Schemas without an element that clients do not see, and with it. */
const HIDDEN: readonly (readonly [what: string, without: string, held: string])[] = [
  ['a field', 'type X { a: Int }', 'type X { a: Int b: Int @inaccessible }'],
  ['a field of a type', 'type X @inaccessible { a: Int }', 'type X @inaccessible { a: Int b: Int }'],
  ['an argument', 'type X { a: Int }', 'type X { a(b: Int @inaccessible): Int }'],
  ['an argument of a field', 'type X { a: Int @inaccessible }', 'type X { a(b: Int): Int @inaccessible }'],
  ['an input field', 'input X { a: Int }', 'input X { a: Int b: Int @inaccessible }'],
  ['an enum value', 'enum X { A }', 'enum X { A B @inaccessible }'],
  ['a type', 'scalar Y', 'scalar Y type X @inaccessible { a: Int }'],
  [
    'a member',
    'type X @inaccessible { a: Int } type Y { a: Int } union Z = Y',
    'type X @inaccessible { a: Int } type Y { a: Int } union Z = Y | X',
  ],
  [
    'an interface',
    'interface X @inaccessible { a: Int } type Y { a: Int }',
    'interface X @inaccessible { a: Int } type Y implements X { a: Int }',
  ],
]

const ELEMENTS: readonly ElementRow<Parts>[] = [
  [
    'the part of a type that is shareable',
    more('type X @shareable { a: Int } extend type X { b: Int }'),
    more('type X { a: Int } extend type X @shareable { b: Int }'),
    'breaking',
    'breaking',
  ],
  [
    'an argument within a selection',
    more('type X { a(n: Int): Int @external b: Int @requires(fields: "a(n: 1)") }'),
    more('type X { a(n: Int): Int @external b: Int @requires(fields: "a(n: 2)") }'),
    'dangerous',
    'dangerous',
  ],
  ['a type', {}, more('type X { a: Int }'), 'info', 'breaking'],
  ['the kind of a type', { S: 'scalar S' }, { S: 'enum S { A }' }, 'breaking', 'breaking'],
  ['a field', {}, { T: 'type T implements N { id: ID! name: String more: Int }' }, 'info', 'breaking'],
  ['the name of a field', {}, { T: 'type T implements N { id: ID! title: String }' }, 'breaking', 'breaking'],
  [
    'the spelling of a field',
    { T: 'type T implements N { id: ID! first_name: String }' },
    { T: 'type T implements N { id: ID! firstName: String }' },
    'breaking',
    'breaking',
  ],
  ['the type of a field', {}, query('a(x: Int, i: I): String'), 'breaking', 'breaking'],
  ['null of a field', {}, query('a(x: Int, i: I): Int!'), 'info', 'breaking'],
  ['a list', {}, query('a(x: Int, i: I): [Int]'), 'breaking', 'breaking'],
  ['null in a list', query('a(x: Int, i: I): [Int]'), query('a(x: Int, i: I): [Int!]'), 'info', 'breaking'],
  ['an argument', {}, query('a(x: Int, i: I, y: Int): Int'), 'dangerous', 'breaking'],
  ['a required argument', {}, query('a(x: Int, i: I, y: Int!): Int'), 'breaking', 'breaking'],
  ['a required argument with a default', {}, query('a(x: Int, i: I, y: Int! = 1): Int'), 'dangerous', 'breaking'],
  ['null of an argument', {}, query('a(x: Int!, i: I): Int'), 'breaking', 'info'],
  ['the type of an argument', {}, query('a(x: Float, i: I): Int'), 'breaking', 'breaking'],
  ['a list of an argument', {}, query('a(x: [Int], i: I): Int'), 'breaking', 'breaking'],
  ['the default of an argument', {}, query('a(x: Int = 1, i: I): Int'), 'dangerous', 'dangerous'],
  [
    'another default of an argument',
    query('a(x: Int = 2, i: I): Int'),
    query('a(x: Int = 1, i: I): Int'),
    'dangerous',
    'dangerous',
  ],
  ['the deprecation of an argument', {}, query('a(x: Int @deprecated, i: I): Int'), 'info', 'info'],
  ['the order of arguments', {}, query('a(i: I, x: Int): Int'), 'none', 'none'],
  ['the deprecation of a field', {}, query('a(x: Int, i: I): Int @deprecated'), 'info', 'info'],
  [
    'the reason of a deprecation',
    query('a(x: Int, i: I): Int @deprecated(reason: "x")'),
    query('a(x: Int, i: I): Int @deprecated(reason: "y")'),
    'info',
    'info',
  ],
  ['the description of a type', {}, { S: '"text" scalar S' }, 'info', 'info'],

  [
    'an interface of a type',
    { O: 'type O { id: ID! }', U: 'union U = T' },
    { U: 'union U = T' },
    'dangerous',
    'breaking',
  ],
  ['a type of an interface that clients select', {}, more('type X implements N { id: ID! }'), 'dangerous', 'breaking'],
  [
    'a type of an interface that no field has',
    more('interface M { id: ID! }'),
    more('interface M { id: ID! } type X implements M { id: ID! }'),
    'info',
    'breaking',
  ],
  [
    'null of a field next to one of the same name',
    { O: 'type O implements N { id: ID! name: String }' },
    { O: 'type O implements N { id: ID! name: String! }' },
    'breaking',
    'breaking',
  ],
  [
    'null of a field and of its interface together',
    {
      O: 'type O implements N { id: ID! }',
      T: 'type T implements N { id: ID! a: Int }',
      N: 'interface N { a: Int id: ID! }',
    },
    {
      O: 'type O implements N { id: ID! }',
      T: 'type T implements N { id: ID! a: Int! }',
      N: 'interface N { a: Int! id: ID! }',
    },
    'info',
    'breaking',
  ],
  [
    'null of a field below fields of one name',
    more('type V { a: Int } type W { a: Int } extend type T { v: V } extend type O { v: W }'),
    more('type V { a: Int! } type W { a: Int } extend type T { v: V } extend type O { v: W }'),
    'dangerous',
    'breaking',
  ],
  [
    'one value in place of a list of one',
    query('a(x: [Int] = 1): Int'),
    query('a(x: [Int] = [1]): Int'),
    'none',
    'none',
  ],
  ['a number in place of an ID', query('a(x: ID = 1): Int'), query('a(x: ID = "1"): Int'), 'none', 'none'],
  [
    'a default within a default',
    { ...query('a(i: I = { a: 1 }): Int'), I: 'input I { a: Int b: String = "x" }' },
    { ...query('a(i: I = { b: "x", a: 1 }): Int'), I: 'input I { a: Int b: String = "x" }' },
    'none',
    'none',
  ],
  [
    'the default of a directive in use',
    more('directive @d(a: Int = 1, b: [Int]) on OBJECT type X @d(b: 2) { a: Int }'),
    more('directive @d(a: Int = 1, b: [Int]) on OBJECT type X @d(b: [2], a: 1) { a: Int }'),
    'none',
    'none',
  ],
  [
    'a default of a directive, used by nobody who gives it',
    more('directive @d(a: Int = 1) on OBJECT type X @d { a: Int }'),
    more('directive @d(a: Int = 2) on OBJECT type X @d { a: Int }'),
    'dangerous',
    'dangerous',
  ],
  [
    'whether a key can be resolved, as it is by default',
    more('type X @key(fields: "a") { a: Int }'),
    more('type X @key(fields: "a", resolvable: true) { a: Int }'),
    'none',
    'none',
  ],
  [
    'the order of scopes',
    more('type X @requiresScopes(scopes: [["a", "b"], ["c"]]) { a: Int }'),
    more('type X @requiresScopes(scopes: [["c"], ["b", "a"]]) { a: Int }'),
    'none',
    'none',
  ],
  [
    'a scope of an alternative',
    more('type X @requiresScopes(scopes: [["a", "b"]]) { a: Int }'),
    more('type X @requiresScopes(scopes: [["a"], ["c"]]) { a: Int }'),
    'dangerous',
    'breaking',
  ],
  [
    'an interface of an interface',
    more('interface M { id: ID! }'),
    {
      ...more('interface M { id: ID! }'),
      N: 'interface N implements M { id: ID! }',
      T: 'type T implements N & M { id: ID! name: String }',
      O: 'type O implements N & M { id: ID! }',
    },
    'dangerous',
    'breaking',
  ],
  [
    'a field of an interface',
    {},
    {
      N: 'interface N { id: ID! at: Int }',
      T: 'type T implements N { id: ID! at: Int name: String }',
      O: 'type O implements N { id: ID! at: Int }',
    },
    'info',
    'breaking',
  ],
  ['a member of a union', {}, { U: 'union U = T' }, 'breaking', 'dangerous'],
  ['the order of a union', {}, { U: 'union U = O | T' }, 'none', 'none'],
  ['a value of an enum', {}, { E: 'enum E { A B C }' }, 'dangerous', 'breaking'],
  ['the name of a value', {}, { E: 'enum E { A C }' }, 'breaking', 'breaking'],
  ['the deprecation of a value', {}, { E: 'enum E { A B @deprecated }' }, 'info', 'info'],
  ['the order of values', {}, { E: 'enum E { B A }' }, 'none', 'none'],

  ['a field of an input', {}, { I: 'input I { a: Int b: String c: Int }' }, 'dangerous', 'breaking'],
  ['a required field of an input', {}, { I: 'input I { a: Int b: String c: Int! }' }, 'breaking', 'breaking'],
  [
    'a required field of an input with a default',
    {},
    { I: 'input I { a: Int b: String c: Int! = 1 }' },
    'dangerous',
    'breaking',
  ],
  ['null of a field of an input', {}, { I: 'input I { a: Int! b: String }' }, 'breaking', 'info'],
  ['the type of a field of an input', {}, { I: 'input I { a: Float b: String }' }, 'breaking', 'breaking'],
  ['the default of a field of an input', {}, { I: 'input I { a: Int = 1 b: String }' }, 'dangerous', 'dangerous'],
  [
    'another default of a field of an input',
    { I: 'input I { a: Int = 2 b: String }' },
    { I: 'input I { a: Int = 1 b: String }' },
    'dangerous',
    'dangerous',
  ],
  ['the deprecation of a field of an input', {}, { I: 'input I { a: Int @deprecated b: String }' }, 'info', 'info'],
  ['one field of an input alone', {}, { I: 'input I @oneOf { a: Int b: String }' }, 'breaking', 'info'],

  [
    'what a scalar is specified by',
    {},
    { S: 'scalar S @specifiedBy(url: "https://a.example")' },
    'dangerous',
    'dangerous',
  ],
  [
    'another specification of a scalar',
    { S: 'scalar S @specifiedBy(url: "https://a.example")' },
    { S: 'scalar S @specifiedBy(url: "https://b.example")' },
    'dangerous',
    'dangerous',
  ],

  ['a directive for requests', {}, directive(' on FIELD'), 'info', 'breaking'],
  ['a directive for schemas', {}, directive(' on OBJECT'), 'info', 'breaking'],
  ['a place of a directive for requests', directive(' on FIELD'), directive(' on FIELD | QUERY'), 'info', 'breaking'],
  [
    'a place of a directive for schemas',
    directive(' on FIELD | OBJECT'),
    directive(' on FIELD | OBJECT | ENUM'),
    'info',
    'breaking',
  ],
  ['repetition of a directive', directive(' on FIELD'), directive(' repeatable on FIELD'), 'info', 'breaking'],
  ['an argument of a directive', directive(' on FIELD'), directive('(a: Int) on FIELD'), 'info', 'breaking'],
  [
    'a required argument of a directive',
    directive(' on FIELD'),
    directive('(a: Int!) on FIELD'),
    'breaking',
    'breaking',
  ],
  [
    'the type of an argument of a directive',
    directive('(a: Int) on FIELD'),
    directive('(a: String) on FIELD'),
    'breaking',
    'breaking',
  ],
  [
    'null of an argument of a directive',
    directive('(a: Int) on FIELD'),
    directive('(a: Int!) on FIELD'),
    'breaking',
    'info',
  ],
  [
    'the default of an argument of a directive',
    directive('(a: Int = 1) on FIELD'),
    directive('(a: Int = 2) on FIELD'),
    'dangerous',
    'dangerous',
  ],
  [
    'a use of a directive on a field',
    directive(' on FIELD_DEFINITION'),
    { ...directive(' on FIELD_DEFINITION'), ...query('a(x: Int, i: I): Int @d') },
    'dangerous',
    'dangerous',
  ],
  [
    'an argument of a use',
    { ...directive('(a: Int) on OBJECT'), T: 'type T implements N @d(a: 1) { id: ID! name: String }' },
    { ...directive('(a: Int) on OBJECT'), T: 'type T implements N @d(a: 2) { id: ID! name: String }' },
    'dangerous',
    'dangerous',
  ],
  ...(['OBJECT', 'INTERFACE', 'UNION', 'ENUM', 'INPUT_OBJECT', 'SCALAR'] as const).map((place): ElementRow<Parts> => {
    const uses: Readonly<Record<typeof place, Parts>> = {
      OBJECT: { T: 'type T implements N @d { id: ID! name: String }' },
      INTERFACE: { N: 'interface N @d { id: ID! }' },
      UNION: { U: 'union U @d = T | O' },
      ENUM: { E: 'enum E @d { A B }' },
      INPUT_OBJECT: { I: 'input I @d { a: Int b: String }' },
      SCALAR: { S: 'scalar S @d' },
    }
    return [
      `a use of a directive at ${place}`,
      directive(` on ${place}`),
      { ...directive(` on ${place}`), ...uses[place] },
      'dangerous',
      'dangerous',
    ]
  }),
  [
    'a use of a directive at an argument',
    directive(' on ARGUMENT_DEFINITION'),
    { ...directive(' on ARGUMENT_DEFINITION'), ...query('a(x: Int @d, i: I): Int') },
    'dangerous',
    'dangerous',
  ],
  [
    'a use of a directive at a value',
    directive(' on ENUM_VALUE'),
    { ...directive(' on ENUM_VALUE'), E: 'enum E { A @d B }' },
    'dangerous',
    'dangerous',
  ],
  [
    'a use of a directive at a field of an input',
    directive(' on INPUT_FIELD_DEFINITION'),
    { ...directive(' on INPUT_FIELD_DEFINITION'), I: 'input I { a: Int @d b: String }' },
    'dangerous',
    'dangerous',
  ],
  [
    'a use of a directive at the schema',
    directive(' on SCHEMA'),
    { rest: 'directive @d on SCHEMA schema @d { query: Query }' },
    'dangerous',
    'dangerous',
  ],

  ['a mutation', {}, more('type Mutation { m: Int }'), 'info', 'breaking'],
  ['a subscription', {}, more('type Subscription { m: Int }'), 'info', 'breaking'],
  [
    'another type of mutations',
    more('schema { query: Query mutation: M } type M { m: Int } type L { m: Int }'),
    more('schema { query: Query mutation: L } type M { m: Int } type L { m: Int }'),
    'breaking',
    'breaking',
  ],
  [
    'another type of queries',
    more('schema { query: Query } type L { a: Int }'),
    more('schema { query: L } type L { a: Int }'),
    'breaking',
    'breaking',
  ],
]

checkElements('an element of GraphQL', 'graphql', ELEMENTS, schema)

/** Changes that break clients who see the element. */
const HIDDEN_CHANGES: readonly (readonly [what: string, before: string, after: string])[] = [
  ['the type of a field', 'type X { a: Int b: Int @inaccessible }', 'type X { a: Int b: String @inaccessible }'],
  ['null in a field', 'type X { a: Int b: Int! @inaccessible }', 'type X { a: Int b: Int @inaccessible }'],
  ['a field of a type', 'type X @inaccessible { a: Int }', 'type X @inaccessible { a: String }'],
  ['a field that came to be seen', 'type X { a: Int b: Int @inaccessible }', 'type X { a: Int b: String }'],
  [
    'an argument that is required',
    'type X { a: Int b: Int @inaccessible }',
    'type X { a: Int b(c: Int!): Int @inaccessible }',
  ],
  ['the type of an argument', 'type X { a(b: Int @inaccessible): Int }', 'type X { a(b: String @inaccessible): Int }'],
  ['a default', 'type X { a(b: Int! = 1): Int @inaccessible }', 'type X { a(b: Int!): Int @inaccessible }'],
  ['an input field', 'input X { a: Int b: Int @inaccessible }', 'input X { a: Int b: Int! = 1 @inaccessible }'],
  ['one of the fields', 'input X @inaccessible { a: Int }', 'input X @oneOf @inaccessible { a: Int }'],
  ['the kind of a type', 'type X @inaccessible { a: Int }', 'interface X @inaccessible { a: Int }'],
  [
    'who may read a field',
    'type X { a: Int b: Int @inaccessible }',
    'type X { a: Int b: Int @inaccessible @authenticated }',
  ],
  ['another mark', 'type X @inaccessible { a: Int }', 'type X @inaccessible { a: Int @inaccessible }'],
]

/** The graph is not composed without these, whoever sees them. A field may have the name of a directive. */
const COMPOSED: readonly (readonly [what: string, before: string, after: string])[] = [
  ['a key', 'type X @inaccessible @key(fields: "a") { a: Int }', 'type X @inaccessible { a: Int }'],
  ['a shared field', 'type X { a: Int b: Int @inaccessible @shareable }', 'type X { a: Int b: Int @inaccessible }'],
  [
    'a field called key',
    'type X @key(fields: "a") { a: Int key: Int @inaccessible }',
    'type X { a: Int key: Int @inaccessible }',
  ],
  ['what comes to be hidden', 'type X { a: Int b: Int }', 'type X { a: Int b: String @inaccessible }'],
]

suite('what clients do not see (@inaccessible)', () => {
  for (const [what, without, held] of HIDDEN) {
    test(`${what} is removed`, () => {
      assert.equal(worstOf('graphql', schema(more(held)), schema(more(without))), 'dangerous')
    })
    test(`${what} is removed that clients see`, () => {
      const seen = [held, without].map((text) => schema(more(text.replaceAll(' @inaccessible', ''))))
      assert.equal(worstOf('graphql', seen[0], seen[1]), 'breaking')
    })
  }
  for (const [what, before, after] of HIDDEN_CHANGES)
    test(`${what} changes`, () => {
      const [base, head] = [before, after].map((text) => schema(more(text)))
      assert.equal(worstOf('graphql', base, head), 'dangerous')
    })
  for (const [what, before, after] of COMPOSED)
    test(`${what} breaks the graph`, () => {
      assert.equal(worstOf('graphql', schema(more(before)), schema(more(after))), 'breaking')
    })
})

const KEYS: readonly (readonly [what: string, before: string, after: string, worst: Worst])[] = [
  ['is resolved, too', '@key(fields: "a", resolvable: false)', '@key(fields: "a")', 'info'],
  ['is resolved, stated', '@key(fields: "a", resolvable: false)', '@key(fields: "a", resolvable: true)', 'info'],
  [
    'is resolved, beside another one',
    '@key(fields: "b", resolvable: false)',
    '@key(fields: "a") @key(fields: "b")',
    'info',
  ],
  ['is for references only', '@key(fields: "a")', '@key(fields: "a", resolvable: false)', 'breaking'],
  ['is another one', '@key(fields: "a", resolvable: false)', '@key(fields: "b")', 'breaking'],
]

suite('a key', () => {
  for (const [what, before, after, worst] of KEYS)
    test(what, () => {
      const [base, head] = [before, after].map((keys) => schema(more(`type X ${keys} { a: ID b: ID }`)))
      assert.equal(worstOf('graphql', base, head), worst)
    })
})

test('@extends says the same as extend', () => {
  const [base, head] = ['extend type X @key(fields: "a") { a: ID }', 'type X @extends @key(fields: "a") { a: ID }']
  assert.equal(worstOf('graphql', schema(more(base)), schema(more(head))), 'none')
})
