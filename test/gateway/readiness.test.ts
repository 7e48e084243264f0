/** What /readyz answers about the store: not ready from the first write that failed until one succeeds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeCheck } from '../../gateway/listen/readiness.ts'

test('a store whose last write failed is not ready, whatever a probe said a moment ago', async () => {
  const health = { isWritable: true }
  const check = storeCheck({ store: { description: 'd', probe: () => Promise.resolve() }, health, now: () => 1 })
  assert.equal((await check()).ready, true)
  health.isWritable = false
  assert.equal((await check()).ready, false)
  health.isWritable = true
  assert.equal((await check()).ready, true)
})
