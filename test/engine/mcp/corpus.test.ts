/** Recorded manifests of real servers, two published versions each: every plain fact of their index is found, and nothing without cause. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { compare, type Comparison } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { findSuspicions } from '../../../engine/diff/mcp/suspicion.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { at, listAt, textAt } from '../../json.ts'
import { shuffledKeys } from '../../shuffle.ts'

const CORPUS = new URL('../../../../shared/corpus/mcp/', import.meta.url)
const absent = existsSync(CORPUS) ? false : 'the folder ../shared is absent'

function read(name: string, side: 'before' | 'after'): string {
  return readFileSync(new URL(`${name}/${side}.json`, CORPUS), 'utf8')
}

function reordered(name: string, side: 'before' | 'after', seed: number): string {
  return JSON.stringify(shuffledKeys(JSON.parse(read(name, side)), seed))
}

function compared(before: string, after: string): Comparison {
  const result = compare({ id: 'manifest', type: 'mcp_manifest', before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

/** Tools that findings of these rules reach. */
function toolsOf({ groups }: Comparison, rule: RegExp): ReadonlySet<string> {
  const reached = groups.filter((group) => rule.test(group.rule)).flatMap(({ occurrences }) => occurrences)
  return new Set(reached.map(({ tool }) => tool).filter((tool) => tool !== null))
}

function names(facts: unknown, member: string): readonly string[] {
  return listAt(facts, member).map((name) => String(name))
}

const pairs = absent === false ? listAt(JSON.parse(readFileSync(new URL('INDEX.json', CORPUS), 'utf8'))) : []

test('the recorded manifests are there', { skip: absent }, () => {
  assert.ok(pairs.length >= 8)
})

/** Every text that a model reads in a value of JSON. */
function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    typeof member === 'string' && TEXTS.has(name) ? [member] : textsIn(member),
  )
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'title', 'instructions'])

test('no text of a recorded manifest looks written to take a model over', { skip: absent }, () => {
  const recorded = pairs.flatMap((pair) =>
    (['before', 'after'] as const).flatMap((side) => textsIn(JSON.parse(read(textAt(pair, 'name'), side)))),
  )
  const texts = [...new Set(recorded)]
  assert.ok(texts.length > 400)
  assert.deepEqual(
    texts.flatMap((text) => findSuspicions(text)),
    [],
  )
})

for (const pair of pairs) {
  const name = textAt(pair, 'name')
  suite(`${name}, ${textAt(pair, 'before')} → ${textAt(pair, 'after')}`, () => {
    const facts = at(pair, 'facts')
    const comparison = compared(read(name, 'before'), read(name, 'after'))

    test('removed and added tools are exactly those of the index', () => {
      assert.deepEqual(
        [...toolsOf(comparison, /^mcp-tool-(?:removed|renamed)$/)].sort(),
        [...names(facts, 'removed')].sort(),
      )
      assert.deepEqual([...toolsOf(comparison, /^mcp-tool-added$/)].sort(), [...names(facts, 'added')].sort())
    })

    test('each changed description is found', () => {
      const found = toolsOf(comparison, /^mcp-description-/)
      for (const tool of names(facts, 'descriptionChanged')) assert.ok(found.has(tool), tool)
    })

    test('each tool whose result schema changed is found', () => {
      const found = toolsOf(comparison, /tool-output/)
      for (const tool of names(facts, 'outputSchemaChanged')) assert.ok(found.has(tool), tool)
    })

    test('each break of the arguments is breaking for its tool', () => {
      const breaking = comparison.groups.filter(
        ({ level, direction }) => level === 'breaking' && direction === 'request',
      )
      for (const fact of names(facts, 'inputBreaks')) {
        const [tool = '', what = ''] = fact.split(': ')
        for (const [, argument = ''] of what.matchAll(/'([^']+)'/g)) {
          assert.ok(
            breaking.some((group) => reaches(group, tool) && group.message.includes(`\`${argument}\``)),
            fact,
          )
        }
      }
    })

    test('identity gives nothing, and a list in another order gives nothing', () => {
      const text = read(name, 'after')
      assert.deepEqual(compared(text, text).groups, [])
      const manifest: unknown = JSON.parse(text)
      const reordered = { ...Object(manifest), tools: listAt(manifest, 'tools').toReversed() }
      assert.deepEqual(compared(text, JSON.stringify(reordered)).groups, [])
    })

    test('the order of keys changes no byte of the answer', () => {
      const answers = [1, 2, 3].map((seed) => {
        const { groups, ...rest } = compared(reordered(name, 'before', seed), reordered(name, 'after', seed))
        return JSON.stringify([groups.map(({ line: _line, column: _column, ...group }) => group), rest])
      })
      assert.equal(new Set(answers).size, 1)
    })

    test('every finding has a place in its document, in words and in lines', () => {
      for (const group of comparison.groups) {
        assert.ok(group.line !== null && group.column !== null, group.rule)
        assert.ok(group.explanation.length > 0 && group.fix.length > 0 && group.occurrences.length > 0, group.rule)
      }
    })
  })
}

function reaches(group: FindingGroup, tool: string): boolean {
  return group.occurrences.some((occurrence) => occurrence.tool === tool)
}
