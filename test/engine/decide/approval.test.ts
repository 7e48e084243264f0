/** An approval lowers what waits for one, to WARN, in sight, and no longer than it holds; nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ApprovalFacts } from '../../../engine/internal.ts'
import { decideOn, fakePolicy, issueOn, NOW } from '../../fakes/decisions.ts'

const GRANT: ApprovalFacts = { state: 'granted', id: 'apr_1', approver: 'v:0123456789ab', until: NOW + 600 }
const DANGEROUS = [{ rule: 'mcp-tool-description-changed', level: 'dangerous' }] as const

suite('an approval', () => {
  test('that is granted turns REQUIRE_APPROVAL into a WARN that says so first and keeps the reasons', () => {
    const held = decideOn(DANGEROUS)
    const verdict = decideOn(DANGEROUS, { approval: GRANT })
    assert.equal(verdict.decision, 'WARN')
    assert.equal(verdict.execution_action, 'CONTINUE_WITH_MONITORING')
    assert.deepEqual(
      verdict.warnings.map(({ code }) => code),
      ['APPROVED_EXCEPTION', ...held.blocking_reasons.map(({ code }) => code)],
    )
    assert.match(verdict.warnings[0]?.message ?? '', /v:0123456789ab .*2026-11-21T04:10:00Z.*apr_1/)
    assert.deepEqual(verdict.blocking_reasons, [])
    assert.ok(verdict.next_actions.every(({ required }) => !required))
    assert.deepEqual(
      verdict.evidence.filter(({ type }) => type === 'APPROVAL').map(({ source }) => source),
      ['apr_1'],
    )
    assert.notEqual(verdict.fingerprint, held.fingerprint)
    assert.equal(issueOn(verdict).envelope.execution_action, 'CONTINUE_WITH_MONITORING')
  })

  test('bounds the validity of the decision by its own end, and does not stretch it', () => {
    assert.equal(decideOn(DANGEROUS, { approval: GRANT }).ttl_seconds, 600)
    const far = { ...GRANT, until: NOW + 999_999 }
    assert.equal(decideOn(DANGEROUS, { approval: far }).ttl_seconds, 14_400)
    assert.equal(decideOn([], { approval: GRANT }).ttl_seconds, 14_400)
  })

  test('does nothing for a BLOCK, nor for what needs none', () => {
    const blocked = [...DANGEROUS, { rule: 'api-removed-without-deprecation', level: 'breaking' }] as const
    assert.deepEqual(decideOn(blocked, { approval: GRANT }), decideOn(blocked))
    assert.deepEqual(decideOn([], { approval: GRANT }), decideOn([]))
  })

  test('that is only asked for says where, and holds up as before', () => {
    const approval: ApprovalFacts = { state: 'requested', id: 'apr_2', address: '/api/v1/approvals/apr_2' }
    const verdict = decideOn(DANGEROUS, { approval })
    assert.equal(verdict.decision, 'REQUIRE_APPROVAL')
    assert.equal(verdict.fingerprint, decideOn(DANGEROUS).fingerprint)
    const [first] = verdict.next_actions
    assert.deepEqual([first?.type, first?.target], ['REQUEST_APPROVAL', '/api/v1/approvals/apr_2'])
    assert.equal(verdict.evidence.find(({ type }) => type === 'APPROVAL')?.source, 'apr_2')
  })

  test('leaves what could not be judged in sight', () => {
    const policy = fakePolicy({
      on_incomplete: 'REQUIRE_APPROVAL',
      rules: [{ id: 'fails', when: 'context.environment.startsWith("p")', then: 'BLOCK' }],
    })
    const verdict = decideOn(DANGEROUS, { approval: GRANT, policy })
    assert.equal(verdict.decision, 'WARN')
    assert.equal(verdict.analysis_complete, false)
    assert.deepEqual(
      verdict.warnings.slice(0, 2).map(({ code }) => code),
      ['APPROVED_EXCEPTION', 'ANALYSIS_INCOMPLETE'],
    )
    assert.ok(verdict.degraded_reasons.length > 0)
  })
})
