/** Verdicts on protobuf files, compared with recorded verdicts of buf. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bufReportOf,
  hasBufCases,
  readBufCases,
  readCorpusCases,
  readListedDifferences,
  runBufCases,
} from './protobuf-run.ts'

test('buf’s cases and real contracts get buf’s verdicts in each category, but for what is listed with a reason', (t) => {
  if (!hasBufCases) return t.skip('the recorded cases lie beside the checkout and are absent')
  const report = bufReportOf(runBufCases([...readBufCases(), ...readCorpusCases()]), readListedDifferences())
  assert.deepEqual(report.unexpected, [])
  assert.deepEqual(report.stale, [])
  assert.ok(report.passed > 120)
})
