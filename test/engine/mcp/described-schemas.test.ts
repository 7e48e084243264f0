/** Texts in the schemas of a tool: where they are written makes no difference, and no other text comes in unseen. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = 'Path of the file to read, relative to the root'
const OTHER = 'Path of the file, which is deleted after it was read'
const PATH = { type: 'string' }
const DESCRIBED = { ...PATH, description: TEXT }

function textFindings(before: Json, after: Json): readonly string[] {
  const [base, head] = [before, after].map((tool) =>
    JSON.stringify({ tools: [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, ...tool }] }),
  )
  const result = compare({ id: 'm', type: 'mcp_manifest', before: base ?? '', after: head ?? '' }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const texts = result.value.groups.filter(({ rule }) => rule.startsWith('mcp-description'))
  return texts.map(({ level, location }) => `${level} ${location.replace('/tools/0', '')}`)
}

const withPath = (path: unknown, more: Json = {}): Json => ({
  inputSchema: { type: 'object', properties: { path }, ...more },
})
const REFERRED = withPath({ $ref: '#/$defs/P' }, { $defs: { P: DESCRIBED } })
const A = { type: 'string', description: 'A name of a file' }
const B = { type: 'integer', description: 'The number of a file' }

suite('the same texts in another place', () => {
  const ROWS: readonly (readonly [what: string, before: Json, after: Json])[] = [
    ['behind a reference', withPath(DESCRIBED), REFERRED],
    ['behind another reference', REFERRED, withPath({ $ref: '#/$defs/Q' }, { $defs: { Q: DESCRIBED } })],
    ['behind an anchor', REFERRED, withPath({ $ref: '#q' }, { $defs: { Q: { ...DESCRIBED, $anchor: 'q' } } })],
    [
      'beside a reference, whose own text nobody sees',
      withPath(DESCRIBED),
      withPath({ $ref: '#/$defs/Q', description: TEXT }, { $defs: { Q: { ...PATH, description: OTHER } } }),
    ],
    [
      'behind two references',
      REFERRED,
      withPath({ $ref: '#/$defs/R' }, { $defs: { R: { $ref: '#/$defs/Q' }, Q: DESCRIBED } }),
    ],
    ['in another order', withPath({ anyOf: [A, B] }), withPath({ anyOf: [B, A] })],
    ['with a title that repeats the name', withPath(DESCRIBED), withPath({ ...DESCRIBED, title: 'Path' })],
    ['with a title of the schema that repeats the name', withPath(DESCRIBED), withPath(DESCRIBED, { title: 'Read' })],
    [
      'names that keywords hold',
      withPath(PATH, { dependencies: { path: ['a'] } }),
      withPath(PATH, { dependentRequired: { path: ['b'] } }),
    ],
    [
      'a name for an editor',
      withPath({ ...PATH, 'x-field': 'select', 'x-groups': ['a'] }),
      withPath({ ...PATH, 'x-field': 'remove', 'x-groups': ['b'] }),
    ],
    [
      'a list that is in the tree once more',
      withPath({ items: A }),
      withPath({ items: { $ref: '#/$defs/A' } }, { $defs: { A } }),
    ],
  ]
  for (const [what, before, after] of ROWS)
    test(`are no change: ${what}`, () => {
      assert.deepEqual([...textFindings(before, after), ...textFindings(after, before)], [])
    })
})

suite('another text', () => {
  const other = (more: Json): Json => ({ ...PATH, ...more })
  const ROWS: readonly (readonly [what: string, before: Json, after: Json, place: string])[] = [
    [
      'behind another reference',
      REFERRED,
      withPath({ $ref: '#/$defs/Q' }, { $defs: { P: DESCRIBED, Q: other({ description: OTHER }) } }),
      '/inputSchema/$defs/Q/description',
    ],
    [
      'behind the same reference',
      REFERRED,
      withPath({ $ref: '#/$defs/P' }, { $defs: { P: other({ description: OTHER }) } }),
      '/inputSchema/$defs/P/description',
    ],
    [
      'behind an anchor that moved',
      withPath({ $ref: '#a' }, { $defs: { P: { ...DESCRIBED, $anchor: 'a' } } }),
      withPath({ $ref: '#a' }, { $defs: { P: DESCRIBED, Q: { ...other({ description: OTHER }), $anchor: 'a' } } }),
      '/inputSchema/$defs/Q/description',
    ],
    [
      'within what a reference leads to',
      withPath({ type: 'object', properties: { a: DESCRIBED } }),
      withPath(
        { $ref: '#/$defs/Q' },
        { $defs: { Q: { type: 'object', properties: { a: other({ description: OTHER }) } } } },
      ),
      '/inputSchema/$defs/Q/properties/a/description',
    ],
    [
      'in a choice',
      withPath(PATH),
      withPath({ anyOf: [other({ description: OTHER })] }),
      '/inputSchema/properties/path/anyOf/0/description',
    ],
    [
      'in one more choice',
      withPath({ anyOf: [PATH, B] }),
      withPath({ anyOf: [PATH, B, other({ description: OTHER })] }),
      '/inputSchema/properties/path/anyOf/2/description',
    ],
    [
      'in an allOf',
      withPath(PATH),
      withPath({ ...PATH, allOf: [{ description: OTHER }] }),
      '/inputSchema/properties/path/allOf/0/description',
    ],
    [
      'in items',
      withPath({ type: 'array' }),
      withPath({ type: 'array', items: { description: OTHER } }),
      '/inputSchema/properties/path/items/description',
    ],
    [
      'in a condition',
      withPath(PATH),
      withPath({ ...PATH, if: true, then: { description: OTHER } }),
      '/inputSchema/properties/path/then/description',
    ],
    [
      'of further properties',
      withPath(PATH),
      withPath(PATH, { additionalProperties: { description: OTHER } }),
      '/inputSchema/additionalProperties/description',
    ],
    ['in a comment', withPath(PATH), withPath(other({ $comment: OTHER })), '/inputSchema/properties/path/$comment'],
    [
      'under a name of an editor',
      withPath(PATH),
      withPath(other({ markdownDescription: OTHER })),
      '/inputSchema/properties/path/markdownDescription',
    ],
    ['of an extension', withPath(PATH), withPath(other({ 'x-hint': OTHER })), '/inputSchema/properties/path/x-hint'],
    [
      'of each value',
      withPath({ enum: ['a'] }),
      withPath({ enum: ['a'], enumDescriptions: [OTHER] }),
      '/inputSchema/properties/path/enumDescriptions',
    ],
    [
      'in examples',
      withPath(other({ examples: ['a.txt'] })),
      withPath(other({ examples: ['/etc/passwd'] })),
      '/inputSchema/properties/path/examples',
    ],
    [
      'in a title',
      withPath(other({ title: 'Path' })),
      withPath(other({ title: 'File to delete' })),
      '/inputSchema/properties/path/title',
    ],
    ['in new annotations', {}, { annotations: { title: 'Delete everything' } }, '/annotations/title'],
  ]
  for (const [what, before, after, place] of ROWS)
    test(`is dangerous: ${what}`, () => {
      assert.deepEqual(textFindings(before, after), [`dangerous ${place}`])
      assert.ok(textFindings(after, before).some((finding) => finding.startsWith('dangerous ')))
    })
})

test('a first result schema and new arguments are findings of their own', () => {
  const result = { outputSchema: { type: 'object', description: OTHER } }
  const argument = withPath(PATH, { properties: { path: PATH, more: { ...PATH, description: OTHER } } })
  assert.deepEqual([...textFindings({}, result), ...textFindings(withPath(PATH), argument)], [])
})

suite('a new definition', () => {
  const withDefinition = (more: Json, path: Json = PATH): Json => withPath(path, { $defs: { N: more } })
  const ROWS: readonly (readonly [what: string, before: Json, after: Json, found: readonly string[]])[] = [
    [
      'with a text, that nothing refers to',
      withPath(PATH),
      withDefinition(DESCRIBED),
      ['dangerous /inputSchema/$defs/N/description'],
    ],
    [
      'whose text is deeper',
      withPath(PATH),
      withDefinition({ anyOf: [DESCRIBED] }),
      ['dangerous /inputSchema/$defs/N/anyOf/0/description'],
    ],
    ['without a text', withPath(PATH), withDefinition(PATH), []],
    [
      'that has the text of the part that refers to it',
      withPath(DESCRIBED),
      withDefinition(DESCRIBED, { $ref: '#/$defs/N' }),
      [],
    ],
    [
      'of which a part is referred to',
      withPath(DESCRIBED),
      withDefinition({ anyOf: [DESCRIBED] }, { $ref: '#/$defs/N/anyOf/0' }),
      [],
    ],
    ['that goes, and that nothing referred to', withDefinition(DESCRIBED), withPath(PATH), []],
  ]
  for (const [what, before, after, found] of ROWS)
    test(what, () => {
      const rules = textFindings(before, after)
      assert.deepEqual(
        rules.map((one) => one.replace(/^info/, 'dangerous')),
        found,
      )
    })
})

const node = (name: string, text: string): Json => ({
  type: 'object',
  description: text,
  properties: { next: { $ref: `#/$defs/${name}` } },
})

test('schemas that hold themselves in different ways are compared to the end', () => {
  const one = withPath({ $ref: '#/$defs/N' }, { $defs: { N: node('N', TEXT) } })
  const two = withPath({ $ref: '#/$defs/A' }, { $defs: { A: node('B', TEXT), B: node('A', TEXT) } })
  const last = withPath({ $ref: '#/$defs/A' }, { $defs: { A: node('B', TEXT), B: node('A', OTHER) } })
  assert.deepEqual(textFindings(one, two), [])
  assert.deepEqual(textFindings(one, last), ['dangerous /inputSchema/$defs/B/description'])
  assert.deepEqual(textFindings(withPath(node('N', TEXT), { $defs: { N: node('N', TEXT) } }), last), [
    'dangerous /inputSchema/$defs/B/description',
  ])
})

const wide = (prefix: string): Json => {
  const names = Array.from({ length: 200 }, (_, index) => `${prefix}${index}`)
  const parts = names.map((name) => ({ $ref: `#/$defs/${name}` }))
  return withPath(
    { anyOf: parts },
    { $defs: Object.fromEntries(names.map((name) => [name, { anyOf: parts.slice() }])) },
  )
}

test('references that multiply are not followed without end, and the rest is dangerous', () => {
  assert.deepEqual(textFindings(wide('a'), wide('b')), ['dangerous '])
})
