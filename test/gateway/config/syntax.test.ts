/** Texts of a configuration that have to look like something: a mistake says like what. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formOf } from '../../../gateway/settings/pattern-texts.ts'
import { configInputSchema } from '../../../gateway/config/input-schema.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { formatMistake } from '../../../gateway/errors/mistake.ts'
import { readSourceText } from '../../../gateway/settings/source-text.ts'

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
  ['a tab', 'log:\n\tlevel: info\n', /^FILE:2:1: this is not valid YAML: Tabs are not allowed.*: indent with spaces$/],
  ['a map that is indented less', 'log:\n    level: info\n  requests: 1\n', /^FILE:3:1: .*: align the line/],
  ['a member outside of its item', 'routes:\n  - name: a\n   protocol: http\n', /^FILE:3:1: .*: align the line/],
  ['a member behind a shorter one', '  tier: sidecar\npolicy: default\n', /^FILE:2:1: .*: align the line/],
  ['a list without its end', 'egress: {allow: [a, b}\n', /: write the missing \]/],
  ['a map without its end', 'log: {level: info\n', /: write the missing \}/],
  ['a text without its end', 'policy: "default\n', /: write the missing quote/],
  [
    'a colon in a text',
    'policy: a: b\n',
    /: write each member on its own line; put a text that contains ": " in quotes/,
  ],
  ['two members without a comma', 'log: {level: info requests: 1}\n', /: write a comma between the members/],
  ['a key without a space', 'tier:gateway\npolicy: default\n', /: write a colon and a space after each key/],
  ['a character that begins no text', 'policy: @x\n', /: put the text in quotes/],
  ['an escape that does not exist', 'policy: "C:\\pack"\n', /: write \\\\ for one \\, or use single quotes/],
  ['a tag', 'routes: !include routes.yaml\n', /: write the value itself: tags are not read/],
  ['a key that is no text', '? {a: b}\n: c\n', /: write a name as the key/],
  ['a text behind a quoted one', "policy: 'it's'\n", /: align the line.*; put a text that contains quotes/],
  [
    'a pattern without quotes',
    'egress: {allow: [*.example.com]}\n',
    /^FILE:1:18: .*: put a text .* in quotes: "\*\.example\.com"/,
  ],
  ['a star without quotes', 'egress: {allow: [*]}\n', /: put the text in quotes/],
  ['an alias before its anchor', 'tier: *b\npolicy: &b default\n', /^FILE:1:7: .*no anchor &b stands before it/],
  [
    'a list that contains itself',
    'routes: &a [*a]\n',
    /^FILE:1:13: the alias \*a stands inside its own anchor: write the values out$/,
  ],
  [
    'a map that contains itself',
    'log: &a {level: {x: *a}}\n',
    /^FILE:1:21: the alias \*a stands inside its own anchor/,
  ],
]
for (const [what, text, says] of SYNTAX)
  test(`${what} is refused at its place`, () => {
    const read = readSourceText('FILE', text)
    assert.ok(!read.ok)
    assert.match(read.problem.map(formatMistake).join('\n'), says)
  })

test('an alias means the last anchor of its name before it', () => {
  const read = readSourceText('FILE', 'a: &x 1\nb: &x [*x]\nc: {d: *x}\n')
  // YAML 1.2.2 §7.1: so the second list contains itself.
  assert.ok(!read.ok)
  const plain = readSourceText('FILE', 'a: &x [1]\nb: [*x, *x]\n')
  assert.ok(plain.ok)
  assert.deepEqual(plain.value.value, { a: [1], b: [[1], [1]] })
})

const WHAT_TO_WRITE: readonly [what: string, config: object, fix: RegExp][] = [
  ['a time with a unit', { limits: { head_timeout: '10 min' } }, /^write 600\. Time/],
  ['a time with a unit and no space', { limits: { head_timeout: '1.5h' } }, /^write 5400\. /],
  ['milliseconds', { limits: { head_timeout: '500ms' } }, /^write 0\.5\. /],
  ['a time in days', { ledger: { retention: { age: '2 weeks' } } }, /^write 14\. /],
  ['a quoted number', { limits: { head_timeout: '30' } }, /^write 30, without quotes\. /],
  ['bytes with a binary unit', { limits: { request_body: '64MiB' } }, /^write 67108864\. /],
  ['bytes with a decimal unit', { limits: { request_body: '64 MB' } }, /^write 64000000\. /],
  ['a number with groups', { limits: { request_body: '1_000_000' } }, /^write 1000000\. /],
  ['a word for true', { console: { enabled: 'yes' } }, /^write true, without quotes\. /],
  ['a word for false', { console: { enabled: 'Off' } }, /^write false, without quotes\. /],
  ['a time where a count is asked for', { limits: { depth: '10 min' } }, /^Nesting/],
  ['bytes where a time is asked for', { limits: { head_timeout: '10 MiB' } }, /^Time/],
  ['a part of a byte', { limits: { request_body: '0.3 B' } }, /^Body/],
  ['a word', { limits: { head_timeout: 'soon' } }, /^Time/],
  ['a member without a space', { log: 'level:info' }, /^is it a member\? Write a space after the colon: level: VALUE$/],
  ['an address in place of a map', { otel: 'http://127.0.0.1:4318' }, /^it has the members endpoint/],
  [
    'a space of another kind',
    { '\u00a0level': 'info' },
    /^the name contains the character U\+00A0,.*indent with spaces$/,
  ],
]
for (const [what, value, fix] of WHAT_TO_WRITE)
  test(`${what} is answered by what to write`, () => {
    const loaded = loadConfig({ value, environment: {} })
    assert.ok(!loaded.ok)
    assert.match(loaded.problem[0]?.fix ?? '', fix)
  })

const VARIABLES: readonly [text: string, says: RegExp][] = [
  [
    '*.example.com',
    /^PREFLIGHT_EGRESS_ALLOW: \*\.example\.com is read as an alias.*in quotes.*; type: list of strings$/,
  ],
  ['&a [*a]', /^PREFLIGHT_EGRESS_ALLOW: the alias \*a stands inside its own anchor \(egress\.allow\)/],
  ['[a, b', /^PREFLIGHT_EGRESS_ALLOW: .*write the missing \]; type: list of strings$/],
]
for (const [text, says] of VARIABLES)
  test(`the text ${text} of a variable is refused with the variable and what to write`, () => {
    const loaded = loadConfig({ value: {}, environment: { PREFLIGHT_EGRESS_ALLOW: text } })
    assert.ok(!loaded.ok)
    assert.match(loaded.problem.map(formatMistake).join('\n'), says)
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
