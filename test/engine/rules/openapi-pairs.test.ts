/** The pairs in test/rules/openapi/: one folder a rule, shown in the documentation and run here. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { load } from 'js-yaml'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import type { CompareOptions } from '../../../engine/index.ts'
import { ruleTable } from '../../../engine/rules/table.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { at, textAt } from '../../json.ts'

const PAIRS = new URL('../../rules/openapi/', import.meta.url)

/** Areas whose rules all have a pair; those of schemas have examples for every site in examples.ts. */
const AREAS = new Set(['paths', 'tags', 'security', 'components', 'info', 'requestBody', 'responses'])

function read(rule: string, file: string): string {
  return readFileSync(new URL(`${rule}/${file}.yaml`, PAIRS), 'utf8')
}

function optionsOf(expected: unknown): CompareOptions {
  const today = at(expected, 'options', 'today')
  const days = at(expected, 'options', 'deprecation_days_stable')
  return {
    ...(typeof today === 'string' ? { today } : {}),
    ...(typeof days === 'number' ? { deprecation_days_stable: days } : {}),
  }
}

suite('the pair of a rule', () => {
  for (const rule of readdirSync(PAIRS)) {
    test(`${rule} is told where it says, and nothing is told when nothing changed`, () => {
      const expected: unknown = load(read(rule, 'expect'))
      const [before, after] = [read(rule, 'before'), read(rule, 'after')]
      const compared = compareOpenApi(before, after, optionsOf(expected), sha256)
      assert.ok(compared.ok)
      const group = compared.value.groups.find((candidate) => candidate.rule === rule)
      assert.ok(group, compared.value.groups.map((other) => other.rule).join(', '))
      assert.equal(rule, textAt(expected, 'rule'))
      assert.equal(group.level, textAt(expected, 'level'))
      assert.equal(group.location, textAt(expected, 'location'))
      assert.ok(group.line !== null && group.explanation !== '' && group.fix !== '')
      const operation = group.occurrences[0]?.operation
      assert.equal(operation ? `${operation.method} ${operation.path}` : null, at(expected, 'operation'))
      const same = compareOpenApi(after, after, optionsOf(expected), sha256)
      assert.ok(same.ok && same.value.groups.length === 0)
    })
  }

  test('exists for every rule outside schemas', () => {
    const shown = new Set(readdirSync(PAIRS))
    const bare = ruleTable().filter(({ id, area }) => AREAS.has(area) && !id.startsWith('mcp-') && !shown.has(id))
    assert.deepEqual(
      bare.map(({ id }) => id),
      [],
    )
  })
})
