/** Dynamic references are followed in every format that has them, also beside another reference. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, type ArtifactType } from '../../../engine/internal.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

/** A property whose values a reference bounds: what the reference leads to changes from a string to an integer. */
function schemaOf(reference: object, type: string): object {
  const $defs = { N: { $dynamicAnchor: 'n', type }, Any: {} }
  return { type: 'object', properties: { v: reference }, required: ['v'], $defs }
}

const REFERENCES = {
  'a dynamic reference': { $dynamicRef: '#n' },
  'one beside a reference': { $ref: '#/$defs/Any', $dynamicRef: '#n' },
  'one beside allOf and a reference': { allOf: [{}], $ref: '#/$defs/Any', $dynamicRef: '#n' },
} as const

const FORMATS: Readonly<Partial<Record<ArtifactType, (schema: object) => object>>> = {
  json_schema: (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  mcp_manifest: (inputSchema) => ({ tools: [{ name: 'act', inputSchema }] }),
  agent_tools: (parameters) => [{ type: 'function', function: { name: 'act', parameters } }],
}

suite('dynamic references', () => {
  for (const [format, write] of Object.entries(FORMATS)) {
    for (const [name, reference] of Object.entries(REFERENCES)) {
      test(`${format}: ${name} leads to what changed`, () => {
        const [before, after] = ['string', 'integer'].map((type) => JSON.stringify(write(schemaOf(reference, type))))
        const type = Object.keys(FORMATS).find((one): one is ArtifactType => one === format) ?? 'json_schema'
        const compared = compare({ id: 'x', type, before: before ?? '', after: after ?? '' }, {}, sha256)
        assert.ok(compared.ok)
        assert.ok(compared.value.groups.some(({ level }) => level === 'breaking'))
      })
    }
  }
})

const ADDRESSES: Readonly<Record<string, object>> = {
  'with an address': { $id: 'https://example.com/strict' },
  'without one': {},
}

interface Extension {
  readonly version: 'dynamic' | 'recursive'
  readonly address: object
}

/** A tree of another resource, and a document that extends it where it defines the same anchor. */
function extended({ version, address }: Extension, anchors: 'both' | 'tree', more: object = {}): object {
  const isDynamic = version === 'dynamic'
  const anchor = isDynamic ? { $dynamicAnchor: 'node' } : { $recursiveAnchor: true }
  const again = isDynamic ? { $dynamicRef: '#node' } : { $recursiveRef: '#' }
  const properties = { data: true, children: { type: 'array', items: again } }
  return {
    $schema: `https://json-schema.org/draft/${isDynamic ? '2020-12' : '2019-09'}/schema`,
    ...address,
    type: 'object',
    ...(anchors === 'both' && anchor),
    $ref: 'tree',
    ...more,
    $defs: { tree: { $id: 'tree', ...anchor, type: 'object', properties } },
  }
}

function worst(type: ArtifactType, before: object, after: object): string | undefined {
  const [base = '', head = ''] = [before, after].map((schema) => JSON.stringify(FORMATS[type]?.(schema)))
  const compared = compare({ id: 'x', type, before: base, after: head }, {}, sha256)
  assert.ok(compared.ok)
  const levels = compared.value.groups.map(({ level }) => level)
  return ['breaking', 'dangerous', 'info'].find((level) => levels.some((one) => one === level))
}

suite('dynamic references into the document that is evaluated', () => {
  const extensions = Object.entries(ADDRESSES).flatMap(([name, address]) =>
    (['dynamic', 'recursive'] as const).map((version) => [`${version} ${name}`, { version, address }] as const),
  )
  for (const type of ['json_schema', 'mcp_manifest', 'agent_tools'] as const)
    for (const [name, extension] of extensions) {
      const closed = { unevaluatedProperties: false }

      test(`${type}, ${name}: an anchor that goes leaves the nested values open`, () => {
        const [strict, loose] = [extended(extension, 'both', closed), extended(extension, 'tree', closed)]
        assert.equal(worst(type, strict, loose), type === 'json_schema' ? 'dangerous' : 'info')
        assert.equal(worst(type, loose, strict), 'breaking')
        assert.equal(worst(type, strict, strict), undefined)
      })

      test(`${type}, ${name}: without a condition of the document the anchor is no change`, () => {
        const level = worst(type, extended(extension, 'both'), extended(extension, 'tree'))
        assert.ok(level === undefined || level === 'info', level)
      })
    }
})

function otherFile(type: string): Readonly<Record<string, string>> {
  return { 'other.json': JSON.stringify({ $defs: { Text: { type } } }) }
}

test('a file beside a document without an address is found from a resource within it', () => {
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $dynamicAnchor: 'node',
    $ref: 'tree',
    properties: { a: { $ref: 'other.json#/$defs/Text' } },
    $defs: {
      tree: { $id: 'tree', $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } },
    },
  }
  const text = JSON.stringify(document)
  const compared = compare(
    { id: 'x', type: 'json_schema', before: text, after: text },
    { files: { base: otherFile('string'), head: otherFile('integer') } },
    sha256,
  )
  assert.ok(compared.ok)
  assert.deepEqual(compared.value.unresolved, [])
  assert.ok(compared.value.groups.some(({ level }) => level === 'breaking'))
})

const recursiveTool = (year: string): object => ({
  $schema: `https://json-schema.org/draft/${year}/schema`,
  type: 'object',
  properties: { a: { type: 'string' }, next: { $recursiveRef: '#' } },
})

test('a tool whose draft has no such reference any more, or has it now, is compared by both drafts', () => {
  for (const type of ['mcp_manifest', 'agent_tools'] as const) {
    assert.equal(worst(type, recursiveTool('2020-12'), recursiveTool('2019-09')), 'breaking')
    // What the reference described is described no more.
    assert.equal(worst(type, recursiveTool('2019-09'), recursiveTool('2020-12')), 'breaking')
    assert.equal(worst(type, recursiveTool('2019-09'), recursiveTool('2019-09')), undefined)
  }
})

const DIALECTS: Readonly<Record<string, string>> = {
  'draft 4': 'http://json-schema.org/draft-04/schema#',
  'draft 7': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}
const HAVING: Readonly<Record<string, string>> = { $recursiveRef: '2019-09', $dynamicRef: '2020-12' }

/** Nested values under a name that is a keyword elsewhere, and beside a value that only looks like a reference. */
const nested = ($schema: string, reference: object): object => ({
  $schema,
  type: 'object',
  properties: { properties: reference, data: { const: { $recursiveRef: '#', $dynamicRef: '#' } } },
})

const api = (schema: object, more: object = {}): object => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  ...more,
  paths: {
    '/x': {
      post: {
        requestBody: { content: { 'application/json': { schema } } },
        responses: { default: { description: 'd', content: { 'application/json': { schema } } } },
      },
    },
  },
})

const referring = (reference: object, more: object = {}): object => ({
  ...more,
  $defs: { N: { type: 'string', $anchor: 'n' } },
  properties: { v: reference },
})

const alarms = (before: object, after: object): readonly string[] => {
  const [one, other] = [JSON.stringify(before), JSON.stringify(after)]
  const compared = compare({ id: 'x', type: 'openapi', before: one, after: other }, {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ level }) => level).filter((level) => level !== 'info')
}

suite('a dynamic reference that the draft of its schema does not have', () => {
  for (const [draft, $schema] of Object.entries(DIALECTS))
    for (const [keyword, having] of Object.entries(HAVING)) {
      const [written, open, plain] = [{ [keyword]: '#' }, {}, { $ref: '#' }].map((one) => nested($schema, one))
      for (const type of ['json_schema', 'mcp_manifest', 'agent_tools'] as const)
        test(`${type}, ${keyword} in ${draft} ${having === draft ? 'is one' : 'leads nowhere'}`, () => {
          const [same, other] = having === draft ? [plain, open] : [open, plain]
          assert.equal(worst(type, Object(written), Object(same)), undefined)
          assert.equal(worst(type, Object(same), Object(written)), undefined)
          const [forth, back] = [
            worst(type, Object(written), Object(other)),
            worst(type, Object(other), Object(written)),
          ]
          assert.ok(forth === 'breaking' || back === 'breaking', `${forth} ${back}`)
        })
    }

  test('OpenAPI 3.1: a schema is of 2020-12, unless it or the document states another draft', () => {
    const older = { $schema: DIALECTS['2019-09'], $id: 'https://example.com/s', type: 'object' }
    const recursive = { $recursiveRef: '#' }
    assert.deepEqual(alarms(api(referring(recursive)), api(referring({}))), [])
    assert.deepEqual(alarms(api(referring({})), api(referring(recursive))), [])
    assert.ok(alarms(api(referring(recursive, older)), api(referring({}, older))).length > 0)
    const stating = { jsonSchemaDialect: DIALECTS['2019-09'] }
    const addressed = { $id: 'https://example.com/s', type: 'object' }
    assert.ok(alarms(api(referring(recursive, addressed), stating), api(referring({}, addressed), stating)).length > 0)
  })
})
