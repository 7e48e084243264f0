/** Tables of the command line. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textTable } from '../../../gateway/cli/format.ts'

test('a table has columns as wide as their widest cell, and says so when it has no rows', () => {
  const heading = ['ID', 'STATE']
  assert.equal(textTable(heading, [['apr_1', 'open']]), 'ID     STATE\napr_1  open')
  assert.equal(textTable(heading, []), 'ID  STATE\n(none)')
})
