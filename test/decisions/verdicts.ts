/** Writes the verdicts of all decision cases, a line each: run by processes.test.ts in processes of its own. BACKWARDS: artifacts in the other order. */
import { decisionCases } from './cases.ts'
import { decidedByEngine } from './engine-verdict.ts'

const isBackwards = process.env['BACKWARDS'] === '1'

for (const decisionCase of decisionCases()) {
  const artifacts = isBackwards ? decisionCase.artifacts.toReversed() : decisionCase.artifacts
  process.stdout.write(`${JSON.stringify(decidedByEngine({ ...decisionCase, artifacts }))}\n`)
}
