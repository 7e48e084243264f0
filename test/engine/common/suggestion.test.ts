/** Which known name is suggested for one that is not known, and what a search of all rules costs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misspelled, nearest, spelledNames } from '../../../engine/base.ts'
import { readLevels } from '../../../engine/internal.ts'

const SUGGESTED: readonly (readonly [name: string, known: readonly string[], suggested: string | null])[] = [
  ['serve', ['serve', 'server'], 'serve'],
  ['Serve', ['serve'], 'serve'],
  ['srve', ['diff', 'serve'], 'serve'],
  ['sevre', ['serve'], 'serve'],
  ['sreve', ['serve', 'sieve'], 'serve'],
  ['abcdef', ['abcfed', 'abcdfe'], 'abcdfe'],
  ['abcdef', ['abxyef', 'abcdxy'], 'abxyef'],
  ['a', ['b', 'c'], 'b'],
  ['ab', ['cd'], null],
  ['abc', ['xyz', 'abcde'], null],
  ['', ['a'], 'a'],
  ['aaaaaa', ['bbbbbb'], null],
  ['äöü', ['aöü'], 'aöü'],
  ['a'.repeat(90), ['a'.repeat(61), 'a'.repeat(59)], 'a'.repeat(61)],
]

test('the nearest name is suggested, and the first of several', () => {
  for (const [name, known, suggested] of SUGGESTED) assert.equal(nearest(name, known), suggested, name)
})

const MISSPELLED: readonly (readonly [name: string, meant: string | null])[] = [
  ['head_spec', 'head-spec'],
  ['headSpec', 'head-spec'],
  ['haedspec', 'head-spec'],
  ['headspecs', 'head-spec'],
  ['headspexyz', null],
  ['tipe', 'type'],
  ['tapes', null],
  ['ix', null],
]

test('a name with other separators or a typing error is another spelling of a known one', () => {
  const known = spelledNames(['id', 'type', 'head-spec'])
  for (const [name, meant] of MISSPELLED) assert.equal(misspelled(name, known), meant, name)
})

const selectors = (textOf: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: 60 }, (_, index) => [textOf(index), 'off' as const]))

/** Names of rules that do not exist, made so that the search for similar ones costs most. */
const UNKNOWN: Readonly<Record<string, (index: number) => string>> = {
  'names that are similar to many': (index) => `request-property-remuved-${index}`,
  'long names': (index) => `${'request-property-'.repeat(4)}${index}`,
  'the letters of names in another order': (index) => `devomer-ytreporp-tseuqer-${index}`,
}

function cpuOf(run: () => unknown): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return user + system
}

for (const [what, textOf] of Object.entries(UNKNOWN))
  test(`levels of rules that do not exist cost little more than patterns: ${what}`, () => {
    const ratios: number[] = []
    for (let tries = 0; tries < 5; tries += 1) {
      const searched = cpuOf(() => readLevels(selectors((index) => `*-${index}-*`)))
      ratios.push(cpuOf(() => assert.equal(readLevels(selectors(textOf)).ok, false)) / Math.max(searched, 10_000))
    }
    assert.ok(Math.min(...ratios) < 8, `${ratios.join(', ')} times the patterns`)
  })
