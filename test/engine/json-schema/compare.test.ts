/** JSON Schemas on their own: every draft in one form, references of every kind, faults with their place, orders that mean nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, type CompareOptions } from '../../../engine/formats/compare.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import { resolveUri } from '../../../engine/contracts/uri.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { shuffledKeys } from '../../shuffle.ts'

type Schema = Readonly<Record<string, unknown>> | boolean

function run(before: string, after: string, options: CompareOptions = {}): readonly FindingGroup[] {
  const result = compare({ id: 'schema', type: 'json_schema', before, after }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups
}

function found(before: Schema, after: Schema, options: CompareOptions = {}): readonly string[] {
  return run(JSON.stringify(before), JSON.stringify(after), options).map(({ rule, location }) => `${rule} ${location}`)
}

function refused(before: string, after: string): Problem {
  const result = compare({ id: 'schema', type: 'json_schema', before, after }, {}, sha256Hex)
  assert.ok(!result.ok)
  return result.problem
}

const DRAFT_4 = 'http://json-schema.org/draft-04/schema#'
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'
const NEW = 'https://json-schema.org/draft/2020-12/schema'

/** Keywords by a draft that does not know them. */
const NEWER = {
  [DRAFT_4]: { const: 1, contains: { type: 'string' }, propertyNames: { maxLength: 1 } },
  'http://json-schema.org/draft-06/schema#': { contentEncoding: 'base64', contentMediaType: 'image/png' },
  [DRAFT_7]: {
    dependentRequired: { a: ['b'] },
    dependentSchemas: { a: { required: ['b'] } },
    unevaluatedItems: false,
    unevaluatedProperties: false,
  },
  'https://json-schema.org/draft/2019-09/schema': { prefixItems: [{ type: 'string' }] },
}

const keyed = (draft: string, maxLength: number): Schema => ({
  $schema: draft,
  properties: { a: { $ref: '#/definitions/a', maxLength } },
  definitions: { a: { type: 'string' } },
})

const through = (reference: string, rest: object, definition: object): Schema => ({
  $id: 'https://schemas.example/a/root.json',
  properties: { p: { $ref: reference } },
  $defs: { d: { ...rest, ...definition } },
})

const tree = (type: string): Schema => ({
  $dynamicAnchor: 'node',
  type: 'object',
  properties: { value: { type }, children: { type: 'array', items: { $dynamicRef: '#node' } } },
})

const partOf = (type: string) => ({ 'part.json': JSON.stringify({ $defs: { x: { type } } }) })

const twoDefinitions = (type: string): Schema => ({
  $ref: '#/definitions/used',
  definitions: { used: { properties: { a: { type } } }, apart: { properties: { b: { type } } } },
})

const oddNames = (type: string): Schema => ({ properties: { $id: { type }, $ref: { type }, enum: { type } } })

suite('drafts', () => {
  test('the keywords of draft 4 and of 2020-12 say the same', () => {
    const base = {
      type: 'object',
      properties: {
        n: { type: 'number', minimum: 1, exclusiveMinimum: true },
        t: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'integer' } },
      },
      dependencies: { n: ['t'] },
      definitions: { d: { type: 'string' } },
    }
    const head = {
      type: 'object',
      properties: {
        n: { type: 'number', exclusiveMinimum: 1 },
        t: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      },
      dependentRequired: { n: ['t'] },
      $defs: { d: { type: 'string' } },
    }
    assert.deepEqual(found(base, head), [])
    assert.deepEqual(found({ $schema: DRAFT_4, ...base }, { $schema: NEW, ...head }), ['schema-draft-changed /$schema'])
  })

  test('up to draft 7 a reference hides the keywords next to it; later both count', () => {
    assert.deepEqual(found(keyed(DRAFT_7, 9), keyed(DRAFT_7, 3)), [])
    assert.deepEqual(found(keyed(NEW, 9), keyed(NEW, 3)), [
      'schema-property-max-length-decreased /properties/a/maxLength',
    ])
  })

  test('a keyword that the draft does not know says nothing, and keeps nothing', () => {
    const list = { $schema: DRAFT_4, type: 'array' }
    for (const [draft, keywords] of Object.entries(NEWER)) {
      for (const [keyword, value] of Object.entries(keywords)) {
        const nested = (more: Schema): Schema => ({ $schema: draft, properties: { [keyword]: { items: more } } })
        assert.deepEqual(found(nested({}), nested({ [keyword]: value })), [], `${keyword} in ${draft}`)
        assert.notDeepEqual(
          found({ $schema: NEW, type: ['array', 'object', 'string'] }, { $schema: NEW, [keyword]: value }),
          [],
        )
      }
    }
    const levels = run(
      JSON.stringify({ ...list, items: { type: 'string', const: 'a' } }),
      JSON.stringify({ ...list, items: { const: 'a' } }),
    )
    assert.deepEqual(
      levels.map(({ level }) => level),
      ['dangerous'],
    )
  })

  test('a boolean schema is compared with an object', () => {
    assert.deepEqual(found(true, {}), [])
    assert.deepEqual(found(true, { type: 'string' }), ['schema-type-specialized /type'])
  })
})

suite('references', () => {
  for (const [kind, reference, rest] of [
    ['a pointer', '#/$defs/d', {}],
    ['an anchor', '#here', { $anchor: 'here' }],
    ['a fragment as id, as draft 6 has it', '#here', { $id: '#here' }],
    ['an address relative to that of the document', 'part.json', { $id: 'part.json' }],
    ['an absolute address', 'https://schemas.example/b/part.json', { $id: '../b/part.json' }],
    ['an address and a pointer below it', 'part.json#', { $id: 'part.json' }],
    ['the address of the document itself', 'root.json#/$defs/d', {}],
    ['a dynamic anchor', '#here', { $dynamicAnchor: 'here' }],
  ] as const) {
    test(`${kind} leads to the definition`, () => {
      const groups = run(
        JSON.stringify(through(reference, rest, { type: 'string', maxLength: 9 })),
        JSON.stringify(through(reference, rest, { type: 'string', maxLength: 3 })),
      )
      assert.deepEqual(
        groups.map(({ rule, location }) => `${rule} ${location}`),
        ['schema-property-max-length-decreased /$defs/d/maxLength'],
      )
      assert.match(groups[0]?.message ?? '', /`p`/)
    })
  }

  test('a dynamic reference is compared as the reference that it is within its document', () => {
    assert.deepEqual(found(tree('string'), tree('integer')), ['schema-property-type-changed /properties/value/type'])
  })

  test('a provided file is compared; a missing one is reported if it is newly needed', () => {
    const schema = { properties: { p: { $ref: 'part.json#/$defs/x' } } }
    const groups = found(schema, schema, { files: { base: partOf('string'), head: partOf('integer') } })
    assert.deepEqual(groups, ['schema-property-type-changed part.json#/$defs/x/type'])
    assert.deepEqual(found(schema, schema), [])
    assert.ok(found({ properties: { p: {} } }, schema).includes('schema-reference-unresolved /properties/p'))
  })

  test('a definition that the root does not reach is compared too; one that it reaches is reported there only', () => {
    assert.deepEqual(
      run(JSON.stringify(twoDefinitions('string')), JSON.stringify(twoDefinitions('boolean'))).map(
        ({ message }) => message,
      ),
      [
        'the property `$defs/apart/b` had its type changed from string to boolean',
        'the property `a` had its type changed from string to boolean',
      ],
    )
  })

  test('names that resemble keywords are names where names stand', () => {
    assert.deepEqual(found(oddNames('string'), oddNames('integer')).length, 3)
  })

  test('addresses are resolved as RFC 3986 has it', () => {
    const base = 'http://a/b/c/d;p?q'
    for (const [reference, uri] of [
      ['g', 'http://a/b/c/g'],
      ['./g', 'http://a/b/c/g'],
      ['g/', 'http://a/b/c/g/'],
      ['/g', 'http://a/g'],
      ['//g', 'http://g'],
      ['?y', 'http://a/b/c/d;p?y'],
      ['g?y', 'http://a/b/c/g?y'],
      ['', 'http://a/b/c/d;p?q'],
      ['.', 'http://a/b/c/'],
      ['..', 'http://a/b/'],
      ['../g', 'http://a/b/g'],
      ['../../g', 'http://a/g'],
      ['../../../g', 'http://a/g'],
      ['urn:x:y', 'urn:x:y'],
    ] as const) {
      assert.deepEqual(resolveUri(`${reference}#f`, base), { uri, fragment: 'f' }, reference)
    }
  })
})

suite('what is refused', () => {
  test('text that is not a document, with its side, line and column', () => {
    const problem = refused('{"type":"string"}', '{"type":\n  "string",}')
    assert.equal(problem.code, 'ARTIFACT_UNREADABLE')
    assert.match(problem.message, /^The head document/)
    assert.deepEqual([problem.line, problem.column], [2, 12])
  })

  test('documents of other kinds, by their kind where it shows', () => {
    assert.equal(refused('openapi: 3.0.3\npaths: {}', '').code, 'ARTIFACT_TYPE_MISMATCH')
    assert.match(refused('[1]', 'true').message, /base document.*no keyword/)
    assert.match(refused('{"a":1}', '{}').message, /no keyword/)
  })
})

suite('what means nothing', () => {
  const before = {
    $schema: NEW,
    type: 'object',
    required: ['a', 'b'],
    properties: {
      a: { type: 'string', enum: ['x', 'y'] },
      b: { $ref: '#/$defs/b' },
      c: { oneOf: [{ type: 'string' }, { $ref: '#' }] },
    },
    $defs: { b: { type: 'object', properties: { d: { $ref: '#/$defs/missing' } } }, e: { type: 'integer' } },
  }
  const after = {
    $schema: NEW,
    type: 'object',
    required: ['b'],
    properties: {
      a: { type: 'string', enum: ['x'] },
      b: { $ref: '#/$defs/b' },
      f: { $ref: '#/$defs/gone' },
      g: { $ref: '#/$defs/gone' },
    },
    $defs: { b: { type: 'object', properties: { d: { type: 'string' } } } },
  }

  test('the order of members', () => {
    const want = run(JSON.stringify(before), JSON.stringify(after)).map(({ id, message }) => ({ id, message }))
    for (let seed = 1; seed < 12; seed += 1) {
      const [base, head] = [shuffledKeys(before, seed), shuffledKeys(after, seed + 50)]
      const got = run(JSON.stringify(base), JSON.stringify(head)).map(({ id, message }) => ({ id, message }))
      assert.deepEqual(got, want)
    }
    assert.deepEqual(run(JSON.stringify(before), JSON.stringify(shuffledKeys(before, 3))), [])
  })
})

suite('the type of a schema', () => {
  for (const text of [
    `{"$schema":"${DRAFT_7}","title":"x"}`,
    '{"type":"object","properties":{}}',
    '{"$defs":{"a":{}}}',
    'type: string\nenum: [a]\n',
  ]) {
    test(`is recognised from ${text.slice(0, 30)}`, () =>
      assert.deepEqual(sniffArtifactType(text, ''), { ok: true, value: 'json_schema' }))
  }

  test('is not told from an object that is of some type', () => {
    assert.equal(sniffArtifactType('{"type":"object","name":"x"}', '').ok, false)
  })
})

test('a property that became required is named as the pattern that it is, though the schema is neither request nor response', () => {
  const sides = { before: '{"type":"object"}', after: '{"type":"object","properties":{"a":{}},"required":["a"]}' }
  const result = compare({ id: 'schema', type: 'json_schema', ...sides }, {}, sha256Hex)
  assert.deepEqual(result.ok && result.value.patterns, ['REQUIRED_FIELD_ADDED'])
})

/** One document for each keyword of drafts 4 to 2020-12, which holds nothing else. */
const ALONE: readonly Readonly<Record<string, unknown>>[] = [
  { $id: 'https://schemas.example/a' },
  { $anchor: 'a' },
  { $dynamicAnchor: 'a' },
  { $recursiveAnchor: true },
  { $vocabulary: { 'https://json-schema.org/draft/2020-12/vocab/core': true } },
  { $ref: '#' },
  { $dynamicRef: '#a', $dynamicAnchor: 'a' },
  { $recursiveRef: '#' },
  { $defs: { a: {} } },
  { definitions: { a: {} } },
  { type: 'string' },
  { type: ['string', 'null'] },
  { enum: [1] },
  { const: { a: 1 } },
  { multipleOf: 2 },
  { maximum: 2 },
  { minimum: 2 },
  { exclusiveMaximum: 2 },
  { exclusiveMinimum: 2 },
  { maxLength: 2 },
  { minLength: 2 },
  { pattern: '^a' },
  { format: 'email' },
  { contentEncoding: 'base64' },
  { contentMediaType: 'application/json' },
  { contentSchema: { type: 'object' } },
  { items: { type: 'string' } },
  { items: [{ type: 'string' }, true] },
  { prefixItems: [{ type: 'string' }] },
  { additionalItems: false },
  { unevaluatedItems: false },
  { contains: { const: 1 } },
  { maxContains: 2 },
  { minContains: 2 },
  { maxItems: 2 },
  { minItems: 2 },
  { uniqueItems: true },
  { properties: { kind: { const: 'a' } } },
  { patternProperties: { '^x': false } },
  { additionalProperties: false },
  { unevaluatedProperties: false },
  { propertyNames: { maxLength: 3 } },
  { required: ['a'] },
  { dependentRequired: { a: ['b'] } },
  { dependentSchemas: { a: { required: ['b'] } } },
  { dependencies: { a: ['b'], c: { required: ['d'] } } },
  { maxProperties: 2 },
  { minProperties: 2 },
  { allOf: [{ type: 'string' }] },
  { anyOf: [{ type: 'string' }] },
  { oneOf: [{ type: 'string' }] },
  { not: { type: 'string' } },
  { if: {} },
  { then: {} },
  { else: {} },
]

/** Documents of something else, or of nothing that can be named. */
const NO_SCHEMAS: readonly unknown[] = [
  {},
  true,
  { title: 'a', description: 'b' },
  { dependencies: { lodash: '^4.0.0' } },
  { items: [{ id: 1, colour: 'red' }] },
  { properties: 'a' },
  { type: 'module', main: 'index.js' },
  { required: true },
  { format: 'json', output: 'file' },
  { contains: 'milk' },
]

suite('a document without $schema', () => {
  for (const schema of ALONE) {
    const text = JSON.stringify(schema)
    test(`is a JSON Schema where all members are keywords: ${text}`, () => {
      for (const more of [{}, { title: 't', description: 'd', 'x-owner': 'us' }]) {
        const whole = JSON.stringify({ ...more, ...schema })
        const sniffed = sniffArtifactType(whole, whole)
        assert.deepEqual(sniffed, { ok: true, value: 'json_schema' })
        assert.deepEqual(run(whole, whole), [])
      }
      for (const bare of ['{}', 'true', '{"description":"anything"}']) {
        assert.deepEqual(sniffArtifactType(bare, text), { ok: true, value: 'json_schema' })
        assert.deepEqual(sniffArtifactType(text, bare), { ok: true, value: 'json_schema' })
        run(bare, text)
      }
    })
  }

  for (const document of NO_SCHEMAS) {
    const text = JSON.stringify(document)
    test(`is not recognised as one by ${text}`, () => {
      const sniffed = sniffArtifactType(text, text)
      assert.equal(sniffed.ok ? sniffed.value : sniffed.problem.code, 'UNSUPPORTED_ARTIFACT_TYPE')
    })
  }
})
