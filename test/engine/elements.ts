/** The worst level of a change of one element of a contract, forth and back: what the element tables of the formats check. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../engine/model/change-set.ts'
import { compare } from '../../engine/formats/compare.ts'
import { LEVELS, type FindingGroup, type Level } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

export type Worst = Level | 'none'

/** An element on one side and on the other one, and the worst level forth and back. */
export type ElementRow<Side> = readonly [what: string, one: Side, other: Side, forth: Worst, back: Worst]

export function worstOf(type: ArtifactType, before: unknown, after: unknown): Worst {
  const found = new Set(findingsOf(type, before, after).map(({ level }) => level))
  return LEVELS.find((level) => found.has(level)) ?? 'none'
}

/** The findings that are more than information. */
export function alarmsOf(type: ArtifactType, before: unknown, after: unknown): readonly FindingGroup[] {
  return findingsOf(type, before, after).filter(({ level }) => level !== 'info')
}

function findingsOf(type: ArtifactType, before: unknown, after: unknown): readonly FindingGroup[] {
  const [base, head] = [before, after].map((side) => (typeof side === 'string' ? side : JSON.stringify(side)))
  const compared = compare({ id: 'contract', type, before: base ?? '', after: head ?? '' }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return compared.value.groups
}

/** One test a row; a row whose sides are equal could not fail. */
export function checkElements<Side>(
  name: string,
  type: ArtifactType,
  rows: readonly ElementRow<Side>[],
  whole: (side: Side) => unknown = (side) => side,
): void {
  suite(name, () => {
    for (const [what, one, other, forth, back] of rows) {
      test(`${what} that comes, goes or changes`, () => {
        const [before, after] = [whole(one), whole(other)]
        assert.notDeepEqual(before, after)
        assert.deepEqual([worstOf(type, before, after), worstOf(type, after, before)], [forth, back])
      })
    }
  })
}
