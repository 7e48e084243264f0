/** Schemas behind references: by the draft that their file or tool states, and by the address or anchor that they state. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Schema = Readonly<Record<string, unknown>>

const DRAFT_4 = 'http://json-schema.org/draft-04/schema#'
const DRAFT_6 = 'http://json-schema.org/draft-06/schema#'
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'
const NEW = 'https://json-schema.org/draft/2020-12/schema'

/** A document that only refers to another file, with that file on both sides. */
interface Pair {
  readonly what: string
  readonly base: Schema
  readonly head: Schema
  readonly rules: readonly string[]
}

const CHANGED = ['{scope}-type-changed breaking']
const LONGER = ['{scope}-max-length-set dangerous']

const named = (draft: string, rest: Schema = {}): Schema => ({
  $schema: draft,
  $ref: '#/definitions/name',
  ...rest,
  definitions: { name: { type: 'string' } },
})

/** The reference `#/$defs/part` within a schema with an address leads to that schema, not to its file. */
const embedded = (type: string): Schema => ({
  $ref: '#/$defs/inner',
  $defs: {
    part: { type: 'null' },
    inner: { $id: 'https://schemas.example/inner', $ref: '#/$defs/part', $defs: { part: { type } } },
  },
})

const anchored = (type: string, values: Schema): Schema => ({
  $ref: '#here',
  $defs: { one: { $anchor: 'here', type }, values },
})

const DECOY = { $anchor: 'here', type: 'null' }

/** What holds in every document that reaches the schema. */
const ADDRESSED: readonly Pair[] = [
  { what: 'an address within', base: embedded('string'), head: embedded('boolean'), rules: CHANGED },
  ...[{ examples: [DECOY] }, { default: DECOY }, { const: DECOY }, { enum: [DECOY] }].map((decoy) => ({
    what: `an anchor, and the same in a value of ${Object.keys(decoy)[0]}`,
    base: anchored('string', decoy),
    head: anchored('boolean', decoy),
    rules: CHANGED,
  })),
]

/** What holds where a file states a draft. */
const DRAFTED: readonly Pair[] = [
  {
    what: 'up to draft 7, siblings of a reference say nothing',
    base: named(DRAFT_7),
    head: named(DRAFT_7, { maxLength: 3 }),
    rules: [],
  },
  {
    what: 'later they count',
    base: named(NEW, { allOf: [{ minLength: 1 }] }),
    head: named(NEW, { allOf: [{ minLength: 1 }], maxLength: 3 }),
    rules: LONGER,
  },
  {
    what: 'they begin to count with another draft',
    base: named(DRAFT_7, { maxLength: 3 }),
    head: named(NEW, { maxLength: 3 }),
    rules: LONGER,
  },
  {
    what: 'so does a keyword that the draft does not know',
    base: { $schema: DRAFT_6, type: 'string', if: true, then: { maxLength: 3 } },
    head: { $schema: DRAFT_6, type: 'string', maxLength: 3 },
    rules: LONGER,
  },
]

function rulesOf(type: ArtifactType, documents: readonly unknown[], files: readonly unknown[] = []): readonly string[] {
  const [before = '', after = ''] = documents.map((document) => JSON.stringify(document))
  const [base, head] = files.map((file) => JSON.stringify(file))
  const carried =
    base === undefined || head === undefined ? {} : { files: { 'part.json': { before: base, after: head } } }
  const result = compare({ id: 'a', type, before, after, path: 'main.json', ...carried }, {}, sha256Hex)
  assert.ok(result.ok, 'the pair is compared')
  assert.deepEqual(result.value.unresolved, [])
  return result.value.groups.map(({ rule, level }) => `${rule} ${level}`)
}

const scoped = (rules: readonly string[], scope: string): readonly string[] =>
  rules.map((rule) => rule.replace('{scope}', scope))

for (const draft of [DRAFT_7, NEW]) {
  suite(`a file of a JSON Schema that states ${draft}`, () => {
    const main = { $schema: draft, properties: { a: { $ref: 'part.json' } } }
    for (const { what, base, head, rules } of [...ADDRESSED, ...DRAFTED]) {
      // Addresses and anchors need a draft that has them, so each file states one.
      const [before, after] = [base, head].map((file) => ({ $schema: NEW, ...file }))
      test(what, () =>
        assert.deepEqual(rulesOf('json_schema', [main, main], [before, after]), scoped(rules, 'schema-property')),
      )
    }
  })
}

suite('a file of OpenAPI 3.1', () => {
  const content = { 'application/json': { schema: { $ref: 'part.json' } } }
  const post = { requestBody: { content }, responses: {} }
  const main = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/a': { post } } }
  for (const { what, base, head, rules } of [...ADDRESSED, ...DRAFTED]) {
    test(what, () => assert.deepEqual(rulesOf('openapi', [main, main], [base, head]), scoped(rules, 'request-body')))
  }
})

suite('a property of a tool', () => {
  const tool = (property: Schema, rest: Schema = {}): unknown => ({
    tools: [{ name: 't', inputSchema: { type: 'object', ...rest, properties: { a: property } } }],
  })
  const scope = 'tool-input-property'

  for (const { what, base, head, rules } of ADDRESSED) {
    const within = ({ $defs, ...schema }: Schema): unknown => tool(schema, { $defs })
    test(what, () => assert.deepEqual(rulesOf('mcp_manifest', [within(base), within(head)]), scoped(rules, scope)))
  }

  const drafts: readonly [from: string, to: string, property: Schema, rules: readonly string[]][] = [
    [DRAFT_4, DRAFT_7, { const: 1 }, ['{scope}-const-added breaking']],
    [DRAFT_7, NEW, { $ref: '#/definitions/name', maxLength: 3 }, LONGER],
    [DRAFT_7, NEW, { type: 'string', maxLength: 3 }, []],
  ]
  for (const [from, to, property, rules] of drafts) {
    const definitions = { name: { type: 'string' } }
    test(`as it stands, ${JSON.stringify(property)}, in another draft: ${to}`, () => {
      const documents = [from, to].map(($schema) => tool(property, { $schema, definitions }))
      assert.deepEqual(rulesOf('mcp_manifest', documents), scoped(rules, scope))
    })
  }
})
