/** What a program in JavaScript can hand to `compare`: everything that its types refuse is an answer with the reason. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Artifact } from '../../../engine/model/change-set.ts'
import { compare, DEFAULT_DOCUMENT_LIMITS, type CompareOptions } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

const openapi = (type: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      '/p': {
        get: { parameters: [{ name: 'q', in: 'query', schema: { type } }], responses: { 200: { description: '' } } },
      },
    },
  })
const ARTIFACT: Artifact = { id: 'a', type: 'openapi', before: openapi('string'), after: openapi('integer') }

/** Calls it as JavaScript does: without types. */
function compared(artifact: unknown, options: unknown): ReturnType<typeof compare> {
  const untyped: (...args: never[]) => ReturnType<typeof compare> = compare
  return Reflect.apply(untyped, undefined, [artifact, options, sha256Hex])
}

function refusal(artifact: unknown, options: unknown): string {
  const result = compared(artifact, options)
  assert.ok(!result.ok, 'the comparison was made')
  assert.equal(result.problem.code, 'INVALID_INPUT')
  return result.problem.message
}

const BAD_OPTIONS = {
  limits: [
    {},
    { maxLength: 10 },
    { ...DEFAULT_DOCUMENT_LIMITS, maxDepth: '5' },
    { ...DEFAULT_DOCUMENT_LIMITS, depth: 5 },
    5,
  ],
  today: [20260101],
  deprecation_days_stable: ['30', -1, 1.5, Number.NaN],
  deprecation_days_beta: ['30'],
  stability_level: ['Stable', 'constructor'],
  levels: [{ 'request-parameter-type-changed': 'BREAKING' }, { 'mcp-*': 'constructor' }, [], 'info'],
  match_path: [5, ['/p']],
  unmatch_path: [5],
  strip_prefix_base: [5],
  strip_prefix_head: [5],
  include_path_params: ['false'],
  case_insensitive_headers: [1],
  attributes: ['x-team', [1]],
  files: [{}, { base: {}, head: { a: 1 } }, { base: {}, head: {}, document: 1 }],
} satisfies Readonly<Record<keyof CompareOptions, readonly unknown[]>>

const GOOD_OPTIONS: Required<CompareOptions> = {
  limits: { ...DEFAULT_DOCUMENT_LIMITS, maxValues: Number.POSITIVE_INFINITY },
  today: '2026-01-01',
  deprecation_days_stable: 0,
  deprecation_days_beta: 30,
  stability_level: 'beta',
  levels: { 'mcp-*': 'off' },
  match_path: '',
  unmatch_path: '',
  strip_prefix_base: '',
  strip_prefix_head: '',
  include_path_params: false,
  case_insensitive_headers: true,
  attributes: ['x-team'],
  files: { base: {}, head: {}, document: 'a.yaml' },
}

suite('options', () => {
  test('every option in its form is taken, and an undefined one is absent', () => {
    assert.ok(compare(ARTIFACT, GOOD_OPTIONS, sha256Hex).ok)
    const absent = Object.fromEntries(Object.keys(GOOD_OPTIONS).map((name) => [name, undefined]))
    assert.ok(compared(ARTIFACT, absent).ok)
  })

  for (const [name, values] of Object.entries(BAD_OPTIONS))
    for (const value of [null, ...values])
      test(`${name}: ${JSON.stringify(value)} is refused`, () => {
        assert.match(refusal(ARTIFACT, { [name]: value }), new RegExp(`^The option ${name} must be `))
      })

  test('an option that does not exist is refused, with the one that is meant', () => {
    assert.equal(refusal(ARTIFACT, { levles: {} }), 'The option "levles" does not exist. Did you mean levels?')
    assert.match(
      refusal(ARTIFACT, { constructor: 1 }),
      /^The option "constructor" does not exist\. Options: limits, today, /,
    )
    assert.match(refusal(ARTIFACT, null), /^The options must be an object/)
    assert.match(refusal(ARTIFACT, undefined), /^The options must be an object/)
  })
})

suite('artifacts', () => {
  const BAD_ARTIFACTS: readonly [what: string, artifact: unknown, says: RegExp][] = [
    ['nothing', undefined, /must be an object with id, type, before and after/],
    ['a list', [], /must be an object/],
    ['no type', { ...ARTIFACT, type: undefined }, /type of the artifact must be one of openapi, graphql/],
    ['another type', { ...ARTIFACT, type: 'swagger' }, /type of the artifact must be one of/],
    [
      'the name of a member of every object as type',
      { ...ARTIFACT, type: 'constructor' },
      /type of the artifact must be/,
    ],
    ['an alias of the API as type', { ...ARTIFACT, type: 'mcp' }, /type of the artifact must be/],
    ['no id', { ...ARTIFACT, id: undefined }, /id of the artifact must be text/],
    ['no base', { ...ARTIFACT, before: null }, /member before of the artifact must be text/],
    ['a parsed document', { ...ARTIFACT, after: { openapi: '3.1.0' } }, /member after of the artifact must be text/],
    ['a path that is not a text', { ...ARTIFACT, path: 5 }, /path of the artifact must be text/],
    ['a list of files', { ...ARTIFACT, files: ['a.yaml'] }, /files of the artifact must be texts by path/],
    [
      'a parsed file',
      { ...ARTIFACT, files: { 'a.yaml': { before: {} } } },
      /files of the artifact must be texts by path/,
    ],
    ['no file', { ...ARTIFACT, files: { 'a.yaml': null } }, /files of the artifact must be texts by path/],
  ]
  for (const [what, artifact, says] of BAD_ARTIFACTS)
    test(`${what} is refused`, () => {
      assert.match(refusal(artifact, {}), says)
    })
})
