/** Texts of a policy pack that have to look like something: a mistake says like what, and shows no pattern. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePolicy } from '../../../engine/internal.ts'
import { PolicyDocument } from '../../../engine/policy/schema.ts'
import { problemsOf } from '../../../engine/common/violation.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

function patternsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
  )
}

test('every pattern of a pack has words for what to write', () => {
  const patterns = [...new Set(patternsOf(PolicyDocument))]
  assert.ok(patterns.length > 3, 'the patterns are found')
  for (const pattern of patterns) {
    const [problem] = problemsOf(
      [{ instancePath: '/x', schemaPath: '', keyword: 'pattern', params: { pattern } }],
      'CODE',
      new Map(),
    )
    assert.match(problem?.message ?? '', /^must be /, pattern)
  }
})

test('an invalid end of a waiver is refused with the valid forms', () => {
  const waiver = { id: 'w', rule: 'api-path-added', reason: 'known', owner: 'us', expires: 'tomorrow' }
  const pack = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules: [], waivers: [waiver] }
  const compiled = compilePolicy(pack, sha256Hex)
  assert.ok(!compiled.ok)
  assert.deepEqual(
    compiled.problem.map(({ pointer, message }) => [pointer, message]),
    [
      ['/rules', 'must have at least one entry'],
      ['/waivers/0/expires', 'must be a day or an instant in UTC: 2027-01-31 or 2027-01-31T12:00:00Z'],
    ],
  )
})

test('a value that has none of its forms is refused with the form of its type, its types, or the members of which one is missing', () => {
  const people = 'must be a number of people and their groups, such as "2 of payments or security"'
  const types = 'must be of type integer or string'
  const table: readonly (readonly [approvals: unknown, message: string])[] = [
    ['two', people],
    ['0 of payments', people],
    [0, 'must be at least 1'],
    [21, 'may be at most 20'],
    [1.5, types],
    [null, types],
    [['payments'], types],
  ]
  for (const [approvals, message] of table)
    assert.deepEqual(problemsIn({ rules: [{ ...rule, approvals }] }), [['/rules/0/approvals', message]])
  const waiver = { id: 'w', reason: 'known', owner: 'us', expires: '2027-01-31' }
  assert.deepEqual(problemsIn({ rules: [rule], waivers: [waiver] }), [
    ['/waivers/0', 'the member "fingerprint" or "rule" is missing'],
  ])
})

const rule = { id: 'a', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }

function problemsIn(members: object): readonly (readonly [pointer: string | undefined, message: string])[] {
  const compiled = compilePolicy(
    { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, ...members },
    sha256Hex,
  )
  return compiled.ok ? [] : compiled.problem.map(({ pointer, message }) => [pointer, message])
}
