/** Comparisons of GraphQL texts for tests: the whole engine, and an error in words where it refuses. */
import assert from 'node:assert/strict'
import { compare, type CompareOptions, type Comparison } from '../../../engine/formats/compare.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

export function compared(before: string, after: string, options: CompareOptions = {}): Comparison {
  const result = compare({ id: 'schema', type: 'graphql', before, after }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : JSON.stringify(result.problem))
  return result.value
}

export function refused(before: string, after: string, options: CompareOptions = {}): Problem {
  const result = compare({ id: 'schema', type: 'graphql', before, after }, options, sha256Hex)
  assert.ok(!result.ok, 'the texts were compared')
  return result.problem
}

/** `level rule location` of every finding, in order. */
export function reported({ groups }: Comparison): readonly string[] {
  return groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`)
}

/** The answer without lines and columns, which follow the text. */
export function answer(comparison: Comparison): string {
  const { groups, ...rest } = comparison
  return JSON.stringify([groups.map(({ line: _line, column: _column, ...group }) => group), rest])
}
