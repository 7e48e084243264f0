/** What a consumer does with a decision: run, monitor, or stop. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  directiveOf,
  EXECUTION_ACTIONS,
  mayProceed,
  readDecision,
  type AttemptFacts,
  type DecisionReading,
  type Permission,
} from '../../../engine/internal.ts'
import type { FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, digest, issueOn, NOW } from '../../fakes/decisions.ts'

const HELD: AttemptFacts = {
  now: NOW,
  inputFingerprint: digest('input'),
  currentlyAuthorized: true,
  isMonitoringWired: true,
}
const FINDINGS: Readonly<Record<string, readonly FakeFinding[]>> = {
  ALLOW: [],
  WARN: [{ rule: 'x-deprecated', level: 'info' }],
  REQUIRE_APPROVAL: [{ rule: 'x', level: 'dangerous' }],
  BLOCK: [{ rule: 'x', level: 'breaking' }],
}
const envelopeOf = (decision: string) => issueOn(decideOn(FINDINGS[decision] ?? [])).envelope
const ALLOWED = envelopeOf('ALLOW')

const SOURCE = { name: 'X', source: 'contract_diff', evidence_kind: 'measured' }

function codeOf(permission: Permission): string {
  return permission.proceed ? 'proceed' : `${permission.directive} ${permission.reason.code}`
}

function act(envelope: unknown, changes: Partial<AttemptFacts> = {}): string {
  return codeOf(mayProceed(readDecision(envelope), { ...HELD, ...changes }))
}

suite('each decision class, all else in order', () => {
  for (const [decision, outcome] of [
    ['ALLOW', 'proceed'],
    ['WARN', 'proceed'],
    ['REQUIRE_APPROVAL', 'REQUEST_APPROVAL APPROVAL_REQUIRED'],
    ['BLOCK', 'STOP STOPPED'],
  ] as const) {
    test(`${decision}: ${outcome}`, () => assert.equal(act(envelopeOf(decision)), outcome))
  }

  test('monitoring is asked for by WARN only, under the correlation id', () => {
    const permissions = ['ALLOW', 'WARN'].map((decision) => mayProceed(readDecision(envelopeOf(decision)), HELD))
    assert.deepEqual(permissions, [
      { proceed: true, monitor: false, correlationId: 'cor_1' },
      { proceed: true, monitor: true, correlationId: 'cor_1' },
    ])
  })
})

suite('a permitting decision still stops', () => {
  for (const [what, decision, changes, code] of [
    ['once it has expired', 'ALLOW', { now: NOW + 14_400 }, 'DECISION_EXPIRED'],
    ['when the clock cannot be read', 'ALLOW', { now: Number.NaN }, 'DECISION_EXPIRED'],
    ['for another input', 'ALLOW', { inputFingerprint: digest('other') }, 'INPUT_FINGERPRINT_MISMATCH'],
    ['when the receipt does not authorize', 'ALLOW', { currentlyAuthorized: false }, 'RECEIPT_NOT_AUTHORIZED'],
    ['when the verification said nothing', 'ALLOW', { currentlyAuthorized: null }, 'RECEIPT_NOT_AUTHORIZED'],
    ['when monitoring is asked for and nobody listens', 'WARN', { isMonitoringWired: false }, 'MONITORING_UNWIRED'],
  ] as const) {
    test(what, () => assert.equal(act(envelopeOf(decision), changes), `STOP ${code}`))
  }

  test('unless nobody has to listen', () => assert.equal(act(ALLOWED, { isMonitoringWired: false }), 'proceed'))
})

suite('a decision that is not to be believed is a stop', () => {
  const receipt = { ...ALLOWED.receipt }
  for (const [what, envelope, code] of [
    ['no object', 'ALLOW', 'DECISION_MALFORMED'],
    ['null', null, 'DECISION_MALFORMED'],
    ['of another major version', { ...ALLOWED, spec_version: 'decision-result.v2' }, 'DECISION_MALFORMED'],
    ['with an unknown directive', { ...ALLOWED, execution_action: 'CONTINUE_QUIETLY' }, 'DECISION_MALFORMED'],
    ['with an unknown decision', { ...ALLOWED, decision: 'PASS' }, 'DECISION_MALFORMED'],
    ['whose directive does not fit its decision', { ...ALLOWED, decision: 'BLOCK' }, 'DECISION_MALFORMED'],
    ['whose legacy flag does not fit', { ...ALLOWED, safe_for_agent: false }, 'DECISION_MALFORMED'],
    ['that allows without a whole analysis', { ...ALLOWED, analysis_complete: false }, 'DECISION_MALFORMED'],
    ['with a confidence that nobody calibrated', { ...ALLOWED, confidence: 0.9 }, 'DECISION_MALFORMED'],
    ['that allows and warns', { ...ALLOWED, warnings: [{ code: 'X_X', message: 'm' }] }, 'DECISION_MALFORMED'],
    ['that is unbound and has a branch', { ...ALLOWED, branch: 'main' }, 'DECISION_MALFORMED'],
    [
      'with a source of an unknown pattern',
      { ...ALLOWED, patterns: [], pattern_sources: [SOURCE] },
      'DECISION_MALFORMED',
    ],
    [
      'with a source of a row that is not there',
      { ...ALLOWED, detected_patterns: [], pattern_sources: [{ ...SOURCE, detected_pattern_indices: [0] }] },
      'DECISION_MALFORMED',
    ],
    [
      'with labels of codes that are not there',
      { ...ALLOWED, pattern_sources: [{ ...SOURCE, evidence_kind: 'derived', basis_code_labels: ['x'] }] },
      'DECISION_MALFORMED',
    ],
    [
      'with the authority of somebody else',
      { ...ALLOWED, authority: { audience: 'v:ffffffffffff', tenant_scope: 'unbound' } },
      'DECISION_MALFORMED',
    ],
    ['that ends before it begins', { ...ALLOWED, expires_at: ALLOWED.evaluated_at }, 'DECISION_MALFORMED'],
    ['without a receipt', { ...ALLOWED, receipt: undefined }, 'DECISION_MALFORMED'],
    [
      'with a receipt of an unknown format',
      { ...ALLOWED, receipt: { ...receipt, format_version: 'v9' } },
      'RECEIPT_FORMAT_UNKNOWN',
    ],
  ] as const) {
    test(what, () => assert.equal(act(envelope), `STOP ${code}`))
  }

  test('whatever value of the wrong kind stands in a member that is branched on', () => {
    const member = fc.constantFrom(
      'decision',
      'execution_action',
      'safe_for_agent',
      'analysis_complete',
      'expires_at',
      'receipt',
    )
    fc.assert(
      fc.property(member, fc.jsonValue(), (name, value) => {
        fc.pre(JSON.stringify(value) !== JSON.stringify(Object.entries(ALLOWED).find(([key]) => key === name)?.[1]))
        const permission = act({ ...ALLOWED, [name]: value }, { now: NOW + 14_399 })
        assert.ok(permission.startsWith('STOP'), permission)
      }),
    )
  })
})

const reading = (changes: object): DecisionReading => readDecision({ ...ALLOWED, ...changes })

suite('what later versions add', () => {
  test('is tolerated: unknown members, action types, evidence types and severities', () => {
    const next = { type: 'CALL_HOME', instruction: 'x', required: false, until: 1 }
    const evidence = [{ type: 'ORACLE', source: 's', finding: 'f', severity: 'APOCALYPTIC', weight: 2 }]
    assert.ok(reading({ later: true, next_actions: [next], evidence }).ok)
    assert.ok(reading({ spec_version: 'decision-result.v1.7' }).ok)
  })

  test('is not a permission', () => {
    assert.equal(act({ ...envelopeOf('BLOCK'), may_execute: true, override: 'ALLOW' }), 'STOP STOPPED')
  })
})

/** Proceeds, is monitored, is held. */
const reported = (action: string) => {
  const { proceeds, isMonitored, isHeld } = directiveOf(action)
  return [proceeds, isMonitored, isHeld]
}

suite('a directive', () => {
  test('permits as docs/reference/envelope.md says, and one that is not known permits nothing', () => {
    assert.deepEqual(reported('CONTINUE'), [true, false, false])
    assert.deepEqual(reported('CONTINUE_WITH_MONITORING'), [true, true, false])
    assert.deepEqual(reported('REQUEST_APPROVAL'), [false, false, true])
    for (const action of ['STOP', 'CONTINUE ', 'continue', '', 'constructor', '__proto__', 'PROCEED'])
      assert.deepEqual(reported(action), [false, false, false], action)
    const ordered = EXECUTION_ACTIONS.toSorted((a, b) => directiveOf(a).strictness - directiveOf(b).strictness)
    assert.deepEqual(ordered, ['CONTINUE', 'CONTINUE_WITH_MONITORING', 'REQUEST_APPROVAL', 'STOP'])
  })
})
