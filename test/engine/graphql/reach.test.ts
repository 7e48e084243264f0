/** Which operations a change reaches, by which side an enum is judged, and under which names patterns know the changes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Comparison } from '../../../engine/formats/compare.ts'
import { compared, reported } from './compared.ts'

/** `QUERY a` of every occurrence of the one finding by a rule. */
function reached({ groups }: Comparison, rule: string): readonly string[] {
  const found = groups.filter((group) => group.rule === rule)
  assert.equal(found.length, 1, groups.map((group) => group.rule).join(', '))
  return (found[0]?.occurrences ?? []).map(({ operation }) =>
    operation ? `${operation.method} ${operation.path}` : '-',
  )
}

const CHAIN = `
  type Query { pet: Pet owner(by: Filter): Owner count: Int }
  type Subscription { born: Cat }
  interface Pet { id: ID }
  type Cat implements Pet { id: ID toys: [Toy!] }
  type Dog implements Pet { id: ID }
  type Owner { id: ID }
  type Toy { id: ID colour: Colour }
  enum Colour { RED BLUE }
  input Filter { any: [Filter!] of: Kind }
  enum Kind { BIG SMALL }
`

suite('operations that a change reaches', () => {
  test('are those that give a type, through interfaces and lists, however deep', () => {
    const changed = compared(
      CHAIN,
      CHAIN.replace('colour: Colour', 'colour: Colour!').replace('id: ID colour', 'colour'),
    )
    assert.deepEqual(reached(changed, 'graphql-field-removed'), ['QUERY pet', 'SUBSCRIPTION born'])
  })

  test('are those that take an input, through inputs that hold themselves', () => {
    const changed = compared(CHAIN, CHAIN.replace('BIG SMALL', 'BIG'))
    assert.deepEqual(reached(changed, 'graphql-request-enum-value-removed'), ['QUERY owner'])
  })

  test('are those of the side that still has the type', () => {
    const changed = compared(
      CHAIN,
      CHAIN.replace('pet: Pet ', '').replace('born: Cat', 'born: Int').replace(' toys: [Toy!]', ''),
    )
    assert.deepEqual(reached(changed, 'graphql-root-field-removed'), ['QUERY pet'])
    assert.deepEqual(reached(changed, 'graphql-field-removed'), ['QUERY pet', 'SUBSCRIPTION born'])
  })

  test('are not listed for information, nor for what no operation has a part in', () => {
    assert.deepEqual(reached(compared(CHAIN, CHAIN.replace('Toy { id', 'Toy { size: Int id')), 'graphql-field-added'), [
      '-',
    ])
    const lonely = `${CHAIN} type Alone { a: Int }`
    assert.deepEqual(reached(compared(lonely, lonely.replace('a: Int', 'b: Int')), 'graphql-field-removed'), ['-'])
  })

  for (const [count, expected] of [
    [20, 20],
    [21, 1],
  ] as const) {
    test(`${count} of them are reported as ${expected === 1 ? 'the schema as a whole' : 'each of them'}`, () => {
      const fields = Array.from({ length: count }, (_, index) => `f${index}: Deep`).join(' ')
      const before = `type Query { ${fields} } type Deep { more: Deeper } type Deeper { a: Int }`
      const occurrences = reached(compared(before, before.replace('a: Int', 'a: ID')), 'graphql-field-type-changed')
      assert.equal(occurrences.length, expected)
      assert.equal(occurrences.includes('-'), expected === 1)
    })
  }

  test('are counted, with the fields and arguments that break', () => {
    const after = CHAIN.replace('any: [Filter!] ', '').replace('toys: [Toy!]', 'toys: [Toy]')
    assert.deepEqual(compared(CHAIN, after).stats.touched, { endpoints: 3, fields: 1, params: 1 })
  })
})

function schema(sent: boolean, received: boolean, values: string): string {
  return `type Query { a${sent ? '(by: E)' : ''}: ${received ? 'E' : 'Int'} } enum E { ${values} }`
}

function rules(sent: boolean, received: boolean): readonly string[] {
  return reported(compared(schema(sent, received, 'A B'), schema(sent, received, 'A C')))
}

suite('an enum', () => {
  test('that is sent and received loses values for those who send, and gains them for those who receive', () => {
    assert.deepEqual(rules(true, true), [
      'breaking graphql-request-enum-value-removed /types/E/values/B',
      'dangerous graphql-response-enum-value-added /types/E/values/C',
    ])
  })

  test('that is only sent, or only received, is judged by that side', () => {
    assert.match(rules(true, false).join(), /request-enum-value-removed.*request-enum-value-added/)
    assert.match(rules(false, true).join(), /response-enum-value-removed.*response-enum-value-added/)
  })
})

suite('patterns know the changes of GraphQL', () => {
  const cases: readonly (readonly [pattern: string, before: string, after: string])[] = [
    ['ENDPOINT_REMOVED', 'type Query { a: Int b: Int }', 'type Query { a: Int }'],
    ['FIELD_REMOVED', 'type A { a: Int b: Int }', 'type A { a: Int }'],
    ['REQUIRED_FIELD_ADDED', 'type Query { a: Int }', 'type Query { a(x: Int!): Int }'],
    ['REQUIRED_FIELD_ADDED', 'input A { a: Int }', 'input A { a: Int! }'],
    ['NULLABLE_REMOVED', 'input A { a: [Int] }', 'input A { a: [Int!] }'],
    ['TYPE_CHANGED', 'type A { a: Int }', 'type A { a: String }'],
    ['TYPE_CHANGED', 'scalar A', 'type A { a: Int }'],
    ['ENUM_NARROWING', 'enum A { B C }', 'enum A { B }'],
    ['DEFAULT_CHANGED', 'input A { a: Int = 1 }', 'input A { a: Int = 2 }'],
    ['DEPRECATION_WITHOUT_SUNSET', 'type A { a: Int }', 'type A { a: Int @deprecated }'],
    ['AUTH_REQUIRED_ADDED', 'type A { a: Int }', 'type A { a: Int @authenticated }'],
    ['PAGINATION_CHANGED', 'type Query { a(first: Int): Int }', 'type Query { a: Int }'],
    ['TOOL_CALLING_SCHEMA_DRIFT', 'type Query { a(x: Int): Int }', 'type Query { a: Int }'],
    ['TOOL_RESULT_SHAPE_DRIFT', 'type A { a: Int b: Int }', 'type A { a: Int }'],
  ]
  for (const [pattern, before, after] of cases) {
    test(`${pattern}: ${before} → ${after}`, () => {
      assert.ok(compared(before, after).patterns.includes(pattern), compared(before, after).patterns.join())
      assert.deepEqual(compared(after, after).patterns, [])
    })
  }
})

suite('levels', () => {
  test('of rules can be changed, and rules turned off', () => {
    const [before, after] = ['type A { a: Int b: Int }', 'type A { a: Int! }']
    const options = { levels: { 'graphql-field-removed': 'info', 'graphql-field-became-non-null': 'off' } } as const
    assert.deepEqual(reported(compared(before, after, options)), ['info graphql-field-removed /types/A/fields/b'])
  })
})
