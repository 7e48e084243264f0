/**
 * Inclusion of admitted values: a table of pairs in both directions, and generated pairs. ajv is an independent check. It accepts
 * every counterexample on one side and refuses it on the other, and it finds no counterexample against a proof. It is one file,
 * since its tables share one prover.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as fc from 'fast-check'
import { InclusionProver, type Inclusion, type InclusionQuestion } from '../../../engine/schema/inclusion/inclusion.ts'
import { ROOT, type Located } from '../../../engine/schema/located.ts'
import type { SchemaSource } from '../../../engine/schema/source.ts'
import { shuffledKeys } from '../../shuffle.ts'
import { pair, value, type Schema } from './arbitraries.ts'

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

const QUESTION: InclusionQuestion = {
  direction: 'narrowing',
  usage: 'shared',
  convention: 'none',
  overlap: 'refused',
  isText: false,
}

/** References lead to the definitions of the schema that holds them. */
function sourceOf(root: Schema): SchemaSource {
  const definitions: Schema = Object(root['$defs'])
  const resolve = (reference: string): Located | null => {
    const name = reference.replace('#/$defs/', '')
    return Object.hasOwn(definitions, name) ? { value: definitions[name], at: ROOT, document: '' } : null
  }
  return { dialect: 'json-schema', resolve }
}

function at(schema: Schema): Located {
  return { value: schema, at: ROOT, document: '' }
}

function decide(sub: Schema, other: Schema, question: Partial<InclusionQuestion> = {}): Inclusion {
  const prover = new InclusionProver({ before: sourceOf(sub), after: sourceOf(other) })
  return prover.ask(at(sub), at(other), { ...QUESTION, ...question })
}

const string = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const pattern = (source: string): Schema => ({ type: 'string', pattern: source })
const object = (properties: Schema, ...required: string[]): Schema => ({ type: 'object', properties, required })
const tree = (leaf: Schema): Schema => ({
  $defs: { T: object({ leaf, below: { type: 'array', items: { $ref: '#/$defs/T' } } }, 'leaf') },
  $ref: '#/$defs/T',
})

/** Both admit the same values. */
const EQUAL: Readonly<Record<string, readonly [Schema, Schema]>> = {
  'a listed value that may have a format': [
    { anyOf: [{ not: { enum: ['b'] } }, { anyOf: [{ type: 'string', format: 'iri' }, { enum: [null] }] }] },
    { anyOf: [{ not: { enum: ['b'] } }, { type: ['string', 'null'], format: 'iri' }] },
  ],
  'a listed value that has a format or not': [
    { enum: ['b'], anyOf: [{ format: 'custom' }, { not: { format: 'custom' } }] },
    { enum: ['b'] },
  ],
  'listed values that may match a pattern': [
    { enum: ['b', 'ab'], anyOf: [pattern('^a(?=b).*$'), { const: 'b' }] },
    { enum: ['ab', 'b'], oneOf: [{ const: 'b' }, { ...pattern('^a(?=b).*$'), not: { const: 'b' } }] },
  ],
  'alternatives in parts, kept apart by a member beside one that is not known': [
    {
      oneOf: [
        object({ kind: { enum: ['a'] }, text: { type: 'string', pattern: '^b(?=c)' } }, 'kind', 'text'),
        object({ kind: { enum: ['b'] }, text: string }, 'kind', 'text'),
      ],
    },
    {
      oneOf: [
        {
          allOf: [
            object({ kind: { enum: ['a'] } }, 'kind'),
            object({ text: { type: 'string', pattern: '^b(?=c)' } }, 'text'),
          ],
        },
        { allOf: [object({ kind: { enum: ['b'] } }, 'kind'), object({ text: string }, 'text')] },
      ],
    },
  ],
  ...Object.fromEntries(
    // What is left unevaluated beside a condition is not searched: only the same conditions are known to be equal.
    Object.entries<readonly [Schema, Schema]>({
      'constants as a list': [{ enum: ['a', 'b'] }, { oneOf: [{ const: 'a' }, { const: 'b' }] }],
      'types as alternatives': [
        { type: ['string', 'null'], maxLength: 3 },
        { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
      ],
      'a bound of another type': [{ type: 'string', minItems: 2 }, string],
      'a bound that another one hides': [{ maxLength: 3 }, { allOf: [{ maxLength: 5 }, { maxLength: 3 }] }],
      'members of allOf in place': [
        object({ a: string }),
        { allOf: [{ type: 'object' }, { properties: { a: string } }] },
      ],
      'alternatives in another order': [
        { anyOf: [string, object({ a: string })] },
        { anyOf: [object({ a: string }), string] },
      ],
    }).map(([name, sides]) => {
      const [one, other] = sides.map((side) => ({
        if: side,
        then: object({ b: string }),
        unevaluatedProperties: number,
      }))
      return [`${name} in a condition`, [one ?? {}, other ?? {}] as const]
    }),
  ),
  'allOf merged': [
    { allOf: [object({ a: string }, 'a'), object({ b: number })] },
    object({ a: string, b: number }, 'a'),
  ],
  'null three ways': [{ type: ['string', 'null'] }, { oneOf: [{ type: 'null' }, string] }],
  'null in anyOf': [{ anyOf: [string, { type: 'null' }] }, { type: ['null', 'string'] }],
  'const and enum': [{ const: 1 }, { enum: [1] }],
  'constants and enum': [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, { enum: ['b', 'a'] }],
  'not not': [{ not: { not: string } }, string],
  'an exclusive bound of integers': [
    { type: 'integer', minimum: 1 },
    { type: 'integer', exclusiveMinimum: 0 },
  ],
  'a bound that an enum leaves nothing to': [{ enum: ['a', 'b'], maxLength: 5 }, { enum: ['a', 'b'] }],
  'one reference in a wrapper': [
    { $defs: { A: string }, $ref: '#/$defs/A' },
    { $defs: { A: string }, oneOf: [{ $ref: '#/$defs/A' }] },
  ],
  'a condition written out': [
    { type: 'string', if: { maxLength: 2 }, then: { const: 'a' } },
    { type: 'string', anyOf: [{ const: 'a' }, { minLength: 3 }] },
  ],
  'recursion under other names': [
    tree(string),
    {
      $defs: { S: object({ leaf: string, below: { type: 'array', items: { $ref: '#/$defs/S' } } }, 'leaf') },
      $ref: '#/$defs/S',
    },
  ],
  'patterns of one language': [
    { type: 'string', pattern: '^a+$' },
    { type: 'string', pattern: '^aa*$' },
  ],
  'a tuple in both forms': [
    { type: 'array', items: [string], additionalItems: false },
    { type: 'array', prefixItems: [string], items: false },
  ],
  'what cannot be evaluated': [
    { allOf: [object({ a: string })], unevaluatedProperties: false },
    { type: 'object', properties: { a: string }, additionalProperties: false },
  ],
}

/** Every value of the first is one of the second, and not the other way round. */
const NARROWER: Readonly<Record<string, readonly [Schema, Schema]>> = {
  type: [integer, number],
  enum: [{ enum: ['a'] }, { enum: ['a', 'b'] }],
  maximum: [
    { type: 'number', maximum: 3 },
    { type: 'number', maximum: 4 },
  ],
  multipleOf: [
    { type: 'number', multipleOf: 4 },
    { type: 'number', multipleOf: 2 },
  ],
  maxLength: [{ type: 'string', maxLength: 2 }, string],
  pattern: [
    { type: 'string', pattern: '^[a-z]{3}$' },
    { type: 'string', pattern: '^\\w+$' },
  ],
  format: [{ type: 'string', format: 'date' }, string],
  required: [object({ a: string }, 'a'), object({ a: string })],
  properties: [object({ a: string }), { type: 'object' }],
  additionalProperties: [
    { type: 'object', additionalProperties: false },
    { type: 'object', additionalProperties: string },
  ],
  patternProperties: [
    { type: 'object', patternProperties: { '^x': string } },
    { type: 'object', patternProperties: { '^xx': string } },
  ],
  propertyNames: [
    { type: 'object', propertyNames: { maxLength: 1 } },
    { type: 'object', propertyNames: { maxLength: 3 } },
  ],
  minProperties: [
    { type: 'object', minProperties: 2 },
    { type: 'object', minProperties: 1 },
  ],
  dependentRequired: [
    { type: 'object', dependentRequired: { a: ['b', 'c'] } },
    { type: 'object', dependentRequired: { a: ['b'] } },
  ],
  dependentSchemas: [
    { type: 'object', dependentSchemas: { a: { maxProperties: 2 } } },
    { type: 'object', dependentSchemas: { a: { maxProperties: 3 } } },
  ],
  items: [
    { type: 'array', items: integer },
    { type: 'array', items: number },
  ],
  prefixItems: [
    { type: 'array', prefixItems: [string, string] },
    { type: 'array', prefixItems: [string] },
  ],
  contains: [
    { type: 'array', contains: integer },
    { type: 'array', contains: number },
  ],
  maxContains: [
    { type: 'array', contains: string, maxContains: 1 },
    { type: 'array', contains: string, maxContains: 2 },
  ],
  uniqueItems: [{ type: 'array', uniqueItems: true }, { type: 'array' }],
  minItems: [
    { type: 'array', minItems: 3 },
    { type: 'array', minItems: 1 },
  ],
  allOf: [{ allOf: [object({}, 'a'), object({}, 'b')] }, object({}, 'b')],
  anyOf: [{ anyOf: [string] }, { anyOf: [string, number] }],
  oneOf: [{ oneOf: [string, { type: 'boolean' }] }, { oneOf: [string, { type: 'boolean' }, number] }],
  'oneOf that overlaps': [
    {
      oneOf: [
        { type: 'number', maximum: 20 },
        { type: 'number', minimum: 10 },
      ],
    },
    number,
  ],
  'oneOf for anyOf': [{ oneOf: [integer, number] }, { anyOf: [integer, number] }],
  not: [
    { type: 'string', not: { maxLength: 3 } },
    { type: 'string', not: { maxLength: 2 } },
  ],
  if: [
    { if: string, then: { maxLength: 1 } },
    { if: string, then: { maxLength: 2 } },
  ],
  unevaluatedProperties: [
    { anyOf: [object({ a: string })], unevaluatedProperties: false },
    { type: 'object', properties: { a: string } },
  ],
  recursion: [tree({ type: 'string', maxLength: 1 }), tree(string)],
  'a closed object beside allOf': [
    { allOf: [object({ a: string })], properties: { b: string }, additionalProperties: false },
    object({ a: string }),
  ],
}

suite('inclusion of admitted values', () => {
  for (const [name, [one, other]] of Object.entries(EQUAL)) {
    test(`${name}: each includes the other`, () => {
      assert.deepEqual([decide(one, other).kind, decide(other, one).kind], ['included', 'included'])
    })
  }

  for (const [name, [narrow, wide]] of Object.entries(NARROWER)) {
    test(`${name}: the narrower is included, and an example shows that the wider is not`, () => {
      assert.equal(decide(narrow, wide).kind, 'included')
      const answer = decide(wide, narrow)
      assert.ok(answer.kind === 'refuted', JSON.stringify(answer))
      assert.ok(ajv.validate(wide, answer.value) && !ajv.validate(narrow, answer.value), JSON.stringify(answer.value))
    })
  }

  test('cannot tell where a pattern looks around inside of the text, and says so', () => {
    const answer = decide(pattern('^a(?=.*\\d).{8}$'), pattern('^a(?=.*[a-z]).{8}$'))
    assert.ok(answer.kind === 'unknown' && answer.why.includes('pattern'), JSON.stringify(answer))
  })

  test('can tell where a pattern looks around at the edges', () => {
    assert.equal(decide(pattern('^(?=.*\\d).{8}$'), pattern('^(?=.*[a-z]).{8}$')).kind, 'refuted')
    assert.equal(decide(pattern('^(?=.*\\d)(?!-).{8}$'), pattern('^(?=.*[0-9]).{8}$')).kind, 'included')
  })

  test('takes no pattern that looks around for one that does not', () => {
    for (const [one, other] of [
      ['^-', '^(?!\\w)-\\B'],
      ['(?!\\w)-a+', '(?!\\w)-a+\\b'],
    ] as const)
      assert.notEqual(decide(pattern(one), pattern(other)).kind, 'included', other)
  })

  // A text that is not known to be one shows nothing, and hides nothing.
  const UNKNOWN = pattern('^a(?=b).*$')
  const never = { type: 'string', allOf: [{ enum: ['a'] }, { enum: ['b'] }] }
  const EMPTY_BESIDE_UNKNOWN: Readonly<Record<string, Schema>> = {
    'another member': object({ a: UNKNOWN, b: never }, 'a', 'b'),
    'another item': { type: 'array', minItems: 2, prefixItems: [UNKNOWN, never] },
    'another pattern': { allOf: [UNKNOWN, pattern('^c$')], type: 'string', pattern: '^d$' },
    'a member with a condition on its name': {
      type: 'object',
      required: ['ab'],
      propertyNames: UNKNOWN,
      properties: { ab: never },
    },
    'a member that a pattern may describe': {
      type: 'object',
      required: ['ab'],
      patternProperties: { '^a(?=b)': true },
      properties: { ab: never },
    },
  }
  for (const [name, schema] of Object.entries(EMPTY_BESIDE_UNKNOWN))
    test(`sees that a schema admits nothing beside what is not known: ${name}`, () => {
      assert.deepEqual(decide(schema, { type: 'integer' }), { kind: 'included' })
    })

  test('proves nothing by what a dangling reference would admit, wherever it stands', () => {
    const gone = { $ref: '#/$defs/gone' }
    for (const around of [
      (schema: object) => ({ not: schema }),
      (schema: object) => ({ oneOf: [{ type: 'boolean' }, schema] }),
      (schema: object) => ({ if: schema, then: { type: 'boolean' } }),
      (schema: object) => ({ not: { not: schema } }),
      (schema: object) => schema,
    ]) {
      const answer = decide({ type: 'string' }, { type: 'string', ...around(gone) })
      assert.ok(
        answer.kind === 'unknown' && answer.why.includes('#/$defs/gone'),
        JSON.stringify([around(gone), answer]),
      )
      assert.notEqual(decide({ type: 'string', ...around(gone) }, { type: 'integer' }).kind, 'included')
      // Every listed value is held against it, and it is what stops them.
      const listed = decide({ enum: ['a', 'b'] }, { allOf: [around(gone)] })
      assert.ok(
        listed.kind === 'unknown' && listed.why.includes('#/$defs/gone'),
        JSON.stringify([around(gone), listed]),
      )
    }
  })

  test('leaves out names that only the later contract describes, but for those that were constrained before', () => {
    const after = object({ a: { type: 'integer' } })
    for (const [before, kind] of [
      [{ type: 'object' }, 'included'],
      [{ type: 'object', required: ['a'] }, 'refuted'],
      [{ type: 'object', additionalProperties: string }, 'refuted'],
      [{ type: 'object', patternProperties: { '^a': string } }, 'refuted'],
      [{ type: 'object', dependentRequired: { a: ['b'] } }, 'refuted'],
      [{ type: 'object', dependentSchemas: { a: { required: ['b'] } } }, 'refuted'],
      [{ type: 'object', propertyNames: { maxLength: 1 } }, 'refuted'],
      [{ type: 'object', unevaluatedProperties: string }, 'refuted'],
      [{ type: 'object', not: { required: ['a', 'b'] } }, 'refuted'],
      [{ type: 'object', if: { required: ['a'] }, then: { required: ['b'] } }, 'refuted'],
    ] as const) {
      for (const convention of ['described-by-super', 'unnamed-by-sub'] as const)
        assert.equal(decide(before, after, { convention }).kind, kind, JSON.stringify(before))
    }
  })

  test('distinguishes names that a contract declares from names that it only does not refuse', () => {
    const after = object({ a: integer })
    for (const before of [
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: {} },
      { type: 'object', propertyNames: {} },
      { type: 'object', unevaluatedProperties: true },
    ]) {
      assert.equal(decide(before, after, { convention: 'unnamed-by-sub' }).kind, 'refuted', JSON.stringify(before))
      assert.equal(decide(before, after, { convention: 'described-by-super' }).kind, 'included', JSON.stringify(before))
    }
  })

  test('members that fill an object up have names that somebody sends', () => {
    const described = { c: string, a: true, b: true, '': true }
    for (const least of [0, 1, 2, 3, 5]) {
      for (const condition of [{ dependentRequired: { c: ['x'] } }, { required: ['c'] }]) {
        const before = { ...condition, minProperties: least }
        for (const convention of ['described-by-super', 'unnamed-by-sub', 'described-by-sub'] as const) {
          const { kind } = decide(before, { ...before, properties: described }, { convention })
          assert.equal(kind, 'refuted', JSON.stringify([convention, before]))
        }
      }
    }
  })

  test('a name that nobody sends by convention does not keep alternatives apart', () => {
    const required = object({ d: {} }, 'd')
    const before = { oneOf: [{ allOf: [string, required] }, {}] }
    const after = { oneOf: [{ allOf: [{}, required] }, {}] }
    const described = { oneOf: [object({ d: {} }), { type: 'string' }] }
    assert.equal(decide(before, after, { convention: 'unnamed-by-sub' }).kind, 'refuted')
    assert.equal(decide(described, after, { convention: 'unnamed-by-sub' }).kind, 'refuted')
  })
})

/** Where ajv itself errs: what a condition evaluates, and `contains` beside positions (core §10.2.2.1, §10.3.1.3). */
function isBeyondJudge(schemas: readonly Schema[]): boolean {
  const text = JSON.stringify(schemas)
  return text.includes('"unevaluated') || text.includes('"contains"')
}

suite('generated pairs', () => {
  const pairs = fc.tuple(pair, fc.array(value, { minLength: 8, maxLength: 24 }), fc.nat())

  test('have no instance against a proof, and every example is one', () => {
    let [proved, refuted] = [0, 0]
    const property = fc.property(pairs, ([[before, after], drawn]) => {
      if (isBeyondJudge([before, after])) return
      const [base, head] = [ajv.compile(structuredClone(before)), ajv.compile(structuredClone(after))]
      const answer = decide(before, after)
      const shown = drawn.find((one) => base(one) && !head(one))
      if (answer.kind === 'included') assert.ok(shown === undefined, `against a proof: ${JSON.stringify(shown)}`)
      if (answer.kind === 'refuted') assert.ok(base(answer.value) && !head(answer.value), JSON.stringify(answer.value))
      if (answer.kind === 'included') proved += 1
      else if (answer.kind === 'refuted') refuted += 1
    })
    fc.assert(property, { numRuns: 2000, seed: 20261122 })
    assert.ok(proved > 300 && refuted > 300, `${proved} proved, ${refuted} refuted`)
  })

  test('have the same answer in every order of keys', () => {
    const property = fc.property(pairs, ([[before, after], , seed]) => {
      const [one, other]: readonly Schema[] = [before, after].map((schema, index) =>
        Object(shuffledKeys(schema, seed + index)),
      )
      assert.deepEqual(decide(one ?? {}, other ?? {}), decide(before, after))
    })
    fc.assert(property, { numRuns: 600, seed: 20261123 })
  })
})
