/** Work that waits only where it must keeps its order, and ends with its first failure. */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { after, oneByOne } from '../../gateway/runtime/awaiting.ts'

/** The answer to a number: `now` without a promise, `later` in one. */
const ANSWERS = {
  now: (item: number) => item * 2,
  later: async (item: number) => {
    await setImmediate()
    return item * 2
  },
  mixed: (item: number) => (item % 2 === 0 ? ANSWERS.now(item) : ANSWERS.later(item)),
} as const

describe('work that waits only where it must', () => {
  it('follows a value immediately, and a promise when it resolves', async () => {
    assert.equal(
      after(1, (value) => value + 1),
      2,
    )
    const waiting = after(Promise.resolve(1), (value) => value + 1)
    assert.ok(waiting instanceof Promise)
    assert.equal(await waiting, 2)
  })

  it('rejects with the failure of what follows a promise', async () => {
    const failing = after(Promise.resolve(1), () => {
      throw new TypeError('no')
    })
    await assert.rejects(Promise.resolve(failing), TypeError)
  })

  for (const [kind, ask] of Object.entries(ANSWERS))
    it(`asks one by one and answers in order: ${kind}`, async () => {
      const begun: number[] = []
      let open = 0
      const answers = oneByOne([0, 1, 2, 3, 4, 5], (item) => {
        begun.push(item)
        open += 1
        assert.equal(open, 1, 'the one before is not done')
        return after(ask(item), (answer) => {
          open -= 1
          return answer
        })
      })
      assert.equal(answers instanceof Promise, kind !== 'now')
      assert.deepEqual(await answers, [0, 2, 4, 6, 8, 10])
      assert.deepEqual(begun, [0, 1, 2, 3, 4, 5])
    })

  it('asks nothing after a failure', async () => {
    const begun: number[] = []
    const answers = oneByOne([0, 1, 2], async (item) => {
      begun.push(item)
      if (item === 1) throw new TypeError('no')
    })
    await assert.rejects(Promise.resolve(answers), TypeError)
    assert.deepEqual(begun, [0, 1])
  })
})
