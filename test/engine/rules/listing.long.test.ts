/** A flood of changes: what is listed of it is bounded, every number is exact, and no order of keys shows. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, countFindings, type Comparison, type FindingGroup } from '../../../engine/internal.ts'
import { reachedConsumers } from '../../../engine/decide/consumers.ts'
import { MAX_CHANGES, MAX_PLACES } from '../../../engine/rules/findings/listing.ts'
import { diffReport } from '../../../gateway/report/diff-report.ts'
import { ignoreFindings } from '../../../gateway/report/ignore-list.ts'
import { fakeAnalysis, fakeGroup } from '../../fakes/comparisons.ts'
import { decideOn } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

type Members = Readonly<Record<string, unknown>>

function members(count: number, of: (index: number) => unknown, isReversed: boolean): Members {
  const indices = Array.from({ length: count }, (_, index) => (isReversed ? count - 1 - index : index))
  return Object.fromEntries(indices.map((index) => [`m${index}`, of(index)]))
}

/** `uses` operations answer with one component of `properties` properties. */
function contract(uses: number, properties: number, type: string, isReversed = false): string {
  const schema = { $ref: '#/components/schemas/Thing' }
  const responses = { 200: { description: 'done', content: { 'application/json': { schema } } } }
  const paths = Object.entries(members(uses, () => ({ get: { responses } }), isReversed))
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: Object.fromEntries(paths.map(([name, item]) => [`/${name}`, item])),
    components: {
      schemas: { Thing: { type: 'object', properties: members(properties, () => ({ type }), isReversed) } },
    },
  })
}

function compared(before: string, after: string): Comparison {
  const result = compare({ id: 'x', type: 'openapi', before, after }, {}, sha256)
  assert.ok(result.ok)
  return result.value
}

function listedIn(groups: readonly FindingGroup[]): number {
  return groups.reduce((sum, { occurrences }) => sum + occurrences.length, 0)
}

const withoutLines = ({ groups }: Comparison) => groups.map((group) => ({ ...group, line: 0, column: 0 }))
const reported = ({ groups }: Comparison) =>
  groups.map(({ id, level, message, unlisted }) => [id, level, message, unlisted])

suite('one component in very many places', () => {
  const [uses, properties] = [600, 400]
  const comparison = compared(contract(uses, properties, 'string'), contract(uses, properties, 'integer'))

  test('is listed up to a bound, and counted to the last place', () => {
    assert.equal(comparison.groups.length, properties)
    assert.ok(uses * properties > 2 * MAX_PLACES)
    assert.ok(listedIn(comparison.groups) <= MAX_PLACES)
    const report = diffReport(comparison, 100)
    assert.equal(report.summary.breaking, uses * properties)
    assert.equal(report.truncated, uses * properties - 100)
    assert.ok(report.groups.every(({ count }) => count === uses))
    assert.deepEqual(comparison.stats.touched, { endpoints: uses, fields: uses * properties, params: 0 })
  })

  test('is reported alike in every order of keys', () => {
    const reversed = compared(contract(uses, properties, 'string', true), contract(uses, properties, 'integer', true))
    assert.deepEqual(withoutLines(reversed), withoutLines(comparison))
  })
})

suite('very many changes', () => {
  const count = MAX_CHANGES + 30_000
  const enumOf = (prefix: string, isReversed = false): string => {
    const values = Array.from({ length: count }, (_, index) => `${prefix}${isReversed ? count - 1 - index : index}`)
    const schema = { type: 'string', enum: values }
    const responses = { 200: { description: 'done', content: { 'application/json': { schema } } } }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/x': { get: { responses } } },
    })
  }
  const comparison = compared(enumOf('a'), enumOf('b'))

  test('are listed up to a bound; the rest is one group a rule, with their number', () => {
    assert.ok(comparison.groups.length <= MAX_CHANGES + 2)
    const { summary } = diffReport(comparison, 10)
    assert.equal(countFindings(comparison.groups), 2 * count)
    assert.equal(summary.breaking + summary.dangerous + summary.info, 2 * count)
    const rest = comparison.groups.filter(({ unlisted = 0 }) => unlisted > 0)
    assert.equal(
      rest.reduce((sum, { unlisted = 0 }) => sum + unlisted + 1, 0),
      2 * count - MAX_CHANGES,
    )
    for (const { message, occurrences } of rest) {
      assert.match(message, /\d+ more findings of the rule `response-/)
      assert.deepEqual(
        occurrences.map(({ operation }) => operation),
        [null],
      )
    }
  })

  test('are reported alike in every order', () => {
    const reversed = compared(enumOf('a', true), enumOf('b', true))
    assert.deepEqual(reported(reversed), reported(comparison))
  })
})

suite('very many changes in many schemas', () => {
  const lists = 300
  const valuesEach = 100
  const withLists = (prefix: string, isReversed = false): string => {
    const listOf = (list: number): unknown => ({
      type: 'string',
      enum: Array.from(
        { length: valuesEach },
        (_, index) => `${prefix}${list}-${isReversed ? valuesEach - 1 - index : index}`,
      ),
    })
    const schema = { type: 'object', properties: members(lists, listOf, isReversed) }
    const requestBody = { content: { 'application/json': { schema } } }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/x': { post: { requestBody, responses: { 200: { description: 'done' } } } } },
    })
  }
  const comparison = compared(withLists('a'), withLists('b'))

  test('are counted to the last, though most are not held one by one', () => {
    assert.equal(countFindings(comparison.groups), 2 * lists * valuesEach)
    assert.equal(countFindings(comparison.groups, 'breaking'), lists * valuesEach)
    assert.deepEqual(comparison.stats.touched, { endpoints: 1, fields: lists, params: 0 })
  })

  test('are reported alike in every order', () => {
    const reversed = compared(withLists('a', true), withLists('b', true))
    assert.deepEqual(reported(reversed), reported(comparison))
  })

  test('that are properties with other names are counted to the last, too', () => {
    const count = 30_000
    const named = (prefix: string): string => {
      const properties = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`${prefix}${index}`, { type: 'string' }]),
      )
      return JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties })
    }
    const result = compare({ id: 'x', type: 'json_schema', before: named('a'), after: named('b') }, {}, sha256)
    assert.ok(result.ok)
    assert.equal(countFindings(result.value.groups), 2 * count)
  })
})

suite('places that are only counted', () => {
  const group = {
    ...fakeGroup({ rule: 'response-property-removed', level: 'breaking', places: ['GET /a'] }),
    unlisted: 9,
  }
  const uses = [{ artifact: null, operation: 'GET /elsewhere', tool: null }]

  test('may be those of every consumer', () => {
    const consumers = [{ name: 'web', uses }]
    assert.deepEqual(reachedConsumers(consumers, [{ id: 'api', groups: [group] }]), ['web'])
    assert.deepEqual(reachedConsumers(consumers, [{ id: 'api', groups: [{ ...group, level: 'info' }] }]), [])
  })

  test('are in every scope, so that a call of an operation that is not listed is stopped, too', () => {
    const finding = { rule: 'response-property-removed', level: 'breaking', places: ['GET /a'] } as const
    const scope = { method: 'GET', path: '/elsewhere' }
    assert.equal(decideOn([finding], { scope }).decision, 'ALLOW')
    const analysis = fakeAnalysis('api', [finding])
    assert.ok(analysis.ok)
    const analyses = [{ ...analysis, comparison: { ...analysis.comparison, groups: [group] } }]
    const verdict = decideOn([], { scope, analyses })
    assert.equal(verdict.decision, 'BLOCK')
    assert.equal(verdict.artifacts[0]?.breaking_changes, 10)
  })

  test('stay when an ignore list takes the listed ones by name, and go with an entry of the whole rule', () => {
    const comparison: Comparison = {
      groups: [group],
      patterns: [],
      pattern_sources: [],
      detected_patterns: [],
      unresolved: [],
      reads_day: false,
      stats: { operations: { base: 1, head: 1 }, schemas_compared: 0, touched: { endpoints: 0, fields: 0, params: 0 } },
      spec_versions: { base: '3.0.3', head: '3.0.3' },
    }
    const entry = { reason: 'known', place: 'list:1:1' }
    const byName = ignoreFindings(comparison, [{ ...entry, path: '/a' }], '2026-01-01')
    assert.equal(countFindings(byName.comparison.groups), 9)
    const byRule = ignoreFindings(comparison, [{ ...entry, rule: group.rule }], '2026-01-01')
    assert.equal(countFindings(byRule.comparison.groups), 0)
    assert.equal(byRule.ignored[0]?.group.count, 10)
  })
})
