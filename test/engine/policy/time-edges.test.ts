// A decision may not outlive the next moment at which a condition on the time could answer otherwise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'

/** 2026-11-20T17:59:30Z. */
const AT = Date.UTC(2026, 10, 20, 17, 59, 30) / 1000

const CASES: readonly (readonly [condition: string, seconds: number])[] = [
  ['time.hour >= 18', 30],
  ['time.hour in [9, 10]', 30],
  ['time.minute == 0', 30],
  ["time.weekday == 'Saturday'", 6 * 3600 + 30],
  ["time.date == '2026-11-21'", 6 * 3600 + 30],
  ['time.unix % 86400 > 64800', 30],
  ["time['hour'] > 3", 30],
]
for (const [when, seconds] of CASES)
  test(`a decision under a rule on ${when} ends where it may answer otherwise`, () => {
    const rules = [{ id: 'r', when, then: 'WARN' }]
    const ttl = { default: 86_400, operations: { merge: 86_400 } }
    assert.equal(decideOn([], { policy: fakePolicy({ rules, ttl }), now: AT }).ttl_seconds, seconds)
  })

test('a policy that reads no time keeps its validity', () => {
  const ttl = { default: 86_400, operations: { merge: 86_400 } }
  assert.equal(decideOn([], { policy: fakePolicy({ ttl }), now: AT }).ttl_seconds, 86_400)
})
