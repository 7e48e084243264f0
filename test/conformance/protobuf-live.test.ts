import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askBuf, hasBuf, type LiveOutcome } from './protobuf-live.ts'
import { protoPairs } from './protobuf-pairs.ts'

/** A kind of difference that is meant: docs/protobuf.md tells the same to users. */
interface Difference {
  readonly because: string
  readonly holds: (outcome: LiveOutcome) => boolean
}

const only = (rules: readonly string[], pattern: RegExp): boolean =>
  rules.length > 0 && rules.every((rule) => pattern.test(rule))

const ENTRY = /Entry["\s]/

const DIFFERENCES: readonly Difference[] = [
  {
    because: 'buf tells the messages that the compiler makes of map fields beside the fields',
    holds: ({ missing, surplus, verdicts }) =>
      surplus.length === 0 &&
      missing.every((rule) => verdicts.some((verdict) => verdict.rule === rule && ENTRY.test(verdict.message))),
  },
  {
    because: 'buf looks for the label `required`, not for the feature that means the same',
    holds: ({ pair, missing, surplus }) =>
      JSON.stringify(pair).includes('LEGACY_REQUIRED') &&
      only([...missing, ...surplus], /^MESSAGE_SAME_REQUIRED_FIELDS$/),
  },
  {
    because: 'buf does not tell the last message, enum or extension that leaves a package which stays',
    holds: ({ missing, surplus }) =>
      missing.length === 0 && only(surplus, /^PACKAGE_(?:MESSAGE|ENUM|EXTENSION)_NO_DELETE$/),
  },
]

test('changes of every kind get buf’s verdicts, asked now, but for the differences that are meant', (t) => {
  if (!hasBuf) {
    assert.notEqual(process.env['CI'], 'true', 'npm ci installs buf')
    return t.skip('buf is not installed')
  }
  const outcomes = askBuf(protoPairs())
  const differing = outcomes.filter(({ missing, surplus }) => missing.length + surplus.length > 0)
  const used = new Set<Difference>()
  const unexpected = differing.filter((outcome) => {
    const difference = DIFFERENCES.find(({ holds }) => holds(outcome))
    if (difference !== undefined) used.add(difference)
    return difference === undefined
  })
  const lines = unexpected.map(
    ({ pair, missing, surplus }) => `${pair.name}: missing ${missing.join(', ')}; surplus ${surplus.join(', ')}`,
  )
  assert.deepEqual(lines, [])
  assert.deepEqual(
    DIFFERENCES.filter((difference) => !used.has(difference)).map(({ because }) => because),
    [],
    'a difference that is no more',
  )
  assert.ok(outcomes.length > 1500 && outcomes.filter(({ verdicts }) => verdicts.length > 0).length > 1000)
})
