/** One budget of memory: who asks first is served first, bodies have a part of their own, and a task that needs too much ends with its thread. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Artifact } from '../../engine/internal.ts'
import { createPool } from '../../gateway/flow/pool.ts'
import { budgetFor, createMemoryBudget, type MemoryLease } from '../../gateway/runtime/memory-budget.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'

const MIB = 1024 * 1024
const never = new AbortController().signal

/** A contract of about that many bytes. */
function contract(bytes: number): string {
  const rows: string[] = []
  for (let size = 0; size < bytes; size += 130) {
    rows.push(
      `"S${rows.length}":{"type":"object","description":"${'x'.repeat(40)}","properties":{"p":{"type":"string"}}}`,
    )
  }
  return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{${rows.join(',')}}}}`
}

describe('the memory budget', () => {
  it('follows from what the process may use, and never exceeds it', () => {
    for (const memory of [256, 512, 1024, 4096].map((size) => size * MIB)) {
      const capacity = budgetFor(memory)
      assert.ok(capacity > 0 && capacity < memory, `${capacity} of ${memory}`)
    }
    assert.ok(budgetFor(512 * MIB) < budgetFor(1024 * MIB))
    assert.equal(budgetFor(64 * 1024 * MIB), budgetFor(128 * 1024 * MIB), 'one process does not take a whole machine')
  })

  it('grants no more than there is, in the order of asking', async () => {
    const budget = createMemoryBudget(1024 * MIB)
    const most = budget.limitOf('analysis')
    const first = await budget.take('analysis', most, never)
    assert.ok(first !== null)
    const order: string[] = []
    const leases: MemoryLease[] = []
    const ask = async (name: string, bytes: number): Promise<void> => {
      const lease = await budget.take('analysis', bytes, never)
      order.push(name)
      if (lease !== null) leases.push(lease)
    }
    const all = [ask('large', most), ask('next', budget.capacity - most + 1)]
    assert.equal(budget.waiting(), 2)
    assert.equal(budget.tryTake('analysis', 1), null, 'nobody goes before those that wait')
    first.release()
    first.release()
    await all[0]
    assert.deepEqual(order, ['large'])
    leases[0]?.release()
    await all[1]
    assert.deepEqual(order, ['large', 'next'])
    leases[1]?.release()
    assert.equal(budget.held('analysis'), 0)
  })

  it('leaves analyses room whatever bodies take', async () => {
    const budget = createMemoryBudget(1024 * MIB)
    const bodies: MemoryLease[] = []
    for (let lease = budget.tryTake('body', MIB); lease !== null; lease = budget.tryTake('body', MIB))
      bodies.push(lease)
    assert.ok(budget.held('body') <= budget.limitOf('body'))
    const analysis = await budget.take('analysis', budget.limitOf('analysis'), never)
    assert.ok(analysis !== null)
    assert.ok(budget.held('body') + budget.held('analysis') <= budget.capacity)
    const idle: number[] = []
    budget.onIdle(() => idle.push(budget.held('body')))
    for (const lease of [...bodies, analysis]) lease.release()
    assert.deepEqual(idle, [0], 'the last release is reported, once')
  })

  it('drops aborted waiters, and immediately refuses what can never be granted', async () => {
    const budget = createMemoryBudget(1024 * MIB)
    assert.equal(await budget.take('body', budget.limitOf('body') + 1, never), null)
    const all = budget.tryTake('analysis', budget.limitOf('analysis'))
    const gone = new AbortController()
    const impatient = budget.take('analysis', budget.limitOf('analysis'), gone.signal)
    const patient = budget.take('analysis', 1, never)
    gone.abort()
    assert.equal(await impatient, null)
    all?.release()
    assert.ok((await patient) !== null)
  })
})

const compare = (side: string): { readonly kind: 'compare'; readonly artifact: Artifact; readonly options: {} } => ({
  kind: 'compare',
  artifact: { id: 'a', type: 'openapi', before: side, after: side },
  options: {},
})

describe('a worker', () => {
  const logger = createLogger('silent')
  it('that needs more than there is ends with a problem, and gives its memory back', async () => {
    const memory = createMemoryBudget(300 * MIB)
    const pool = createPool({ workers: 2, queue: 4, memory, logger })
    const side = contract(16 * MIB)
    const answer = await pool.run('compare', compare(side), 2 * side.length, 60_000)
    assert.equal(answer.ok ? 'ok' : answer.problem.code, 'ANALYSIS_MEMORY')
    assert.equal(memory.held('analysis'), 0)
    const small = contract(1000)
    const next = await pool.run('compare', compare(small), 2 * small.length, 60_000)
    assert.equal(next.ok, true)
    await pool.close()
    assert.equal(memory.held('analysis'), 0)
  })

  // JSON.parse cannot be interrupted: whatever a heap limit says, it takes what it needs.
  for (const item of ['{}', '[]', '[[]]', '{"a":{}}'])
    it(`is not made to take more than there is by lists of ${item}`, async (t) => {
      const memory = createMemoryBudget(700 * MIB)
      const pool = createPool({ workers: 1, queue: 4, memory, logger })
      const items = `${`${item},`.repeat((14 * MIB) / (item.length + 1))}1`
      const side = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{},"x-a":[${items}]}`
      const [before, look] = [process.memoryUsage.rss(), { most: 0 }]
      const timer = setInterval(() => (look.most = Math.max(look.most, process.memoryUsage.rss() - before)), 20)
      t.after(() => clearInterval(timer))
      const answer = await pool.run('compare', compare(side), 2 * side.length, 120_000)
      assert.equal(answer.ok ? 'ok' : answer.problem.code, 'ANALYSIS_MEMORY')
      assert.ok(look.most < 500 * MIB, `${Math.round(look.most / MIB)} MiB`)
      await pool.close()
    })

  // The whole process ended when the parser's list of events could not grow within the limit of its thread.
  for (const line of ['- {}', '- - a', '? a', '- [a,a,a,a]'])
    it(`is not made to end the process by lines of ${line}`, async () => {
      const memory = createMemoryBudget(700 * MIB)
      const pool = createPool({ workers: 1, queue: 4, memory, logger })
      const side = `openapi: 3.0.3\ninfo: { title: t, version: '1' }\npaths: {}\nx-a:\n${`${line}\n`.repeat((14 * MIB) / (line.length + 1))}`
      const answer = await pool.run('compare', compare(side), 2 * side.length, 120_000)
      assert.equal(answer.ok ? 'ok' : answer.problem.code, 'ANALYSIS_MEMORY')
      await pool.close()
    })

  it('is not made to take more than there is by fields of GraphQL', async () => {
    const memory = createMemoryBudget(700 * MIB)
    const pool = createPool({ workers: 1, queue: 4, memory, logger })
    const side = `type Query { ${'f:A '.repeat(3 * MIB)} }`
    const artifact = { id: 'a', type: 'graphql', before: side, after: side } as const
    const answer = await pool.run('compare', { kind: 'compare', artifact, options: {} }, 2 * side.length, 120_000)
    assert.equal(answer.ok ? 'ok' : answer.problem.code, 'ANALYSIS_MEMORY')
    await pool.close()
  })

  it('that was taken for smaller than it is runs once more with all there is', async () => {
    const memory = createMemoryBudget(2048 * MIB)
    const pool = createPool({ workers: 1, queue: 4, memory, logger })
    const side = contract(16 * MIB)
    const answer = await pool.run('compare', compare(side), 1, 120_000)
    assert.equal(answer.ok, true)
    await pool.close()
  })

  it('that only waits for the next task gives way to one that needs its memory', async () => {
    const memory = createMemoryBudget(700 * MIB)
    const pool = createPool({ workers: 2, queue: 4, memory, logger })
    const small = contract(1000)
    await Promise.all([1, 2].map(() => pool.run('compare', compare(small), 2 * small.length, 60_000)))
    assert.ok(memory.held('analysis') > 0, 'threads stay warm')
    const large = await memory.take('analysis', memory.limitOf('analysis'), AbortSignal.timeout(20_000))
    assert.ok(large !== null)
    large.release()
    await pool.close()
  })
})
