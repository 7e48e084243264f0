/** Every case in test/rules with each of its changed values left out on one side: no sentence shows how the code writes an absent value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse, stringify } from 'yaml'
import { canonicalArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { ruleOf } from '../../../engine/rules/catalog/table.ts'
import { filledIn } from '../../../engine/rules/row.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { caseFormats, ruleCases, type RuleCase } from '../../rules/cases.ts'

type Sides = readonly [before: string, after: string]

/** The sides of a case, each once without each part that differs. */
function* thinned({ before, after, syntax }: RuleCase): Generator<Sides> {
  if (syntax === 'text') {
    for (const side of withoutLines(before, after)) yield [side, after]
    for (const side of withoutLines(after, before)) yield [before, side]
    return
  }
  const [base, head]: readonly unknown[] = [parse(before), parse(after)]
  for (const path of differences(base, head)) {
    for (const side of without(base, path)) yield [stringify(side), after]
    for (const side of without(head, path)) yield [before, stringify(side)]
  }
}

function withoutLines(text: string, other: string): readonly string[] {
  const [lines, others] = [text.split('\n'), new Set(other.split('\n'))]
  return lines.flatMap((line, at) => (others.has(line) ? [] : [lines.toSpliced(at, 1).join('\n')]))
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])
}

/** Paths to the members that differ, and to those inside them. */
function* differences(base: unknown, head: unknown): Generator<readonly string[]> {
  const [bases, heads] = [membersOf(base), membersOf(head)]
  for (const name of new Set([...bases.keys(), ...heads.keys()])) {
    const [before, after] = [bases.get(name), heads.get(name)]
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    yield [name]
    for (const path of differences(before, after)) yield [name, ...path]
  }
}

/** The document without one member: none if it has no such member. */
function without(side: unknown, [name = '', ...inner]: readonly string[]): readonly unknown[] {
  const members = membersOf(side)
  if (!members.has(name)) return []
  const entries = [...members].filter(([other]) => inner.length > 0 || other !== name)
  if (inner.length === 0) return [joined(side, entries)]
  return without(members.get(name), inner).map((value) =>
    joined(
      side,
      entries.map(([other, own]) => [other, other === name ? value : own]),
    ),
  )
}

function joined(side: unknown, entries: readonly (readonly [string, unknown])[]): unknown {
  return Array.isArray(side) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

function found(
  format: string,
  [before, after]: Sides,
  { options = {} }: Pick<RuleCase, 'options'>,
): readonly FindingGroup[] {
  const type = canonicalArtifactType(format)
  assert.ok(type)
  const result = compare({ id: 'contract', type, before, after }, options, sha256Hex)
  // A contract may need the part that is left out.
  return result.ok ? result.value.groups : []
}

for (const format of caseFormats()) {
  test(`values that only one side states are named in words: ${format}`, () => {
    let oneSided = 0
    for (const expected of ruleCases(format)) {
      for (const sides of thinned(expected)) {
        for (const { rule, message, before, after } of found(format, sides, expected)) {
          assert.doesNotMatch(message, /\bundefined\b|``|\s\s/, `${rule}: ${sides.join('\n---\n')}`)
          if ((before === null) === (after === null)) continue
          oneSided += 1
          const isAboutNull = /\bnull\b/.test(ruleOf(rule)?.description ?? '')
          if (!isAboutNull) assert.doesNotMatch(message, /\bnull\b/, `${rule}: ${sides.join('\n---\n')}`)
        }
      }
    }
    assert.ok(oneSided > 20, String(oneSided))
  })
}

test('a sentence names an absent value without quotes, a stated null as null, and an empty text as quotes', () => {
  const sentence = 'went from `{before}` to {after}'
  assert.equal(filledIn({ sentence }, { before: null, after: 1 }), 'went from (absent) to 1')
  assert.equal(filledIn({ sentence, absent: 'any value' }, { before: 'a', after: null }), 'went from `a` to any value')
  assert.equal(filledIn({ sentence }, { before: '', after: 'null' }), 'went from `""` to null')
})

/** Changes whose value is null on the side that states it. */
const STATED_NULLS: readonly (readonly [before: unknown, after: unknown])[] = [
  [{ const: null }, { const: 1 }],
  [{ default: null }, { default: 'a' }],
  [{ enum: [null, 1] }, { enum: [1] }],
  // Only the two alternatives together refuse null.
  [
    { type: ['string', 'null'] },
    { type: ['string', 'null'], anyOf: [{ type: 'string' }, { minLength: 1, type: 'string' }] },
  ],
]

test('no sentence calls a value of null absent', () => {
  for (const [before, after] of STATED_NULLS) {
    const messages = found('json_schema', [JSON.stringify(before), JSON.stringify(after)], { options: {} }).map(
      ({ message }) => message,
    )
    const text = messages.join('\n')
    assert.match(text, /\bnull\b/, text)
    assert.doesNotMatch(text, /\(absent\)/, text)
  }
})
