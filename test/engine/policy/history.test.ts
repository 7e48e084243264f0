/** What conditions see of earlier decisions, and that the identity of a verdict stays free of it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compilePolicy, MAX_EARLIER_DECISIONS, type Decision, type EarlierDecision } from '../../../engine/internal.ts'
import { historyFacts } from '../../../engine/policy/history.ts'
import { decideOn, fakePolicy, NOW } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const ago = (seconds: number, decision: Decision = 'BLOCK', isSameInput = false): EarlierDecision => ({
  decision,
  at: NOW - seconds,
  isSameInput,
})

const retried = (then: Decision = 'BLOCK') => ({
  rules: [{ id: 'retried', for: 'change_set', when: 'history.same_input >= 3', then }],
})

suite('the facts of history', () => {
  test('count the decisions of the window by class, the newest first', () => {
    const decisions = [ago(1, 'WARN'), ago(2, 'BLOCK', true), ago(3, 'BLOCK'), ago(50, 'ALLOW'), ago(60, 'ALLOW')]
    assert.deepEqual(historyFacts({ window: 60, decisions }, NOW), {
      window: 60n,
      decisions: 4n,
      allow: 1n,
      warn: 1n,
      require_approval: 0n,
      block: 2n,
      flips: 2n,
      same_input: 1n,
      last: 'WARN',
      last_age: 1n,
    })
  })

  test('of nothing are nulls and noughts, and what lies ahead is not the past', () => {
    const facts = historyFacts({ window: 60, decisions: [ago(-5)] }, NOW)
    assert.equal(facts.decisions, 0n)
    assert.equal(facts.last, null)
    assert.equal(facts.last_age, null)
  })

  test('flips count turns between going on and being held, not every change of class', () => {
    const classes: readonly Decision[] = ['ALLOW', 'WARN', 'BLOCK', 'REQUIRE_APPROVAL', 'ALLOW']
    const decisions = classes.map((decision, index) => ago(index, decision))
    assert.equal(historyFacts({ window: 60, decisions }, NOW).flips, 2n)
  })

  test('are bounded, whatever is handed in', () => {
    const decisions = Array.from({ length: MAX_EARLIER_DECISIONS + 5 }, () => ago(1))
    assert.equal(historyFacts({ window: 60, decisions }, NOW).decisions, BigInt(MAX_EARLIER_DECISIONS))
  })
})

suite('a policy that looks back', () => {
  test('says how far, and one that does not asks for no look-up', () => {
    assert.equal(fakePolicy().historyWindow, null)
    assert.equal(fakePolicy(retried()).historyWindow, 86_400)
    assert.equal(fakePolicy({ ...retried(), history: { window: 600 } }).historyWindow, 600)
    assert.equal(fakePolicy({ history: { window: 600 } }).historyWindow, null)
  })

  test('stops an agent that asks the same again and again', () => {
    const history = [ago(1, 'WARN', true), ago(2, 'WARN', true), ago(3, 'WARN', true)]
    const policy = fakePolicy(retried())
    assert.equal(decideOn([], { policy, history: history.slice(1) }).decision, 'ALLOW')
    assert.equal(decideOn([], { policy, history }).decision, 'BLOCK')
  })

  test('keeps the past out of the fingerprint but for the decision (docs/reference/hashes.md#fingerprint: no clock, id or store state)', () => {
    const policy = fakePolicy(retried())
    const without = decideOn([], { policy })
    const with1 = decideOn([], { policy, history: [ago(9, 'BLOCK', true)] })
    const with3 = decideOn([], {
      policy,
      history: [ago(7, 'ALLOW', true), ago(8, 'ALLOW', true), ago(9, 'ALLOW', true)],
    })
    assert.equal(with1.fingerprint, without.fingerprint)
    assert.equal(with3.decision, 'BLOCK')
    assert.notEqual(with3.fingerprint, without.fingerprint)
  })

  test('degrades where it reads an age that is not there', () => {
    const policy = fakePolicy({
      rules: [{ id: 'soon', when: 'history.last_age < 60', then: 'WARN', for: 'change_set' }],
    })
    const verdict = decideOn([], { policy })
    assert.equal(verdict.decision, 'BLOCK')
    assert.equal(verdict.degraded_reasons[0]?.code, 'POLICY_CONDITION_FAILED')
    const guarded = fakePolicy({
      rules: [{ id: 'soon', when: 'history.last != null && history.last_age < 60', then: 'WARN', for: 'change_set' }],
    })
    assert.equal(decideOn([], { policy: guarded }).decision, 'ALLOW')
    assert.equal(decideOn([], { policy: guarded, history: [ago(5)] }).decision, 'WARN')
  })

  test('is refused when it reads a field that does not exist', () => {
    const compiled = compilePolicy(
      {
        apiVersion: 'preflight.dev/v1',
        kind: 'Policy',
        metadata: { name: 'p' },
        rules: [{ id: 'a', when: 'history.blocks > 1', then: 'BLOCK' }],
      },
      sha256,
    )
    assert.ok(!compiled.ok)
    assert.match(compiled.problem[0]?.message ?? '', /history\.blocks, which does not exist; there are window, /)
  })
})
