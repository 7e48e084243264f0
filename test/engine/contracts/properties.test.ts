/** Reading, for any text: it comes to an answer, it gives back what was written, and each value is where it is said to be. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { array, assert as assertProperty, constantFrom, jsonValue, oneof, property, string, tuple } from 'fast-check'
import { dump } from 'js-yaml'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { appendPointer } from '../../../engine/common/json-pointer.ts'

/** Pieces that matter to either syntax, so that chance meets its corners. */
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ': ',
  ',',
  '"',
  "'",
  '\\',
  '\\u',
  '\\x',
  '\\U00110000',
  'd800',
  '- ',
  '? ',
  '! ',
  '!!',
  '!<',
  '&a ',
  '*a',
  '<<: ',
  '#',
  '|',
  '>',
  '%YAML 1.2',
  '---',
  '...',
  '\n',
  '\r',
  '\t',
  '  ',
  '~',
  'null',
  'true',
  '.nan',
  '1e999',
  '-0',
  '0x1F',
  '__proto__',
  '\uFEFF',
  '\u0000',
  '\u2028',
  '\uD800',
  '🏴',
  'é',
]

const soup = array(oneof(constantFrom(...PIECES), string({ unit: 'binary', maxLength: 3 })), { maxLength: 40 }).map(
  (pieces) => pieces.join(''),
)

function plain(value: unknown): string {
  return JSON.stringify(value)
}

suite('any text', () => {
  test('is read or refused with a message, whatever it holds', () => {
    assertProperty(
      property(soup, (text) => {
        const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
        if (read.ok) assert.doesNotThrow(() => read.value.locate('/0'))
        else assert.match(read.problem.message, /^The document .+\.$/su)
      }),
      { numRuns: 3000 },
    )
  })

  test('that starts like JSON is read exactly when JSON.parse reads it, repeated names aside', () => {
    assertProperty(
      property(tuple(constantFrom('{', '['), soup), ([start, rest]) => {
        const read = readDocument(start + rest, DEFAULT_DOCUMENT_LIMITS)
        if (!read.ok || read.value.format !== 'json') return
        assert.equal(plain(read.value.root), plain(JSON.parse(start + rest)))
      }),
      { numRuns: 2000 },
    )
  })
})

suite('any value', () => {
  test('written as JSON is read back', () => {
    assertProperty(
      property(jsonValue({ noUnicodeString: false }), (value) => {
        const read = readDocument(JSON.stringify([value]), DEFAULT_DOCUMENT_LIMITS)
        if (read.ok) assert.equal(plain(read.value.root), JSON.stringify([value]))
        else assert.match(read.problem.message, /surrogate/)
      }),
    )
  })

  test('written as YAML is read back', () => {
    assertProperty(
      property(jsonValue(), (value) => {
        const read = readDocument(dump({ value }), DEFAULT_DOCUMENT_LIMITS)
        assert.ok(read.ok, read.ok ? '' : read.problem.message)
        assert.deepEqual(JSON.parse(plain(read.value.root)), JSON.parse(plain({ value })))
      }),
    )
  })

  test('is at the place that locate returns, in JSON of any layout', () => {
    assertProperty(
      property(jsonValue(), constantFrom(0, 1, '\t', '\r\n '), (value, indent) => {
        const text = JSON.stringify({ value }, null, indent)
        const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
        assert.ok(read.ok)
        const lines = text.split(/\r\n?|\n/)
        for (const [pointer, key] of membersOf(read.value.root, '')) {
          const place = read.value.locate(pointer)
          const line = lines[(place?.line ?? 0) - 1] ?? ''
          assert.ok(line.startsWith(JSON.stringify(key), (place?.column ?? 0) - 1), `${pointer} in ${text}`)
        }
      }),
    )
  })
})

/** Every member of an object by its pointer. */
function membersOf(value: unknown, pointer: string): readonly (readonly [pointer: string, key: string])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => {
    const below = appendPointer(pointer, key)
    const inside = membersOf(member, below)
    return Array.isArray(value) ? inside : [[below, key] as const, ...inside]
  })
}
