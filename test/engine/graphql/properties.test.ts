/**
 * Generated schemas. A schema is equal to itself in every order and form, and every pair gets a result. No finding of
 * graphql-js or graphql-inspector is missing.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  array,
  assert as assertProperty,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  option,
  property,
  record,
  uniqueArray,
  type Arbitrary,
} from 'fast-check'
import { buildSchema, introspectionFromSchema } from 'graphql'
import { ruleOf } from '../../../engine/rules/catalog/table.ts'
import { askReferences, readExpectedDifferences, runGraphql, verdictOf } from '../../conformance/graphql-run.ts'
import { answer, compared, reported } from './compared.ts'

const OUTPUTS = ['Int', 'String', 'Aa', 'Bb', 'Either', 'Mood', 'Day', 'Named'] as const
const INPUTS = ['Int', 'String', 'Mood', 'Day', 'Form'] as const

function wrapped(names: readonly string[]): Arbitrary<string> {
  return record({ name: constantFrom(...names), form: constantFrom('@', '@!', '[@]', '[@!]', '[@]!', '[[@!]]!') }).map(
    ({ name, form }) => form.replace('@', name),
  )
}

const name = constantFrom('a', 'b', 'c', 'd')
const words = option(constantFrom('', 'words', 'other "words"'), { nil: undefined })
const deprecation = constantFrom('', '', ' @deprecated', ' @deprecated(reason: "x")')
/** One of a name: the references take the order of repeated directives for a change. */
const tags = uniqueArray(constantFrom('@tag(n: 1)', '@tag(n: 2)', '@seen', '@seen(by: "me", at: 1)'), {
  selector: (tag) => tag.slice(0, 4),
  maxLength: 2,
})

/** Parts with a name, joined in the order in which they come. */
type Parts = readonly string[]

const inputValue = record({ name, type: wrapped(INPUTS), hasDefault: boolean(), words, deprecation, tags }).map(
  ({ type, hasDefault, words: said, deprecation: gone, tags: applied, ...part }) => {
    const value = type.startsWith('[')
      ? '[]'
      : /^(?:Int|Day)/.test(type)
        ? '1'
        : type.startsWith('String')
          ? '"x"'
          : null
    const given = hasDefault && value !== null ? ` = ${value}` : ''
    const isRequired = type.endsWith('!') && given === ''
    const text = `${described(said)}${part.name}: ${type}${given}${isRequired ? '' : gone}${spaced(applied)}`
    return { name: part.name, text }
  },
)
const inputs = uniqueArray(inputValue, { selector: (part) => part.name, maxLength: 3 }).map(texts)

const field = record({ name, type: wrapped(OUTPUTS), inputs, words, deprecation, tags }).map((part) => {
  const given = part.inputs.length === 0 ? '' : `(${part.inputs.join(', ')})`
  const text = `${described(part.words)}${part.name}${given}: ${part.type}${part.deprecation}${spaced(part.tags)}`
  return { name: part.name, text }
})
const fields = uniqueArray(field, { selector: (part) => part.name, minLength: 1, maxLength: 4 }).map(texts)

const composite = record({ fields, words, tags, isNamed: boolean(), isInterface: boolean() })

const schema = record({
  query: fields,
  mutation: option(fields, { nil: null }),
  aa: composite,
  bb: composite,
  named: fields,
  either: uniqueArray(constantFrom('Aa', 'Bb', 'Query'), { minLength: 1 }),
  mood: uniqueArray(constantFrom('CALM', 'LOUD', 'ODD'), { minLength: 1 }),
  moodWords: words,
  form: record({
    fields: uniqueArray(inputValue, { selector: (part) => part.name, minLength: 1, maxLength: 3 }).map(texts),
  }),
  day: constantFrom('', ' @specifiedBy(url: "https://example.com/a")', ' @specifiedBy(url: "https://example.com/b")'),
  seen: record({
    inputs,
    places: uniqueArray(constantFrom('FIELD', 'QUERY'), { maxLength: 2 }),
    isRepeatable: boolean(),
  }),
}).map((parts): Parts => {
  const type = (id: string, { fields: list, words: text, tags: applied, isNamed }: typeof parts.aa): string =>
    `${described(text)}type ${id}${isNamed ? ' implements Named' : ''}${spaced(applied)} { ${list.join(' ')} }`
  const places = ['FIELD_DEFINITION', 'ARGUMENT_DEFINITION', 'INPUT_FIELD_DEFINITION', 'OBJECT', ...parts.seen.places]
  const given = parts.seen.inputs.length === 0 ? '' : `(${parts.seen.inputs.join(', ')})`
  return [
    `type Query { ${parts.query.join(' ')} }`,
    ...(parts.mutation === null ? [] : [`type Mutation { ${parts.mutation.join(' ')} }`]),
    type('Aa', parts.aa),
    type('Bb', parts.bb),
    `interface Named { ${parts.named.join(' ')} }`,
    `union Either = ${parts.either.join(' | ')}`,
    `${described(parts.moodWords)}enum Mood { ${parts.mood.join(' ')} }`,
    `input Form { ${parts.form.fields.join(' ')} }`,
    `scalar Day${parts.day}`,
    `directive @seen${given}${parts.seen.isRepeatable ? ' repeatable' : ''} on ${places.join(' | ')}`,
  ]
})

function texts(parts: readonly { readonly text: string }[]): Parts {
  return parts.map(({ text }) => text)
}

function described(text: string | undefined): string {
  return text === undefined ? '' : `${JSON.stringify(text)} `
}

function spaced(parts: Parts): string {
  return parts.map((part) => ` ${part}`).join('')
}

/** The parts in an order that the seed decides. */
function shuffled(parts: Parts, seed: number): string {
  return parts.toSorted((a, b) => rank(a, seed) - rank(b, seed)).join('\n')
}

function rank(text: string, seed: number): number {
  let hash = seed | 0
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619)
  return hash
}

function introspected(sdl: string): string {
  const built = buildSchema(sdl, { assumeValid: true, assumeValidSDL: true })
  return JSON.stringify(introspectionFromSchema(built, { oneOf: true, inputValueDeprecation: true }))
}

/** graphql-js agrees: an argument that has a default need not be given, whatever its type. */
const REFERENCE_FAULT =
  'inspector breaking DIRECTIVE_ARGUMENT_ADDED: weaker as graphql-optional-directive-argument-added'

suite('schemas of any make', () => {
  test('are equal to themselves in every order, and to their introspection result but for directives', () => {
    assertProperty(
      property(schema, integer(), (parts, seed) => {
        assert.deepEqual(reported(compared(parts.join('\n'), shuffled(parts, seed))), [])
        assert.deepEqual(
          reported(compared(parts.join('\n'), introspected(parts.join('\n')))).filter(
            (line) => !line.includes('description'),
          ),
          [],
        )
      }),
      { numRuns: 100, interruptAfterTimeLimit: 20_000 },
    )
  })

  test('come to an answer: known rules, distinct groups, places in the documents, whole provenance', () => {
    assertProperty(
      property(schema, schema, (before, after) => {
        const { groups, patterns, detected_patterns: rows } = compared(before.join('\n'), after.join('\n'))
        assert.equal(new Set(groups.map(({ id }) => id)).size, groups.length)
        for (const group of groups) {
          assert.equal(ruleOf(group.rule)?.level, group.level)
          assert.notEqual(group.line, null, group.rule)
          assert.ok(group.occurrences.length > 0)
        }
        assert.ok(rows.every((row) => patterns.includes(row.name)))
      }),
      { numRuns: 100, interruptAfterTimeLimit: 20_000 },
    )
  })

  test('give the same bytes for every order of their parts', () => {
    assertProperty(
      property(schema, schema, integer(), (before, after, seed) => {
        const first = answer(compared(before.join('\n'), after.join('\n')))
        assert.equal(answer(compared(shuffled(before, seed), shuffled(after, seed + 1))), first)
      }),
      { numRuns: 100, interruptAfterTimeLimit: 20_000 },
    )
  })

  test('are reported as by the references: none of their findings is missing', async () => {
    const expected = readExpectedDifferences()
    await assertProperty(
      asyncProperty(array(schema, { minLength: 2, maxLength: 2 }), async (pair) => {
        const [before = '', after = ''] = pair.map((parts) => parts.join('\n'))
        const entries = await askReferences(before, after)
        assert.ok(entries !== null)
        const { unexpected } = verdictOf(runGraphql([{ id: 'pair', before, after, entries }]), expected)
        assert.deepEqual(
          unexpected.filter((line) => !line.includes('beyond the references') && !line.includes(REFERENCE_FAULT)),
          [],
        )
      }),
      { numRuns: 150, interruptAfterTimeLimit: 20_000 },
    )
  })
})
