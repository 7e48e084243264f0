/** The decision on findings: its class, its reasons, and their order. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DECISION_CLASSES, EMPTY_CONTEXT, type Verdict } from '../../../engine/internal.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'
import { digest, fakePolicy, NOW, verdictOn } from '../../fakes/decisions.ts'

const BREAKING: FakeFinding = { rule: 'api-removed-without-deprecation', level: 'breaking', places: ['GET /pets'] }
const DANGEROUS: FakeFinding = { rule: 'default-changed', level: 'dangerous', places: ['GET /owners'] }
const DEPRECATED: FakeFinding = { rule: 'endpoint-deprecated', level: 'info', places: ['GET /pets'] }
const codes = (reasons: readonly { readonly code: string }[]) => reasons.map(({ code }) => code)

suite('the decision', () => {
  for (const [what, findings, decision] of [
    ['nothing found', [], 'ALLOW'],
    ['a finding that no rule speaks of', [{ rule: 'endpoint-added', level: 'info' }], 'ALLOW'],
    ['a deprecation', [DEPRECATED], 'WARN'],
    ['something dangerous', [DEPRECATED, DANGEROUS], 'REQUIRE_APPROVAL'],
    ['something breaking', [DEPRECATED, DANGEROUS, BREAKING], 'BLOCK'],
  ] as const) {
    test(`on ${what} is ${decision}`, () => {
      const verdict = verdictOn(findings)
      assert.equal(verdict.decision, decision)
      assert.equal(verdict.execution_action, DECISION_CLASSES[decision].action)
      assert.equal(verdict.analysis_complete, true)
      assert.equal(verdict.requires_migration, decision === 'BLOCK')
    })
  }

  test('lists what holds it up first, the strictest before all, and what only warns apart', () => {
    const verdict = verdictOn([DEPRECATED, DANGEROUS, BREAKING])
    assert.deepEqual(codes(verdict.blocking_reasons), ['API_REMOVED_WITHOUT_DEPRECATION', 'DEFAULT_CHANGED'])
    assert.deepEqual(codes(verdict.warnings), ['ENDPOINT_DEPRECATED'])
    assert.match(verdict.summary, /^BLOCK: 1 breaking, 1 dangerous, 1 other finding: api-removed-without-deprecation/)
  })

  test('gives the reason that the policy names, with the words of the finding', () => {
    const reason = { code: 'FROZEN', message: 'The contract is frozen' }
    const policy = fakePolicy({ rules: [{ id: 'x', when: 'true', then: 'BLOCK', reason }] })
    const [first] = verdictOn([BREAKING], { policy }).blocking_reasons
    assert.deepEqual(first, {
      code: 'FROZEN',
      message: 'The contract is frozen: api-removed-without-deprecation happened at GET /pets',
    })
  })

  test('points at the runbook of the rule that decided', () => {
    const rules = [
      { id: 'soft', when: 'true', then: 'WARN', runbook: 'https://runbooks.test/soft' },
      { id: 'hard', when: "finding.level == 'breaking'", then: 'BLOCK', runbook: 'https://runbooks.test/hard' },
    ]
    const { next_actions: actions } = verdictOn([DEPRECATED, BREAKING], { policy: fakePolicy({ rules }) })
    assert.deepEqual(
      actions.map(({ type, target }) => [type, target]),
      [
        ['REMEDIATE', 'https://runbooks.test/hard'],
        ['REEVALUATE', null],
      ],
    )
  })

  test('says of a rule whose id is no reason code what level it has', () => {
    const rule = `request-${'very-'.repeat(20)}long`
    assert.deepEqual(codes(verdictOn([{ ...BREAKING, rule }]).blocking_reasons), ['BREAKING_CHANGE'])
  })

  test('counts places, and speaks once of one change', () => {
    const verdict = verdictOn([{ ...BREAKING, places: ['GET /a', 'GET /b', 'GET /c'] }])
    assert.deepEqual(verdict.severity_summary, { breaking: 3, dangerous: 0, info: 0 })
    assert.deepEqual(verdict.blocking_reasons, [
      { code: 'API_REMOVED_WITHOUT_DEPRECATION', message: 'api-removed-without-deprecation happened (3 places)' },
    ])
  })
})

suite('levels of the policy', () => {
  test('take the place of a rule’s own', () => {
    const verdict = verdictOn([BREAKING], {
      policy: fakePolicy({ levels: { 'api-removed-without-deprecation': 'info' } }),
    })
    assert.deepEqual([verdict.decision, verdict.breaking_changes, verdict.severity_summary.info], ['ALLOW', 0, 1])
  })

  test('off drops the finding', () => {
    const verdict = verdictOn([BREAKING], {
      policy: fakePolicy({ levels: { 'api-removed-without-deprecation': 'off' } }),
    })
    assert.deepEqual([verdict.decision, verdict.groups], ['ALLOW', []])
  })
})

suite('a scope', () => {
  const findings: readonly FakeFinding[] = [
    { rule: 'mcp-tool-removed', level: 'breaking', places: ['search'] },
    { rule: 'api-removed-without-deprecation', level: 'breaking', places: ['GET /pets', 'GET /owners'] },
    { rule: 'default-changed', level: 'dangerous' },
  ]

  for (const [what, scope, expected] of [
    ['a touched tool', { tool: 'search' }, ['MCP_TOOL_REMOVED', 'DEFAULT_CHANGED']],
    ['an untouched tool', { tool: 'fetch' }, ['DEFAULT_CHANGED']],
    ['a touched operation', { method: 'GET', path: '/owners' }, ['API_REMOVED_WITHOUT_DEPRECATION', 'DEFAULT_CHANGED']],
    ['another method', { method: 'PUT', path: '/owners' }, ['DEFAULT_CHANGED']],
    ['a prompt', { prompt: 'search' }, ['DEFAULT_CHANGED']],
    ['a resource', { resource: 'file:///a' }, ['DEFAULT_CHANGED']],
    ['another path', { method: 'GET', path: '/shops' }, ['DEFAULT_CHANGED']],
  ] as const) {
    test(`of ${what} keeps what reaches it and what concerns the whole contract`, () => {
      const verdict = verdictOn(findings, { scope })
      assert.deepEqual(codes(verdict.blocking_reasons), expected)
      assert.equal(verdict.breaking_changes, expected.length - 1)
      assert.equal(verdict.blast_radius.endpoints, expected.length - 1)
    })
  }

  test('makes another verdict', () => {
    const fingerprints = [null, { tool: 'search' }, { tool: 'fetch' }].map(
      (scope) => verdictOn(findings, { scope }).fingerprint,
    )
    assert.equal(new Set(fingerprints).size, 3)
  })
})

suite('an incomplete analysis', () => {
  test('blocks by default and says why, with the place in the text', () => {
    const verdict = verdictOn([], { analyses: [failedAnalysis('api')] })
    assert.deepEqual([verdict.decision, verdict.analysis_complete, verdict.evidence_quality], ['BLOCK', false, 'LOW'])
    assert.deepEqual(verdict.degraded_reasons, [
      { code: 'ARTIFACT_UNREADABLE', message: 'api: the text ends too early (line 7, column 2)' },
    ])
    assert.deepEqual(codes(verdict.blocking_reasons), ['ANALYSIS_INCOMPLETE'])
    assert.deepEqual(verdict.warnings, [])
    assert.equal(verdict.required_action_core.type, 'fix_coverage')
    assert.deepEqual(
      verdict.next_actions.map(({ type, required }) => [type, required]),
      [
        ['FIX_INPUT', true],
        ['REEVALUATE', true],
      ],
    )
    assert.equal(verdict.next_agent_step?.action, 're_preflight')
    assert.deepEqual(
      verdict.remediation_transaction?.required_changes.map((row) => [
        row.change_type,
        row.recommended_transform,
        row.target_ref,
      ]),
      [['ARTIFACT_UNREADABLE', 'fix_input', 'api#']],
    )
  })

  for (const decision of ['WARN', 'REQUIRE_APPROVAL'] as const) {
    test(`is a ${decision} where the policy says so`, () => {
      const verdict = verdictOn([], {
        analyses: [failedAnalysis('api')],
        policy: fakePolicy({ on_incomplete: decision }),
      })
      assert.deepEqual([verdict.decision, verdict.analysis_complete], [decision, false])
      assert.equal(verdict.degraded_reasons.length, 1)
    })
  }

  test('does not hide what the other artifacts show', () => {
    const analyses = [failedAnalysis('b'), fakeAnalysis('a', [BREAKING])]
    const verdict = verdictOn([], { analyses, policy: fakePolicy({ on_incomplete: 'WARN' }) })
    assert.deepEqual(
      [verdict.decision, codes(verdict.blocking_reasons)],
      ['BLOCK', ['API_REMOVED_WITHOUT_DEPRECATION', 'ANALYSIS_INCOMPLETE']],
    )
    assert.deepEqual(
      verdict.artifacts.map(({ id, status, decision, error }) => [id, status, decision, error?.code, error?.line]),
      [
        ['a', 'analyzed', 'BLOCK', undefined, undefined],
        ['b', 'failed', 'WARN', 'ARTIFACT_UNREADABLE', 7],
      ],
    )
  })

  test('is what an empty change set is', () => {
    const verdict = verdictOn([], { analyses: [] })
    assert.deepEqual([verdict.decision, codes(verdict.degraded_reasons)], ['BLOCK', ['ANALYSIS_EMPTY']])
  })

  test('is what a condition that cannot be evaluated makes of it', () => {
    const policy = fakePolicy({ rules: [{ id: 'odd', when: 'operation.method.size() > 1', then: 'WARN' }] })
    const verdict = verdictOn([{ rule: 'x', level: 'info' }], { policy })
    assert.deepEqual([verdict.decision, codes(verdict.degraded_reasons)], ['BLOCK', ['POLICY_CONDITION_FAILED']])
    assert.equal(verdict.required_action_core.type, 'fix_coverage')
  })

  test('gives a problem without a proper code one of ours', () => {
    const verdict = verdictOn([], { analyses: [failedAnalysis('api', 'oops', 'x')] })
    assert.deepEqual(codes(verdict.degraded_reasons), ['ANALYSIS_FAILED'])
  })
})

suite('waivers and observation', () => {
  const waivers = [
    { id: 'w', rule: 'api-removed-without-deprecation', reason: 'moved to v2', owner: 'pets', expires: '2026-11-30' },
  ]

  test('a waived finding is a warning that names its owner, and warns before it ends', () => {
    const verdict = verdictOn([BREAKING], { policy: fakePolicy({ waivers }) })
    assert.equal(verdict.decision, 'WARN')
    assert.deepEqual(codes(verdict.warnings), ['WAIVED_FINDING', 'WAIVER_EXPIRES_SOON'])
    assert.match(verdict.warnings[0]?.message ?? '', /waiver w of pets, expires 2026-11-30: moved to v2/)
  })

  test('a waiver that has ended is named beside the finding that counts again', () => {
    const verdict = verdictOn([BREAKING], { policy: fakePolicy({ waivers }), now: NOW + 30 * 86_400 })
    assert.equal(verdict.decision, 'BLOCK')
    assert.deepEqual(
      [codes(verdict.blocking_reasons), codes(verdict.warnings)],
      [['API_REMOVED_WITHOUT_DEPRECATION'], ['WAIVER_EXPIRED']],
    )
  })

  test('an observing policy holds nothing up and says what it would have decided', () => {
    const verdict = verdictOn([BREAKING, DANGEROUS], { policy: fakePolicy({ mode: 'observe' }) })
    assert.deepEqual([verdict.decision, verdict.observed_decision], ['WARN', 'BLOCK'])
    assert.deepEqual(codes(verdict.warnings), ['OBSERVED_BLOCK', 'OBSERVED_REQUIRE_APPROVAL'])
    assert.match(verdict.evidence[0]?.finding ?? '', /^BLOCK \(observed, not enforced\)/)
  })
})

const sources = (verdict: Verdict) =>
  verdict.evidence.filter(({ type }) => type === 'POLICY_RULE').map(({ source }) => source)

suite('the evidence', () => {
  test('names the rule that decided and the stricter one that only observes', () => {
    const rules = [
      { id: 'soft', when: 'true', then: 'BLOCK', mode: 'observe' },
      { id: 'hard', when: 'true', then: 'REQUIRE_APPROVAL' },
    ]
    const verdict = verdictOn([BREAKING, DANGEROUS], { policy: fakePolicy({ rules }) })
    assert.equal(verdict.decision, 'REQUIRE_APPROVAL')
    assert.deepEqual(sources(verdict), ['test/hard', 'test/soft'])
    assert.match(
      verdict.evidence[0]?.finding ?? '',
      /^REQUIRE_APPROVAL: 2 findings; first: api-removed-without-deprecation/,
    )
  })

  test('names the policy when no rule speaks', () => assert.deepEqual(sources(verdictOn([])), ['test']))
})

suite('a pinned policy', () => {
  test('that is in force leaves the decision alone', () => {
    const policy = fakePolicy()
    const verdict = verdictOn([], { policy, policyPin: policy.hash })
    assert.deepEqual([verdict.decision, verdict.policy_pin_status.match], ['ALLOW', true])
    assert.equal(verdict.policy_pin_status.note, 'The policy in force is the pinned one.')
  })

  test('that is not in force warns and does not block', () => {
    const verdict = verdictOn([], { policyPin: digest('another') })
    assert.deepEqual(
      [verdict.decision, codes(verdict.warnings), verdict.policy_pin_status.match],
      ['WARN', ['POLICY_PIN_DRIFT'], false],
    )
  })

  test('is said to be none when none is pinned', () => {
    const { match, pinned, note } = verdictOn([]).policy_pin_status
    assert.deepEqual([match, pinned, note], [null, null, 'No policy is pinned.'])
  })

  test('adds a warning to what blocks anyway', () => {
    const verdict = verdictOn([BREAKING], { policyPin: digest('another') })
    assert.deepEqual([verdict.decision, codes(verdict.warnings)], ['BLOCK', ['POLICY_PIN_DRIFT']])
  })
})

suite('the fingerprint', () => {
  const base = verdictOn([BREAKING]).fingerprint

  test('does not depend on the clock', () => assert.equal(verdictOn([BREAKING], { now: NOW + 5 }).fingerprint, base))

  for (const [what, changes] of [
    ['the input', { inputFingerprint: digest('x') }],
    ['the policy', { policy: fakePolicy({ metadata: { name: 'other' } }) }],
    ['the rule set', { rulesetHash: digest('x') }],
    ['the context', { context: { ...EMPTY_CONTEXT, operation: 'deploy' } }],
    ['a finding', { analyses: [fakeAnalysis('api', [{ ...BREAKING, location: '/elsewhere' }])] }],
  ] as const) {
    test(`depends on ${what}`, () => assert.notEqual(verdictOn([BREAKING], changes).fingerprint, base))
  }
})
