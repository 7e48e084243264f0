/** Properties of every verdict, on random findings. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { DECISION_CLASSES, type ArtifactAnalysis, type Level, type Verdict } from '../../../engine/internal.ts'
import { failedAnalysis, fakeAnalysis } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy, issueOn } from '../../fakes/decisions.ts'

const finding = fc.record({
  rule: fc.constantFrom('api-removed', 'default-changed', 'endpoint-deprecated', 'mcp-tool-added'),
  level: fc.constantFrom<Level>('breaking', 'dangerous', 'info'),
  location: fc.constantFrom('/a', '/b', '/c'),
  places: fc.uniqueArray(fc.constantFrom('GET /a', 'PUT /b', 'search', 'fetch'), { minLength: 1 }),
})

const analysis: fc.Arbitrary<ArtifactAnalysis> = fc
  .tuple(fc.boolean(), fc.constantFrom('a', 'b', 'c', 'd'), fc.array(finding, { maxLength: 6 }))
  .map(([isRead, id, findings]) => (isRead ? fakeAnalysis(id, findings) : failedAnalysis(id)))

const analyses = fc.uniqueArray(analysis, { selector: ({ id }) => id, maxLength: 4 })

const POLICIES = [{}, { mode: 'observe' }, { on_incomplete: 'WARN' }, { on_incomplete: 'REQUIRE_APPROVAL' }].map(
  (pack) => fakePolicy(pack),
)
const policy = fc.constantFrom(...POLICIES)

const strictness = ({ decision }: Verdict) => DECISION_CLASSES[decision].strictness

suite('for whatever findings', () => {
  test('the verdict may be issued, and is never ALLOW without an analysis', () => {
    fc.assert(
      fc.property(analyses, policy, (given, under) => {
        const verdict = decideOn([], { analyses: given, policy: under })
        issueOn(verdict)
        const isWhole = given.length > 0 && given.every(({ ok }) => ok)
        assert.equal(verdict.analysis_complete, isWhole)
        assert.ok(isWhole || verdict.decision !== 'ALLOW')
      }),
    )
  })

  test('the verdict is the same, byte for byte, in whatever order the artifacts come', () => {
    fc.assert(
      fc.property(analyses, policy, (given, under) => {
        const orders = [given, [...given].reverse()]
        const [one, other] = orders.map((order) => JSON.stringify(decideOn([], { analyses: order, policy: under })))
        assert.equal(one, other)
      }),
    )
  })

  test('one more finding never makes the decision laxer, nor the risk smaller', () => {
    fc.assert(
      fc.property(fc.array(finding, { maxLength: 5 }), finding, (findings, more) => {
        const fewer = decideOn(findings)
        const all = decideOn([...findings, more])
        assert.ok(strictness(all) >= strictness(fewer))
        assert.ok(all.risk_score >= fewer.risk_score)
      }),
    )
  })
})
