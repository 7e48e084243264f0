/**
 * `npm run conformance:graphql`: what graphql-js and graphql-inspector say of real schemas, recorded, and of the pairs of our
 * rules, asked now. Prints a table by kind of change and `N passed, N failed`; fails on a difference that is in no list, and
 * on a list entry that is met no more.
 */
import {
  hasCorpus,
  readCorpus,
  readExpectedDifferences,
  readPairs,
  runGraphql,
  tableByKind,
  verdictOf,
} from './graphql-run.ts'

if (!hasCorpus) console.log('skipped: the recorded schemas lie beside the checkout and are absent')
const report = runGraphql([...(hasCorpus ? readCorpus() : []), ...(await readPairs())])
const { passed, failed, unexpected, stale } = verdictOf(report, readExpectedDifferences())
console.log(tableByKind(report.outcomes))
for (const line of unexpected) console.log(`unexpected: ${line}`)
if (hasCorpus) for (const line of stale) console.log(`stale: ${line} is in expected-failures.yaml and is met no more`)
console.log(
  `${report.beyond.length} findings are stricter than both references, by rules that are listed with a reason`,
)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = unexpected.length + (hasCorpus ? stale.length : 0) === 0 ? 0 : 1
