/** Compiling a policy pack: every mistake with its place. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { POLICY_MEMBERS } from '../../../engine/policy/policy-check.generated.js'
import { compilePolicy, type Problem } from '../../../engine/internal.ts'
import { fakePolicy } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const RULE = { id: 'a', when: "finding.level == 'breaking'", then: 'BLOCK' }
const PACK = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'test' }, rules: [RULE] }

/** Places of mistakes that only a look at the meaning of a pack finds. */
const MEANT = ['/rules/1/when', '/rules/2/when', '/waivers/0/expires', '/freezes/0/from', '/levels/endpoint-aded']

function problemsOf(source: unknown): readonly Problem[] {
  const compiled = compilePolicy(source, sha256)
  return compiled.ok ? [] : compiled.problem
}

function problemOfCondition(when: string): string {
  const [problem] = problemsOf({ ...PACK, rules: [{ ...RULE, when }] })
  assert.equal(problem?.pointer, '/rules/0/when')
  return problem.message
}

suite('mistakes in the form of a pack', () => {
  const bad = { ...RULE, id: 'b', when: 'findin.level ==' }
  const waiver = { id: 'w', rule: 'endpoint-added', reason: 'r', owner: 'o', expires: '2027-13-01' }
  const freeze = {
    id: 'f',
    from: '2027-02-31T00:00:00Z',
    until: '2027-03-01T00:00:00Z',
    operations: ['merge'],
    reason: 'r',
  }
  const meant = {
    ...PACK,
    rules: [RULE, bad, { ...RULE, id: 'c', when: 'finding.level == 1', for: 'change_set' }],
    waivers: [waiver],
    freezes: [freeze],
    levels: { 'endpoint-aded': 'info' },
  }
  const [first, second, third] = meant.rules
  const inMeaning = problemsOf(meant).map(({ pointer }) => pointer)

  test('do not hide mistakes in its meaning, wherever they are', () => {
    assert.deepEqual(new Set(inMeaning), new Set(MEANT))
    const malformed: readonly (readonly [object, string])[] = [
      [{ extra: 1 }, '/extra'],
      [{ kind: 'Polic' }, '/kind'],
      [{ metadata: {} }, '/metadata'],
      [{ mode: 'off' }, '/mode'],
      [{ on_incomplete: 'ALLOW' }, '/on_incomplete'],
      [{ ttl: { default: 0 } }, '/ttl/default'],
      [{ rules: [{ ...first, then: 'DENY' }, second, third] }, '/rules/0/then'],
      [{ rules: ['rule', second, third] }, '/rules/0'],
      [{ rules: [first, { ...second, extra: 1 }, third] }, '/rules/1/extra'],
      [{ rules: [first, { when: bad.when }, third] }, '/rules/1'],
      [{ waivers: [waiver, {}] }, '/waivers/1'],
      [{ freezes: [freeze, null] }, '/freezes/1'],
    ]
    for (const [changes, pointer] of malformed) {
      const found = problemsOf({ ...meant, ...changes }).map((problem) => problem.pointer)
      assert.deepEqual(new Set(found), new Set([pointer, ...MEANT]), JSON.stringify(changes))
    }
  })

  test('name what is known there, for every object of a pack', () => {
    for (const [place, known] of POLICY_MEMBERS) {
      const [name = ''] = known
      const objectWith = (member: string): unknown =>
        place
          .split('/')
          .slice(1)
          .reduceRight<unknown>((held, step) => (step === '*' ? [held] : { [step]: held }), { [member]: 'x' })
      const messageOf = (member: string): string | undefined =>
        problemsOf(objectWith(member)).find(({ pointer }) => pointer?.endsWith(`/${member}`))?.message
      assert.equal(messageOf(`${name}_`), `the member "${name}_" is not known; did you mean "${name}"?`, place)
      assert.equal(messageOf('q'), `the member "q" is not known; known here: ${known.join(', ')}`, place)
    }
  })

  test('of a condition or a list itself leave no second mistake about the same place', () => {
    for (const [changes, pointer] of [
      [{ rules: [{ ...RULE, when: 1 }] }, '/rules/0/when'],
      [{ rules: [{ ...RULE, when: '' }] }, '/rules/0/when'],
      [{ rules: 'all' }, '/rules'],
      [{ rules: Array.from({ length: 201 }, () => bad) }, '/rules'],
      [{ levels: 'low' }, '/levels'],
    ] as const)
      assert.deepEqual(
        problemsOf({ ...PACK, ...changes }).map((problem) => problem.pointer),
        [pointer],
      )
  })
})

suite('a policy that does not load', () => {
  for (const [what, source, pointer] of [
    ['is not an object', [], ''],
    ['is of another version', { ...PACK, apiVersion: 'preflight.dev/v2' }, '/apiVersion'],
    ['has an unknown member', { ...PACK, extra: 1 }, '/extra'],
    ['has an unknown member with a slash', { ...PACK, 'a/b~c': 1 }, '/a~1b~0c'],
    ['has no rule', { ...PACK, rules: [] }, '/rules'],
    ['would ALLOW what is incomplete', { ...PACK, on_incomplete: 'ALLOW' }, '/on_incomplete'],
    ['has an unknown effect', { ...PACK, rules: [{ ...RULE, then: 'DENY' }] }, '/rules/0/then'],
    [
      'has a malformed reason code',
      { ...PACK, rules: [{ ...RULE, reason: { code: 'no', message: 'm' } }] },
      '/rules/0/reason/code',
    ],
    ['names two rules alike', { ...PACK, rules: [RULE, RULE] }, '/rules/1/id'],
    ['gives a rule an unknown level', { ...PACK, levels: { 'endpoint-added': 'harmless' } }, '/levels/endpoint-added'],
    [
      'gives a level to a rule that does not exist',
      { ...PACK, levels: { 'endpoint-aded': 'info' } },
      '/levels/endpoint-aded',
    ],
    [
      'waives a rule that does not exist',
      { ...PACK, waivers: [{ id: 'w', rule: 'endpoint-aded', reason: 'r', owner: 'o', expires: '2027-01-01' }] },
      '/waivers/0/rule',
    ],
    ['has a validity past a day', { ...PACK, ttl: { operations: { merge: 86_401 } } }, '/ttl/operations/merge'],
    [
      'waives everything',
      { ...PACK, waivers: [{ id: 'w', reason: 'r', owner: 'o', expires: '2027-01-01' }] },
      '/waivers/0',
    ],
    [
      'waives until a thirteenth month',
      { ...PACK, waivers: [{ id: 'w', rule: 'endpoint-added', reason: 'r', owner: 'o', expires: '2027-13-01' }] },
      '/waivers/0/expires',
    ],
    [
      'waives until a day that is not in the calendar',
      { ...PACK, waivers: [{ id: 'w', rule: 'endpoint-added', reason: 'r', owner: 'o', expires: '2027-02-29' }] },
      '/waivers/0/expires',
    ],
  ] as const) {
    test(`${what}, and the problem points there`, () => {
      assert.deepEqual(
        problemsOf(source).map((problem) => [problem.code, problem.pointer]),
        [['POLICY_INVALID', pointer]],
      )
    })
  }

  test('names every mistake in one result', () => {
    const source = { ...PACK, extra: 1, rules: [{ ...RULE, then: 'DENY' }], on_incomplete: 'ALLOW' }
    assert.deepEqual(
      new Set(problemsOf(source).map(({ pointer }) => pointer)),
      new Set(['/extra', '/on_incomplete', '/rules/0/then']),
    )
  })

  test('is not helped by a member __proto__', () => {
    const source: unknown = JSON.parse(JSON.stringify(PACK).replace('{', '{"__proto__":{"mode":"observe"},'))
    assert.deepEqual(
      problemsOf(source).map(({ pointer }) => pointer),
      ['/__proto__'],
    )
  })
})

suite('a condition that does not load', () => {
  for (const [when, words] of [
    ['finding.level ==', /not valid CEL/],
    ['finding.lvl == 1', /finding\.lvl, which does not exist; there are rule, code, level/],
    ['finding["lvl"] == severity', /reads severity, which does not exist/],
    ['has(context.operations)', /context\.operations/],
    ['tool.name == "x"', /tool\.name, which does not exist/],
    ['shout(finding.rule)', /calls shout\(\)/],
    [`${'('.repeat(40)}true${')'.repeat(40)}`, /nests brackets deeper/],
    [`finding.rule == "${'x'.repeat(2040)}"`, /may have at most 2048 characters/],
    ['[1].all(a, [1].all(b, [1].all(c, a == b && b == c)))', /nests loops deeper/],
  ] as const) {
    test(`${when.slice(0, 40)}: says what is wrong`, () => assert.match(problemOfCondition(when), words))
  }
})

suite('a policy that loads', () => {
  test('is the one that docs/policy.md shows', () => {
    const guide = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8')
    const [, example] = /```yaml\n([^]*?)```/.exec(guide) ?? []
    assert.ok(example)
    assert.deepEqual(problemsOf(parse(example)), [])
  })

  test('has the same hash however it is written, and another one for another meaning', () => {
    const reordered = {
      rules: [RULE],
      metadata: { name: 'test' },
      kind: 'Policy',
      apiVersion: 'preflight.dev/v1',
      mode: 'enforce',
    }
    const hashes = [PACK, reordered, { ...PACK, on_incomplete: 'WARN' }].map((source) => {
      const compiled = compilePolicy(source, sha256)
      return compiled.ok ? compiled.value.hash : 'broken'
    })
    assert.equal(hashes[0], hashes[1])
    assert.notEqual(hashes[0], hashes[2])
  })

  test('gives each operation its validity, its own value before the default', () => {
    const plain = fakePolicy()
    assert.deepEqual(
      ['merge', 'deploy', 'publish', 'tool_call', 'toString', null].map((operation) => plain.ttlSeconds(operation)),
      [14_400, 14_400, 14_400, 900, 900, 900],
    )
    const own = fakePolicy({ ttl: { default: 60, operations: { merge: 120 } } })
    assert.deepEqual(
      ['merge', 'deploy', 'tool_call'].map((operation) => own.ttlSeconds(operation)),
      [120, 14_400, 60],
    )
  })
})
