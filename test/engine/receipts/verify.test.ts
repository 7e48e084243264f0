/** Verification of a receipt: authenticity, time, state, and context. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  EMPTY_CONTEXT,
  RECEIPT_REASONS,
  verifyReceipt,
  type DecisionContext,
  type IntendedContext,
  type ReceiptVerification,
  type VerifyInput,
} from '../../../engine/internal.ts'
import type { FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, digest, issueOn, NOW, type FakeIssue } from '../../fakes/decisions.ts'
import { fakeKey, keySet, sha256 } from '../../fakes/keys.ts'

const BOUND: DecisionContext = {
  ...EMPTY_CONTEXT,
  operation: 'merge',
  environment: 'prod',
  repository: 'acme/pets',
  branch: 'main',
  pull_request: '17',
  base: 'a1',
  head: 'b2',
  target_id: 'pets',
}
const INTENDED: IntendedContext = {
  operation: 'merge',
  environment: 'prod',
  repository: 'acme/pets',
  branch: 'main',
  pull_request: '17',
  target_id: 'pets',
}
const HOURS_4 = 14_400

function issue(context: Partial<DecisionContext> = BOUND, findings: readonly FakeFinding[] = []): FakeIssue {
  return issueOn(decideOn(findings, { context: { ...EMPTY_CONTEXT, operation: 'merge', ...context } }))
}

function verify({ token, key }: FakeIssue, changes: Partial<VerifyInput> = {}): ReceiptVerification {
  return verifyReceipt({ token, keys: keySet(key.published()), now: NOW + 60, state: 'current', sha256, ...changes })
}

suite('a receipt that stands', () => {
  test('authorizes the attempt that it was issued for', () => {
    const issued = issue()
    const answer = verify(issued, { context: INTENDED, envelope: issued.envelope })
    assert.deepEqual(
      [
        answer.valid,
        answer.status,
        answer.reason,
        answer.currently_authorized,
        answer.authz_status,
        answer.authz_reason,
      ],
      [true, 'VERIFIED_CURRENT', null, true, 'AUTHORIZED', null],
    )
    assert.deepEqual(answer.mismatches, [])
    assert.equal(answer.payload?.jti, 'dec_1')
  })

  test('answers authenticity only when no context is given', () => {
    const answer = verify(issue())
    assert.deepEqual(
      [answer.valid, answer.status, answer.reason, answer.currently_authorized, answer.authz_status],
      [true, 'VERIFIED_CURRENT', null, null, 'NOT_EVALUATED'],
    )
  })

  test('is authorized offline too, and the answer says what was not checked', () => {
    const answer = verify(issue(), { context: INTENDED, state: 'unchecked' })
    assert.equal(answer.currently_authorized, true)
    assert.match(answer.authz_note, /not checked/)
    const checked = verify(issue(), { context: INTENDED })
    assert.doesNotMatch(checked.authz_note, /not checked/)
    const refused = verify(issue(), { context: { ...INTENDED, operation: 'deploy' }, state: 'unchecked' })
    assert.deepEqual([refused.currently_authorized, refused.authz_status], [false, 'NOT_AUTHORIZED'])
    assert.doesNotMatch(refused.authz_note, /not checked/)
  })

  test('that watches authorizes like one that allows', () => {
    const monitored = issue(BOUND, [{ rule: 'endpoint-deprecated', level: 'info' }])
    assert.equal(monitored.envelope.execution_action, 'CONTINUE_WITH_MONITORING')
    assert.equal(verify(monitored, { context: INTENDED }).currently_authorized, true)
  })
})

test('a receipt covers no envelope that is none', () => {
  for (const envelope of [null, 'text', 7, [], [issue().envelope]]) {
    const answer = verify(issue(), { context: INTENDED, envelope })
    assert.deepEqual([answer.valid, answer.reason], [false, 'body_hash_mismatch'], JSON.stringify(envelope))
  }
})

suite('the context of the attempt', () => {
  for (const [member, stated, reason, status] of [
    ['operation', 'deploy', 'operation_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['environment', 'staging', 'environment_mismatch', 'VERIFIED_WRONG_ENVIRONMENT'],
    ['target_id', 'owners', 'target_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['repository', 'acme/owners', 'place_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['branch', 'next', 'place_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['pull_request', '18', 'place_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['base', 'zz', 'source_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['head', 'zz', 'source_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['fingerprint', digest('other'), 'fingerprint_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['input_fingerprint', digest('other'), 'fingerprint_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['artifact_digest', digest('other'), 'fingerprint_mismatch', 'VERIFIED_SCOPE_MISMATCH'],
    ['audience', 'v:ffffffffffff', 'audience_mismatch', 'VERIFIED_WRONG_AUDIENCE'],
  ] as const) {
    test(`with another ${member} is refused`, () => {
      const answer = verify(issue(), { context: { ...INTENDED, [member]: stated } })
      assert.deepEqual(
        [answer.valid, answer.status, answer.reason, answer.currently_authorized],
        [true, status, reason, false],
      )
      assert.deepEqual(
        answer.mismatches.map((mismatch) => [mismatch.member, mismatch.stated]),
        [[member, stated]],
      )
    })
  }

  for (const member of ['operation', 'environment', 'target_id', 'repository', 'branch', 'pull_request'] as const) {
    for (const absent of [undefined, null]) {
      test(`that leaves out the signed ${member} (${absent}) is incomplete`, () => {
        const answer = verify(issue(), { context: { ...INTENDED, [member]: absent } })
        assert.deepEqual(
          [answer.status, answer.reason, answer.currently_authorized],
          ['VERIFIED_SCOPE_MISMATCH', 'context_incomplete', false],
        )
        assert.deepEqual(
          answer.mismatches.map((mismatch) => mismatch.stated),
          [null],
        )
      })
    }
  }

  test('needs an operation even when nothing else is bound', () => {
    assert.equal(verify(issue({}), { context: {} }).reason, 'context_incomplete')
    assert.equal(verify(issue({}), { context: { operation: 'merge' } }).currently_authorized, true)
  })

  test('may not state what was never signed', () => {
    for (const member of [
      'environment',
      'repository',
      'branch',
      'pull_request',
      'target_id',
      'base',
      'head',
    ] as const) {
      assert.equal(
        verify(issue({}), { context: { operation: 'merge', [member]: 'x' } }).currently_authorized,
        false,
        member,
      )
    }
  })

  test('may state an audience that was signed, or none', () => {
    const answers = ['v:0123456789ab', null].map((audience) => verify(issue(), { context: { ...INTENDED, audience } }))
    assert.deepEqual(
      answers.map((answer) => answer.currently_authorized),
      [true, true],
    )
  })

  test('names every member that does not fit, and the reason that comes first', () => {
    const answer = verify(issue(), {
      context: { operation: 'deploy', environment: 'staging', repository: 'acme/pets', head: 'zz' },
    })
    assert.equal(answer.reason, 'operation_mismatch')
    assert.deepEqual(
      answer.mismatches.map(({ member }) => member),
      ['operation', 'environment', 'target_id', 'branch', 'pull_request', 'head'],
    )
  })
})

suite('time', () => {
  for (const [what, now, reason] of [
    ['half a minute before its issue', NOW - 30, null],
    ['longer before its issue', NOW - 31, 'not_yet_valid'],
    ['in its last second', NOW + HOURS_4 - 1, null],
    ['at its end', NOW + HOURS_4, 'expired'],
    ['when the clock cannot be read', Number.NaN, 'expired'],
  ] as const) {
    test(`${what} the reason is ${reason ?? 'none'}`, () => {
      const answer = verify(issue(), { now, context: INTENDED })
      assert.deepEqual([answer.reason, answer.currently_authorized], [reason, reason === null])
    })
  }
})

suite('the state of the receipt', () => {
  for (const [state, status] of [
    ['revoked', 'VERIFIED_REVOKED'],
    ['superseded', 'VERIFIED_SUPERSEDED'],
    ['consumed', 'VERIFIED_CONSUMED'],
    ['unknown', 'UNDECIDABLE'],
    ['undecidable', 'UNDECIDABLE'],
  ] as const) {
    test(`${state} never authorizes`, () => {
      const answer = verify(issue(), { state, context: INTENDED })
      assert.deepEqual([answer.status, answer.currently_authorized], [status, false])
    })
  }

  test('that nobody knows does not authorize either', () => {
    // As a caller without types would.
    const odd: object = Object.assign({ context: INTENDED }, { state: 'resurrected' })
    assert.equal(verify(issue(), odd).currently_authorized, false)
  })
})

suite('the decision', () => {
  for (const [level, action] of [
    ['breaking', 'STOP'],
    ['dangerous', 'REQUEST_APPROVAL'],
  ] as const) {
    test(`${action} has an authentic receipt that authorizes nothing`, () => {
      const held = issue(BOUND, [{ rule: 'x', level }])
      assert.equal(held.envelope.execution_action, action)
      const answer = verify(held, { context: INTENDED })
      assert.deepEqual(
        [answer.valid, answer.status, answer.reason, answer.currently_authorized],
        [true, 'VERIFIED_CURRENT', 'decision_not_allow', false],
      )
    })
  }
})

suite('keys', () => {
  test('unknown: refused', () => {
    const answer = verify(issue(), { keys: keySet(fakeKey('key-2').published()), context: INTENDED })
    assert.deepEqual(
      [answer.valid, answer.status, answer.reason, answer.payload],
      [false, 'UNKNOWN_KEY', 'unknown_kid', null],
    )
  })

  test('another one under the same id: refused', () => {
    const answer = verify(issue(), { keys: keySet(fakeKey('key-1').published()), context: INTENDED })
    assert.deepEqual(
      [answer.status, answer.reason, answer.currently_authorized],
      ['INVALID_SIGNATURE', 'signature_mismatch', false],
    )
  })

  test('revoked: refused, whenever the receipt was issued', () => {
    const issued = issue()
    const keys = keySet(issued.key.published({ status: 'revoked', revokedAt: NOW + 1000 }))
    const answer = verify(issued, { keys, context: INTENDED })
    assert.deepEqual([answer.valid, answer.status, answer.currently_authorized], [false, 'REVOKED_KEY', false])
  })

  test('retired after the issue: the receipt stands until it expires', () => {
    const issued = issue()
    const keys = keySet(issued.key.published({ status: 'retired', retiredAt: NOW }))
    const answer = verify(issued, { keys, context: INTENDED })
    assert.deepEqual(
      [answer.status, answer.reason, answer.currently_authorized],
      ['RETIRED_KEY_VALID_AT_ISSUE', null, true],
    )
    assert.equal(verify(issued, { keys, context: INTENDED, now: NOW + HOURS_4 }).status, 'VERIFIED_EXPIRED')
  })

  for (const retiredAt of [NOW - 1, null]) {
    test(`retired before the issue (${retiredAt}): refused`, () => {
      const issued = issue()
      const answer = verify(issued, {
        keys: keySet(issued.key.published({ status: 'retired', retiredAt })),
        context: INTENDED,
      })
      assert.deepEqual(
        [answer.valid, answer.reason, answer.currently_authorized],
        [false, 'retired_key_after_issue', false],
      )
    })
  }

  for (const [validFrom, reason] of [
    [NOW + 30, null],
    [NOW + 31, 'unknown_kid'],
  ] as const) {
    test(`that came ${validFrom - NOW} seconds later than the receipt: ${reason ?? 'within what clocks may differ'}`, () => {
      const issued = issue()
      assert.equal(verify(issued, { keys: keySet(issued.key.published({ validFrom })) }).reason, reason)
    })
  }

  test('retired, of a decision that does not permit: the status is that of the key, and nothing is authorized', () => {
    const held = issue(BOUND, [{ rule: 'x', level: 'breaking' }])
    const keys = keySet(held.key.published({ status: 'retired', retiredAt: NOW }))
    const answer = verify(held, { keys, context: INTENDED })
    assert.deepEqual(
      [answer.status, answer.reason, answer.currently_authorized],
      ['RETIRED_KEY_VALID_AT_ISSUE', 'decision_not_allow', false],
    )
  })
})

suite('a decision result beside the token', () => {
  const issued = issue()

  test('is covered whatever the order of its members', () => {
    const shuffled = Object.fromEntries(Object.entries(issued.envelope).reverse())
    assert.equal(verify(issued, { envelope: shuffled, context: INTENDED }).currently_authorized, true)
  })

  const { decision: _, ...without } = issued.envelope
  for (const [what, envelope] of [
    ['changed', { ...issued.envelope, summary: 'ALLOW: trust me' }],
    ['longer by a member', { ...issued.envelope, extra: 1 }],
    ['shorter by a member', without],
    ['with a text that RFC 8785 refuses', { ...issued.envelope, summary: '\ud800' }],
    ['null', null],
    ['a list', []],
    ['a text', 'envelope'],
    ['nested past the stack', nest(20_000)],
  ] as const) {
    test(`is refused when it is ${what}`, () => {
      const answer = verify(issued, { envelope, context: INTENDED })
      assert.deepEqual([answer.valid, answer.reason, answer.currently_authorized], [false, 'body_hash_mismatch', false])
    })
  }
})

test('the first reason of the published order is reported', () => {
  const held = issue(BOUND, [{ rule: 'x', level: 'breaking' }])
  const wrong = { operation: 'deploy' }
  const steps = [
    verify(held, { context: wrong, now: NOW + HOURS_4, state: 'revoked', envelope: {} }),
    verify(held, { context: wrong, now: NOW + HOURS_4, state: 'revoked' }),
    verify(held, { context: wrong, state: 'revoked' }),
    verify(held, { context: wrong }),
    verify(held, { context: INTENDED }),
  ].map(({ reason }) => reason ?? '')
  assert.deepEqual(steps, ['body_hash_mismatch', 'expired', 'revoked', 'operation_mismatch', 'decision_not_allow'])
  const order = Object.keys(RECEIPT_REASONS)
  const ranks = steps.map((reason) => order.indexOf(reason))
  assert.deepEqual(
    ranks,
    [...ranks].sort((a, b) => a - b),
  )
})

function nest(depth: number): object {
  let value = {}
  for (let level = 0; level < depth; level++) value = { value }
  return value
}
