/** The risk score: weights, factors, and steps. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RISK_FACTORS } from '../../../engine/internal.ts'
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

  test('is zero when both sides were read and nothing was found', () => assert.equal(decideOn([]).risk_score, 0))

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

/** How many changes or places, and the points of the factor for them. */
type Scale = readonly (readonly [count: number, points: number])[]

const many = (count: number, of: (index: number) => FakeFinding): readonly FakeFinding[] =>
  Array.from({ length: count }, (_, index) => of(index))

/** Points of agents and of security where only these patterns were found. */
function under(...patterns: readonly string[]): unknown {
  const { risk_factors: factors } = decideOn([], { analyses: [fakeAnalysis('api', [], { patterns })] })
  return factors.filter(({ id }) => id === 'agent' || id === 'security').map(({ points: given }) => given)
}

suite('the published steps of a factor', () => {
  const levels: readonly (readonly [FakeFinding['level'], Scale])[] = [
    [
      'breaking',
      [
        [1, 51],
        [2, 54],
        [4, 54],
        [5, 57],
        [19, 57],
        [20, 60],
      ],
    ],
    [
      'dangerous',
      [
        [1, 30],
        [4, 30],
        [5, 36],
      ],
    ],
    [
      'info',
      [
        [1, 3],
        [9, 3],
      ],
    ],
  ]
  for (const [level, scale] of levels) {
    test(`hold for ${level} changes`, () => {
      for (const [count, expected] of scale)
        assert.equal(
          points(many(count, (index) => ({ rule: `r${index}`, level })))['severity'],
          expected,
          String(count),
        )
    })
  }

  test('hold for places', () => {
    const scale: Scale = [
      [1, 3],
      [2, 6],
      [5, 6],
      [6, 8],
      [20, 8],
      [21, 11],
      [100, 11],
      [101, 14],
    ]
    for (const [count, expected] of scale) {
      const places = Array.from({ length: count }, (_, index) => `GET /p${index}`)
      assert.equal(points([{ rule: 'r', level: 'dangerous', places }])['reach'], expected, String(count))
    }
  })

  test('are published as they are measured', () => {
    assert.deepEqual(
      RISK_FACTORS.map(({ id, weight, scale }) => [id, weight, scale.map(({ share }) => share)]),
      [
        ['severity', 60, [100, 95, 90, 85, 60, 50, 5]],
        ['reach', 14, [100, 80, 60, 40, 20]],
        ['agent', 12, [100, 60]],
        ['security', 8, [100]],
        ['evidence', 6, [100, 50, 0]],
      ],
    )
  })

  test('of agents count tools that break or change, and patterns of theirs', () => {
    assert.equal(points([{ rule: 'r', level: 'breaking', places: ['search'] }])['agent'], 12)
    assert.equal(points([{ rule: 'r', level: 'dangerous', places: ['search'] }])['agent'], 7)
    assert.equal(points([{ rule: 'r', level: 'info', places: ['search'] }])['agent'], 0)
    assert.deepEqual(under('TOOL_REMOVED'), [7, 0])
    assert.deepEqual(under('AGENT_PROTOCOL_DRIFT'), [7, 0])
    assert.deepEqual(under('ENDPOINT_REMOVED'), [0, 0])
    assert.deepEqual(under('AUTH_REQUIRED_ADDED'), [0, 8])
    assert.deepEqual(under('TOOL_POISONING_SUSPECTED'), [7, 8])
  })
})
