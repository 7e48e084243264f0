/** Lines of quoted texts and flow collections that are indented too little: which are read, which are refused, with a second parser as witness. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDocument } from 'yaml'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'

/** A value over several lines. @property lines where `~` stands, the indentation under test comes */
interface MultiLine {
  readonly name: string
  readonly lines: string
  readonly value: unknown
}

const VALUES: readonly MultiLine[] = [
  { name: 'a double-quoted text', lines: '"one\n~two\n~three"', value: 'one two three' },
  { name: 'a single-quoted text', lines: "'one\n~two'", value: 'one two' },
  { name: 'a text with a line break kept', lines: '"one\n\n~two"', value: 'one\ntwo' },
  { name: 'the closing quote', lines: '"one\n~"', value: 'one ' },
  { name: 'a list', lines: '[1,\n~2,\n~3]', value: [1, 2, 3] },
  { name: 'the end of a list', lines: '[ 1\n~]', value: [1] },
  { name: 'a mapping', lines: '{"x": 1,\n~"y": 2}', value: { x: 1, y: 2 } },
  { name: 'the end of a mapping', lines: '{"x": 1\n~}', value: { x: 1 } },
  { name: 'a colon on its own line', lines: '{x\n~: 1}', value: { x: 1 } },
  { name: 'a plain text within a list', lines: '[one\n~two]', value: ['one two'] },
  { name: 'a quoted text within a list', lines: '["one\n~two"]', value: ['one two'] },
  { name: 'a collection within a collection', lines: '[{\n~"x": [\n~1]}]', value: [{ x: [1] }] },
]

/** Where the value stands. @property column of the mapping or list around it, from 0 */
const PLACES: readonly {
  readonly name: string
  readonly before: string
  readonly column: number
  readonly root: (value: unknown) => unknown
}[] = [
  { name: 'a member of the document', before: 'a: ', column: 0, root: (a) => ({ a }) },
  { name: 'an item of the document', before: '- ', column: 0, root: (item) => [item] },
  { name: 'a nested member', before: 'a:\n  b: ', column: 2, root: (b) => ({ a: { b } }) },
  { name: 'a deep member', before: 'a:\n  b:\n      c: ', column: 6, root: (c) => ({ a: { b: { c } } }) },
  { name: 'a nested item', before: 'a:\n  - ', column: 2, root: (item) => ({ a: [item] }) },
  { name: 'a member of an item', before: 'a:\n- b: ', column: 2, root: (b) => ({ a: [{ b }] }) },
]

for (const { name: place, before, column, root } of PLACES) {
  for (const { name, lines, value } of VALUES) {
    test(`${name} in ${place}: further in is valid, else it is read within a nested mapping, never at column 1`, () => {
      for (let indent = 0; indent <= column + 1; indent += 1) {
        const text = `${before}${lines.replaceAll('~', ' '.repeat(indent))}\n`
        const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
        const isRead = indent > column || indent > 0
        assert.equal(read.ok, isRead, text)
        if (read.ok) assert.deepEqual(read.value.root, root(value), text)
        else assert.match(read.problem.message, /indent/, text)
        if (indent > column) assert.deepEqual(parseDocument(text).toJS(), root(value), text)
      }
    })
  }
}

test('a line that begins with a tab, or is a document marker, is never moved', () => {
  for (const line of ['\ttwo"', ' \ttwo"', '---"', '...\n"'])
    assert.equal(readDocument(`a:\n  b: "one\n${line}\n`, DEFAULT_DOCUMENT_LIMITS).ok, false, line)
})
