/** Times on pages of the console, in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moment } from '../../../gateway/console/parts.ts'

const NOW = Date.UTC(2026, 0, 31, 12)

test('a time is written as its distance, and a record made while the page was made is not in the future', () => {
  const rows = [
    [-2 * 86_400_000, '2 days ago'],
    [-3_600_000, '1 hour ago'],
    [-30_000, '30 seconds ago'],
    [-4_000, 'just now'],
    [0, 'just now'],
    [20, 'just now'],
    [900, 'just now'],
    [5_000, 'in a moment'],
    [20 * 60_000, 'in 20 minutes'],
  ] as const
  for (const [distance, words] of rows)
    assert.match(String(moment(NOW + distance, NOW)), new RegExp(`>${words}</time>`), words)
})
