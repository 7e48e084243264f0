/** Comparisons of tools for tests, from values. */
import assert from 'node:assert/strict'
import { compare, type Comparison } from '../../../engine/formats/compare.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

export function run(before: unknown, after: unknown): Comparison {
  const sides = { before: JSON.stringify(before, null, 1), after: JSON.stringify(after, null, 1) }
  const result = compare({ id: 'tools', type: 'agent_tools', ...sides }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

export function refused(before: string, after: string): Problem {
  const result = compare({ id: 'tools', type: 'agent_tools', before, after }, {}, sha256Hex)
  assert.ok(!result.ok)
  return result.problem
}

export function found({ groups }: Comparison): readonly string[] {
  return groups.map(({ rule, location }) => `${rule} ${location}`)
}
