/** What packs ask of every change set without a condition: a raised version, protected consumers; and who may approve. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compilePolicy, type Comparison, type DecideInput, type Verdict } from '../../../engine/internal.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const BREAKING: FakeFinding = { rule: 'api-removed-without-deprecation', level: 'breaking', places: ['GET /pets'] }
const DANGEROUS: FakeFinding = { rule: 'request-body-added-optional', level: 'dangerous', places: ['GET /pets'] }
const INFO: FakeFinding = { rule: 'endpoint-added', level: 'info' }
const NEVER = [{ id: 'never', when: 'false', then: 'WARN' }]

function asked(
  findings: readonly FakeFinding[],
  [base, head]: readonly [string | null, string | null],
  pack: object = {},
  rest: Partial<Comparison> = {},
): Verdict {
  const policy = fakePolicy({ rules: NEVER, minimum_bump: { then: 'BLOCK' }, ...pack })
  const analyses = [fakeAnalysis('api', findings, { contract_versions: { base, head }, ...rest })]
  return decideOn([], { policy, analyses })
}

suite('a minimum bump', () => {
  const cases: readonly (readonly [string, readonly FakeFinding[], string | null, string | null, boolean])[] = [
    ['breaking with a major step', [BREAKING], '1.4.2', '2.0.0', true],
    ['breaking with a minor step', [BREAKING], '1.4.2', '1.5.0', false],
    ['breaking with the same version', [BREAKING], '1.4.2', '1.4.2', false],
    ['breaking before 1.0.0 with a minor step', [BREAKING], '0.4.2', '0.5.0', true],
    ['breaking before 1.0.0 with a patch', [BREAKING], '0.4.2', '0.4.3', false],
    ['breaking from 0.x to 1.0.0', [BREAKING], '0.4.2', '1.0.0', true],
    ['dangerous with a minor step', [DANGEROUS], 'v1.4.2', 'v1.5.0', true],
    ['dangerous with a patch', [DANGEROUS], '1.4.2', '1.4.3', false],
    ['info with a minor step', [INFO], '1.4.2', '1.5.0', true],
    ['info with a patch before 1.0.0', [INFO], '0.4.2', '0.4.3', true],
    ['info with the same version', [INFO], '1.4.2', '1.4.2', false],
    ['nothing found, same version', [], '1.4.2', '1.4.2', true],
    ['a step down', [INFO], '2.0.0', '1.9.0', false],
    ['a pre-release of the next major', [BREAKING], '1.4.2', '2.0.0-rc.1', true],
    ['from one pre-release to the next', [BREAKING], '2.0.0-rc.1', '2.0.0-rc.2', false],
    ['no version in the head', [BREAKING], '1.4.2', null, false],
    ['no semantic version', [BREAKING], '2026-01-01', '2026-02-01', false],
  ]
  for (const [name, findings, base, head, isEnough] of cases)
    test(`${name}: ${isEnough ? 'enough' : 'too small'}`, () => {
      const verdict = asked(findings, [base, head])
      assert.equal(verdict.decision, isEnough ? 'ALLOW' : 'BLOCK')
      assert.equal(verdict.blocking_reasons[0]?.code, isEnough ? undefined : 'VERSION_BUMP_TOO_SMALL')
    })

  test('says what was asked for and what was done', () => {
    assert.equal(
      asked([BREAKING], ['1.4.2', '1.5.0']).blocking_reasons[0]?.message,
      'api: the changes ask for a major version; it went from 1.4.2 to 1.5.0',
    )
    assert.match(asked([BREAKING], ['jan', 'feb']).blocking_reasons[0]?.message ?? '', /jan is not a semantic version/)
  })

  const released = (release: DecideInput['release'], findings = [BREAKING], pack: object = {}): Verdict => {
    const policy = fakePolicy({ rules: NEVER, minimum_bump: { then: 'BLOCK' }, ...pack })
    const analyses = [fakeAnalysis('schema.graphql', findings), fakeAnalysis('other.graphql', [])]
    return decideOn([], { policy, analyses, ...(release !== undefined && { release }) })
  }

  test('asks it of what a contract is published in, whether or not the contract has a version of its own', () => {
    const name = 'npm:pets'
    assert.equal(released({ name, base: '1.4.2', head: '2.0.0' }).decision, 'ALLOW')
    const patched = released({ name, base: '1.4.2', head: '1.4.3' })
    assert.equal(patched.decision, 'BLOCK')
    assert.deepEqual(
      patched.blocking_reasons.map(({ code, message }) => [code, message]),
      [['VERSION_BUMP_TOO_SMALL', 'npm:pets: the changes ask for a major version; it went from 1.4.2 to 1.4.3']],
    )
    assert.equal(released({ name, base: '1.4.2', head: '1.4.3' }, []).decision, 'ALLOW')
    assert.equal(released({ name, base: null, head: '1.0.0' }).decision, 'ALLOW')
    assert.match(
      released({ name, base: '', head: '1.0.0' }).blocking_reasons[0]?.message ?? '',
      /base states no version/,
    )
    assert.equal(released(undefined).decision, 'ALLOW')
  })

  test('is part of the verdict, so of its fingerprint, only where the pack asks for it', () => {
    const [a, b] = [
      { name: 'npm:pets', base: '1.0.0', head: '2.0.0' },
      { name: 'npm:pets', base: '1.0.0', head: '3.0.0' },
    ]
    assert.notEqual(released(a).fingerprint, released(b).fingerprint)
    const without = (release: DecideInput['release']) => released(release, [BREAKING], { minimum_bump: undefined })
    assert.equal(without(a).fingerprint, without(b).fingerprint)
    assert.equal(without(a).fingerprint, without(undefined).fingerprint)
  })

  test('says nothing of contracts that come or go, have no version of their own, or could not be analysed', () => {
    const created = { spec_versions: { base: null, head: '3.0.3' } }
    assert.equal(asked([INFO], [null, '1.0.0'], {}, created).decision, 'ALLOW')
    const policy = fakePolicy({ rules: NEVER, minimum_bump: { then: 'BLOCK' }, on_incomplete: 'WARN' })
    assert.equal(decideOn([], { policy, analyses: [fakeAnalysis('schema', [BREAKING])] }).decision, 'ALLOW')
    assert.equal(decideOn([], { policy, analyses: [failedAnalysis('api')] }).decision, 'WARN')
  })

  test('counts where and how the pack says, and levels of the pack count as its rules see them', () => {
    const elsewhere = { minimum_bump: { then: 'BLOCK', operations: ['deploy'] } }
    assert.equal(asked([BREAKING], ['1.0.0', '1.0.0'], elsewhere).decision, 'ALLOW')
    const observing = asked([BREAKING], ['1.0.0', '1.0.0'], { mode: 'observe' })
    assert.deepEqual([observing.decision, observing.observed_decision], ['WARN', 'BLOCK'])
    assert.equal(asked([INFO], ['1.0.0', '1.0.0'], { levels: { 'endpoint-added': 'off' } }).decision, 'ALLOW')
    assert.equal(asked([BREAKING], ['1.0.0', '1.0.0'], { minimum_bump: { then: 'WARN' } }).decision, 'WARN')
  })

  test('names every contract that falls short', () => {
    const policy = fakePolicy({ rules: NEVER, minimum_bump: { then: 'BLOCK' } })
    const versions = { contract_versions: { base: '1.0.0', head: '1.0.0' } }
    const analyses = ['a', 'b', 'c'].map((id) => fakeAnalysis(id, [BREAKING], versions))
    assert.match(decideOn([], { policy, analyses }).blocking_reasons[0]?.message ?? '', /^a: .* \(and 2 more\)$/)
  })
})

const uses = (name: string, operation: string) => ({ name, uses: [{ artifact: null, operation, tool: null }] })

suite('protected consumers', () => {
  const pack = { rules: NEVER, protected_consumers: { names: ['billing'], then: 'REQUIRE_APPROVAL' } }
  const under = (
    findings: readonly FakeFinding[],
    consumers: DecideInput['consumers'] = [uses('billing', 'GET /pets')],
  ) => decideOn(findings, { policy: fakePolicy(pack), consumers })

  test('are not reached silently by what breaks or endangers them', () => {
    const verdict = under([DANGEROUS])
    assert.equal(verdict.decision, 'REQUIRE_APPROVAL')
    assert.deepEqual(verdict.blocking_reasons, [
      { code: 'PROTECTED_CONSUMER', message: 'the change reaches the protected consumer billing' },
    ])
    assert.equal(verdict.evidence[0]?.source, 'test/protected-consumers')
  })

  test('do not mind what does not reach them, nor do other consumers', () => {
    assert.equal(under([INFO]).decision, 'ALLOW')
    assert.equal(under([{ ...BREAKING, places: ['GET /cats'] }]).decision, 'ALLOW')
    assert.equal(under([BREAKING], [uses('wiki', 'GET /pets')]).decision, 'ALLOW')
  })

  test('belong to what the verdict depends on', () => {
    assert.notEqual(under([BREAKING], [uses('a', 'GET /pets')]).fingerprint, under([BREAKING], []).fingerprint)
  })
})

const rule = (id: string, approvers: readonly string[], more: object = {}) => ({
  id,
  when: "finding.level == 'dangerous'",
  then: 'REQUIRE_APPROVAL',
  approvers,
  ...more,
})

suite('approvers', () => {
  test('are those of every rule that requires them, also of rules that do not decide the finding', () => {
    const rules = [rule('a', ['payments', 'security']), rule('b', ['platform']), rule('c', ['payments', 'security'])]
    const verdict = decideOn([DANGEROUS], { policy: fakePolicy({ rules }) })
    assert.deepEqual(verdict.approver_groups, [['payments', 'security'], ['platform']])
    assert.match(verdict.required_action ?? '', /from an approver of the group payments or security, and of platform,/)
    assert.match(
      verdict.next_actions[0]?.instruction ?? '',
      /^Ask an approver of the group payments or security, and of/,
    )
  })

  test('are none where nobody is asked: a block, a warning, an observing rule, a waiver', () => {
    const block = { id: 'block', when: 'true', then: 'BLOCK' }
    const waivers = [{ id: 'w', rule: DANGEROUS.rule, reason: 'r', owner: 'o', expires: '2027-01-01' }]
    for (const pack of [
      { rules: [rule('a', ['x']), block] },
      { rules: [rule('a', ['x'], { mode: 'observe' })] },
      { rules: [rule('a', ['x'])], waivers },
      { rules: [rule('a', ['x'], { environments: ['prod'] })] },
    ])
      assert.deepEqual(decideOn([DANGEROUS], { policy: fakePolicy(pack) }).approver_groups, [], JSON.stringify(pack))
  })

  test('are asked for by rules about the change set, freeze windows and demands too', () => {
    const freeze = {
      id: 'week',
      from: '2026-11-20T00:00:00Z',
      until: '2026-11-22T00:00:00Z',
      operations: ['merge'],
      then: 'REQUIRE_APPROVAL',
      reason: 'r',
      approvers: ['release'],
    }
    const policy = fakePolicy({
      rules: [rule('whole', ['leads'], { for: 'change_set', when: 'true' })],
      freezes: [freeze],
      minimum_bump: { then: 'REQUIRE_APPROVAL', approvers: ['api'] },
    })
    const analyses = [fakeAnalysis('api', [INFO], { contract_versions: { base: '1.0.0', head: '1.0.0' } })]
    const groups = decideOn([], { policy, analyses }).approver_groups.flat()
    assert.deepEqual(groups.toSorted(), ['api', 'leads', 'release'])
  })

  test('and demands have names that no rule may take', () => {
    const compiled = compilePolicy(
      {
        apiVersion: 'preflight.dev/v1',
        kind: 'Policy',
        metadata: { name: 'p' },
        rules: [{ id: 'minimum-bump', when: 'true', then: 'WARN' }],
      },
      sha256,
    )
    assert.ok(!compiled.ok)
    assert.match(compiled.problem[0]?.message ?? '', /minimum-bump is reserved for the requirements of packs/)
  })
})
