/** Keywords that only draft 3 of JSON Schema has: each is judged as what it means in later drafts, in both directions. */
import { suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { checkElements, worstOf, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const [$schema, LATER] = [3, 4].map((draft) => `http://json-schema.org/draft-0${draft}/schema#`)
const withP = (p: Json): Json => ({ type: 'object', properties: { p } })

const ROWS: readonly ElementRow<Json>[] = [
  ['a required property', withP({ ...TEXT, required: true }), withP(TEXT), 'dangerous', 'breaking'],
  ['a property that is not required', withP({ ...TEXT, required: false }), withP(TEXT), 'none', 'none'],
  [
    'a required reference',
    { ...withP({ $ref: '#/d', required: true }), d: TEXT },
    { ...withP({ $ref: '#/d' }), d: TEXT },
    'dangerous',
    'breaking',
  ],
  ['a divisor', withP({ type: 'integer', divisibleBy: 2 }), withP({ type: 'integer' }), 'dangerous', 'breaking'],
  ['an extended schema', withP({ extends: { ...TEXT, enum: ['a'] } }), withP({}), 'dangerous', 'breaking'],
  [
    'one of two extended schemas',
    withP({ extends: [TEXT, { enum: ['a'] }] }),
    withP({ extends: [TEXT] }),
    'dangerous',
    'breaking',
  ],
  ['a type that is not allowed', withP({ disallow: 'string' }), withP({}), 'dangerous', 'breaking'],
  ['a schema that is not allowed', withP({ disallow: [{ enum: ['a'] }] }), withP({}), 'dangerous', 'breaking'],
  [
    'a schema among types',
    withP({ type: ['string', { type: 'object' }] }),
    withP({ type: ['string'] }),
    'breaking',
    'dangerous',
  ],
  ['any type', withP({ type: 'any' }), withP({}), 'none', 'none'],
  ['any type among others', withP({ type: ['any', 'string'] }), withP({}), 'none', 'none'],
  [
    'one name that another needs',
    withP({ dependencies: { a: 'b' } }),
    withP({ dependencies: { a: ['b'] } }),
    'none',
    'none',
  ],
  ['a name that another needs no more', withP({ dependencies: { a: 'b' } }), withP({}), 'dangerous', 'breaking'],
  ['items', withP({ items: [{ type: 'any' }] }), withP({ items: [{}] }), 'none', 'none'],
]

checkElements('in a schema of draft 3,', 'json_schema', ROWS, (schema) => ({ $schema, ...schema }))

suite('the move from draft 3 to draft 4', () => {
  const MOVES: readonly (readonly [what: string, third: Json, fourth: Json])[] = [
    ['a required property', withP({ ...TEXT, required: true }), { ...withP(TEXT), required: ['p'] }],
    ['a divisor', withP({ divisibleBy: 2 }), withP({ multipleOf: 2 })],
    ['an extended schema', withP({ extends: TEXT }), withP({ allOf: [TEXT] })],
    ['a type that is not allowed', withP({ disallow: 'string' }), withP({ not: TEXT })],
    [
      'a schema among types',
      withP({ type: ['string', { type: 'object' }] }),
      withP({ anyOf: [TEXT, { type: 'object' }] }),
    ],
  ]
  for (const [what, third, fourth] of MOVES)
    test(`changes the draft only: ${what}`, () => {
      const [base, head] = [
        { $schema, ...third },
        { $schema: LATER, ...fourth },
      ]
      // Another draft is a warning of its own.
      const other = worstOf('json_schema', { $schema, ...withP({}) }, { $schema: LATER, ...withP({}) })
      assert.deepEqual([worstOf('json_schema', base, head), worstOf('json_schema', head, base)], [other, other])
    })
})
