/** Every rule about MCP manifests fires in its case, at its level, place and tool, and stays silent where nothing changed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { compare, type Comparison } from '../../../engine/compare.ts'
import { mcpRules } from '../../../engine/rules/mcp/rows.ts'
import { ruleOf } from '../../../engine/rules/table.ts'
import { sha256Hex } from '../../../gateway/hash.ts'
import { at } from '../../json.ts'

const CASES = new URL('../../rules/mcp/', import.meta.url)
const ids = readdirSync(CASES)

function text(id: string, part: 'before' | 'after' | 'expect'): string {
  return readFileSync(new URL(`${id}/${part}.yaml`, CASES), 'utf8')
}

function compared(before: string, after: string): Comparison {
  const result = compare({ id: 'manifest', type: 'mcp_manifest', before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

test('every rule has a case, and every case a rule', () => {
  const missing = mcpRules().filter(({ id }) => !ids.includes(id))
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
  )
  assert.deepEqual(
    ids.filter((id) => ruleOf(id) === undefined),
    [],
  )
})

for (const id of ids) {
  suite(id, () => {
    const expect: unknown = parse(text(id, 'expect'))

    test('fires at its level, place and tool', () => {
      const { groups } = compared(text(id, 'before'), text(id, 'after'))
      const group = groups.find(({ rule }) => rule === id)
      assert.ok(group, `found only ${groups.map(({ rule }) => rule).join(', ') || 'nothing'}`)
      assert.equal(group.level, at(expect, 'level'))
      assert.equal(group.occurrences[0]?.tool, at(expect, 'tool'))
      const location = at(expect, 'location')
      if (location !== undefined) assert.equal(group.location, location)
      assert.doesNotMatch(`${group.message} ${group.explanation} ${group.fix}`, /\{(?:name|before|after|detail)\}/)
    })

    test('is silent where nothing changed', () => {
      assert.deepEqual(compared(text(id, 'before'), text(id, 'before')).groups, [])
      assert.deepEqual(compared(text(id, 'after'), text(id, 'after')).groups, [])
    })
  })
}
