/** Regular expressions that run in linear time: what they match, and what is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, constantFrom, oneof, property, string } from 'fast-check'
import { compileLinearPattern, MAX_CALLER_PATTERN } from '../../../engine/common/linear-pattern.ts'

/** Every construct of ECMA-262 that a linear engine has. */
const PATTERNS = [
  '^/users(?:/|$)',
  String.raw`\d+\.\d{2,3}`,
  String.raw`^\s*\w+\s*$`,
  String.raw`[\s,;]+`,
  String.raw`\S{2}`,
  '^a.c$',
  '[^a-c]',
  String.raw`[\w\-.]+@[\w\-.]+`,
  String.raw`\u0041|\u{1F600}`,
  String.raw`(?<year>\d{4})-(?:0[1-9]|1[0-2])`,
  String.raw`\bword\B`,
  'a*?b+?c??d{1,3}?',
  String.raw`\p{L}\P{L}`,
  String.raw`\/\?\[\]\{\}\(\)\^\$\.\*\+\|`,
  String.raw`[\b]`,
  String.raw`\t\n\v\f\r\0`,
  String.raw`\cA`,
  String.raw`\x41`,
  '[^]',
  '',
]
const TEXTS = [
  '',
  'a',
  'abc',
  'a\nc',
  'a\u2028c',
  'a\u00a0c',
  'a\ufeffb',
  'A',
  '😀',
  'a@b.c',
  '2026-11',
  '1.25',
  '/users/7',
  'word!',
]

test('a pattern matches what ECMA-262 says that it matches', () => {
  const letters = constantFrom(...'aAbBcC0129 \n\r\t\v\u00a0\u2028\ufeff/.-_@,;é😀\u0001\b'.split(''), '😀')
  const text = oneof(constantFrom(...TEXTS), string({ unit: letters, maxLength: 12 }))
  check(
    property(constantFrom(...PATTERNS), text, (pattern, value) => {
      const compiled = compileLinearPattern(pattern)
      assert.ok(compiled.ok, pattern)
      assert.equal(compiled.value.test(value), new RegExp(pattern, 'u').test(value), JSON.stringify({ pattern, value }))
    }),
    { numRuns: 3000 },
  )
})

test('a pattern that holds other engines for ever is answered', () => {
  for (const pattern of ['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
    const compiled = compileLinearPattern(pattern, MAX_CALLER_PATTERN)
    assert.ok(compiled.ok, pattern)
    compiled.value.test(`${'a'.repeat(20_000)}!`)
  }
})

test('a pattern that has no linear form, is malformed or too large is refused with the reason', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['(?=a)b', /look-around/],
    ['(?<!a)b', /look-around/],
    [String.raw`(a)\1`, /references to groups/],
    [String.raw`(?<n>a)\k<n>`, /references to groups/],
    ['(', /./],
    ['a{2,1}', /./],
    ['a{5000}', /repeat/],
    ['((a{100}){100}){100}', /repeat/],
    ['x{1000}'.repeat(60), /steps/],
    ['x'.repeat(MAX_CALLER_PATTERN + 1), /characters/],
  ]
  for (const [pattern, why] of refused) {
    const compiled = compileLinearPattern(pattern, MAX_CALLER_PATTERN)
    assert.match(compiled.ok ? '' : compiled.problem.message, why, pattern)
  }
})
