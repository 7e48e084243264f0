/** Texts of a configuration that have to look like something: a mistake says like what. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formOf } from '../../gateway/settings/pattern-texts.ts'
import { configInputSchema } from '../../gateway/config/input-schema.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { formatMistake } from '../../gateway/errors/mistake.ts'
import { readSourceText } from '../../gateway/settings/source-text.ts'

function patternsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
  )
}

test('every pattern of the configuration has words for what to write', () => {
  const patterns = new Set(patternsOf(configInputSchema))
  assert.ok(patterns.size > 10, 'the patterns are found')
  assert.deepEqual(
    [...patterns].filter((pattern) => formOf(pattern) === null),
    [],
  )
})

test('a text of another form is answered by what to write, in the place where it stands', () => {
  const loaded = loadConfig({ value: { listen: { api: 'nowhere' } }, environment: {} })
  assert.ok(!loaded.ok)
  const [mistake] = loaded.problem.map(formatMistake)
  assert.match(mistake ?? '', /"nowhere" must be HOST:PORT, e\.g\. 127\.0\.0\.1:15080.*\(listen\.api\)/)
})

test('a file that nobody wrote by hand is refused before it is parsed', () => {
  const read = readSourceText('FILE', 'a: b\n'.repeat(1_000_000))
  assert.ok(!read.ok)
  assert.match(
    read.problem.map(formatMistake).join(),
    /^FILE: the file has 5000000 characters, and at most \d+ are read/,
  )
})

test('a file of several documents is refused with the start of the second, and the fix', () => {
  const read = readSourceText('FILE', 'tier: sidecar\n---\npolicy: default\n')
  assert.ok(!read.ok)
  assert.match(read.problem.map(formatMistake).join(), /^FILE:2:1: a second document begins here.*write one document/)
})

const SYNTAX: readonly [what: string, text: string, says: RegExp][] = [
  [
    'a key that comes twice',
    'tier: sidecar\ntier: gateway\n',
    /^FILE:2:1: the member "tier" occurs twice in one map: write it once$/,
  ],
  [
    'a key that comes twice in one line',
    'log: {level: info, level: warn}\n',
    /^FILE:1:20: the member "level" occurs twice/,
  ],
  [
    'a quoted key that comes twice',
    'log: {level: info, "level": warn}\n',
    /^FILE:1:20: the member "level" occurs twice/,
  ],
  ['a tab', 'log:\n\tlevel: info\n', /^FILE:2:1: this is not valid YAML: Tabs are not allowed/],
]
for (const [what, text, says] of SYNTAX)
  test(`${what} is refused at its place`, () => {
    const read = readSourceText('FILE', text)
    assert.ok(!read.ok)
    assert.match(read.problem.map(formatMistake).join('\n'), says)
  })

test('a merge key is refused with what to write instead', () => {
  const loaded = loadConfig({ value: { log: { '<<': { level: 'info' } } }, environment: {} })
  assert.ok(!loaded.ok)
  assert.match(loaded.problem.map(formatMistake).join(), /a merge key \(<<\) is not read.*write the members out/)
})

test('a variable of the environment is compared without the prefix that all have', () => {
  const loaded = loadConfig({ value: {}, environment: { PREFLIGHT_PROXXY: '1', PREFLIGHT_POLCY: 'strict' } })
  assert.ok(loaded.ok)
  assert.deepEqual(
    loaded.value.warnings.map(({ place, fix }) => [place, fix]),
    [
      ['PREFLIGHT_POLCY', 'did you mean PREFLIGHT_POLICY?'],
      ['PREFLIGHT_PROXXY', 'see docs/config.md'],
    ],
  )
})
