/** YAML that readers of its editions take for different values: refused in bodies for the Kubernetes API, unreadable in contracts where it counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_DOCUMENT_LIMITS, readDocument, yamlObjectProblem } from '../../engine/internal.ts'

/** Values that Go, Python and YAML 1.2 do not read alike. */
const TWOFOLD =
  'y Y yes Yes YES n N no No NO on On ON off Off OFF 010 0o10 0O7 -0O7 0o1_0 0b11 0x1F 1_000 +1 .5 5. 1:30 190:20:30 -.5 00 .inf -.INF .nan = 1_0.5 685_230.15'.split(
    ' ',
  )
for (const value of TWOFOLD)
  test(`an object with the plain value ${value} is refused`, () => {
    for (const text of [`a: ${value}`, `a:\n  - ${value}`, `a: {b: [1, ${value}]}`, `spec:\n  a: ${value} # x`])
      assert.notEqual(yamlObjectProblem(text, DEFAULT_DOCUMENT_LIMITS), null, text)
    for (const text of [`a: '${value}'`, `a: "${value}"`])
      assert.equal(yamlObjectProblem(text, DEFAULT_DOCUMENT_LIMITS), null, text)
  })

for (const text of [
  'dryRun: [All]\n<<: {dryRun: []}',
  '<<: {dryRun: []}\ndryRun: [All]',
  'a: &x {b: 1}\nc:\n  <<: *x',
  'a:\n  b:\n    <<: [{c: 1}, {d: 2}]',
  '{<<: {a: 1}}',
  'yes: 1',
  'on: 1',
  '1: a',
  '1.0: a',
  'true: a',
  'null: a',
  '~: a',
  '? {a: 1}\n: b',
  '? [a]\n: b',
  'a: !!str 1',
  'a: !!binary aGk=',
  'a: !!int "1"',
  '!!map {a: 1}',
  'a: !custom b',
  'a: ! 12',
  'x: &k name\n*k : b',
])
  test(`an object is refused: ${JSON.stringify(text)}`, () => {
    assert.notEqual(yamlObjectProblem(text, DEFAULT_DOCUMENT_LIMITS), null)
  })

test('plain objects are read', () => {
  for (const text of [
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations: {}\nspec:\n  replicas: 3\n  paused: false',
    'a: 1.5\nb: -2\nc: 1e3\nd: null\ne: ~\nf: 2026-01-02\ng: 1.2.3\nh: 10.0.0.1\ni: 2026-01-02T03:04:05Z',
    'a: &x [b]\nc: *x',
    "'yes': 1\n\"1\": a\n'<<': b",
    'image: nginx:1.27\nport: 80:80x\nmode: 755\nid: 12ab',
    'data:\n  openapi.yaml: |\n    <<: x\n    yes: no',
  ])
    assert.equal(yamlObjectProblem(text, DEFAULT_DOCUMENT_LIMITS), null, text)
})

for (const [what, text] of [
  ['a merge key behind a key', 'base: &b {type: string}\nschema:\n  type: integer\n  <<: *b'],
  ['a merge key of several behind a key', 'b: &b {x: 1}\nc: &c {type: string}\ns:\n  type: integer\n  <<: [*b, *c]'],
  ['a merge key with members behind a key', 's:\n  type: integer\n  <<: {type: string}'],
  ['a merge key that merges in turn', 'b: &b {type: string}\nc: &c {<<: *b}\ns:\n  type: integer\n  <<: *c'],
  ['a byte order mark before a line', 's:\n  type: integer\n\uFEFFs: {type: string}'],
  ['a byte order mark before a member', 's:\n  type: integer\n  \uFEFFtype: string'],
  ['a byte order mark behind a bare return', 'a: 1\r\uFEFFb: 2'],
  ['required: yes', 'openapi: 3.0.3\nparameters:\n  - name: a\n    required: yes'],
  ['deprecated: on', 'a:\n  deprecated: on'],
  ['nullable: No', 'a: {nullable: No}'],
  ['additionalProperties: off', 'a:\n  additionalProperties: off'],
  ['minLength: 010', 'a:\n  minLength: 010'],
  ['maximum: 1_000', 'a:\n  maximum: 1_000'],
  ['maxItems: 1:30', 'a:\n  maxItems: 1:30'],
  ['minimum: 0b11', 'a:\n  minimum: 0b11'],
] as const)
  test(`a contract is unreadable, with the place: ${what}`, () => {
    const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
    assert.ok(!read.ok)
    assert.notEqual(read.problem.line, undefined)
  })

test('plain words and merge keys that everybody reads alike stay readable in contracts', () => {
  for (const text of [
    'a:\n  enum: [on, off, NO]',
    'base: &b {type: string}\nschema:\n  <<: *b\n  type: integer',
    'base: &b {type: string}\nschema:\n  format: a\n  <<: *b',
    'schema:\n  format: a\n  <<: {type: {format: b}}',
    'a:\n  required: true\n  description: no\n  minLength: 10\n  required2: [a]',
    "a:\n  required: 'yes'",
    'a:\n  properties:\n    required: {type: string}',
  ])
    assert.ok(readDocument(text, DEFAULT_DOCUMENT_LIMITS).ok, text)
})
