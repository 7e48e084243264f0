import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RISK_FACTORS } from '../../../engine/index.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn } from '../../fakes/decisions.ts'

const points = (findings: readonly FakeFinding[]) =>
  Object.fromEntries(decideOn(findings).risk_factors.map((factor) => [factor.id, factor.points]))

suite('the risk score', () => {
  test('has weights that sum to a hundred', () => {
    assert.equal(
      RISK_FACTORS.reduce((sum, { weight }) => sum + weight, 0),
      100,
    )
  })

  test('is nought when both sides were read and nothing was found', () => assert.equal(decideOn([]).risk_score, 0))

  test('is the sum of the factors that the answer shows', () => {
    const verdict = decideOn([{ rule: 'api-security-removed', level: 'breaking', places: ['search', 'fetch'] }])
    assert.equal(
      verdict.risk_score,
      verdict.risk_factors.reduce((sum, factor) => sum + factor.points, 0),
    )
    assert.deepEqual(
      verdict.risk_factors.map(({ id, points: given }) => [id, given]),
      [
        ['severity', 51],
        ['reach', 6],
        ['agent', 12],
        ['security', 8],
        ['evidence', 0],
      ],
    )
  })

  test('orders the levels, and more of one over less', () => {
    const steps: readonly (readonly FakeFinding[])[] = [
      [],
      [{ rule: 'a', level: 'info' }],
      [{ rule: 'a', level: 'dangerous' }],
      [{ rule: 'a', level: 'breaking' }],
      Array.from({ length: 20 }, (_, index) => ({ rule: `r${index}`, level: 'breaking' })),
    ]
    const scores = steps.map((findings) => decideOn(findings).risk_score)
    assert.deepEqual(
      scores,
      [...new Set(scores)].sort((a, b) => a - b),
    )
  })

  test('is higher for what could not be looked at', () => {
    const scores = [
      fakeAnalysis('a', []),
      fakeAnalysis('a', [], { spec_versions: { base: null, head: '3.0.3' } }),
      failedAnalysis('a'),
    ].map((analysis) => decideOn([], { analyses: [analysis] }).risk_score)
    assert.deepEqual(scores, [0, 3, 6])
  })

  test('knows a tool from an ordinary operation', () => {
    const [tool, operation] = ['search', 'GET /pets'].map((place) =>
      points([{ rule: 'x', level: 'breaking', places: [place] }]),
    )
    assert.deepEqual([tool?.['agent'], operation?.['agent']], [12, 0])
  })
})
