/** The moments at which a decision under a policy ends. */
// A decision may not outlive the next moment at which a condition on the time could answer otherwise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'

/** 2026-11-20T17:59:30Z. */
const AT = Date.UTC(2026, 10, 20, 17, 59, 30) / 1000

const RULES = [{ id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }]

const CASES: readonly (readonly [condition: string, seconds: number])[] = [
  ['time.hour >= 18', 30],
  ['time.hour in [9, 10]', 30],
  ['time.minute == 0', 30],
  ["time.weekday == 'Saturday'", 6 * 3600 + 30],
  ["time.date == '2026-11-21'", 6 * 3600 + 30],
  ['time.unix % 86400 > 64800', 1],
  [`time.unix in [${AT + 7}]`, 1],
  ["time['un' + 'ix'] > 3", 1],
  [`time.unix < ${AT + 7}`, 7],
  [`${AT + 7} <= time.unix`, 7],
  [`time.unix > ${AT}`, 1],
  [`time.unix == ${AT + 7} || time.unix > ${AT + 70}`, 7],
  [`time.unix < ${AT - 5}`, 86_400],
  [`[1].exists(x, time.unix > ${AT + 9} && x == 1)`, 9],
  [`time.unix < ${AT + 70} && time.minute == 3`, 30],
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

test('a decision that rests on a waiver ends with it', () => {
  const ttl = { default: 86_400, operations: { merge: 86_400 } }
  const waiver = { id: 'w', reason: 'r', owner: 'o', rule: 'api-path-removed-without-deprecation' }
  for (const [expires, seconds] of [
    ['2026-11-20', 6 * 3600 + 30],
    ['2026-11-20T18:00:00Z', 30],
    ['2026-11-20T17:00:00Z', 86_400],
    ['2027-01-01', 86_400],
  ] as const) {
    const policy = fakePolicy({ rules: RULES, ttl, waivers: [{ ...waiver, expires }] })
    assert.equal(decideOn([], { policy, now: AT }).ttl_seconds, seconds, expires)
  }
})

test('a decision under promised days until a sunset ends with its day', () => {
  const ttl = { default: 86_400, operations: { merge: 86_400 } }
  const policy = fakePolicy({ rules: RULES, ttl, deprecation: { stable_days: 180 } })
  assert.equal(decideOn([], { policy, now: AT }).ttl_seconds, 6 * 3600 + 30)
})

test('the ends of days and months are those of UTC, whatever clocks are turned', () => {
  const ttl = { default: 86_400, operations: { merge: 86_400 } }
  const policy = fakePolicy({ rules: [{ id: 'r', when: 'time.weekday >= 6', then: 'WARN' }], ttl })
  for (const [now, seconds] of [
    // Clocks are turned in Europe and America on these days.
    ['2026-10-25T00:30:00Z', 84_600],
    ['2026-03-29T00:30:00Z', 84_600],
    ['2026-11-01T05:59:59Z', 64_801],
    ['2028-02-29T23:59:59Z', 1],
    ['2026-12-31T23:59:59Z', 1],
    ['2027-01-01T00:00:00Z', 86_400],
  ] as const)
    assert.equal(decideOn([], { policy, now: Date.parse(now) / 1000 }).ttl_seconds, seconds, now)
})
