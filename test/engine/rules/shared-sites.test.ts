/** Schemas that are written and read by others than their owner: every rule of their sites holds on a pair, and levels follow from both sides. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { SCHEMA_DOCUMENT } from '../../../engine/schema/sites.ts'
import { schemaRules } from '../../../engine/rules/schema-rules.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { crdExamples, sharedExamples } from './shared-examples.ts'
import type { Schema } from './sites.ts'

function groupsOf(before: Schema, after: Schema): readonly FindingGroup[] {
  const sides = { before: JSON.stringify(before), after: JSON.stringify(after) }
  const options = { today: '2026-01-01', deprecation_days_stable: 30 }
  const result = compare({ id: 'schema', type: 'json_schema', ...sides }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups
}

function level(before: Schema, after: Schema): unknown {
  return groupsOf(before, after)[0]?.level
}

suite('a rule about a schema that is shared', () => {
  const all = sharedExamples()
  const rules = new Map(schemaRules(SCHEMA_DOCUMENT).map((rule) => [rule.id, rule]))

  test('holds on its pair at its level, with advice, and on nothing when the two sides are the same', () => {
    const silent: string[] = []
    for (const [rule, before, after] of all) {
      const groups = groupsOf(before, after)
      const group = groups.find((candidate) => candidate.rule === rule)
      if (group === undefined) silent.push(`${rule}: ${groups.map((other) => other.rule).join(', ')}`)
      else {
        assert.equal(group.level, rules.get(rule)?.level, rule)
        assert.equal(group.direction, 'none', rule)
        assert.ok(group.explanation !== '' && group.fix !== '', rule)
      }
      assert.deepEqual(groupsOf(after, after), [], `${rule} on identity`)
    }
    assert.deepEqual(silent, [])
  })

  test('has an example, but for deprecation without a promise and bounds that are always there', () => {
    const shown = new Set(all.map(([rule]) => rule))
    const bare = [...rules.keys()].filter((id) => !shown.has(id))
    assert.deepEqual(bare, [
      'schema-min-items-set',
      'schema-min-items-unset',
      'schema-property-min-items-set',
      'schema-property-min-items-unset',
      'schema-property-deprecated',
    ])
  })

  test('breaks where it narrows, is dangerous where it widens, and says nothing of breaking where it does neither', () => {
    for (const [id, { effect, because, ...rule }] of rules) {
      if (because !== null) continue
      const expected = { narrows: 'breaking', moves: 'breaking', none: 'info' } as const
      const want = Object.entries(expected).find(([name]) => name === effect)?.[1] ?? 'dangerous'
      assert.equal(rule.level, want, id)
    }
  })

  test('widening of one kind of type to another that holds it is no break, the reverse is', () => {
    assert.equal(level({ type: 'integer' }, { type: ['integer', 'string'] }), 'dangerous')
    assert.equal(level({ type: ['integer', 'string'] }, { type: 'integer' }), 'breaking')
  })
})

test('the rules of custom resources hold on the same pairs', () => {
  const all = crdExamples()
  assert.ok(all.length > 150)
  for (const [rule, base, head] of all) {
    const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
    const options = { today: '2026-01-01', deprecation_days_stable: 30 }
    const result = compare({ id: 'crd', type: 'k8s_crd', before, after }, options, sha256Hex)
    assert.ok(result.ok, rule)
    const reported = result.value.groups.map((group) => group.rule)
    assert.ok(reported.includes(rule), `${rule}: ${reported.join(', ')}`)
  }
})
