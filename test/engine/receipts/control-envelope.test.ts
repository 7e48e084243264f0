/** The control envelope: the short form of a decision for agents. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { controlEnvelope, EMPTY_CONTEXT, type ControlFacts, type ReceiptStanding } from '../../../engine/internal.ts'
import { decideOn, issueOn, NOW } from '../../fakes/decisions.ts'

const FACTS: ControlFacts = {
  verified: true,
  state: 'current',
  now: NOW,
  enforcement: { mode: 'enforce', tier: 'sidecar', traffic: 'explicit' },
}
const context = { ...EMPTY_CONTEXT, operation: 'merge', environment: 'prod', repository: 'acme/pets' }
const allowed = issueOn(decideOn([], { context })).envelope
const blocked = issueOn(decideOn([{ rule: 'x', level: 'breaking' }], { context })).envelope

const isAuthorized = (facts: Partial<ControlFacts>, envelope = allowed) =>
  controlEnvelope(envelope, { ...FACTS, ...facts }).receipt_view.currently_authorized

suite('the control envelope', () => {
  test('says what the receipt binds to, and nothing more than the decision does', () => {
    assert.deepEqual(controlEnvelope(allowed, FACTS), {
      control_version: 'control/1.0',
      decision: 'ALLOW',
      execution_action: 'CONTINUE',
      safe_for_agent: true,
      receipt_view: {
        present: true,
        verified: true,
        binds_to: {
          operation: 'merge',
          environment: 'prod',
          target_id: null,
          repository: 'acme/pets',
          branch: null,
          pull_request: null,
          base: null,
          head: null,
          srcmode: 'declared',
          completeness_mode: 'UNBOUND',
        },
        expires_at: '2026-11-21T08:00:00Z',
        currently_authorized: true,
      },
      required_action: null,
      next_agent_step: null,
      enforcement: { mode: 'enforce', tier: 'sidecar', traffic: 'explicit' },
    })
  })

  test('says every slot that the receipt binds to', () => {
    const slots = { target_id: 'pets', branch: 'main', pull_request: '7', base: 'a1', head: 'b2' }
    const bound = issueOn(decideOn([], { context: { ...context, ...slots } })).envelope
    const { binds_to: text } = controlEnvelope(bound, FACTS).receipt_view
    assert.deepEqual({ ...text, ...slots }, text)
  })

  test('authorizes only what continues', () => {
    assert.equal(isAuthorized({}, blocked), false)
    assert.equal(isAuthorized({}, { ...blocked, execution_action: 'CONTINUE' }), false)
    assert.equal(isAuthorized({}, { ...allowed, execution_action: 'STOP' }), false)
  })

  test('authorizes only what is verified and not expired', () => {
    assert.equal(isAuthorized({ verified: false }), false)
    assert.deepEqual(
      [NOW + 14_399, NOW + 14_400, Number.NaN].map((now) => isAuthorized({ now })),
      [true, false, false],
    )
  })

  test('authorizes in no state but current', () => {
    const states: readonly ReceiptStanding[] = [
      'superseded',
      'revoked',
      'consumed',
      'unchecked',
      'unknown',
      'undecidable',
    ]
    assert.deepEqual(new Set(states.map((state) => isAuthorized({ state }))), new Set([false]))
  })

  test('hands the next step of a stop on', () => {
    assert.equal(controlEnvelope(blocked, FACTS).next_agent_step?.action, 'revert')
  })
})
