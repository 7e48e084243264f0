/** Schemas that are written and read by others than their owner: every rule of their sites holds on a pair, and levels follow from both sides. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/compare.ts'
import type { FindingGroup } from '../../../engine/finding.ts'
import { FAMILIES } from '../../../engine/rules/families.ts'
import { SCHEMA_DOCUMENT } from '../../../engine/rules/sites.ts'
import { schemaRules } from '../../../engine/rules/schema-rules.ts'
import { sha256Hex } from '../../../gateway/hash.ts'
import { FRAGMENTS, propertyOf } from './examples.ts'
import type { Schema } from './sites.ts'

const EMPTY: Schema = { type: 'object', properties: {} }
const STRING: Schema = { type: 'string' }
const WITH_DEFAULT: Schema = { type: 'string', default: 'a' }

function groupsOf(before: Schema, after: Schema): readonly FindingGroup[] {
  const sides = { before: JSON.stringify(before), after: JSON.stringify(after) }
  const options = { today: '2026-01-01', deprecation_days_stable: 30 }
  const result = compare({ id: 'schema', type: 'json_schema', ...sides }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups
}

const PROPERTIES: Readonly<Record<string, readonly [Schema, Schema]>> = {
  'new-required-schema-property-with-default': [EMPTY, propertyOf(WITH_DEFAULT, true)],
  'new-required-schema-property': [EMPTY, propertyOf(STRING, true)],
  'new-optional-schema-property': [EMPTY, propertyOf(STRING)],
  'schema-required-property-removed': [propertyOf(STRING, true), EMPTY],
  'schema-optional-property-removed': [propertyOf(STRING), EMPTY],
  'schema-property-became-required-with-default': [propertyOf(WITH_DEFAULT), propertyOf(WITH_DEFAULT, true)],
  'schema-property-became-required': [propertyOf(STRING), propertyOf(STRING, true)],
  'schema-property-became-optional': [propertyOf(STRING, true), propertyOf(STRING)],
}

function usage(keyword: string, word: string): readonly (readonly [string, Schema, Schema])[] {
  const used = { ...STRING, [keyword]: true }
  return [true, false].flatMap((isRequired) => {
    const noun = isRequired ? 'required' : 'optional'
    const [plain, marked] = [propertyOf(STRING, isRequired), propertyOf(used, isRequired)]
    return [
      [`schema-${noun}-property-became-${word}`, plain, marked],
      [`schema-${noun}-property-became-not-${word}`, marked, plain],
    ] as const
  })
}

function deprecated(sunset?: string): Schema {
  return { ...STRING, deprecated: true, ...(sunset === undefined ? {} : { 'x-sunset': sunset }) }
}

const LIFECYCLE: readonly (readonly [string, Schema, Schema])[] = [
  ['deprecated-with-sunset', STRING, deprecated('2026-12-31')],
  ['deprecated-sunset-missing', STRING, deprecated()],
  ['deprecated-sunset-invalid', STRING, deprecated('soon')],
  ['sunset-date-too-small', STRING, deprecated('2026-01-02')],
  ['reactivated', deprecated(), STRING],
  ['stability-decreased', { ...STRING, 'x-stability-level': 'stable' }, { ...STRING, 'x-stability-level': 'beta' }],
  ['stability-increased', { ...STRING, 'x-stability-level': 'beta' }, { ...STRING, 'x-stability-level': 'stable' }],
]

const TYPES: readonly (readonly [string, Schema, Schema])[] = [
  ['type-changed', STRING, { type: 'integer' }],
  ['type-specialized', { type: 'number' }, { type: 'integer' }],
  ['type-generalized', { type: 'integer' }, { type: 'number' }],
]

/** Rule, before, after. */
function examples(): readonly (readonly [string, Schema, Schema])[] {
  const families = FAMILIES.filter(({ keyword, action }) => keyword !== 'minItems' || !action.endsWith('set')).flatMap(
    ({ keyword, action, stem }) => {
      const pair = FRAGMENTS[`${keyword} ${action}`]
      assert.ok(pair, `${keyword} ${action}`)
      return [[stem, pair[0], pair[1]] as const]
    },
  )
  return [
    ...[...families, ...TYPES].flatMap(([stem, before, after]) => [
      [`schema-${stem}`, before, after] as const,
      [`schema-property-${stem}`, propertyOf(before), propertyOf(after)] as const,
    ]),
    ...Object.entries(PROPERTIES).map(([rule, [before, after]]) => [rule, before, after] as const),
    ...usage('readOnly', 'read-only'),
    ...usage('writeOnly', 'write-only'),
    ...LIFECYCLE.map(
      ([stem, before, after]) => [`schema-property-${stem}`, propertyOf(before), propertyOf(after)] as const,
    ),
  ]
}

function level(before: Schema, after: Schema): unknown {
  return groupsOf(before, after)[0]?.level
}

suite('a rule about a schema that is shared', () => {
  const all = examples()
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
