/** Contracts of 10 MB a side in each format: answered from a worker while others are answered too. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { LARGE_TYPES, largePair } from '../fakes/large-contracts.ts'
import { listAt, numberAt, textsAt } from '../json.ts'

const TEN_MEGABYTES = 10_000_000

describe('a diff of 10 MB a side', () => {
  let api: ApiFake
  before(async () => {
    // What was compared stays in no test's way: each format has the memory for itself.
    api = await startApi({ config: { analysis: { workers: 1, cache: 0 } } })
  })
  after(() => api.close())

  for (const type of LARGE_TYPES) {
    it(`of ${type} is reported by its one change, and other requests are answered meanwhile`, async () => {
      const pair = largePair(type, TEN_MEGABYTES)
      assert.ok(pair.before.length >= TEN_MEGABYTES && pair.after.length >= TEN_MEGABYTES - 100)
      const compared = await startedComparisons(api)
      let isDone = false
      const answer = api.post('/api/diff', { base: pair.before, head: pair.after, type }).finally(() => {
        isDone = true
      })
      await Promise.race([answer, comparisonStarted(api, compared)])
      const meanwhile = await api.get('/.well-known/preflight.json')
      assert.equal(meanwhile.status, 200)
      assert.equal(isDone, false, 'the small request is answered first')
      const { status, body, text } = await answer
      assert.equal(status, 200, text.slice(0, 500))
      assert.deepEqual(textsAt(listAt(body, 'groups'), 'level'), ['breaking'])
      assert.equal(numberAt(body, 'summary', 'breaking') > 0, true)
    })
  }
})

/** Comparisons that were asked for so far: each begins with a look into the cache. */
async function startedComparisons({ metrics }: ApiFake): Promise<number> {
  const count = /preflight_cache_requests_total\{cache="comparison",result="miss"\} (\d+)/.exec(await metrics.text())
  return Number(count?.[1] ?? 0)
}

async function comparisonStarted(api: ApiFake, known: number): Promise<void> {
  if ((await startedComparisons(api)) > known) return
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  await comparisonStarted(api, known)
}
