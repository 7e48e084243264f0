/**
 * The gate of soundness: no change that a validator proves to break users is called information or passes without a finding.
 * Neither the order of keys nor the name of a property changes an answer. The pairs are the same in each run.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DIALECT_NAMES } from './dialects.ts'
import { MUTATIONS } from './mutations.ts'
import { REWRITES } from './rewrites.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'
import { SURFACES } from './surfaces.ts'
import { NO_REASON, warningKindOf } from './warnings.ts'

const SEED = 20261121
/** Far beyond what a run takes on a busy machine: only a run that hangs ends by it. */
const TIMEOUT_MS = 900_000
const PAIRS = 20_000
/** Of all pairs of equal meaning, those that may be called breaking or dangerous. */
const MOST_ALARMS = 0.002
/** Proven breaks that are a warning without a known reason, for each pair with a proven break. */
const MOST_MILD = 0.002

suite('generated pairs of schemas', () => {
  test('a proven break is breaking or dangerous at every surface', { timeout: TIMEOUT_MS }, async () => {
    const { counts, failures } = await run({ seed: SEED, count: PAIRS, job: 'pairs' })
    const proven = counts['pairs with a proven break'] ?? 0
    assert.ok(proven > PAIRS / 2, `only ${proven} pairs with a proven break`)
    for (const name of [...DIALECT_NAMES, ...Object.keys(MUTATIONS)]) {
      const shown = counts[`proven: ${name}`] ?? 0
      assert.ok(shown >= 10, `${name}: ${shown} pairs with a proven break`)
    }
    for (const { name } of SURFACES) {
      const shown = counts[`proven at: ${name}`] ?? 0
      assert.ok(shown >= 10, `${name}: ${shown} pairs with a proven break`)
    }
    assert.equal(failures.length, 0, reportOf('pairs', SEED, failures))
    const mild = counts[`warning: ${NO_REASON}`] ?? 0
    assert.ok(mild <= proven * MOST_MILD, `${mild} proven breaks are warnings without a known reason (warnings.ts)`)
  })

  test('a proven break that is a warning has a kind with a reason', () => {
    const listed = warningKindOf('narrowed', [
      'dangerous request-body-max-length-set /x',
      'info request-body-type-changed /x',
    ])
    assert.equal(listed, 'first bound')
    for (const effect of ['narrowed', 'widened'] as const)
      assert.equal(warningKindOf(effect, ['dangerous request-body-type-changed /x']), null)
  })

  test('what is written otherwise is neither breaking nor dangerous', { timeout: TIMEOUT_MS }, async () => {
    const { counts, failures } = await run({ seed: SEED, count: 10_000, job: 'rewrites' })
    const unequal = failures.filter(({ kind }) => kind.startsWith('not equal'))
    assert.equal(unequal.length, 0, reportOf('rewrites', SEED, unequal))
    const kinds = Object.keys(REWRITES).filter((name) => (counts[`rewritten: ${name}`] ?? 0) >= 10)
    assert.ok(kinds.length >= 40, `only ${kinds.length} kinds of rewrites in ten pairs or more`)
    const pairs = counts.pairs ?? 0
    assert.ok(failures.length <= pairs * MOST_ALARMS, reportOf('rewrites', SEED, failures))
  })

  test('the order of keys changes no byte of the answer', { timeout: TIMEOUT_MS }, async () => {
    const { failures } = await run({ seed: SEED, count: 1500, job: 'orders' })
    assert.equal(failures.length, 0, reportOf('orders', SEED, failures))
  })

  test(
    'a property that is called like a member of every object changes no answer',
    { timeout: TIMEOUT_MS },
    async () => {
      const { failures } = await run({ seed: SEED, count: 1500, job: 'names' })
      assert.equal(failures.length, 0, reportOf('names', SEED, failures))
    },
  )
})
