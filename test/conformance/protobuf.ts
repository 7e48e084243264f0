/**
 * `npm run conformance:protobuf`: buf’s cases and real contracts, each in buf’s four categories. Prints a table by rule and
 * `N passed, N failed`; fails on a difference that is in no list, and on a list entry that differs no more.
 */
import {
  bufReportOf,
  hasBufCases,
  readBufCases,
  readCorpusCases,
  readListedDifferences,
  runBufCases,
  tableByBufRule,
} from './protobuf-run.ts'

if (hasBufCases) process.exitCode = main()
else console.log('skipped: the recorded cases lie beside the checkout and are absent')

function main(): number {
  const cases = [...readBufCases(), ...readCorpusCases()]
  const outcomes = runBufCases(cases)
  const { passed, failed, unexpected, stale } = bufReportOf(outcomes, readListedDifferences())
  console.log(tableByBufRule(outcomes, cases))
  for (const line of unexpected) console.log(`unexpected: ${line}`)
  for (const id of stale) console.log(`stale: ${id} is in expected-failures.yaml and does not fail`)
  console.log(`${passed} passed, ${failed} failed`)
  return unexpected.length + stale.length === 0 ? 0 : 1
}
