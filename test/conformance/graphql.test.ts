import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCorpus, readCorpus, readExpectedDifferences, readPairs, runGraphql, verdictOf } from './graphql-run.ts'

const expected = readExpectedDifferences()

test('what the references report of real schemas is told at their level or a stricter one, but for what is listed', (t) => {
  if (!hasCorpus) return t.skip('the recorded schemas lie beside the checkout and are absent')
  const { passed, unexpected } = verdictOf(runGraphql(readCorpus()), expected)
  assert.deepEqual(unexpected, [])
  assert.ok(passed > 2000)
})

test('what the references say of the pair of each rule is told too, and the list of differences holds no more than is met', async () => {
  const { passed, unexpected, stale } = verdictOf(runGraphql(await readPairs()), expected)
  assert.deepEqual(unexpected, [])
  assert.deepEqual(stale, [])
  assert.ok(passed > 200)
})
