/** What holds for every format alike: identity, an empty side, text that is none of it, and the word for what it is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ARTIFACT_TYPES, type ArtifactType } from '../../../engine/model/change-set.ts'
import { compare, type Comparison } from '../../../engine/formats/compare.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import type { Problem, Result } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { PETS, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { LARGE_TYPES, largePair } from '../../fakes/large-contracts.ts'

interface Sides {
  readonly before: string
  readonly after: string
}

/** A small contract of each format, and the same with one break. */
const SIDES: ReadonlyMap<ArtifactType, Sides> = new Map<ArtifactType, Sides>([
  ['openapi', { before: PETS, after: PETS_WITHOUT_DELETE }],
  ...LARGE_TYPES.map((type) => [type, largePair(type, 1)] as const),
])

function sidesOf(type: ArtifactType): Sides {
  return SIDES.get(type) ?? assert.fail(`no pair of the type ${type}`)
}

function run(type: ArtifactType, before: string, after: string): Result<Comparison> {
  return compare({ id: 'x', type, before, after }, {}, sha256Hex)
}

function compared(type: ArtifactType, before: string, after: string): Comparison {
  const result = run(type, before, after)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

function refused(type: ArtifactType, before: string, after: string): Problem {
  const result = run(type, before, after)
  assert.ok(!result.ok, 'it is refused')
  return result.problem
}

const UNREADABLE: readonly (readonly [what: string, text: string])[] = [
  ['a list that is not closed', '{"a": [1, 2'],
  ['a member that is there twice', '{"a": 1, "a": 2}'],
  ['half of a surrogate pair', '{"a": "\\ud800"}'],
  ['a NUL', '\0'],
  ['words', 'These are words, not a contract!'],
  ['a number', '7'],
  ['brackets past every depth', '['.repeat(100_000)],
  ['braces past every depth', '{"a":'.repeat(50_000)],
]

for (const type of ARTIFACT_TYPES) {
  describe(type, () => {
    const { before, after } = sidesOf(type)

    it('says nothing where nothing changed', () => {
      const { groups, patterns } = compared(type, before, before)
      assert.deepEqual([groups, patterns], [[], []])
    })

    it('tells a break, and the same one every time', () => {
      const first = compared(type, before, after)
      assert.ok(first.groups.some(({ level }) => level === 'breaking'))
      assert.equal(JSON.stringify(compared(type, before, after)), JSON.stringify(first))
    })

    it('breaks no one by being made, and someone by being deleted', () => {
      assert.deepEqual(
        compared(type, '', before).groups.filter(({ level }) => level !== 'info'),
        [],
      )
      const deleted = compared(type, before, '').groups
      assert.ok(deleted.some(({ level }) => level !== 'info'))
      for (const { message, location, line } of deleted) {
        assert.notEqual(message, '')
        assert.ok(location.startsWith('/') || location === '', location)
        assert.notEqual(line, null)
      }
    })

    for (const [what, text] of UNREADABLE) {
      it(`refuses ${what}, and says on which side`, () => {
        for (const [side, problem] of [
          ['base', refused(type, text, before)],
          ['head', refused(type, before, text)],
        ] as const) {
          assert.match(problem.code, /^ARTIFACT_(?:UNREADABLE|TOO_LARGE|OVER_LIMIT|TYPE_MISMATCH)$/)
          assert.match(problem.message, new RegExp(side))
        }
      })
    }

    it('is distinguished from every other format by its text alone', () => {
      const sniffed = sniffArtifactType(before, after)
      assert.equal(sniffed.ok ? sniffed.value : sniffed.problem.message, type)
    })

    it('declared for what is of another format, is refused with both names', () => {
      for (const other of ARTIFACT_TYPES.filter((one) => one !== type)) {
        const text = sidesOf(other)
        const problem = refused(type, text.before, text.after)
        assert.equal(problem.code, 'ARTIFACT_TYPE_MISMATCH', `${other}: ${problem.message}`)
        assert.match(problem.message, new RegExp(`${type}.*${other}`))
      }
    })
  })
}
