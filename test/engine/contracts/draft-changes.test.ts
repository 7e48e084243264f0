/**
 * Keywords that one draft has and another has not, or has with another value, in contracts that move from the one draft to
 * the other and change nothing else. What the keyword refused or admitted changes with the draft.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

const DRAFTS = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
} as const

type Draft = keyof typeof DRAFTS

interface Row {
  readonly what: string
  /** The draft in which the schema refuses something, and the one in which it does not. */
  readonly has: Draft
  readonly hasNot: Draft
  /** Schema of the property `p`. */
  readonly property: Json
  readonly more?: Json
}

const TEXT = { type: 'string' }
const ARRAY = { type: 'array' }
const NAMED = { $ref: '#name' }

const ROWS: readonly Row[] = [
  { what: 'a list in items', has: 'draft-07', hasNot: '2020-12', property: { ...ARRAY, items: [TEXT] } },
  { what: 'a list in items', has: '2019-09', hasNot: '2020-12', property: { ...ARRAY, items: [TEXT] } },
  {
    what: 'a list in items, and no more of them',
    has: 'draft-07',
    hasNot: '2020-12',
    property: { ...ARRAY, items: [{}], additionalItems: false },
  },
  { what: 'prefixItems', has: '2020-12', hasNot: 'draft-07', property: { ...ARRAY, prefixItems: [TEXT] } },
  { what: 'dependencies', has: 'draft-07', hasNot: '2019-09', property: { dependencies: { a: ['b'] } } },
  { what: 'dependencies with schemas', has: 'draft-04', hasNot: '2020-12', property: { dependencies: { a: TEXT } } },
  { what: 'dependentRequired', has: '2019-09', hasNot: 'draft-07', property: { dependentRequired: { a: ['b'] } } },
  {
    what: 'exclusiveMinimum: true',
    has: 'draft-04',
    hasNot: 'draft-06',
    property: { type: 'number', minimum: 1, exclusiveMinimum: true },
  },
  { what: 'a number in exclusiveMaximum', has: '2020-12', hasNot: 'draft-04', property: { exclusiveMaximum: 1 } },
  { what: 'const', has: 'draft-06', hasNot: 'draft-04', property: { const: 1 } },
  { what: 'if and then', has: 'draft-07', hasNot: 'draft-06', property: { if: TEXT, then: { maxLength: 1 } } },
  {
    what: 'keywords beside a reference',
    has: '2019-09',
    hasNot: 'draft-07',
    property: { $ref: '#/definitions/d', maxLength: 1 },
    more: { definitions: { d: TEXT } },
  },
  {
    what: 'id',
    has: 'draft-04',
    hasNot: 'draft-06',
    property: NAMED,
    more: { definitions: { d: { id: '#name', ...TEXT } } },
  },
  {
    what: '$id',
    has: 'draft-06',
    hasNot: 'draft-04',
    property: NAMED,
    more: { definitions: { d: { $id: '#name', ...TEXT } } },
  },
  {
    what: 'a fragment in $id',
    has: 'draft-07',
    hasNot: '2019-09',
    property: NAMED,
    more: { definitions: { d: { $id: '#name', ...TEXT } } },
  },
  {
    what: '$anchor',
    has: '2019-09',
    hasNot: 'draft-07',
    property: NAMED,
    more: { definitions: { d: { $anchor: 'name', ...TEXT } } },
  },
]

const schema = ({ property, more }: Row, draft: Draft): Json => ({
  $schema: DRAFTS[draft],
  type: 'object',
  properties: { p: property },
  ...more,
})

interface Surface {
  readonly type: ArtifactType
  /** Whether a schema that refuses more, or admits more, fails somebody. */
  readonly minds: 'narrowed' | 'widened' | 'both'
  readonly contract: (schema: Json) => unknown
}

const SURFACES: Readonly<Record<string, Surface>> = {
  'a schema document': { type: 'json_schema', minds: 'both', contract: (one) => one },
  'the input of an MCP tool': {
    type: 'mcp_manifest',
    minds: 'narrowed',
    contract: (inputSchema) => ({ tools: [{ name: 't', inputSchema }] }),
  },
  'the output of an MCP tool': {
    type: 'mcp_manifest',
    minds: 'widened',
    contract: (outputSchema) => ({ tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }] }),
  },
  'the parameters of an agent tool': {
    type: 'agent_tools',
    minds: 'narrowed',
    contract: (parameters) => [{ type: 'function', function: { name: 't', parameters } }],
  },
}

/** Levels of the findings between two contracts, without the one that only names the drafts. */
function levels({ type, contract }: Surface, base: Json, head: Json): ReadonlySet<string> {
  const [before, after] = [JSON.stringify(contract(base)), JSON.stringify(contract(head))]
  const compared = compare({ id: 'c', type, before, after }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  const groups = compared.value.groups.filter(({ rule }) => rule !== 'schema-draft-changed')
  return new Set(groups.map(({ level }) => level))
}

const isHarmful = (found: ReadonlySet<string>): boolean => found.has('breaking') || found.has('dangerous')

suite('a schema that moves to another draft', () => {
  for (const row of ROWS)
    for (const [surface, one] of Object.entries(SURFACES)) {
      const [full, empty] = [schema(row, row.has), schema(row, row.hasNot)]
      test(`${row.what} between ${row.has} and ${row.hasNot} in ${surface}`, () => {
        if (one.minds !== 'widened') assert.ok(isHarmful(levels(one, empty, full)), 'narrowed')
        if (one.minds !== 'narrowed') assert.ok(isHarmful(levels(one, full, empty)), 'widened')
        assert.deepEqual([...levels(one, full, full)], [])
      })
    }
})

suite('a schema that moves to another draft and means the same', () => {
  const EQUAL: readonly (readonly [what: string, from: Draft, before: Json, to: Draft, after: Json])[] = [
    [
      'items',
      'draft-07',
      { ...ARRAY, items: [TEXT], additionalItems: false },
      '2020-12',
      { ...ARRAY, prefixItems: [TEXT], items: false },
    ],
    ['dependencies', 'draft-07', { dependencies: { a: ['b'] } }, '2019-09', { dependentRequired: { a: ['b'] } }],
    ['bounds', 'draft-04', { minimum: 1, exclusiveMinimum: true }, 'draft-06', { exclusiveMinimum: 1 }],
    ['anchors', 'draft-07', { $id: '#name', ...TEXT }, '2019-09', { $anchor: 'name', ...TEXT }],
  ]
  for (const [what, from, before, to, after] of EQUAL)
    for (const [surface, one] of Object.entries(SURFACES))
      test(`${what} in ${surface}`, () => {
        const row = (property: Json): Row => ({
          what,
          has: from,
          hasNot: to,
          property,
          more: { definitions: { d: property } },
        })
        const found = levels(one, schema(row(before), from), schema(row(after), to))
        assert.equal(isHarmful(found), false)
      })
})

suite('an OpenAPI document that moves from 3.0 to 3.1', () => {
  const contract = (openapi: string, one: Json): string =>
    JSON.stringify({
      openapi,
      info: { title: 't', version: '1' },
      paths: {
        '/a': { get: { responses: { 200: { description: '', content: { 'application/json': { schema: one } } } } } },
      },
    })
  const KEYWORDS: Readonly<Record<string, Json>> = {
    'exclusiveMinimum: true': { type: 'integer', minimum: 1, exclusiveMinimum: true },
    'exclusiveMaximum: false': { type: 'integer', maximum: 1, exclusiveMaximum: false },
    'a list in items': { ...ARRAY, items: [TEXT] },
  }
  for (const [what, one] of Object.entries(KEYWORDS))
    test(what, () => {
      const [before, after] = [contract('3.0.3', one), contract('3.1.0', one)]
      for (const [base, head] of [
        [before, after],
        [after, before],
      ] as const) {
        const compared = compare({ id: 'c', type: 'openapi', before: base, after: head }, {}, sha256Hex)
        assert.ok(compared.ok)
        assert.ok(isHarmful(new Set(compared.value.groups.map(({ level }) => level))))
      }
    })
})
