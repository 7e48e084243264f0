/**
 * Every single edit of a schema that has each kind of element. An operation that graphql-js accepts by the base and refuses by
 * the head is a proof. So is an answer of the head that a client of the base does not expect. A breaking or dangerous
 * change must then be reported. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, parse, validate, validateSchema, type DocumentNode, type GraphQLSchema } from 'graphql'
import { Random } from '../../soundness/random.ts'
import { drawnAnswer, misread } from './answers.ts'
import { compared, reported } from './compared.ts'
import { everyEdit } from './edits.ts'
import { Author } from './operations.ts'

/** One in so many edits runs. */
const SHARE = Number(process.env['SHARE'] ?? 30)
const SEED = Number(process.env['SEED'] ?? 1)
const OPERATIONS = Number(process.env['OPERATIONS'] ?? 200)

const BASE = `
"words" schema { query: Query mutation: Mutation subscription: Subscription }
directive @seen(n: Int, m: Int! = 1, f: Form) repeatable on FIELD | QUERY | MUTATION | INLINE_FRAGMENT | VARIABLE_DEFINITION | FIELD_DEFINITION | OBJECT
directive @once(n: Int! = 2, e: Mood) on FIELD | SUBSCRIPTION | ENUM_VALUE | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @tag on INPUT_OBJECT | SCALAR
type Query @seen(n: 1) {
  a(x: Int, y: Int! = 3, f: Form, o: Pick, l: [Int!]): A
  u: U n: Named ns: [Named!]! m: Node e(e: Mood = CALM): Mood s: Day i: Int d: D
}
type Mutation { make(form: Form!, id: ID!, d: Day, r: Float = 1.5): A! drop(all: [Form!]!, z: [Mood] = [CALM]): Boolean }
type Subscription { tick(e: Mood!): A beat: Int! }
"words" type A implements Named & Node { id: ID! name(x: Int = 1): String n: Int t: [String!] b: B }
type B implements Named { name(x: Int = 1, y: Int): String n: Int t: [String!] e: Mood! }
type C implements Node & Named { id: ID! name(x: Int = 1): String n: Int! other: Int @deprecated a: A }
interface Named { name(x: Int = 1): String n: Int }
interface Node implements Named { id: ID! name(x: Int = 1): String n: Int }
interface Lone { q: Int }
union U = A | B
union W = B | C
  enum Mood { CALM LOUD @deprecated ODD }
  enum Out { P Q }
input Form @tag { p: Int q: Int! = 2 r: Mood inner: Form l: [Int] = [1] t: Day s: String! }
input Pick @oneOf { a: Int b: String f: Form }
scalar Day @specifiedBy(url: "https://example.com/day")
type D { w: W o: Out lone: Lone }
`

function validSchema(text: string): GraphQLSchema | null {
  try {
    const schema = buildSchema(text)
    return validateSchema(schema).length === 0 ? schema : null
  } catch {
    // Many edits leave no schema.
    return null
  }
}

function operationsOf(schema: GraphQLSchema): readonly DocumentNode[] {
  const found: DocumentNode[] = []
  for (let index = 0; found.length < OPERATIONS; index += 1) {
    assert.ok(index < OPERATIONS * 10, `only ${found.length} operations are valid`)
    const writing = { hasAliases: index % 2 === 0, hasVariables: index % 3 > 0, hasDirectives: index % 4 === 0 }
    const document = parse(new Author(schema, SEED * 100_003 + index, writing).operation())
    if (validate(schema, document).length === 0) found.push(document)
  }
  return found
}

function proofOf(
  base: GraphQLSchema,
  head: GraphQLSchema,
  operations: readonly DocumentNode[],
  random: Random,
): string | null {
  for (const document of operations) {
    const [error] = validate(head, document)
    if (error !== undefined) return error.message
    const found = isOneAnswer(document) ? misread(base, document, drawnAnswer(head, document, random)) : null
    if (found !== null && found !== 'no object') return found
  }
  return null
}

function isOneAnswer({ definitions: [operation] }: DocumentNode): boolean {
  return operation?.kind === 'OperationDefinition' && operation.operation !== 'subscription'
}

test('an edit by which an operation is refused, or answered otherwise, is not information', (t) => {
  const base = validSchema(BASE)
  assert.ok(base !== null)
  const operations = operationsOf(base)
  const counts = { edits: 0, proofs: 0 }
  const missed: string[] = []
  let index = SEED
  for (const { what, text } of everyEdit(BASE)) {
    index += 1
    if (index % SHARE !== 0) continue
    const head = validSchema(text)
    if (head === null) continue
    counts.edits += 1
    const findings = reported(compared(BASE, text))
    const proof = proofOf(base, head, operations, new Random(SEED, index))
    if (proof === null) continue
    counts.proofs += 1
    if (findings.every((finding) => finding.startsWith('info'))) missed.push([what, proof, ...findings].join('\n  '))
  }
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${counts.proofs} are missed`)
  assert.ok(counts.proofs > counts.edits / 3, JSON.stringify(counts))
})
