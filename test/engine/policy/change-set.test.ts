/** What a policy says of the change set as a whole: rules asked once, freeze windows, and what conditions read beyond one finding. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EMPTY_CONTEXT, compilePolicy, type DecideInput, type Verdict } from '../../../engine/internal.ts'
import { fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy, issueOn, NOW } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const DEPLOY = { ...EMPTY_CONTEXT, operation: 'deploy', environment: 'prod' }
const FREEZE = {
  id: 'year-end',
  from: '2026-11-20T00:00:00Z',
  until: '2026-11-22T00:00:00Z',
  environments: ['prod'],
  operations: ['deploy'],
  reason: 'Nobody is there at the end of the year',
}
const INFO: FakeFinding = { rule: 'endpoint-added', level: 'info' }
const BREAKING: FakeFinding = { rule: 'api-removed-without-deprecation', level: 'breaking' }

const at = (text: string): number => Date.parse(text) / 1000

type Pack = Readonly<Record<string, unknown>>

function under(pack: Pack, findings: readonly FakeFinding[] = [], changes: Partial<DecideInput> = {}): Verdict {
  return decideOn(findings, { policy: fakePolicy(pack), context: DEPLOY, ...changes })
}

function whole(when: string, then = 'BLOCK', more: Pack = {}): Pack {
  return { rules: [{ id: 'whole', for: 'change_set', when, then, ...more }] }
}

function mistakes(pack: Pack): readonly string[] {
  const compiled = compilePolicy(
    { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules: whole('true')['rules'], ...pack },
    sha256,
  )
  return compiled.ok ? [] : compiled.problem.map(({ pointer, message }) => `${pointer}: ${message}`)
}

suite('a freeze window', () => {
  test('blocks its operations in its environments, whatever was found, and says until when', () => {
    const verdict = under({ freezes: [FREEZE] })
    assert.equal(verdict.decision, 'BLOCK')
    assert.deepEqual(verdict.blocking_reasons, [
      {
        code: 'FREEZE_WINDOW',
        message: 'Nobody is there at the end of the year (freeze year-end, until 2026-11-22T00:00:00Z)',
      },
    ])
    assert.equal(verdict.evidence[0]?.source, 'test/year-end')
    assert.equal(verdict.required_action_core.type, 're_preflight')
    assert.equal(verdict.next_agent_step?.action, 'escalate')
    assert.equal(issueOn(verdict).envelope.execution_action, 'STOP')
  })

  test('says nothing of another operation, environment or moment, nor where none is stated', () => {
    const pack = { freezes: [FREEZE] }
    for (const changes of [
      { context: { ...DEPLOY, operation: 'merge' } },
      { context: { ...DEPLOY, environment: 'staging' } },
      { context: { ...DEPLOY, environment: null } },
      { now: at('2026-11-19T23:59:59Z') },
      { now: at('2026-11-22T00:00:00Z') },
    ])
      assert.equal(under(pack, [], changes).decision, 'ALLOW', JSON.stringify(changes))
    assert.equal(under(pack, [], { now: at('2026-11-20T00:00:00Z') }).decision, 'BLOCK')
    assert.equal(under(pack, [], { now: at('2026-11-21T23:59:59Z') }).decision, 'BLOCK')
  })

  test('may ask for an approval instead, and does not relax what findings call for', () => {
    const pack = { freezes: [{ ...FREEZE, then: 'REQUIRE_APPROVAL' }] }
    assert.equal(under(pack).decision, 'REQUIRE_APPROVAL')
    const blocked = under(pack, [BREAKING])
    assert.equal(blocked.decision, 'BLOCK')
    assert.deepEqual(
      blocked.blocking_reasons.map(({ code }) => code),
      ['FREEZE_WINDOW', 'API_REMOVED_WITHOUT_DEPRECATION'],
    )
    assert.equal(blocked.required_action_core.type, 'remediate_or_revert')
    const approval = { state: 'granted', id: 'apr_1', approver: 'v:0123456789ab', until: NOW + 60 } as const
    const approved = under(pack, [], { approval })
    assert.deepEqual(
      approved.warnings.map(({ code }) => code),
      ['APPROVED_EXCEPTION', 'FREEZE_WINDOW'],
    )
  })

  test('ends the validity of earlier decisions when it opens, and of its own block when it closes', () => {
    const pack = { freezes: [FREEZE] }
    const opens = Date.parse(FREEZE.from) / 1000
    assert.equal(under(pack, [], { now: opens - 600 }).ttl_seconds, 600)
    assert.equal(under(pack, [], { now: opens - 90_000 }).ttl_seconds, 14_400)
    assert.equal(under(pack, [], { now: Date.parse(FREEZE.until) / 1000 - 30 }).ttl_seconds, 30)
    assert.equal(under(pack, [], { context: { ...DEPLOY, operation: 'merge' }, now: opens - 600 }).ttl_seconds, 14_400)
  })

  test('does not load with times that do not exist, in the wrong order, or under a name that is taken', () => {
    assert.match(mistakes({ freezes: [{ ...FREEZE, from: '2026-02-30T00:00:00Z' }] }).join(), /\/freezes\/0\/from/)
    assert.match(mistakes({ freezes: [{ ...FREEZE, until: FREEZE.from }] }).join(), /ends before it begins/)
    assert.match(mistakes({ freezes: [FREEZE, FREEZE] }).join(), /\/freezes\/1\/id: freeze id year-end is used twice/)
    assert.match(mistakes({ freezes: [{ ...FREEZE, id: 'whole' }] }).join(), /used twice/)
    assert.match(mistakes({ freezes: [{ ...FREEZE, then: 'WARN' }] }).join(), /\/freezes\/0\/then/)
  })
})

suite('a rule about the change set', () => {
  test('is asked once, with and without findings', () => {
    assert.equal(under(whole("context.environment == 'prod'")).decision, 'BLOCK')
    const verdict = under(whole('change_set.info > 1', 'REQUIRE_APPROVAL'), [INFO, INFO])
    assert.equal(verdict.decision, 'REQUIRE_APPROVAL')
    assert.equal(verdict.blocking_reasons.length, 1)
    assert.equal(verdict.blocking_reasons[0]?.code, 'CHANGE_SET_RULE')
    assert.equal(under(whole('change_set.info > 1'), [INFO]).decision, 'ALLOW')
  })

  test('gives its own reason and runbook, and its description when it has no reason', () => {
    const reason = { code: 'TOO_MUCH', message: 'Too much at once' }
    const verdict = under(whole('true', 'BLOCK', { reason, runbook: 'https://runbooks.test/much' }))
    assert.deepEqual(verdict.blocking_reasons, [reason])
    assert.equal(verdict.next_actions[0]?.target, 'https://runbooks.test/much')
    assert.equal(under(whole('true', 'WARN', { description: 'Watch it.' })).warnings[0]?.message, 'Watch it.')
  })

  test('in observe mode lowers to WARN and says what it would have done', () => {
    const verdict = under(whole('true', 'BLOCK', { mode: 'observe' }))
    assert.deepEqual([verdict.decision, verdict.observed_decision], ['WARN', 'BLOCK'])
    assert.equal(verdict.warnings[0]?.code, 'OBSERVED_BLOCK')
  })

  test('whose condition fails is incomplete, never ALLOW', () => {
    const verdict = under(whole('change_set.ids[7] == "x"', 'WARN', { mode: 'observe' }))
    assert.equal(verdict.decision, 'BLOCK')
    assert.equal(verdict.analysis_complete, false)
    assert.equal(verdict.degraded_reasons[0]?.code, 'POLICY_CONDITION_FAILED')
    assert.equal(verdict.blocking_reasons[0]?.code, 'ANALYSIS_INCOMPLETE')
  })

  test('may not read one finding, and findings may not be looped over in a loop', () => {
    for (const when of ["finding.level == 'info'", 'operation == null', "tool == 'x'"])
      assert.match(mistakes(whole(when)).join(), /no finding, operation or tool/, when)
    assert.match(mistakes(whole('findings.exists(a, findings.exists(b, a.rule == b.rule))')).join(), /inside a loop/)
    assert.match(mistakes(whole('change_set.size > 1')).join(), /change_set.size, which does not exist/)
    assert.match(mistakes(whole('weather == 1')).join(), /weather, which does not exist/)
  })

  test('counts in its environments and for its operations only, as a rule about findings does', () => {
    for (const about of ['change_set', 'finding']) {
      const rule = { id: 'r', for: about, when: 'true', then: 'BLOCK', environments: ['prod'], operations: ['deploy'] }
      const decide = (context: object) =>
        under({ rules: [rule] }, [INFO], { context: { ...DEPLOY, ...context } }).decision
      assert.equal(decide({}), 'BLOCK', about)
      for (const context of [{ environment: 'dev' }, { environment: null }, { operation: 'merge' }])
        assert.equal(decide(context), 'ALLOW', `${about} ${JSON.stringify(context)}`)
    }
  })
})

suite('a condition reads', () => {
  test('the findings as a list, in rules of both kinds', () => {
    const when = "findings.exists(f, f.level == 'breaking' && f.places >= 2)"
    const twice: FakeFinding = { ...BREAKING, places: ['GET /a', 'GET /b'] }
    assert.equal(under(whole(when), [twice]).decision, 'BLOCK')
    assert.equal(under(whole(when), [BREAKING]).decision, 'ALLOW')
    const beside = { rules: [{ id: 'r', when: `finding.level == 'info' && ${when}`, then: 'WARN' }] }
    assert.equal(under(beside, [INFO, twice]).decision, 'WARN')
    assert.equal(under(beside, [INFO]).decision, 'ALLOW')
  })

  test('what the change set is made of', () => {
    const analyses = [
      fakeAnalysis('a', [BREAKING]),
      { id: 'b', type: 'mcp_manifest', ok: false, problem: { code: 'ANALYSIS_FAULT', message: 'x' } },
    ] as const
    const pack = {
      on_incomplete: 'WARN',
      ...whole(
        "change_set.artifacts == 2 && change_set.failed == 1 && 'mcp_manifest' in change_set.types && change_set.breaking == 1 && 'b' in change_set.ids",
      ),
    }
    assert.equal(under(pack, [], { analyses }).decision, 'BLOCK')
  })

  test('the moment, in UTC', () => {
    // NOW is a Saturday, 04:00.
    const when = "time.weekday >= 6 && time.hour == 4 && time.minute == 0 && time.date == '2026-11-21'"
    assert.equal(under(whole(when)).decision, 'BLOCK')
    assert.equal(under(whole(when), [], { now: NOW + 3600 }).decision, 'ALLOW')
    assert.equal(under(whole(`time.unix == ${NOW}`)).decision, 'BLOCK')
  })

  test('the route, which then is part of the verdict’s identity', () => {
    const pack = whole("route == 'payments'")
    assert.equal(under(pack, [], { route: 'payments' }).decision, 'BLOCK')
    assert.equal(under(pack, [], { route: 'pets' }).decision, 'ALLOW')
    assert.equal(under(pack).decision, 'ALLOW')
    assert.notEqual(under(pack, [], { route: 'pets' }).fingerprint, under(pack, [], { route: 'owners' }).fingerprint)
    const blind = whole("context.environment == 'dev'")
    assert.equal(under(blind, [], { route: 'pets' }).fingerprint, under(blind).fingerprint)
  })

  test('too many findings too often, and is incomplete rather than slow', () => {
    const places = Array.from({ length: 1200 }, (_, n) => `GET /p${n}`)
    const findings = Array.from({ length: 1200 }, (_, n): FakeFinding => ({ ...INFO, places: [places[n] ?? ''] }))
    const rules = [{ id: 'r', when: "operation.path == '/x' && findings.all(f, f.level == 'info')", then: 'WARN' }]
    const verdict = under({ rules }, findings)
    assert.equal(verdict.decision, 'BLOCK')
    assert.match(verdict.degraded_reasons[0]?.message ?? '', /look at more than/)
  })
})

test('what does not say a word of it keeps the identity that it had', () => {
  assert.equal(fakePolicy().hash, fakePolicy({}).hash)
  assert.notEqual(fakePolicy().hash, fakePolicy({ freezes: [FREEZE] }).hash)
  assert.deepEqual(fakePolicy().deprecation, { stableDays: 0, betaDays: 0 })
  assert.deepEqual(fakePolicy({ deprecation: { stable_days: 90 } }).deprecation, { stableDays: 90, betaDays: 0 })
})
