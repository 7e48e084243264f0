/** Evaluating a policy: which rule decides on a finding. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EMPTY_CONTEXT, type Decision, type PolicyEffect } from '../../../engine/internal.ts'
import { fakeGroup, type FakeFinding } from '../../fakes/comparisons.ts'
import { fakeOccasion, fakePolicy, NOW } from '../../fakes/decisions.ts'

const BROKEN: FakeFinding = {
  rule: 'api-removed-without-deprecation',
  level: 'breaking',
  location: '/paths/~1pets/get',
  places: ['GET /pets'],
}
const DAY = 86_400

interface Ask {
  readonly policy?: Readonly<Record<string, unknown>>
  readonly now?: number
  readonly operation?: string
}

function effectOf(finding: FakeFinding, { policy = {}, now = NOW, operation = 'merge' }: Ask = {}): PolicyEffect {
  const group = fakeGroup(finding)
  const [occurrence] = group.occurrences
  assert.ok(occurrence)
  return fakePolicy(policy).evaluator(fakeOccasion({ context: { ...EMPTY_CONTEXT, operation }, now }))(
    group,
    occurrence,
  )
}

function rule(id: string, when: string, then: Decision, more: Readonly<Record<string, unknown>> = {}) {
  return { id, when, then, ...more }
}

function waiver(changes: Readonly<Record<string, unknown>>) {
  return {
    id: 'w',
    rule: 'api-removed-without-deprecation',
    reason: 'moved',
    owner: 'pets team',
    expires: '2027-11-21',
    ...changes,
  }
}

suite('rules', () => {
  test('the strictest wins, and of equals the first', () => {
    const rules = [
      rule('a', 'true', 'WARN'),
      rule('b', 'true', 'BLOCK'),
      rule('c', 'true', 'BLOCK'),
      rule('d', 'true', 'ALLOW'),
    ]
    const effect = effectOf(BROKEN, { policy: { rules } })
    assert.deepEqual([effect.decision, effect.ruleId], ['BLOCK', 'b'])
  })

  test('a finding that no rule selects is allowed', () => {
    const effect = effectOf(BROKEN, { policy: { rules: [rule('a', 'false', 'BLOCK')] } })
    assert.deepEqual([effect.decision, effect.ruleId], ['ALLOW', 'none'])
  })

  test('see the context, the operation and the tool', () => {
    const rules = [
      rule(
        'api',
        "operation != null && operation.method == 'GET' && context.operation == 'deploy'",
        'REQUIRE_APPROVAL',
      ),
      rule('tool', "tool == 'search'", 'BLOCK'),
    ]
    assert.equal(effectOf(BROKEN, { policy: { rules } }).decision, 'ALLOW')
    assert.equal(effectOf(BROKEN, { policy: { rules }, operation: 'deploy' }).decision, 'REQUIRE_APPROVAL')
    assert.equal(effectOf({ ...BROKEN, places: ['search'] }, { policy: { rules } }).decision, 'BLOCK')
  })

  test('may ask whatever CEL can of a finding', () => {
    const when =
      "['GET', 'PUT'].exists(m, operation != null && operation.method == m) && finding.rule.matches('^api-') && size(finding.message) < 500"
    assert.equal(effectOf(BROKEN, { policy: { rules: [rule('x', when, 'WARN')] } }).decision, 'WARN')
  })

  test('give every place of one change its own answer when they read what differs', () => {
    const group = fakeGroup({ ...BROKEN, places: ['GET /pets', 'DELETE /pets', 'GET /owners'] })
    const rules = [
      rule('deletes', "operation.method == 'DELETE'", 'BLOCK'),
      rule('path', "operation.path == '/owners'", 'WARN'),
    ]
    const evaluate = fakePolicy({ rules }).evaluator(fakeOccasion())
    assert.deepEqual(
      group.occurrences.map((occurrence) => evaluate(group, occurrence).decision),
      ['ALLOW', 'BLOCK', 'WARN'],
    )
  })

  test('are asked anew for every place when a condition reads its fingerprint or message', () => {
    const group = fakeGroup({ ...BROKEN, places: ['GET /pets', 'GET /owners'] })
    for (const field of ['fingerprint', 'message']) {
      const evaluate = fakePolicy({ rules: [rule('x', `finding.${field}.contains('owners')`, 'BLOCK')] }).evaluator(
        fakeOccasion(),
      )
      assert.deepEqual(
        group.occurrences.map((occurrence) => evaluate(group, occurrence).decision),
        ['ALLOW', 'BLOCK'],
      )
    }
  })
})

suite('a condition that cannot be judged', () => {
  for (const when of [
    'operation.method.size() > 3',
    'finding.rule',
    'int(finding.rule) > 1',
    'context.environment.startsWith("p")',
  ]) {
    test(`${when}: has the effect of on_incomplete and says so`, () => {
      const finding: FakeFinding = { rule: 'x', level: 'info' }
      const effect = effectOf(finding, { policy: { rules: [rule('a', when, 'ALLOW')] } })
      assert.equal(effect.decision, 'BLOCK')
      assert.equal(effect.degraded?.code, 'POLICY_CONDITION_FAILED')
      assert.match(effect.degraded.message, /^rule a: /)
    })
  }

  test('is not softened by observe mode or a waiver', () => {
    const policy = { rules: [rule('a', 'finding.rule', 'WARN', { mode: 'observe' })], waivers: [waiver({})] }
    const effect = effectOf(BROKEN, { policy })
    assert.equal(effect.decision, 'BLOCK')
    assert.equal(effect.observed, null)
  })

  test('does not hide a stricter rule that could be judged', () => {
    const rules = [rule('a', 'finding.rule', 'WARN'), rule('b', 'true', 'BLOCK')]
    assert.equal(effectOf(BROKEN, { policy: { on_incomplete: 'WARN', rules } }).decision, 'BLOCK')
  })
})

suite('observe mode', () => {
  test('lowers to WARN and keeps what would have been decided', () => {
    const effect = effectOf(BROKEN, { policy: { mode: 'observe' } })
    assert.deepEqual(
      [effect.decision, effect.observed?.decision, effect.observed?.ruleId],
      ['WARN', 'BLOCK', 'breaking-blocks'],
    )
  })

  test('of one rule leaves the others enforced', () => {
    const rules = [rule('soft', 'true', 'BLOCK', { mode: 'observe' }), rule('hard', 'true', 'REQUIRE_APPROVAL')]
    const effect = effectOf(BROKEN, { policy: { rules } })
    assert.deepEqual([effect.decision, effect.ruleId, effect.observed?.decision], ['REQUIRE_APPROVAL', 'hard', 'BLOCK'])
  })

  test('of a pack gives way to the mode of a rule', () => {
    const policy = { mode: 'observe', rules: [rule('hard', 'true', 'BLOCK', { mode: 'enforce' })] }
    assert.equal(effectOf(BROKEN, { policy }).decision, 'BLOCK')
  })
})

suite('a waiver', () => {
  test('lowers what it fits to WARN, never to ALLOW', () => {
    const effect = effectOf(BROKEN, { policy: { waivers: [waiver({})] } })
    assert.deepEqual([effect.decision, effect.waiver?.id, effect.waiver?.standing], ['WARN', 'w', 'in_force'])
  })

  for (const [what, changes, fits] of [
    ['the location', { location: '/paths/~1pets/get' }, true],
    ['a place above the location', { location: '/paths/~1pets' }, true],
    ['half a segment of the location', { location: '/paths/~1pe' }, false],
    ['another rule', { rule: 'endpoint-added' }, false],
    [
      'the fingerprint',
      { rule: undefined, fingerprint: 'fp:api-removed-without-deprecation:/paths/~1pets/get:GET /pets' },
      true,
    ],
    ['the rule and another fingerprint', { fingerprint: 'fp:other' }, false],
  ] as const) {
    test(`for ${what} ${fits ? 'fits' : 'does not fit'}`, () => {
      const entry = Object.fromEntries(Object.entries(waiver(changes)).filter(([, value]) => value !== undefined))
      assert.equal(effectOf(BROKEN, { policy: { waivers: [entry] } }).decision, fits ? 'WARN' : 'BLOCK')
    })
  }

  test('holds to the end of its day, warns two weeks ahead, and bites from then on', () => {
    const policy = { waivers: [waiver({ expires: '2026-12-21' })] }
    const end = NOW - (NOW % DAY) + 31 * DAY
    const standings = [end - 15 * DAY, end - 14 * DAY, end - 1, end].map((now) => {
      const { decision, waiver: applied } = effectOf(BROKEN, { policy, now })
      return `${decision} ${applied?.standing}`
    })
    assert.deepEqual(standings, ['WARN in_force', 'WARN expires_soon', 'WARN expires_soon', 'BLOCK expired'])
  })

  test('that ends at an instant ends there', () => {
    const policy = { waivers: [waiver({ expires: '2026-11-21T04:00:00Z' })] }
    assert.equal(effectOf(BROKEN, { policy, now: NOW - 1 }).decision, 'WARN')
    assert.equal(effectOf(BROKEN, { policy, now: NOW }).decision, 'BLOCK')
  })

  test('in force stands in for one that has ended', () => {
    const policy = { waivers: [waiver({ expires: '2026-01-01' }), waiver({ id: 'renewed' })] }
    assert.equal(effectOf(BROKEN, { policy }).waiver?.id, 'renewed')
  })

  test('is not mentioned where nothing is held up', () => {
    const effect = effectOf(
      { rule: 'api-removed-without-deprecation', level: 'info' },
      { policy: { waivers: [waiver({})] } },
    )
    assert.equal(effect.waiver, null)
  })

  test('covers an observed finding too', () => {
    const effect = effectOf(BROKEN, { policy: { mode: 'observe', waivers: [waiver({})] } })
    assert.deepEqual([effect.decision, effect.observed, effect.waiver?.id], ['WARN', null, 'w'])
  })
})
