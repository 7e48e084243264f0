/** Findings on GraphQL schemas, compared with two reference programs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCorpus, readCorpus, readExpectedDifferences, readPairs, runGraphql, verdictOf } from './graphql-run.ts'

const expected = readExpectedDifferences()

test('findings of the references on real schemas are reported at their level or a stricter one, except for listed ones', (t) => {
  if (!hasCorpus) return t.skip('the recorded schemas lie beside the checkout and are absent')
  const { passed, unexpected } = verdictOf(runGraphql(readCorpus()), expected)
  assert.deepEqual(unexpected, [])
  assert.ok(passed > 2000)
})

test('findings of the references on the pair of each rule are reported too, and the list of differences has no stale entry', async () => {
  const { passed, unexpected, stale } = verdictOf(runGraphql(await readPairs()), expected)
  assert.deepEqual(unexpected, [])
  assert.deepEqual(stale, [])
  assert.ok(passed > 200)
})
