/** Verdicts on OpenAPI documents, compared with the cases of the reference program. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from 'js-yaml'
import { ruleTable } from '../../engine/rules/catalog/table.ts'
import { listAt, textAt } from '../json.ts'
import { hasCases, readBlindSpots, readCases, readReferenceRules } from './openapi-cases.ts'
import { compareInEngine, readExpectedFailures, reportOf, runCases } from './openapi-run.ts'

const absent = 'the conformance cases lie beside the checkout and are absent'

/** The place of a schema at the beginning of a rule. */
const SITE = /^(?:request|response)-(?:body-|property-)?/
/** A row about one rule: its rule in brackets, the level of the reference, ours, and the reason. */
const ROW = /^\| [^|]*\(`([^`]+)`\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|/gm

interface LevelDeviation {
  readonly rules: readonly string[]
  readonly reference: string
  readonly here: string
  readonly reason: string
}

function levelDeviations(): readonly LevelDeviation[] {
  const text = readFileSync(new URL('level-deviations.yaml', import.meta.url), 'utf8')
  return listAt(load(text), 'levels').map((row) => ({
    rules: listAt(row, 'rules').map(String),
    reference: textAt(row, 'reference'),
    here: textAt(row, 'here'),
    reason: textAt(row, 'reason'),
  }))
}

function readDeviationsPage(): string {
  return readFileSync(new URL('../../docs/rules-deviations.md', import.meta.url), 'utf8')
}

test('the reference’s cases give the reference’s verdicts, but for those listed with a reason', async (t) => {
  if (!hasCases) return t.skip(absent)
  const report = reportOf(await runCases(readCases(), compareInEngine), readExpectedFailures())
  assert.deepEqual(report.unexpected, [])
  assert.deepEqual(report.stale, [])
  assert.ok(report.passed > 400)
})

test('every listed difference is explained in the documentation', () => {
  const page = readDeviationsPage()
  for (const id of readExpectedFailures().keys()) assert.ok(page.includes(id), id)
})

test('every rule of the reference exists here with the same default level, but for those listed with a reason', (t) => {
  if (!hasCases) return t.skip(absent)
  const ours = new Map(ruleTable().map(({ id, level }) => [id, level]))
  const other = [...readReferenceRules()].filter(([id, level]) => ours.get(id) !== level)
  const found = other.map(([id, level]) => `${id}: ${level}, here ${ours.get(id)}`)
  const listed = levelDeviations().flatMap(({ rules, reference, here }) =>
    rules.map((id) => `${id}: ${reference}, here ${here}`),
  )
  assert.deepEqual(found.sort(), listed.sort())
})

test('the table of levels that differ in the documentation is the list of them', () => {
  const words: Readonly<Record<string, string>> = { info: 'information' }
  const expected = levelDeviations().map(({ rules, reference, here, reason }) => {
    const stems = new Set(rules.map((id) => id.replace(SITE, '…-')))
    assert.equal(stems.size, 1, rules.join())
    return [...stems, words[reference] ?? reference, words[here] ?? here, reason].join(' | ')
  })
  const [, table = ''] = readDeviationsPage().split('## Levels that differ\n')
  const documented = [...(table.split('\n## ')[0] ?? '').matchAll(ROW)].map((row) => row.slice(1, 5).join(' | '))
  assert.deepEqual(documented.sort(), expected.sort())
})

test('what the reference does not see is found at the right level', async (t) => {
  if (!hasCases) return t.skip(absent)
  for (const { name, base, head, level } of readBlindSpots()) {
    const [worst] = await compareInEngine(base, head, {})
    assert.equal(worst?.level, level, name)
  }
})
