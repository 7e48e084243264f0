import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ruleTable } from '../../engine/rules/table.ts'
import { hasCases, readBlindSpots, readCases, readReferenceRules } from './openapi-cases.ts'
import { compareInEngine, readExpectedFailures, reportOf, runCases } from './openapi-run.ts'

const absent = 'the conformance cases lie beside the checkout and are absent'

test('the reference’s cases give the reference’s verdicts, but for those listed with a reason', async (t) => {
  if (!hasCases) return t.skip(absent)
  const report = reportOf(await runCases(readCases(), compareInEngine), readExpectedFailures())
  assert.deepEqual(report.unexpected, [])
  assert.deepEqual(report.stale, [])
  assert.ok(report.passed > 400)
})

test('every listed difference is explained in the documentation', () => {
  const page = readFileSync(new URL('../../docs/rules-deviations.md', import.meta.url), 'utf8')
  for (const id of readExpectedFailures().keys()) assert.ok(page.includes(id), id)
})

test('every rule of the reference exists here with the same default level', (t) => {
  if (!hasCases) return t.skip(absent)
  const ours = new Map(ruleTable().map(({ id, level }) => [id, level]))
  const other = [...readReferenceRules()].filter(([id, level]) => ours.get(id) !== level)
  assert.deepEqual(other, [])
})

test('what the reference does not see is found at the right level', async (t) => {
  if (!hasCases) return t.skip(absent)
  for (const { name, base, head, level } of readBlindSpots()) {
    const [worst] = await compareInEngine(base, head, {})
    assert.equal(worst?.level, level, name)
  }
})
