/**
 * Proofs about schemas that hold each other. What is proved, or not known, while a search is open rests on it: no later
 * question may take it for an answer of its own.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { InclusionProver, type Inclusion, type InclusionQuestion } from '../../../engine/schema/inclusion/inclusion.ts'
import { ROOT, type Located } from '../../../engine/schema/located.ts'
import type { SchemaSource } from '../../../engine/schema/source.ts'
import type { Schema } from './arbitraries.ts'

const QUESTION: InclusionQuestion = {
  direction: 'narrowing',
  usage: 'shared',
  convention: 'none',
  overlap: 'refused',
  isText: false,
}

type Definitions = Readonly<Record<string, Schema>>

function sourceOf(definitions: Definitions): SchemaSource {
  const resolve = (reference: string): Located | null => {
    const value = definitions[reference]
    return value === undefined ? null : { value, at: ROOT, document: '' }
  }
  return { dialect: 'json-schema', resolve }
}

function named(name: string): Located {
  return { value: { $ref: name }, at: ROOT, document: '' }
}

/** The answers about the schemas of these names, one after another, by one prover. */
function answers(before: Definitions, after: Definitions, names: readonly string[]): readonly Inclusion['kind'][] {
  const prover = new InclusionProver({ before: sourceOf(before), after: sourceOf(after) })
  return names.map((name) => prover.ask(named(name), named(name), QUESTION).kind)
}

const NAMES = ['A', 'B', 'C'] as const
const text = { type: 'string' }

/** A schema before and after. */
type Both = readonly [before: Schema, after: Schema]

const same = (schema: Schema): Both => [schema, schema]
const [short, integer, positive] = [
  { type: 'string', maxLength: 3 },
  { type: 'integer' },
  { type: 'integer', minimum: 0 },
]
/** No language is known of lookaround within a text. */
const unknown = { type: 'string', pattern: 'a(?=b)bc' }

const reference = fc.constantFrom(...NAMES).map(($ref) => same({ $ref }))

const part: fc.Arbitrary<Both> = fc.oneof(
  reference,
  fc.constantFrom<Both>(same(text), [short, text], [positive, integer]),
  { weight: 1, arbitrary: fc.constantFrom<Both>([text, short], [text, integer], [unknown, short], [text, unknown]) },
)

function members(names: readonly string[], maxKeys: number): fc.Arbitrary<Both> {
  return fc
    .dictionary(fc.constantFrom(...names), part, { minKeys: 1, maxKeys, noNullPrototype: true })
    .map((drawn) => both(Object.entries(drawn), (own) => ({ properties: Object.fromEntries(own) })))
}

/** Builds each side from its parts. */
function both(
  parts: readonly (readonly [name: string, part: Both])[],
  make: (own: [string, Schema][]) => Schema,
): Both {
  return [make(parts.map(([name, [before]]) => [name, before])), make(parts.map(([name, [, after]]) => [name, after]))]
}

const alternatives: fc.Arbitrary<Both> = fc
  .tuple(
    fc.constantFrom('anyOf', 'oneOf'),
    fc.array(fc.oneof(members(['p', 'q'], 1), reference), { minLength: 2, maxLength: 3 }),
  )
  .map(([keyword, list]) => [{ [keyword]: list.map(([before]) => before) }, { anyOf: list.map(([, after]) => after) }])

/** An object with members, and one of some alternatives, or two. */
const definition: fc.Arbitrary<Both> = fc
  .tuple(members(['x', 'y'], 2), fc.array(alternatives, { maxLength: 2 }))
  .map(([own, choices]) => [
    wholeOf(
      own[0],
      choices.map(([before]) => before),
    ),
    wholeOf(
      own[1],
      choices.map(([, after]) => after),
    ),
  ])

function wholeOf(own: Schema, choices: readonly Schema[]): Schema {
  const whole = { type: 'object', ...own }
  return choices.length === 0 ? whole : { ...whole, allOf: choices }
}

const systems: fc.Arbitrary<readonly [Definitions, Definitions]> = fc
  .tuple(definition, definition, definition)
  .map((drawn) => {
    const of = (side: 0 | 1): Definitions => Object.fromEntries(drawn.map((one, index) => [NAMES[index], one[side]]))
    return [of(0), of(1)]
  })

/** Each alternative before is within one after; both hold the schema of a name. */
function within(name: string, keyword: string): Both {
  const x = { $ref: name }
  const [before, after] = [
    [short, positive],
    [text, integer],
  ].map((list) => list.map((p) => ({ properties: { p } })))
  return [
    { type: 'object', properties: { x }, [keyword]: before },
    { type: 'object', properties: { x }, anyOf: after },
  ]
}

/** Holds the schema of a name, and a member that loses values. */
function losing(name: string): Both {
  const k = { $ref: name }
  return [
    { type: 'object', properties: { k, z: text } },
    { type: 'object', properties: { k, z: short } },
  ]
}

suite('schemas that hold each other', () => {
  for (const keyword of ['anyOf', 'oneOf'])
    test(`lose what the other loses, whichever is asked about first: ${keyword}`, () => {
      const [[before, after], [lost, left]] = [within('A', keyword), losing('C')]
      for (const names of [
        ['A', 'C'],
        ['C', 'A'],
      ])
        assert.deepEqual(answers({ A: lost, C: before }, { A: left, C: after }, names), ['refuted', 'refuted'])
    })

  test('are answered as by a prover that was asked nothing before', () => {
    fc.assert(
      fc.property(systems, fc.shuffledSubarray([...NAMES], { minLength: 2 }), ([before, after], names) => {
        const first = names.map((name) => answers(before, after, [name])[0])
        for (const [index, kind] of answers(before, after, names).entries())
          if (first[index] !== 'unknown') assert.equal(kind, first[index], names.join())
      }),
      { numRuns: 200, seed: 1 },
    )
  })
})
