/**
 * `npm run conformance`: the reference's cases through `POST /api/diff` of a gateway in this process, or with `--engine`
 * through the engine alone. Prints a table by rule and `N passed, N failed`; fails on a difference that is in no list, and on
 * a list entry that differs no more.
 */
import { parseArgs } from 'node:util'
import { startApi } from '../fakes/api.ts'
import { at, listAt, textAt } from '../json.ts'
import { CASES_DIRECTORY, hasCases, readCases, RECORDED_ON, type ConformanceCase } from './openapi-cases.ts'
import {
  compareInEngine,
  isPassed,
  readExpectedFailures,
  reportOf,
  runCases,
  tableByRule,
  type CaseOutcome,
  type CompareDocuments,
} from './openapi-run.ts'

const { values } = parseArgs({ options: { engine: { type: 'boolean', default: false } } })

if (hasCases) process.exitCode = await main()
else console.log(`skipped: the cases are not at ${CASES_DIRECTORY}`)

async function main(): Promise<number> {
  const outcomes = values.engine ? await runCases(readCases(), compareInEngine) : await runThroughApi(readCases())
  const report = reportOf(outcomes, readExpectedFailures())
  if (report.failed > 0) console.log(tableByRule(outcomes.filter((outcome) => !isPassed(outcome))))
  for (const { id, missing, surplus } of report.unexpected) {
    console.log(`unexpected: ${id}`)
    for (const verdict of missing) console.log(`  missing ${JSON.stringify(verdict)}`)
    for (const verdict of surplus) console.log(`  surplus ${JSON.stringify(verdict)}`)
  }
  for (const id of report.stale) console.log(`stale: ${id} is in expected-failures.yaml and does not fail`)
  const beyond = outcomes.reduce((sum, outcome) => sum + outcome.beyond.length, 0)
  console.log(
    `${beyond} findings of rules beyond the reference; ${report.failed - report.unexpected.length} failures are listed with a reason`,
  )
  console.log(`${report.passed} passed, ${report.failed} failed`)
  return report.unexpected.length + report.stale.length === 0 ? 0 : 1
}

/** Cases of several files run in the engine, not through the API. */
async function runThroughApi(cases: readonly ConformanceCase[]): Promise<readonly CaseOutcome[]> {
  const api = await startApi({ now: () => Date.parse(`${RECORDED_ON}T12:00:00Z`) })
  const compare: CompareDocuments = async (base, head, { files, today, ...options }) => {
    if (files !== undefined)
      return compareInEngine(base, head, { ...options, files, ...(today === undefined ? {} : { today }) })
    const { status, body } = await api.post('/api/diff', { base, head, type: 'openapi', options })
    if (status !== 200) return [{ rule: textAt(body, 'error'), level: 'problem', method: null, path: null }]
    return listAt(body, 'findings').map((finding) => ({
      rule: textAt(finding, 'rule'),
      level: textAt(finding, 'level'),
      method: at(finding, 'operation') === null ? null : textAt(finding, 'operation', 'method'),
      path: at(finding, 'operation') === null ? null : textAt(finding, 'operation', 'path'),
    }))
  }
  try {
    return await runCases(cases, compare)
  } finally {
    await api.close()
  }
}
