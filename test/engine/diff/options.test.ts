/** Options of a comparison of OpenAPI contracts: what they leave out, match, override and add, and what they refuse. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import type { CompareOptions, FindingGroup } from '../../../engine/internal.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>

const DONE = { '200': { description: 'done' } }

function api(paths: Json, rest: Json = {}): Json {
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, ...rest, paths }
}

function compare(before: Json, after: Json, options: CompareOptions = {}): readonly FindingGroup[] {
  const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), options, sha256)
  assert.ok(compared.ok)
  return compared.value.groups
}

function rulesOf(groups: readonly FindingGroup[]): readonly string[] {
  return groups.map(({ rule }) => rule)
}

function withPaths(...paths: string[]): Json {
  return api(Object.fromEntries(paths.map((path) => [path, { get: { responses: DONE } }])))
}

/** An operation of some stability whose parameter and property say more of themselves. */
function withLife(stability: string, more: Json): Json {
  const schema = { type: 'object', properties: { held: { type: 'string', ...more } } }
  const requestBody = { content: { 'application/json': { schema } } }
  const parameters = [{ name: 'q', in: 'query', schema: { type: 'string' }, ...more }]
  return api({ '/a': { post: { 'x-stability-level': stability, parameters, requestBody, responses: DONE } } })
}

/** The findings when both become deprecated. */
function deprecating(stability: string, more: Json = {}): readonly string[] {
  const [before, after] = [withLife(stability, more), withLife(stability, { ...more, deprecated: true })]
  return [...rulesOf(compare(before, after, { deprecation_days_beta: 10, stability_level: 'alpha' }))].sort()
}

suite('an option', () => {
  test('overrides the level of a rule, or turns it off', () => {
    const [before, after] = [withPaths('/a', '/b'), withPaths('/a')]
    const rule = 'api-path-removed-without-deprecation'
    assert.equal(compare(before, after, { levels: { [rule]: 'info' } })[0]?.level, 'info')
    assert.deepEqual(compare(before, after, { levels: { [rule]: 'off' } }), [])
  })

  test('promises days for what belongs to an operation by the stability of that operation', () => {
    const missing = ['request-parameter-deprecated-sunset-missing', 'request-property-deprecated-sunset-missing']
    const plain = ['request-parameter-deprecated', 'request-property-deprecated']
    // What is missing breaks, and something that breaks asks for a raised version.
    assert.deepEqual(
      deprecating('beta').filter((rule) => rule.startsWith('request')),
      missing,
    )
    assert.deepEqual(deprecating('alpha'), plain)
    assert.deepEqual(deprecating('beta', { 'x-stability-level': 'alpha' }), plain)
  })

  test('keeps paths out of the comparison', () => {
    const [before, after] = [withPaths('/a', '/b'), withPaths('/a')]
    assert.deepEqual(compare(before, after, { unmatch_path: '^/b' }), [])
    assert.deepEqual(compare(before, after, { match_path: '^/a' }), [])
  })

  test('strips a prefix from the paths of one side', () => {
    assert.deepEqual(compare(withPaths('/v1/a'), withPaths('/a'), { strip_prefix_base: '/v1' }), [])
  })

  test('makes the names of path parameters count', () => {
    const groups = compare(withPaths('/a/{id}'), withPaths('/a/{other}'), { include_path_params: true })
    assert.deepEqual(rulesOf(groups), ['api-path-removed-without-deprecation', 'endpoint-added'])
  })

  test('carries extension members of an operation into its findings', () => {
    const owned = (get: Json, rest: Json = {}): Json =>
      api({ '/a': { get: { responses: DONE, ...get } }, '/b': { get: { responses: DONE } }, ...rest })
    const before = owned({ operationId: 'old', 'x-team': 'red', 'x-tier': { level: 1 }, 'x-other': 1 })
    const after = owned({ operationId: 'new', 'x-team': 'blue' }, { '/c': { get: { responses: DONE, 'x-team': 'c' } } })
    const attributes = ['x-team', 'x-tier', 'x-team']
    const reported = compare(before, after, { attributes }).flatMap(({ occurrences }) => occurrences)
    const byPath = new Map(reported.map((one) => [one.operation?.path, one.attributes]))
    assert.deepEqual(new Set(byPath.keys()), new Set(['/a', '/c']))
    assert.deepEqual(byPath.get('/a'), { 'x-team': 'blue', 'x-tier': { level: 1 } })
    assert.deepEqual(byPath.get('/c'), { 'x-team': 'c' })
    const gone = compare(after, withPaths('/a', '/b'), { attributes: ['x-team'] })
    const removed = gone.find(({ rule }) => rule === 'api-path-removed-without-deprecation')
    assert.deepEqual(removed?.occurrences[0]?.attributes, { 'x-team': 'c' })
    for (const { occurrences } of compare(before, after)) {
      for (const one of occurrences) assert.ok(!('attributes' in one))
    }
  })

  test('that asks for members which are no extensions is a problem', () => {
    const text = JSON.stringify(withPaths('/a'))
    const compared = compareOpenApi(text, text, { attributes: ['x-team', 'summary'] }, sha256)
    assert.ok(!compared.ok && compared.problem.message.includes('`summary`'))
  })

  test('that is not a regular expression is a problem, not an exception', () => {
    const text = JSON.stringify(withPaths('/a'))
    const compared = compareOpenApi(text, text, { match_path: '(' }, sha256)
    assert.ok(!compared.ok && compared.problem.code === 'INVALID_INPUT')
  })
})

suite('a removal with a sunset day', () => {
  const lived = { deprecated: true, 'x-sunset': '2027-01-01' }
  const query = (more: Json): Json =>
    api({ '/a': { get: { parameters: [{ name: 'q', in: 'query', schema: { type: 'string' }, ...more }] } } })
  const REMOVALS: Readonly<Record<string, readonly [before: Json, after: Json, rule: string]>> = {
    'a path': [api({ '/a': { get: lived } }), api({}), 'api-path-removed-before-sunset'],
    'an operation': [
      api({ '/a': { get: lived, post: { responses: DONE } } }),
      api({ '/a': { post: { responses: DONE } } }),
      'api-removed-before-sunset',
    ],
    'a parameter': [query(lived), api({ '/a': { get: {} } }), 'request-parameter-removed-before-sunset'],
  }
  for (const [what, [before, after, rule]] of Object.entries(REMOVALS))
    test(`of ${what} is breaking before the day, and where the day of today is not given`, () => {
      for (const [options, expected] of [
        [{ today: '2026-12-31' }, ['breaking']],
        [{}, ['breaking']],
        [{ today: '2027-01-01' }, []],
      ] as const) {
        const levels = compare(before, after, options).flatMap((group) => (group.rule === rule ? [group.level] : []))
        assert.deepEqual(levels, expected)
      }
    })
})
