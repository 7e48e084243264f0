/**
 * What `unevaluatedProperties` and `unevaluatedItems` pass over: every keyword that evaluates members or items, in every
 * schema of the same value, by each draft. An evaluator that follows the specification judges a few values: where one is
 * refused now, the change is breaking, and where one is new, it is no information.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { dialectOf, type Dialect } from '../../soundness/dialects.ts'
import { evaluatorOf } from '../../soundness/evaluator.ts'
import { type Keywords, type Schema } from '../../soundness/schema.ts'
import { rootNamed } from '../../soundness/surfaces.ts'
import { alarmsOf, worstOf, type Worst } from '../elements.ts'

const OPEN = true
const OF_MEMBERS: Readonly<Record<string, Keywords>> = {
  properties: { properties: { a: OPEN } },
  patternProperties: { patternProperties: { '^a$': OPEN } },
  additionalProperties: { additionalProperties: OPEN },
  'other additionalProperties': { properties: { b: OPEN }, additionalProperties: { const: 1 } },
  unevaluatedProperties: { unevaluatedProperties: OPEN },
  'if alone': { if: { properties: { a: { const: 1 } } } },
  'if that is never met': { if: { properties: { a: OPEN }, required: ['z'] } },
  'if with then': { if: { required: ['a'] }, then: { properties: { a: OPEN } } },
  'if with else': { if: { required: ['b'] }, else: { properties: { a: OPEN } } },
  dependentSchemas: { dependentSchemas: { a: { properties: { a: OPEN } } } },
  propertyNames: { propertyNames: { maxLength: 1 } },
  required: { required: ['a'] },
}
const OF_ITEMS: Readonly<Record<string, Keywords>> = {
  prefixItems: { prefixItems: [OPEN] },
  items: { items: OPEN },
  'items beyond positions': { prefixItems: [OPEN], items: { const: 1 } },
  unevaluatedItems: { unevaluatedItems: OPEN },
  'if alone': { if: { prefixItems: [{ const: 1 }] } },
  contains: { contains: { const: 1 } },
  'contains of none at least': { contains: { const: 1 }, minContains: 0 },
  'contains of any, none at least': { contains: OPEN, minContains: 0 },
  'contains of two at most': { contains: { const: 1 }, maxContains: 2 },
  'contains of none at least, within if': { if: { contains: { const: 1 }, minContains: 0 } },
  minItems: { minItems: 1 },
}
const KINDS = {
  unevaluatedProperties: {
    type: 'object',
    parts: OF_MEMBERS,
    values: [{}, { a: 1 }, { a: 2 }, { b: 1 }, { a: 1, b: 2 }, { a: 3, z: 2 }, { bb: 2 }, { a: 2, bb: 2 }],
  },
  unevaluatedItems: {
    type: 'array',
    parts: OF_ITEMS,
    values: [[], [1], [2], [1, 1], [1, 2], [2, 1], [2, 2], [1, 1, 1]],
  },
} as const

type Applicator = (part: Keywords) => Keywords
const APPLICATORS: Readonly<Record<string, Applicator>> = {
  'no other schema': (part) => part,
  allOf: (part) => ({ allOf: [part] }),
  'allOf in allOf': (part) => ({ allOf: [{ allOf: [part] }, {}] }),
  anyOf: (part) => ({ anyOf: [part, { type: 'null' }] }),
  'anyOf that may hold besides': (part) => ({ anyOf: [part, {}] }),
  oneOf: (part) => ({ oneOf: [{ type: 'null' }, part] }),
  $ref: (part) => ({ $ref: '#/$defs/D', $defs: { D: part } }),
  'if alone': (part) => ({ if: part }),
  'if with then': (part) => ({ if: part, then: OPEN }),
  then: (part) => ({ if: OPEN, then: part }),
  else: (part) => ({ if: false, else: part }),
  dependentSchemas: (part) => ({ dependentSchemas: { a: part } }),
  not: (part) => ({ not: { not: part } }),
}

/** The same, with a reference by a dynamic anchor. */
function byDynamicAnchor(schema: Keywords): Keywords {
  const { $ref, $defs, ...rest } = schema
  if ($ref === undefined) return schema
  return { ...rest, $dynamicRef: '#D', $defs: { D: { $dynamicAnchor: 'D', ...Object(Object($defs).D) } } }
}

interface Wording {
  readonly dialect: Dialect
  readonly write: (schema: Keywords) => unknown
}

function whole(dialect: Dialect): Wording['write'] {
  return (schema) => ({ $schema: dialect.meta, ...Object(dialect.write(schema)) })
}
const [of2019, of2020] = [dialectOf('2019-09'), dialectOf('2020-12')]
const WORDINGS: Readonly<Record<string, Wording>> = {
  '2019-09': { dialect: of2019, write: whole(of2019) },
  '2020-12': { dialect: of2020, write: whole(of2020) },
  'no stated draft': { dialect: of2020, write: (schema) => schema },
  'a dynamic reference': { dialect: of2020, write: byDynamicAnchor },
}

/** All rows in each draft, in the other wordings those that differ by them. */
function isWordedAlike(where: string, draft: string): boolean {
  if (draft === 'a dynamic reference') return where !== '$ref'
  return draft === 'no stated draft' && where !== 'allOf'
}

function admitted(schema: Schema, { dialect }: Wording, values: readonly unknown[]): readonly boolean[] {
  const evaluate = evaluatorOf(rootNamed(schema), dialect)
  return values.map(evaluate)
}

function changesOf(
  kind: keyof typeof KINDS,
  applicator: Applicator,
): readonly (readonly [string, Keywords, Keywords])[] {
  const { type, parts } = KINDS[kind]
  return Object.entries(parts).flatMap(([name, part]) =>
    [false, { const: 2 }].map((left): readonly [string, Keywords, Keywords] => [
      `${name} beside ${JSON.stringify(left)}`,
      { type, ...applicator(part), [kind]: left },
      { type, ...applicator({}), [kind]: left },
    ]),
  )
}

/** What is wrong with the answers for one change, forth and back. */
function faultsOf(
  name: string,
  [base, head]: readonly [Keywords, Keywords],
  wording: Wording,
  values: readonly unknown[],
): readonly string[] {
  const [before, after] = [admitted(base, wording, values), admitted(head, wording, values)]
  const isLost = before.some((is, index) => is && after[index] === false)
  const isGained = after.some((is, index) => is && before[index] === false)
  const worst = worstOf('json_schema', wording.write(base), wording.write(head))
  if (isLost && worst !== 'breaking') return [`${name}: a value is refused, and the change is ${worst}`]
  if (isGained && worst !== 'breaking' && worst !== 'dangerous')
    return [`${name}: a value is new, and the change is ${worst}`]
  if (!isLost && worst === 'breaking' && !isGained) return [`${name}: nothing changed, and the change is ${worst}`]
  return []
}

for (const [draft, wording] of Object.entries(WORDINGS)) {
  suite(`what is evaluated by ${draft}`, () => {
    for (const [where, applicator] of Object.entries(APPLICATORS)) {
      if (isWordedAlike(where, draft)) continue
      for (const kind of ['unevaluatedProperties', 'unevaluatedItems'] as const) {
        test(`${kind} beside ${where}`, () => {
          const faults = changesOf(kind, applicator).flatMap(([name, base, head]) => [
            ...faultsOf(`${name} goes`, [base, head], wording, KINDS[kind].values),
            ...faultsOf(`${name} comes`, [head, base], wording, KINDS[kind].values),
          ])
          assert.deepEqual(faults, [])
        })
      }
    }
  })
}

const TEXT = { type: 'string' }
const ONE = { const: 1 }
const [SINCE_2020, IN_2019] = [{ $schema: of2020.meta }, { $schema: of2019.meta }]
const UNKNOWN = { $ref: 'https://example.com/unknown' }

const OF_ONES = { type: 'array', contains: ONE, maxContains: 3, uniqueItems: true }
const OF_TEXTS = { type: 'array', contains: TEXT, maxContains: 2, unevaluatedItems: { $ref: '#' } }

/** Two wordings of one meaning. */
const EQUAL: Readonly<Record<string, readonly [Keywords, Keywords]>> = {
  'contains of none at least, and items': [
    { contains: ONE, minContains: 0, unevaluatedItems: TEXT },
    { items: { anyOf: [ONE, TEXT] } },
  ],
  'contains in a part, and items': [
    { allOf: [{ contains: ONE, minContains: 0 }], unevaluatedItems: TEXT },
    { items: { anyOf: [TEXT, ONE] } },
  ],
  'contains in a part, and beside it': [
    { allOf: [{ contains: ONE, minContains: 0 }], unevaluatedItems: TEXT },
    { contains: ONE, minContains: 0, unevaluatedItems: TEXT },
  ],
  'contains of what is admitted anyway': [
    { contains: { const: 'a' }, unevaluatedItems: TEXT },
    { contains: { const: 'a' }, items: TEXT },
  ],
  'if in a part, and beside it': [
    { allOf: [{ if: { properties: { a: TEXT } } }], unevaluatedProperties: false },
    { if: { properties: { a: TEXT } }, unevaluatedProperties: false },
  ],
  'if that always holds, and properties': [
    { allOf: [{ if: { properties: { a: OPEN } } }], unevaluatedProperties: false },
    { properties: { a: OPEN }, unevaluatedProperties: false },
  ],
  'if alone, and with an empty else, in a schema that holds itself': [
    { if: { required: ['a'] }, unevaluatedProperties: { $ref: '#' } },
    { if: { required: ['a'] }, else: {}, unevaluatedProperties: { $ref: '#' } },
  ],
  'a choice in a choice, of lists': [
    { anyOf: [OF_ONES, { type: 'integer' }, OF_TEXTS] },
    { anyOf: [OF_ONES, { anyOf: [{ type: 'integer' }, OF_TEXTS] }] },
  ],
  'contains of none at least, in 2019-09': [
    { ...IN_2019, contains: ONE, minContains: 0, unevaluatedItems: TEXT },
    { ...IN_2019, unevaluatedItems: TEXT },
  ],
  'contains of none at least in a part, in 2019-09': [
    { ...IN_2019, anyOf: [{ contains: ONE, minContains: 0 }], unevaluatedItems: TEXT },
    { ...IN_2019, unevaluatedItems: TEXT },
  ],
}

suite('schemas that evaluate the same', () => {
  for (const [name, [one, other]] of Object.entries(EQUAL)) {
    test(name, () => {
      assert.deepEqual([...alarmsOf('json_schema', one, other), ...alarmsOf('json_schema', other, one)], [])
    })
  }
})

/** Pairs of which it is not known what is evaluated, or that are evaluated otherwise. */
const OTHER: Readonly<Record<string, readonly [Keywords, Keywords, forth: Worst, back: Worst]>> = {
  'an alternative that is not found may evaluate': [
    { anyOf: [UNKNOWN, { minProperties: 2 }], unevaluatedProperties: TEXT },
    { anyOf: [UNKNOWN, { minProperties: 2 }], additionalProperties: TEXT },
    'breaking',
    'dangerous',
  ],
  'a part that is not found may evaluate items': [
    { allOf: [UNKNOWN], unevaluatedItems: TEXT },
    { allOf: [UNKNOWN], items: TEXT },
    'breaking',
    'breaking',
  ],
  'contains by a draft that is not known': [
    { $schema: 'https://example.com/meta', contains: ONE, minContains: 0, unevaluatedItems: TEXT },
    { $schema: 'https://example.com/meta', unevaluatedItems: TEXT },
    'breaking',
    'breaking',
  ],
  'contains that moves to 2019-09': [
    { ...SINCE_2020, contains: ONE, minContains: 0, unevaluatedItems: TEXT },
    { ...IN_2019, contains: ONE, minContains: 0, unevaluatedItems: TEXT },
    'breaking',
    'dangerous',
  ],
}

suite('schemas that may evaluate otherwise', () => {
  for (const [name, [one, other, forth, back]] of Object.entries(OTHER)) {
    test(name, () => {
      assert.deepEqual([worstOf('json_schema', one, other), worstOf('json_schema', other, one)], [forth, back])
    })
  }
})

/** A tool and an OpenAPI document state their draft in places of their own. */
const STATED: Readonly<Record<string, (draft: string, schema: Keywords) => unknown>> = {
  mcp_manifest: (draft, schema) => ({
    tools: [{ name: 't', inputSchema: { $schema: draft, type: 'object', properties: { l: schema } } }],
  }),
  openapi: (draft, schema) => ({
    openapi: '3.1.0',
    jsonSchemaDialect: draft,
    info: { title: 't', version: '1' },
    paths: {
      '/x': {
        post: {
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 200: { description: 'done' } },
        },
      },
    },
  }),
}

suite('the draft of a part', () => {
  for (const [format, whole] of Object.entries(STATED)) {
    test(format, () => {
      const part = { allOf: [{ contains: ONE, minContains: 0 }], unevaluatedItems: false }
      const type = format === 'openapi' ? 'openapi' : 'mcp_manifest'
      const levels = [of2019, of2020].map(({ meta }) =>
        worstOf(type, whole(String(meta), part), whole(String(meta), { unevaluatedItems: false })),
      )
      assert.deepEqual(levels, ['info', 'breaking'])
    })
  }
})
