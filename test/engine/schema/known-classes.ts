/**
 * Classes of changes that schema comparisons are known to get wrong: rewrites that look like breaks, and breaks that look like
 * rewrites. Each row names its class, with the worst level forth and back, of what callers send and of what readers get.
 */
import { LEVELS } from '../../../engine/internal.ts'
import type { Worst } from '../elements.ts'

export type Json = Readonly<Record<string, unknown>>
export type Levels = readonly [forth: Worst, back: Worst]
export type ClassRow = readonly [what: string, one: Json, other: Json, request: Levels, response: Levels]

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }
const NULL = { type: 'null' }
const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` })
const open = (name: string, schema: Json, required: readonly string[] = []): Json => ({
  type: 'object',
  properties: { [name]: schema },
  ...(required.length === 0 ? {} : { required }),
})
const closed = (name: string): Json => ({ ...open(name, TEXT), additionalProperties: false })

/** What the rows refer to. */
export const SCHEMAS = {
  Base: open('id', TEXT, ['id']),
  A: open('a', TEXT, ['a']),
  B: open('b', TEXT, ['b']),
  Name: { type: 'string', format: 'email' },
  Maybe: { type: ['object', 'null'], properties: { a: TEXT } },
  Kind: { oneOf: [{ const: 'a' }, { const: 'b' }, { const: null }] },
}

export const CLASSES: readonly ClassRow[] = [
  [
    'a media type of what is no text',
    { ...WHOLE, contentMediaType: 'image/png' },
    WHOLE,
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'an encoding of what is no text',
    { ...WHOLE, contentEncoding: 'base64' },
    WHOLE,
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'a schema for the content of what is no text',
    { ...WHOLE, contentSchema: TEXT },
    WHOLE,
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'a schema for the content of a text without a media type',
    { ...TEXT, contentSchema: WHOLE },
    TEXT,
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'another schema for the content of a text without a media type',
    { ...TEXT, contentSchema: open('a', TEXT, ['a']) },
    { ...TEXT, contentSchema: WHOLE },
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'null beside a type, and null beside a reference',
    { type: ['string', 'null'], format: 'email' },
    { oneOf: [NULL, ref('Name')] },
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'null once more beside constants that hold it, which exactly one then refuses',
    { oneOf: [NULL, ref('Kind')] },
    ref('Kind'),
    ['info', 'dangerous'],
    ['dangerous', 'info'],
  ],
  [
    'null once more beside listed values that hold it',
    { oneOf: [NULL, { enum: ['a', null] }] },
    { enum: ['a', null] },
    ['info', 'dangerous'],
    ['dangerous', 'info'],
  ],
  [
    'null once more, as a constant, beside a type that is null or an object',
    { oneOf: [{ const: null }, ref('Maybe')] },
    ref('Maybe'),
    ['none', 'dangerous'],
    ['dangerous', 'none'],
  ],
  [
    'a dependency on a name that is described afterwards',
    { type: 'object', properties: { a: TEXT }, dependentRequired: { a: ['b'] } },
    { type: 'object', properties: { a: TEXT, b: TEXT }, dependentRequired: { a: ['b'] } },
    ['breaking', 'dangerous'],
    ['info', 'dangerous'],
  ],
  [
    'a dependency of a name that is described afterwards',
    { type: 'object', dependentRequired: { a: ['b'] } },
    { type: 'object', properties: { a: TEXT }, dependentRequired: { a: ['b'] } },
    ['breaking', 'dangerous'],
    ['info', 'dangerous'],
  ],
  [
    'a length beside listed values',
    { ...TEXT, maxLength: 5000, enum: ['a', 'b'] },
    { ...TEXT, enum: ['a', 'b'] },
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a bound in allOf that does not bite',
    { ...WHOLE, minimum: 5, allOf: [{ minimum: 1 }] },
    { ...WHOLE, minimum: 5 },
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'a least integer, inclusive and exclusive',
    { ...WHOLE, minimum: 1 },
    { ...WHOLE, exclusiveMinimum: 0 },
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a reference in allOf of one, inside an alternative',
    { anyOf: [ref('A'), NULL] },
    { anyOf: [{ allOf: [ref('A')] }, NULL] },
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a reference in oneOf of one, inside an alternative',
    { anyOf: [ref('A'), NULL] },
    { anyOf: [{ oneOf: [ref('A')] }, NULL] },
    ['info', 'info'],
    ['info', 'info'],
  ],
  ['a value and a list of it', { ...TEXT, const: 'a' }, { ...TEXT, enum: ['a'] }, ['none', 'none'], ['none', 'none']],
  ...[{ const: 1 }, { type: 'null' }, { ...TEXT, maxLength: 0 }, { type: 'object', maxProperties: 0 }].map(
    (items): ClassRow => [
      `items that are ${JSON.stringify(items)}, each once, and one of them at most`,
      { type: 'array', items, uniqueItems: true },
      { type: 'array', items, maxItems: 1 },
      ['info', 'info'],
      ['info', 'info'],
    ],
  ),
  ['a schema and not of not of it', TEXT, { not: { not: TEXT } }, ['info', 'info'], ['info', 'info']],

  [
    'a member of allOf',
    { allOf: [ref('Base'), open('c', TEXT)] },
    { allOf: [open('c', TEXT)] },
    ['dangerous', 'breaking'],
    ['breaking', 'info'],
  ],
  [
    'another member of allOf',
    { allOf: [ref('Base'), open('c', TEXT)] },
    { allOf: [ref('A'), open('c', TEXT)] },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'another alternative of anyOf',
    { anyOf: [ref('A'), NULL] },
    { anyOf: [ref('B'), NULL] },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'a further alternative of anyOf',
    { anyOf: [ref('A'), NULL] },
    { anyOf: [ref('A'), ref('B'), NULL] },
    ['info', 'breaking'],
    ['breaking', 'info'],
  ],
  [
    'closed members that no value meets together',
    { type: 'object', properties: { a: TEXT, b: TEXT }, additionalProperties: false },
    { allOf: [closed('a'), open('b', TEXT)] },
    ['breaking', 'none'],
    ['none', 'breaking'],
  ],
  [
    'a closed body beside a reference',
    closed('id'),
    { allOf: [ref('Base')], additionalProperties: false },
    ['breaking', 'info'],
    // Beside what the reference requires nothing is left to admit, so readers get nothing any more.
    ['dangerous', 'breaking'],
  ],
  [
    'positions and what follows them, in allOf',
    { allOf: [{ type: 'array', prefixItems: [TEXT], items: WHOLE }] },
    { allOf: [{ type: 'array', prefixItems: [TEXT] }, { items: WHOLE }] },
    ['breaking', 'dangerous'],
    // Only empty lists are left.
    ['dangerous', 'breaking'],
  ],
  [
    'a position in anyOf',
    { anyOf: [{ type: 'array', prefixItems: [TEXT] }] },
    { anyOf: [{ type: 'array', prefixItems: [WHOLE] }] },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'a position in not',
    { type: 'array', not: { prefixItems: [TEXT] } },
    { type: 'array', not: { prefixItems: [WHOLE] } },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'a count beside contains',
    { type: 'array', contains: TEXT, maxContains: 3 },
    { type: 'array', contains: TEXT, maxContains: 1 },
    ['breaking', 'info'],
    ['info', 'breaking'],
  ],
  [
    'alternatives that begin to overlap',
    {
      oneOf: [
        { ...WHOLE, maximum: 3 },
        { ...WHOLE, minimum: 10 },
      ],
    },
    {
      oneOf: [
        { ...WHOLE, maximum: 20 },
        { ...WHOLE, minimum: 10 },
      ],
    },
    ['breaking', 'breaking'],
    ['breaking', 'dangerous'],
  ],
  [
    'any of two that overlap, and exactly one',
    { anyOf: [WHOLE, { type: 'number' }] },
    { oneOf: [WHOLE, { type: 'number' }] },
    ['breaking', 'info'],
    ['info', 'dangerous'],
  ],
  [
    'a name that was required and undescribed',
    { type: 'object', required: ['a'] },
    { type: 'object', required: ['a'], properties: { a: TEXT } },
    ['breaking', 'dangerous'],
    ['info', 'breaking'],
  ],
  [
    'a name that additionalProperties described',
    { type: 'object', additionalProperties: TEXT },
    { type: 'object', properties: { a: WHOLE }, additionalProperties: TEXT },
    // Without its own schema, what callers send under the name is refused.
    ['breaking', 'breaking'],
    ['breaking', 'dangerous'],
  ],
  [
    'a name that a pattern described',
    { type: 'object', patternProperties: { '^a': TEXT } },
    { type: 'object', properties: { a: WHOLE }, patternProperties: { '^a': TEXT } },
    ['breaking', 'dangerous'],
    ['info', 'dangerous'],
  ],
  [
    'another pattern of names in a closed object',
    { type: 'object', patternProperties: { '^a': TEXT }, additionalProperties: false },
    { type: 'object', patternProperties: { '^b': TEXT }, additionalProperties: false },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  ['a pattern', { ...TEXT, pattern: '^a' }, TEXT, ['info', 'breaking'], ['breaking', 'info']],
  [
    'another pattern',
    { ...TEXT, pattern: '^a$' },
    { ...TEXT, pattern: '^b$' },
    ['dangerous', 'dangerous'],
    ['dangerous', 'dangerous'],
  ],
  [
    'a required name that is only written',
    open('a', TEXT, ['a']),
    open('a', { ...TEXT, writeOnly: true }, ['a']),
    ['info', 'info'],
    ['breaking', 'dangerous'],
  ],
]

/** A schema that callers send and readers get is as bad as the worse of the two: a proof for one of them lowers nothing of the other. */
export function worse(one: Worst, other: Worst): Worst {
  return LEVELS.find((level) => level === one || level === other) ?? 'none'
}
