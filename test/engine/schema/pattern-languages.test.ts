/** The languages of patterns: whether a text is one of them is what JavaScript answers, for every pattern that has a language. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { both, complement, firstTexts, isMember, languageOf } from '../../../engine/schema/inclusion/patterns.ts'

const CHARACTERS = ['a', 'b', '-', '1', '\n']

/** Every text of at most three characters. */
const TEXTS = [0, 1, 2].reduce<readonly string[]>(
  (texts) => ['', ...texts.flatMap((text) => CHARACTERS.map((one) => text + one))],
  [''],
)

/** Nulls are patterns without a language. */
function assertRead(pattern: string, texts: readonly string[]): boolean {
  const language = languageOf(pattern)
  if (language === null) return false
  const expression = new RegExp(pattern, 'u')
  for (const text of texts)
    assert.equal(isMember(language, text), expression.test(text), `${pattern} and ${JSON.stringify(text)}`)
  return true
}

const plain = fc
  .array(fc.constantFrom('a', 'b', '-', '\\d', '\\w', '.', '[^a]', 'a*', 'b+', '[ab]{2}', '(?:a|b-)?'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.join(''))
const edge = fc.constantFrom('', '$', '\\b', '\\B')
const lookaround = (opens: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...opens), plain, fc.constantFrom('', '|b'), edge).map((parts) => `${parts.join('')})`)
const ahead = fc.array(lookaround(['(?!', '(?=']), { maxLength: 2 }).map((parts) => parts.join(''))
const behind = fc.array(lookaround(['(?<!', '(?<=']), { maxLength: 1 }).map((parts) => parts.join(''))
const pattern = fc
  .tuple(fc.constantFrom('^', '^', ''), ahead, plain, edge, behind, fc.constantFrom('$', '$', ''))
  .map((parts) => parts.join(''))
const patterns = fc.oneof(
  { weight: 4, arbitrary: pattern },
  { weight: 1, arbitrary: fc.tuple(pattern, pattern).map((parts) => parts.join('|')) },
)

suite('the language of a pattern', () => {
  test('has the texts that JavaScript finds, wherever the pattern looks around', () => {
    let read = 0
    fc.assert(
      fc.property(patterns, (one) => {
        if (assertRead(one, TEXTS)) read += 1
      }),
      { numRuns: 2_000, seed: 11 },
    )
    assert.ok(read > 300, String(read))
  })

  // The library that makes automata removed these assertions, or took one for another.
  for (const one of ['^(?!\\w)-\\B', '(?!\\w)-a\\b', '(?!a)(?!\\w)-\\B', '(?!\\w)-(?<!a)\\B', '(?!\\w)-a+\\b'])
    test(`is not read with other texts: ${one}`, () => void assertRead(one, [...TEXTS, 'aa-a', 'a-aa', 'a--a', 'a-ab']))

  /** As people write them in contracts. */
  const GUARDED: Readonly<Record<string, readonly string[]>> = {
    '^(?!\\s*$).+': ['', ' ', 'a', ' a'],
    '^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$': ['aB345678', 'ab345678', 'aB34567', 'aBcdefgh'],
    '^(?!-)[a-z0-9-]{1,63}(?<!-)$': ['a', '-a', 'a-', 'a-b', 'a'.repeat(64)],
    '^(?!(admin|root)$)[a-z]+$': ['admin', 'root', 'administrator', 'user'],
    '^(?!.*\\.\\.)[a-z.]+$': ['a.b', 'a..b', '.'],
    '^(?=.{1,253}$)[a-z]([a-z-]{0,61}[a-z])?$': ['a', 'a-b', '-', 'a-'],
    '^(?!xn--)[a-z-]+$|^\\d+$': ['xn--a', 'ab', '12', 'a1'],
  }
  for (const [one, texts] of Object.entries(GUARDED))
    test(`is known where the pattern looks around at the edges: ${one}`, () => {
      assert.ok(assertRead(one, [...TEXTS, ...texts]))
    })

  for (const one of ['a(?=b).', '\\bfoo\\b', '(?:(?!a).)*b', '(a+)\\1'])
    test(`is not known: ${one}`, () => assert.equal(languageOf(one), null))

  test('is given up where a pattern looks around very often', () => {
    assert.equal(languageOf(`^${'(?=a)'.repeat(40)}a$`), null)
    assert.equal(languageOf(Array.from({ length: 40 }, (_, index) => `^(?!a${index})b$`).join('|')), null)
  })
})

suite('the first texts of a language', () => {
  test('are its shortest ones, each once', () => {
    let read = 0
    fc.assert(
      fc.property(patterns, (one) => {
        const language = languageOf(one)
        if (language === null) return
        read += 1
        const texts = [...firstTexts(language, 20)]
        const shortest: number[] = []
        for (const sets of language.wordSets()) if (shortest.push(sets.length) === 20) break
        assert.deepEqual(
          texts.map((text) => text.length),
          shortest,
        )
        for (const text of texts) assert.ok(isMember(language, text), `${one} and ${JSON.stringify(text)}`)
      }),
      { numRuns: 1_000, seed: 12 },
    )
    assert.ok(read > 150, String(read))
  })

  /** A pattern, one whose texts are left out, and a text that remains. The library's own search tries 3 to 4 characters at each. */
  const LONG: readonly (readonly [pattern: string, without: string, text: string])[] = [
    ['shelves/[^/]+', 'projects/[^/]+/shelves/[^/]+', 'shelves/a'],
    ['abcdefghijklmnopqrstuvwxyz', 'zyxwvutsrqponmlkjihgfedcba', 'abcdefghijklmnopqrstuvwxyz'],
    ['^(foo|bar){12}', '^foo', 'barbarbarbarbarbarbarbarbarbarbarbar'],
    ['^.{0,40}long-enough-to-need-a-few-steps$', '^long', 'along-enough-to-need-a-few-steps'],
  ]
  for (const [one, without, text] of LONG)
    test(`are found however long they are: ${one}`, () => {
      const [language, other] = [languageOf(one), languageOf(without)]
      const rest = other === null ? null : complement(other)
      const remaining = language === null || rest === null ? null : both(language, rest)
      assert.ok(remaining !== null)
      const [first = ''] = firstTexts(remaining, 1)
      assert.equal(first.length, text.length)
      assert.ok(isMember(remaining, first) && isMember(remaining, text))
    })

  test('end with a finite language', () => {
    const language = languageOf('^(a|bb)?c$')
    assert.deepEqual(language === null ? null : [...firstTexts(language, 9)], ['c', 'ac', 'bbc'])
  })
})
