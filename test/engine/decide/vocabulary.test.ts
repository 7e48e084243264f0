/** The closed words of decisions and what they direct, literally as docs/reference/envelope.md has them: a slip in a table is a slip on the wire. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DECISION_CLASSES, DIRECTIVES, directiveOf, stricterDecision } from '../../../engine/model/decision.ts'
import * as vocabulary from '../../../engine/decide/envelope-vocabulary.ts'
import { capped, clip, counted } from '../../../engine/decide/text.ts'

suite('a decision', () => {
  test('directs what docs/reference/envelope.md says of its class', () => {
    assert.deepEqual(DECISION_CLASSES, {
      ALLOW: { action: 'CONTINUE', safeForAgent: true, strictness: 0 },
      WARN: { action: 'CONTINUE_WITH_MONITORING', safeForAgent: true, strictness: 1 },
      REQUIRE_APPROVAL: { action: 'REQUEST_APPROVAL', safeForAgent: false, strictness: 2 },
      BLOCK: { action: 'STOP', safeForAgent: false, strictness: 3 },
    })
  })

  test('proceeds by two directives, under a watch by one of them, and waits for a person by a third', () => {
    assert.deepEqual(DIRECTIVES, {
      CONTINUE: { proceeds: true, isMonitored: false, isHeld: false, strictness: 0 },
      CONTINUE_WITH_MONITORING: { proceeds: true, isMonitored: true, isHeld: false, strictness: 1 },
      REQUEST_APPROVAL: { proceeds: false, isMonitored: false, isHeld: true, strictness: 2 },
      STOP: { proceeds: false, isMonitored: false, isHeld: false, strictness: 3 },
    })
  })

  test('is STOP by a directive that nobody knows, however like a known one', () => {
    for (const action of ['', 'continue', 'CONTINUE ', 'GO', 'toString', '__proto__'])
      assert.equal(directiveOf(action), DIRECTIVES.STOP, action)
    for (const [action, directive] of Object.entries(DIRECTIVES)) assert.equal(directiveOf(action), directive)
  })

  test('of two, the stricter one stands', () => {
    const order = ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK'] as const
    for (const [a, one] of order.entries())
      for (const [b, other] of order.entries()) assert.equal(stricterDecision(one, other), order[Math.max(a, b)])
  })
})

test('the closed words and bounds of an envelope are those that were published', () => {
  assert.deepEqual(
    { ...vocabulary },
    {
      EVIDENCE_QUALITIES: ['LOW', 'MEDIUM', 'HIGH'],
      SEVERITIES: ['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'],
      COMPLETENESS_MODES: [
        'UNBOUND',
        'ATTESTED_UNVERIFIED',
        'BOUND_ATTESTED',
        'SERVER_DERIVED',
        'CROSS_VERIFIED',
        'DIVERGED',
        'UNESTABLISHABLE',
      ],
      NEXT_ACTION_TYPES: ['VERIFY_RECEIPT', 'MONITOR', 'REQUEST_APPROVAL', 'REMEDIATE', 'FIX_INPUT', 'REEVALUATE'],
      PRECONDITIONS: ['INPUT_CHANGED', 'POLICY_CHANGED', 'APPROVAL_GRANTED', 'WAIVER_GRANTED'],
      REQUIRED_ACTION_TYPES: [
        'none',
        'proceed_with_note',
        're_preflight',
        'fix_coverage',
        'remediate_or_revert',
        'revert',
        'request_approval',
      ],
      REQUIRED_ACTION_CHOICES: [
        'continue_monitor',
        're_preflight',
        'obtain_human_approval',
        'revert',
        'migrate',
        'fix_input',
        'escalate',
        'verify_receipt',
        're_preflight_deploy',
      ],
      AGENT_STEPS: ['re_preflight', 'revert', 'migrate', 'escalate', 'await_approval'],
      ENVELOPE_BOUNDS: {
        reasons: 50,
        degradedReasons: 20,
        evidence: 100,
        nextActions: 25,
        summary: 500,
        requiredAction: 500,
        instruction: 500,
        target: 500,
        message: 300,
        source: 300,
        finding: 500,
      },
    },
  )
})

const omitted = (count: number): string => `and ${count} more`

suite('a text within bounds', () => {
  test('is never empty, and cut where it is longer', () => {
    assert.equal(clip('', 5), '-')
    assert.equal(clip('abcde', 5), 'abcde')
    assert.equal(clip('abcdef', 5), 'abcd…')
  })

  test('keeps no half of a character', () => {
    assert.equal(clip('abc😀def', 5), 'abc…')
    assert.equal(clip('ab😀def', 5), 'ab😀…')
    assert.equal(clip('\ud83d', 5), '\ufffd')
  })

  test('counts one by itself', () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => counted(count, 'change')),
      ['0 changes', '1 change', '2 changes'],
    )
  })

  test('lists say how many they leave out', () => {
    assert.deepEqual(capped(['a', 'b', 'c'], 3, omitted), ['a', 'b', 'c'])
    assert.deepEqual(capped(['a', 'b', 'c', 'd'], 3, omitted), ['a', 'b', 'and 2 more'])
  })
})
