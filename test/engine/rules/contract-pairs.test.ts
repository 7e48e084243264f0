/** The pairs of rules outside schemas, for the formats whose rows are contract rows: one folder a rule, run through `compare`. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { load } from 'js-yaml'
import type { ArtifactType } from '../../../engine/change-set.ts'
import { compare, type Comparison } from '../../../engine/compare.ts'
import { AGENT_TOOL_RULES } from '../../../engine/rules/agent-tools/rows.ts'
import { ASYNCAPI_RULES } from '../../../engine/rules/asyncapi/rows.ts'
import type { ContractRule } from '../../../engine/rules/contract-row.ts'
import { JSON_SCHEMA_RULES } from '../../../engine/rules/json-schema/rows.ts'
import { CRD_RULES } from '../../../engine/rules/k8s-crd/rows.ts'
import { sha256Hex } from '../../../gateway/hash.ts'
import { textAt } from '../../json.ts'

interface Format {
  readonly type: ArtifactType
  readonly rules: ReadonlyMap<string, ContractRule>
}

const FORMATS: readonly Format[] = [
  { type: 'json_schema', rules: JSON_SCHEMA_RULES },
  { type: 'agent_tools', rules: AGENT_TOOL_RULES },
  { type: 'k8s_crd', rules: CRD_RULES },
  { type: 'asyncapi', rules: ASYNCAPI_RULES },
]

function compared(type: ArtifactType, before: string, after: string): Comparison {
  const result = compare({ id: 'contract', type, before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

for (const { type, rules } of FORMATS) {
  const folder = new URL(`../../rules/${type}/`, import.meta.url)
  const read = (rule: string, part: string): string => readFileSync(new URL(`${rule}/${part}.yaml`, folder), 'utf8')

  suite(`the pair of a rule of ${type}`, () => {
    for (const rule of readdirSync(folder)) {
      test(`${rule} is told where it says, at its level, and nothing is told when nothing changed`, () => {
        const expected: unknown = load(read(rule, 'expect'))
        const [before, after] = [read(rule, 'before'), read(rule, 'after')]
        const { groups } = compared(type, before, after)
        const group = groups.find((candidate) => candidate.rule === rule)
        assert.ok(group, groups.map((other) => other.rule).join(', '))
        assert.equal(rule, textAt(expected, 'rule'))
        assert.equal(group.level, textAt(expected, 'level'))
        assert.equal(group.level, rules.get(rule)?.rule.level)
        assert.equal(group.location, textAt(expected, 'location'))
        assert.ok(group.location === '' || group.line !== null)
        assert.ok(!/\{(?:name|before|after)\}/.test(group.message) && group.explanation !== '' && group.fix !== '')
        for (const same of [before, after]) if (same !== '') assert.deepEqual(compared(type, same, same).groups, [])
      })
    }

    test('exists for every rule outside schemas', () => {
      const shown = new Set(readdirSync(folder))
      assert.deepEqual(
        [...rules.keys()].filter((id) => !shown.has(id)),
        [],
      )
    })
  })
}
