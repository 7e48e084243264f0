/** Which changes of a schema affect one operation: those of the fields it selects and the values it sends, at any place. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  asksForSchemaOnly,
  EMPTY_CONTEXT,
  judgeChangeSet,
  operationIn,
  readGraphqlShape,
  readOperationDocument,
  touchOf,
} from '../../../engine/internal.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import type { FindingGroup, GraphqlTouch } from '../../../engine/internal.ts'
import { fakePolicy } from '../../fakes/decisions.ts'
import { compared } from './compared.ts'

const OLD = `
  directive @live(every: Int, mode: Mode) on FIELD | QUERY
  enum Mode { FAST SLOW }
  type Query {
    user(id: ID!, as: Role): User
    search(text: String!, filter: Filter): [Result!]!
    nodes(ids: [ID!]!): [Node!]!
    orders: [Order!]!
  }
  type Mutation { addUser(input: NewUser!): User }
  interface Node { id: ID! }
  type User implements Node { id: ID! name: String! role: Role! nick(short: Boolean = true): String orders: [Order!]! }
  type Order implements Node { id: ID! total: Int! at: Date! }
  type Page { title: String! url: String }
  union Result = User | Page
  enum Role { ADMIN MEMBER }
  scalar Date
  input Filter { role: Role text: String nested: Filter }
  input NewUser { name: String! role: Role = MEMBER }
`

const LIMITS = { maxTokens: 1000, maxDepth: 20 }

function shape(text: string) {
  const read = readGraphqlShape(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok)
  return read.value
}

interface Asked {
  readonly variables?: Readonly<Record<string, unknown>>
  readonly name?: string
}

function touchIn(query: string, sides: readonly string[], { variables = {}, name }: Asked = {}): GraphqlTouch {
  const document = readOperationDocument(query, LIMITS)
  assert.ok(document.ok)
  const operation = operationIn(document.value, name ?? null)
  assert.ok(operation.ok)
  return touchOf({ document: document.value, operation: operation.value, variables }, sides.map(shape))
}

const touched = (query: string, asked: Asked = {}): GraphqlTouch => touchIn(query, [OLD], asked)

/** What decides on an operation when the schema changes. */
function groupsOn(query: string, before: string, after: string, asked: Asked = {}): readonly FindingGroup[] {
  const { root, fields, touches } = touchIn(query, [before, after], asked)
  assert.ok(touches !== null)
  const analysis = { id: 'a', type: 'graphql', ok: true, comparison: compared(before, after) } as const
  const terms = { policy: fakePolicy(), context: EMPTY_CONTEXT, scope: { root, fields, touches }, now: 0 }
  return judgeChangeSet([analysis], terms).artifacts.flatMap(({ groups }) => groups)
}

type Call = string | readonly [query: string, variables: Readonly<Record<string, unknown>>]

/** `rule location` of each. */
function deciding(call: Call, [from, to]: readonly [from: string, to: string]): readonly string[] {
  const [query, variables = {}] = typeof call === 'string' ? [call] : call
  const head = OLD.replace(from, to)
  assert.notEqual(head, OLD, `${from} is in the schema`)
  return groupsOn(query, OLD, head, { variables }).map(({ rule, location }) => `${rule} ${location}`)
}

/** What one change means to operations: those that it decides on, and those that it does not. */
const CASES: readonly {
  readonly change: readonly [from: string, to: string]
  readonly decides: readonly Call[]
  readonly spares: readonly Call[]
}[] = [
  {
    change: ['name: String! role', 'role'],
    decides: [
      '{ user(id: 1) { name } }',
      '{ search(text: "") { ... on User { name } } }',
      'query { user(id: 1) { ...U } } fragment U on User { n: name }',
      '{ nodes(ids: []) { id ... on User { name } } }',
      'mutation { addUser(input: { name: "x" }) { name } }',
    ],
    spares: ['{ user(id: 1) { id } }', '{ search(text: "") { ... on Page { title } } }', '{ orders { id } }'],
  },
  {
    change: ['User implements Node { id: ID!', 'User implements Node { id: ID'],
    decides: ['{ nodes(ids: []) { id } }', '{ user(id: 1) { id } }'],
    spares: ['{ user(id: 1) { name } }', '{ orders { id } }'],
  },
  {
    change: ['user(id: ID!, as: Role)', 'user(id: ID!)'],
    decides: ['{ user(id: 1, as: ADMIN) { id } }', ['query($r: Role) { user(id: 1, as: $r) { id } }', {}]],
    spares: ['{ user(id: 1) { id } }', '{ orders { id } }'],
  },
  {
    change: ['user(id: ID!, as: Role)', 'user(id: ID!, as: Role, tenant: ID!)'],
    decides: ['{ user(id: 1) { id } }'],
    spares: ['{ orders { id } }'],
  },
  {
    change: ['filter: Filter): [Result!]!', 'filter: [Filter!]!): [Result!]!'],
    decides: ['{ search(text: "") { __typename } }', '{ search(text: "", filter: {}) { __typename } }'],
    spares: ['{ orders { id } }'],
  },
  {
    change: ['nick(short: Boolean = true)', 'nick(short: Int)'],
    decides: ['{ user(id: 1) { nick(short: true) } }'],
    spares: ['{ user(id: 1) { name } }'],
  },
  {
    change: ['nick(short: Boolean = true)', 'nick(short: Boolean = false)'],
    decides: ['{ user(id: 1) { nick } }', '{ user(id: 1) { nick(short: true) } }'],
    spares: ['{ user(id: 1) { name } }'],
  },
  {
    change: ['enum Role { ADMIN MEMBER }', 'enum Role { MEMBER }'],
    decides: [
      '{ user(id: 1, as: ADMIN) { id } }',
      '{ search(text: "", filter: { nested: { role: ADMIN } }) { __typename } }',
      ['query($f: Filter) { search(text: "", filter: $f) { __typename } }', { f: { nested: [{ role: 'ADMIN' }] } }],
      'query($r: Role = ADMIN) { user(id: 1, as: $r) { id } }',
    ],
    spares: [
      '{ user(id: 1, as: MEMBER) { role } }',
      ['query($f: Filter) { search(text: "", filter: $f) { __typename } }', { f: { role: 'MEMBER', text: 'ADMIN' } }],
      ['query($r: Role = ADMIN) { user(id: 1, as: $r) { id } }', { r: 'MEMBER' }],
    ],
  },
  {
    change: ['enum Role { ADMIN MEMBER }', 'enum Role { ADMIN MEMBER GUEST }'],
    decides: ['{ user(id: 1) { role } }'],
    spares: ['{ user(id: 1, as: ADMIN) { id } }'],
  },
  {
    change: ['input NewUser { name: String!', 'input NewUser { mail: String! name: String!'],
    decides: [
      'mutation { addUser(input: { name: "x" }) { id } }',
      ['mutation($i: NewUser!) { addUser(input: $i) { id } }', { i: { name: 'x' } }],
    ],
    spares: ['{ user(id: 1) { id } }'],
  },
  {
    change: ['input Filter { role: Role text: String', 'input Filter { role: Role'],
    decides: ['{ search(text: "", filter: { text: "x" }) { __typename } }'],
    spares: ['{ search(text: "", filter: { role: ADMIN }) { __typename } }', '{ search(text: "") { __typename } }'],
  },
  {
    change: ['union Result = User | Page', 'union Result = User | Page | Order'],
    decides: ['{ search(text: "") { __typename } }'],
    spares: ['{ user(id: 1) { id } }'],
  },
  {
    change: ['type Order implements Node {', 'type Order {'],
    decides: ['{ nodes(ids: []) { id } }'],
    spares: ['{ search(text: "") { ... on Page { url } } }'],
  },
  {
    change: [
      'directive @live(every: Int, mode: Mode) on FIELD | QUERY',
      'directive @live(every: Int) on FIELD | QUERY',
    ],
    decides: ['{ user(id: 1) { id @live(mode: FAST) } }'],
    spares: ['{ user(id: 1) { id @live } }', '{ user(id: 1) { id } }'],
  },
  {
    change: ['scalar Date', 'enum Date { TODAY }'],
    decides: ['{ orders { at } }'],
    spares: ['{ orders { total } }'],
  },
  {
    change: ['type Mutation { addUser(input: NewUser!): User }', ''],
    decides: ['mutation { addUser(input: { name: "x" }) { id } }'],
    spares: ['{ user(id: 1) { id } }'],
  },
]

for (const { change, decides, spares } of CASES) {
  suite(`${change[0]} → ${change[1]}`, () => {
    for (const call of decides)
      test(`decides on ${JSON.stringify(call)}`, () => assert.notDeepEqual(deciding(call, change), []))
    for (const call of spares)
      test(`does not on ${JSON.stringify(call)}`, () => assert.deepEqual(deciding(call, change), []))
  })
}

test('a change of the schema as a whole decides on every operation', () => {
  const head = `extend schema @contact(name: "us") directive @contact(name: String) on SCHEMA ${OLD}`
  const groups = groupsOn('{ orders { id } }', OLD, head)
  assert.ok(groups.some(({ location }) => location.startsWith('/schema')))
})

const wide = (type: string): string =>
  `type Query { ${Array.from({ length: 30 }, (_, index) => `f${index}: T`).join(' ')} other: Int } type T { a: ${type} b: Int }`

test('a change that very many operations reach still decides only where it is touched', () => {
  const decided = ['{ f3 { a } }', '{ f3 { b } }', '{ other }'].map((query) =>
    groupsOn(query, wide('Int'), wide('String')),
  )
  assert.deepEqual(
    decided.map(({ length }) => length),
    [1, 0, 0],
  )
})

suite('what neither side describes is judged by all of it', () => {
  for (const query of [
    '{ nobody }',
    '{ user(id: 1) { nobody } }',
    '{ user(id: 1, nobody: 2) { id } }',
    '{ user(id: 1) { id @nobody } }',
    '{ user(id: 1) { ...Nobody } }',
    '{ search(text: "") { ... on Nobody { id } } }',
    '{ search(text: "", filter: { nobody: 1 }) { __typename } }',
    '{ user(id: 1, as: NOBODY) { id } }',
    'query($n: Nobody) { orders { id } }',
    'subscription { orders }',
  ])
    test(query, () => assert.equal(touched(query).touches, null))
  test('members of variables, too', () => {
    const query = 'query($f: Filter) { search(text: "", filter: $f) { __typename } }'
    assert.equal(touched(query, { variables: { f: { nested: { nobody: 1 } } } }).touches, null)
  })
})

suite('what asks for the schema alone', () => {
  for (const [query, expected] of [
    ['{ __schema { types { name } } __typename }', true],
    ['{ ...S ... { __typename } } fragment S on Query { __type(name: "User") { name } }', true],
    ['{ __typename user(id: 1) { id } }', false],
    ['{ ...S } fragment S on Query { __typename ...T } fragment T on Query { ...S orders { id } }', false],
    ['{ __secret }', false],
    ['{ ...Nobody }', false],
  ] as const)
    test(`${query}: ${expected}`, () => {
      const document = readOperationDocument(query, LIMITS)
      assert.ok(document.ok)
      const operation = operationIn(document.value, null)
      assert.ok(operation.ok)
      assert.equal(asksForSchemaOnly(document.value, operation.value), expected)
    })
})

test('questions about the schema itself touch no field of it', () => {
  assert.deepEqual(touched('{ __schema { types { name } } __typename }').fields, [])
  assert.deepEqual(touched('{ ...S } fragment S on Query { __type(name: "User") { name } }').fields, [])
  assert.deepEqual(touched('{ __typename user(id: 1) { id } orders { id } }').fields, ['orders', 'user'])
})

test('of several operations the one that is named counts', () => {
  const query = 'query A { orders { id } } mutation B { addUser(input: { name: "x" }) { id } }'
  assert.equal(touched(query, { name: 'A' }).root, 'QUERY')
  assert.deepEqual(touched(query, { name: 'B' }).fields, ['addUser'])
  const document = readOperationDocument(query, LIMITS)
  assert.ok(document.ok)
  for (const name of [null, 'C']) assert.equal(operationIn(document.value, name).ok, false)
})

test('values do not change what is touched, but for those of enums', () => {
  assert.deepEqual(touched('{ user(id: 1) { id } }'), touched('{ user(id: "two") { x: id } }'))
  const one = touched('query($id: ID!, $r: Role) { user(id: $id, as: $r) { id } }', {
    variables: { id: 'a', r: 'ADMIN' },
  })
  const same = touched('query Q($i: ID!, $s: Role) { user(id: $i, as: $s) { id } }', {
    variables: { i: 'b', s: 'ADMIN' },
  })
  assert.deepEqual(one, same)
})

suite('documents that are not read', () => {
  for (const [what, text, message] of [
    ['what is not GraphQL', '{ user(', /not valid GraphQL/],
    ['definitions of a schema', 'type A { b: Int }', /parts of a schema/],
    ['a fragment twice', '{ ...A } fragment A on Query { x } fragment A on Query { y }', /the fragment A twice/],
    ['a separator that may end a comment', '{ a # \u2028 b\n }', /ends a line to some readers only/],
    ['too deep', '{a'.repeat(25) + '}'.repeat(25), /nesting is deeper than 20/],
    ['too long', `{ ${'a '.repeat(2000)} }`, /more than 1000 tokens/],
  ] as const)
    test(what, () => {
      const read = readOperationDocument(text, LIMITS)
      assert.ok(!read.ok)
      assert.match(read.problem.message, message)
    })
})

test('fragments that each spread the next one twice are followed once', () => {
  const count = 60
  const fragments = Array.from(
    { length: count },
    (_, index) => `fragment F${index} on User { ${index + 1 < count ? `...F${index + 1} ...F${index + 1}` : 'name'} }`,
  )
  assert.ok(touched(`{ user(id: 1) { ...F0 } } ${fragments.join(' ')}`).touches?.includes('/types/User/fields/name'))
})

const selecting = (fields: number): string =>
  `{ n { ${Array.from({ length: fields }, (_, index) => `a${index}: id`).join(' ')} } }`

test('more values than are followed leave the whole contract to decide', () => {
  const query = 'query($f: [ID!]!) { nodes(ids: $f) { id } }'
  assert.notEqual(touched(query, { variables: { f: Array.from({ length: 1000 }, String) } }).touches, null)
  assert.equal(touched(query, { variables: { f: Array.from({ length: 200_000 }, String) } }).touches, null)
})

test('selections on more types than are followed leave the whole contract to decide', () => {
  const types = Array.from({ length: 3000 }, (_, index) => `type T${index} implements N { id: ID }`).join('\n')
  const crowded = `interface N { id: ID } ${types} type Query { n: N }`
  assert.notEqual(touchIn(selecting(5), [crowded]).touches, null)
  assert.equal(touchIn(selecting(50), [crowded]).touches, null)
})
