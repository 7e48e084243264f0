/** The worked examples of docs/reference: each command prints what the page prints below it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { examplesOf, outputOf, PAGES, saveFiles } from './page.ts'

for (const page of PAGES) {
  const read = examplesOf(page)
  if (read.examples.length === 0) continue
  const folder = saveFiles(page)
  suite(`the examples of ${page}`, () => {
    for (const example of read.examples)
      test(`print what the page shows: ${example.script.split('\n', 1)[0]}`, () => {
        assert.equal(outputOf(example, folder), example.expected)
      })
  })
}
