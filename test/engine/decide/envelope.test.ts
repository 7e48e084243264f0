/** Rules of the envelope that its JSON Schema cannot express. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  buildEnvelope,
  decisionResultConsumerSchema,
  decisionResultProducerSchema,
  EMPTY_CONTEXT,
  EnvelopeInvariantError,
  type Envelope,
  type EnvelopeDraft,
  type Reconciliation,
  type Verdict,
} from '../../../engine/internal.ts'
import { checkConsumerForm, checkProducerForm } from '../../../engine/decide/envelope-check.generated.js'
import { envelopeViolations } from '../../../engine/decide/envelope-rules.ts'
import { decideOn, issueOn, NOW } from '../../fakes/decisions.ts'
import { listAt } from '../../json.ts'
import { BREACHES, FINDINGS, issued, reason } from './breaches.ts'

/** The published schemas, compiled here and now: an independent reading of what the committed code checks. */
const ajv = new Ajv2020({ strictTypes: false, strictRequired: false, allErrors: true })
const READINGS = [
  { form: 'producer', published: ajv.compile(decisionResultProducerSchema), committed: checkProducerForm },
  { form: 'consumer', published: ajv.compile(decisionResultConsumerSchema), committed: checkConsumerForm },
] as const

function holds(decision: string, changes: Partial<EnvelopeDraft>): boolean {
  return envelopeViolations({ ...issued(decision), ...changes }).length === 0
}

function evidence(type: string, severity: 'HIGH' | 'CRITICAL' | 'MEDIUM'): Partial<EnvelopeDraft> {
  return { evidence: [{ type, source: 's', finding: 'f', severity }] }
}

function action(type: 'REQUEST_APPROVAL' | 'REEVALUATE', required: boolean): Envelope['next_actions'][number] {
  return { type, instruction: 'i', target: null, required, precondition: null }
}

suite('what a JSON Schema cannot say of an envelope', () => {
  test('an unbound source has no slot that is filled, a declared one has any', () => {
    for (const slot of ['repository', 'branch', 'pull_request', 'base', 'head'] as const) {
      assert.ok(!holds('ALLOW', { srcmode: 'unbound', [slot]: 'x' }), slot)
      assert.ok(holds('ALLOW', { srcmode: 'declared', [slot]: 'x' }), slot)
    }
    assert.ok(holds('ALLOW', { srcmode: 'unbound' }))
    assert.ok(!holds('ALLOW', { srcmode: 'declared' }))
  })

  test('severe evidence of an ALLOW needs a rule, that of a BLOCK none', () => {
    for (const severity of ['HIGH', 'CRITICAL'] as const) {
      assert.ok(!holds('ALLOW', evidence('X', severity)), severity)
      assert.ok(holds('ALLOW', evidence('POLICY_RULE', severity)), severity)
      assert.ok(holds('BLOCK', evidence('X', severity)), severity)
    }
    assert.ok(holds('ALLOW', evidence('X', 'MEDIUM')))
  })

  test('REQUIRE_APPROVAL asks for the approval itself, and requires it', () => {
    assert.ok(holds('REQUIRE_APPROVAL', { next_actions: [action('REQUEST_APPROVAL', true)] }))
    assert.ok(!holds('REQUIRE_APPROVAL', { next_actions: [action('REEVALUATE', true)] }))
    const optional = [action('REQUEST_APPROVAL', false), action('REEVALUATE', true)]
    assert.ok(!holds('REQUIRE_APPROVAL', { next_actions: optional }))
    assert.ok(holds('BLOCK', { next_actions: [action('REEVALUATE', true)] }))
  })

  test('a change set that the gateway listed itself says so whole: commits, binding and commitment', () => {
    const hash = `sha256:${'a'.repeat(64)}` as const
    const whole = {
      completeness_mode: 'SERVER_DERIVED',
      derivation: { source: 'scm_a_compare', base_sha: 'a', head_sha: 'b' },
      binding: { proven: true, proven_at: '2026-11-21T04:00:00Z' },
      authority: { audience: issued('ALLOW').audience ?? null, tenant_scope: 'bound' },
      change_set_commitment: hash,
    } as const
    assert.deepEqual(envelopeViolations({ ...issued('ALLOW'), ...whole }), [])
    for (const part of ['derivation', 'binding', 'change_set_commitment'] as const)
      assert.ok(!holds('ALLOW', { ...whole, [part]: null }), part)
    assert.ok(!holds('ALLOW', { ...whole, authority: { ...whole.authority, tenant_scope: 'unbound' } }))
    assert.ok(!holds('ALLOW', { completeness_mode: 'UNBOUND', change_set_commitment: hash }))
    assert.ok(holds('ALLOW', { completeness_mode: 'ATTESTED_UNVERIFIED', change_set_commitment: hash }))
  })

  test('a pattern source is about a pattern that is carried, and authority about the audience', () => {
    const source = { name: 'FIELD_REMOVED', source: 'contract_diff', evidence_kind: 'measured' } as const
    assert.ok(holds('BLOCK', { patterns: ['FIELD_REMOVED'], pattern_sources: [source] }))
    assert.ok(!holds('BLOCK', { patterns: [], pattern_sources: [source] }))
    assert.ok(holds('BLOCK', { patterns: null, pattern_sources: [source] }))
    const authority = { audience: 'v:0123456789ab', tenant_scope: 'unbound' } as const
    assert.ok(holds('ALLOW', { audience: 'v:0123456789ab', authority }))
    assert.ok(!holds('ALLOW', { audience: null, authority }))
  })
})

suite('what is issued meets the schemas that are published', () => {
  for (const decision of Object.keys(FINDINGS)) {
    for (const { form, published, committed } of READINGS) {
      test(`${decision}, ${form} form`, () => {
        const envelope: unknown = JSON.parse(JSON.stringify(issued(decision)))
        assert.equal(published(envelope), true, JSON.stringify(published.errors))
        assert.ok(committed(envelope).ok)
      })
    }
  }
})

suite('what breaks a rule of the interface does not meet them', () => {
  for (const { what, decision, changes, tolerated } of BREACHES) {
    test(what, () => {
      const envelope = { ...issued(decision), ...changes }
      const verdicts = READINGS.map(({ published, committed }) => [published(envelope), committed(envelope).ok])
      const consumed = tolerated === true
      assert.deepEqual(verdicts, [
        [false, false],
        [consumed, consumed],
      ])
    })
  }

  for (const member of listAt(decisionResultProducerSchema, 'required').map(String)) {
    test(`without ${member}`, () => {
      const envelope = Object.fromEntries(Object.entries(issued('WARN')).filter(([name]) => name !== member))
      assert.deepEqual(
        READINGS.map(({ committed }) => committed(envelope).ok),
        [false, false],
      )
    })
  }
})

suite('an envelope that breaks a cross-field rule is never built', () => {
  const { decision_body_hash: _, receipt: __, ...draft } = issued('ALLOW')
  const { decision_body_hash: ___, receipt: ____, ...blocked } = issued('BLOCK')
  const cases: readonly (readonly [what: string, envelope: EnvelopeDraft, rule: string])[] = [
    [
      'a directive of another class',
      { ...blocked, execution_action: 'CONTINUE' },
      'execution_action and safe_for_agent are those of the decision class',
    ],
    [
      'a flag of another class',
      { ...blocked, safe_for_agent: true },
      'execution_action and safe_for_agent are those of the decision class',
    ],
    ['an end before its start', { ...draft, expires_at: draft.evaluated_at }, 'expires_at is later than evaluated_at'],
    ['a source that is not declared', { ...draft, branch: 'main' }, 'srcmode says whether a source slot is filled'],
    [
      'a declared source without one',
      { ...draft, srcmode: 'declared' },
      'srcmode says whether a source slot is filled',
    ],
    [
      'another audience in its authority',
      { ...draft, audience: 'v:ffffffffffff' },
      'authority names the audience of the envelope',
    ],
    [
      'a pattern source of nothing',
      {
        ...draft,
        pattern_sources: [{ name: 'X', source: 'contract_diff', evidence_kind: 'measured' }],
      },
      'every pattern source is about a pattern that is carried',
    ],
    [
      'a block without a remediation',
      { ...blocked, remediation_transaction: null },
      'only a BLOCK has a remediation, and only a decision that holds up a next agent step',
    ],
  ]
  for (const [what, envelope, rule] of cases) {
    test(what, () => assert.deepEqual(envelopeViolations(envelope), [rule]))
  }

  for (const { what, decision, changes } of BREACHES.filter((breach) => breach.crossField)) {
    test(what, () => assert.notDeepEqual(envelopeViolations({ ...issued(decision), ...changes }), []))
  }

  test('and the builder says so', () => {
    const broken: Verdict = { ...decideOn([]), warnings: [reason], ttl_seconds: 0 }
    assert.throws(
      () => issueOn(broken),
      (error: unknown) => {
        assert.ok(error instanceof EnvelopeInvariantError)
        assert.deepEqual(error.violations, [
          'expires_at is later than evaluated_at',
          'an ALLOW has neither warnings nor a required action',
        ])
        return true
      },
    )
  })

  test('nor one whose members do not keep their form', () => {
    const broken: Verdict = { ...decideOn([]), risk_score: 200 }
    assert.throws(() => issueOn(broken), /\/risk_score must be <= 100/)
  })
})

suite('an envelope keeps the rules', () => {
  const { decision_body_hash: _, receipt: __, ...draft } = issued('ALLOW')
  const severe = { type: 'X', source: 's', finding: 'f', severity: 'HIGH' } as const
  const mild = { ...severe, severity: 'INFO' } as const
  const rule = { ...mild, type: 'POLICY_RULE' } as const
  const allowed: readonly (readonly [what: string, changes: Partial<EnvelopeDraft>])[] = [
    ['when it allows on severe evidence and a policy rule', { evidence: [severe, rule] }],
    ['when it allows on mild evidence alone', { evidence: [mild] }],
    ['with a calibrated confidence', { confidence: 0.9, calibration_version: 'c1' }],
    ['with sources of patterns that are not carried', { patterns: null }],
    ['with patterns whose sources are not carried', { patterns: ['X'], pattern_sources: null }],
  ]
  for (const [what, changes] of allowed) {
    test(what, () => assert.deepEqual(envelopeViolations({ ...draft, ...changes }), []))
  }

  test('and not with severe evidence between mild rows', () => {
    assert.equal(envelopeViolations({ ...draft, evidence: [mild, severe] }).length, 1)
  })

  test('nor with a confidence whose calibration has no name', () => {
    assert.equal(envelopeViolations({ ...draft, confidence: 0.9, calibration_version: '' }).length, 1)
  })
})

suite('what the issuing path knows', () => {
  const context = { ...EMPTY_CONTEXT, operation: 'deploy', repository: 'acme/pets' }
  const issuance = {
    decisionId: 'dec_9',
    correlationId: 'cor_9',
    evaluatedAt: NOW,
    audience: null,
    decisionSpecVersion: '2.0',
    reportUrl: null,
  } as const
  const draft = buildEnvelope(decideOn([], { context }), issuance)

  test('is in its members', () => {
    const { decision_id, correlation_id, evaluated_at, expires_at, audience, authority, srcmode } = draft
    assert.deepEqual(
      { decision_id, correlation_id, evaluated_at, expires_at, audience, authority, srcmode },
      {
        decision_id: 'dec_9',
        correlation_id: 'cor_9',
        evaluated_at: '2026-11-21T04:00:00Z',
        expires_at: '2026-11-21T08:00:00Z',
        audience: null,
        authority: { audience: null, tenant_scope: 'unbound' },
        srcmode: 'declared',
      },
    )
  })

  test('a commit that a webhook reported is in it, and only without an audience', () => {
    const reported = { ...issuance, commitSha: 'c0ffee' }
    assert.equal(buildEnvelope(decideOn([], { context }), reported).commit_sha, 'c0ffee')
    assert.throws(
      () => buildEnvelope(decideOn([], { context }), { ...reported, audience: 'v:0123456789ab' }),
      /a commit reported by webhook belongs to a decision without an audience/,
    )
  })

  test('what callers attested is verified or diverges, and divergence is a warning with a name', () => {
    const derived = {
      origin: {
        kind: 'derived',
        derivation: { platform: 'scm_a', baseSha: 'b', headSha: 'h' },
        commitment: { root: `sha256:${'0'.repeat(64)}`, count: 1 },
        problem: null,
      },
      bindingProvenAt: '2026-11-21T04:00:00Z',
      selectorHash: null,
    } as const
    const issuedWith = (reconciliation: Reconciliation) => {
      const completeness = { ...derived, reconciliation }
      return buildEnvelope(decideOn([], { context, completeness }), { ...issuance, completeness })
    }
    const verified = issuedWith({ result: 'CROSS_VERIFIED' })
    assert.deepEqual([verified.completeness_mode, verified.decision], ['CROSS_VERIFIED', 'ALLOW'])
    const diverged = issuedWith({ result: 'DIVERGED', difference: 'b.yaml is not in it.' })
    assert.deepEqual([diverged.completeness_mode, diverged.decision], ['DIVERGED', 'WARN'])
    assert.deepEqual(diverged.warnings, [{ code: 'CHANGE_SET_DIVERGED', message: 'b.yaml is not in it.' }])
  })

  test('and nothing is invented where nobody produces a value', () => {
    const { binding, commit_sha, confidence, engine_build_id, change_set_commitment, completeness_count } = draft
    assert.deepEqual(
      new Set([binding, commit_sha, confidence, engine_build_id, change_set_commitment, completeness_count]),
      new Set([null]),
    )
    assert.equal('derivation' in draft, false)
  })
})
