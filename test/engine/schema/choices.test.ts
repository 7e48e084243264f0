/** Choices of many objects that overlap are decided within the steps of one question, and a member decides for what holds it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { InclusionProver, type Inclusion, type InclusionQuestion } from '../../../engine/schema/inclusion/inclusion.ts'
import { ROOT, type Located } from '../../../engine/schema/located.ts'
import { pair, type Schema } from './arbitraries.ts'

const QUESTION: InclusionQuestion = {
  direction: 'narrowing',
  usage: 'shared',
  convention: 'none',
  overlap: 'refused',
  isText: false,
}

function at(value: Schema): Located {
  return { value, at: ROOT, document: '' }
}

function proverOf(): InclusionProver {
  const source = { dialect: 'json-schema', resolve: () => null } as const
  return new InclusionProver({ before: source, after: source })
}

function kindOf(sub: Schema, other: Schema): Inclusion['kind'] {
  return proverOf().ask(at(sub), at(other), QUESTION).kind
}

const text = { type: 'string' }
const names = Array.from({ length: 14 }, (_, index) => `kind${String(index).padStart(2, '0')}`)

/** An object that is identified by its required properties, since no list of values distinguishes it. */
function reported(name: string, more: Schema): Schema {
  return { type: 'object', properties: { [`${name}_url`]: text, ...more }, required: [`${name}_url`] }
}

/** Each with the members that all of them have, one of which is changed in some. */
function wide(name: string, event: Schema): Schema {
  const common = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`member${index}`, text]))
  return { type: 'object', properties: { ...common, event, [name]: text }, required: [name, 'event', 'member3'] }
}

const narrow = { type: 'string', enum: ['a', 'b'] }
const widened = { type: 'string', enum: ['a', 'b', 'c'] }
const changedIn = (every: number, event: Schema, other: Schema): readonly Schema[] =>
  names.map((name, index) => wide(name, index % every === 0 ? event : other))
const within = (schema: Schema): Schema => ({
  type: 'object',
  properties: { list: { type: 'array', items: { type: 'object', properties: { one: schema } } } },
})

/** Holds others of a depth, and at each level a member of whose values nothing is known. */
function unclear(depth: number, leaf: Schema): Schema {
  const inner = depth === 0 ? { leaf } : { one: unclear(depth - 1, leaf), two: unclear(depth - 1, leaf) }
  const properties = { own: { type: 'string', pattern: 'a(?=b)bc' }, ...inner }
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** One that admits any object, and others: only what no other one admits is a value. */
function besides(leaf: Schema): Schema {
  const others = Array.from({ length: 3 }, (_, index) => ({
    type: 'object',
    properties: { action: { enum: ['any', `of${index >> 1}`] }, event: unclear(4, leaf) },
    required: ['action', 'event'],
  }))
  return { oneOf: [{ type: 'object' }, ...others] }
}

/** Requires a member that has no value. */
function empty(inner: Schema): Schema {
  const never = { allOf: [{ type: 'string' }, { type: 'integer' }] }
  return { type: 'object', properties: { a: inner, b: never }, required: ['b'] }
}

/** The first is within the second, and not the other way round. */
const CHOICES: Readonly<Record<string, readonly [Schema, Schema]>> = {
  'anyOf, one member of a few alternatives widened': [
    { anyOf: changedIn(5, narrow, narrow) },
    { anyOf: changedIn(5, widened, narrow) },
  ],
  'anyOf, one member of all alternatives widened': [
    { anyOf: changedIn(1, narrow, narrow) },
    { anyOf: changedIn(1, widened, narrow) },
  ],
  'anyOf, one alternative less': [
    { anyOf: changedIn(1, narrow, narrow).slice(1) },
    { anyOf: changedIn(1, narrow, narrow) },
  ],
}

suite('choices of many objects', () => {
  for (const [name, [small, large]] of Object.entries(CHOICES)) {
    test(`${name}: included, and not the other way round`, () => {
      assert.equal(kindOf(small, large), 'included')
      assert.equal(kindOf(large, small), 'refuted')
    })

    test(`${name}: also within what holds it`, () => {
      assert.equal(kindOf(within(small), within(large)), 'included')
      assert.equal(kindOf(within(large), within(small)), 'refuted')
    })
  }

  test('oneOf of objects that overlap: one more member in most of them shows a value of two alternatives', () => {
    const before = { oneOf: names.map((name) => reported(name, {})) }
    const after = { oneOf: names.map((name, index) => reported(name, index % 3 === 0 ? {} : { html_url: text })) }
    assert.equal(kindOf(after, before), 'refuted')
    assert.equal(kindOf({ anyOf: after.oneOf }, { anyOf: before.oneOf }), 'included')
  })

  test('what is not known of the parts of alternatives is searched once', () => {
    assert.equal(kindOf(besides(widened), besides(narrow)), 'included')
  })
})

/** Each of four names demands the same schema, level by level. */
function demanding(levels: number, leaf: Schema): Schema {
  if (levels === 0) return { type: 'object', properties: { a: leaf }, required: ['a'] }
  const next = demanding(levels - 1, leaf)
  return { type: 'object', dependentSchemas: { p0: next, p1: next, p2: next, p3: next } }
}

test('a choice that is made with another one is not made again', () => {
  for (let levels = 1; levels <= 6; levels += 1) {
    const [before, after] = [demanding(levels, { type: 'integer' }), demanding(levels, text)]
    const answer = proverOf().ask(at(before), at(after), { ...QUESTION, isText: true })
    assert.equal(answer.kind, 'included', `${levels} levels`)
  }
})

suite('what a member decides', () => {
  test('is what the question about the whole answers', () => {
    fc.assert(
      fc.property(pair, ([sub, other]) => {
        for (const [one, two] of [
          [sub, other],
          [within(sub), within(other)],
          [
            { ...within(sub), required: ['list'] },
            { ...within(other), minProperties: 1 },
          ],
        ] as const) {
          const answer = proverOf().ask(at(one), at(two), QUESTION)
          assert.equal(proverOf().isIncluded(at(one), at(two), QUESTION), answer.kind === 'included')
        }
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test('is nothing where the whole admits no value', () => {
    assert.equal(proverOf().isIncluded(at(empty(widened)), at(empty(narrow)), QUESTION), true)
  })
})
