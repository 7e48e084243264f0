/**
 * Classes of changes that schema comparisons are known to get wrong: rewrites that look like breaks, and breaks that look like
 * rewrites. Each row names its class, with the worst level forth and back, of what callers send and of what readers get.
 */
import { LEVELS } from '../../../engine/internal.ts'
import { checkElements, type ElementRow, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>
type Levels = readonly [forth: Worst, back: Worst]
type Row = readonly [what: string, one: Json, other: Json, request: Levels, response: Levels]

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }
const NULL = { type: 'null' }
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const open = (name: string, schema: Json, required: readonly string[] = []): Json => ({
  type: 'object',
  properties: { [name]: schema },
  ...(required.length === 0 ? {} : { required }),
})
const closed = (name: string): Json => ({ ...open(name, TEXT), additionalProperties: false })

const SCHEMAS = {
  Base: open('id', TEXT, ['id']),
  A: open('a', TEXT, ['a']),
  B: open('b', TEXT, ['b']),
  Name: { type: 'string', format: 'email' },
  Kind: { oneOf: [{ const: 'a' }, { const: 'b' }, { const: null }] },
}

const ROWS: readonly Row[] = [
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
    ['info', 'breaking'],
    ['breaking', 'info'],
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
    ['info', 'breaking'],
  ],
  [
    'positions and what follows them, in allOf',
    { allOf: [{ type: 'array', prefixItems: [TEXT], items: WHOLE }] },
    { allOf: [{ type: 'array', prefixItems: [TEXT] }, { items: WHOLE }] },
    ['breaking', 'dangerous'],
    ['info', 'breaking'],
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
    ['breaking', 'breaking'],
  ],
  [
    'any of two that overlap, and exactly one',
    { anyOf: [WHOLE, { type: 'number' }] },
    { oneOf: [WHOLE, { type: 'number' }] },
    ['breaking', 'none'],
    ['none', 'breaking'],
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
    ['breaking', 'dangerous'],
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

const WRAP: Readonly<Record<'request' | 'response', (schema: Json) => Json>> = {
  request: (schema) => api({ requestBody: { content: { 'application/json': { schema } } } }, {}),
  response: (schema) => api({}, { content: { 'application/json': { schema } } }),
}

function api(operation: Json, answer: Json): Json {
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    components: { schemas: SCHEMAS },
    paths: { '/a': { post: { ...operation, responses: { 200: { description: 'done', ...answer } } } } },
  }
}

for (const use of ['request', 'response'] as const) {
  const rows = ROWS.map(([what, one, other, request, response]): ElementRow<Json> => {
    const [forth, back] = use === 'request' ? request : response
    return [what, one, other, forth, back]
  })
  checkElements(`in a schema of a ${use}`, 'openapi', rows, WRAP[use])
}

/** A schema that callers send and readers get is as bad as the worse of the two: a proof for one of them lowers nothing of the other. */
const shared = (schema: Json): Json => {
  const content = { 'application/json': { schema: ref('Shared') } }
  const whole = api({ requestBody: { content } }, { content })
  return { ...whole, components: { schemas: { ...SCHEMAS, Shared: schema } } }
}

function worse(one: Worst, other: Worst): Worst {
  return LEVELS.find((level) => level === one || level === other) ?? 'none'
}

checkElements(
  'in a schema of requests and responses',
  'openapi',
  ROWS.map(([what, one, other, [forth, back], [answerForth, answerBack]]): ElementRow<Json> => [
    what,
    one,
    other,
    worse(forth, answerForth),
    worse(back, answerBack),
  ]),
  shared,
)
