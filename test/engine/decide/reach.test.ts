/** How far a change reaches: counts over all artifacts, and what is left of them within a scope. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { blastRadius } from '../../../engine/decide/blast-radius.ts'
import type { JudgedArtifact } from '../../../engine/decide/judgement.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'

const NO_PATTERNS = { patterns: [], pattern_sources: [], detected_patterns: [] }
const NOBODY = { declared: null, observed: null }

function judged(id: string, findings: readonly FakeFinding[], touched: readonly number[]): JudgedArtifact {
  const [endpoints = 0, fields = 0, params = 0] = touched
  const analysis = fakeAnalysis(id, findings)
  assert.ok(analysis.ok)
  const stats = { ...analysis.comparison.stats, touched: { endpoints, fields, params } }
  const { groups } = analysis.comparison
  const counted = { ...analysis, comparison: { ...analysis.comparison, stats } }
  return { analysis: counted, groups, patterns: NO_PATTERNS, judgements: [], unresolved: [] }
}

const at = (location: string, level: FakeFinding['level'], ...places: readonly string[]): FakeFinding => ({
  rule: `r${location.length}`,
  level,
  location,
  ...(places.length > 0 && { places }),
})

suite('the blast radius', () => {
  test('without a scope is the sum of what the comparisons counted; what could not be read counts nothing', () => {
    const artifacts = [judged('a', [], [1, 2, 3]), judged('b', [], [10, 20, 30])]
    const failed: JudgedArtifact = {
      analysis: failedAnalysis('c'),
      groups: [],
      patterns: NO_PATTERNS,
      judgements: [],
      unresolved: [],
    }
    assert.deepEqual(blastRadius([...artifacts, failed], false, NOBODY), {
      endpoints: 11,
      fields: 22,
      params: 33,
      consumers_declared: 0,
      consumers_observed: 0,
      graph_source: 'none',
    })
  })

  test('within a scope is what the findings that are left touch, each once', () => {
    const body = '/paths/~1a/post/requestBody/content/json/schema/properties/x'
    const findings = [
      at(body, 'breaking', 'POST /a', 'search'),
      at(`${body}/properties/y`, 'dangerous', 'POST /a'),
      at('/paths/~1a/post/parameters/0', 'dangerous', 'POST /a'),
      at('/info', 'breaking'),
      at('/paths/~1b/get/responses/200/properties/z', 'info', 'GET /b'),
    ]
    const { endpoints, fields, params } = blastRadius([judged('a', findings, [9, 9, 9])], true, NOBODY)
    assert.deepEqual({ endpoints, fields, params }, { endpoints: 2, fields: 2, params: 1 })
  })

  test('says where it knows consumers from', () => {
    const sources = [
      [{ declared: ['a', 'b'], observed: null }, 2, 0, 'declared'],
      [{ declared: null, observed: ['a'] }, 0, 1, 'observed'],
      [{ declared: [], observed: ['a'] }, 0, 1, 'declared+observed'],
    ] as const
    for (const [reach, declared, observed, source] of sources) {
      const radius = blastRadius([], false, reach)
      assert.deepEqual(
        [radius.consumers_declared, radius.consumers_observed, radius.graph_source],
        [declared, observed, source],
      )
    }
  })
})
