/** The two faces of the engine: the small one is part of the whole, and stays small. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as base from '../../engine/base.ts'
import * as whole from '../../engine/internal.ts'

test('whatever the small face of the engine offers, the whole offers too, and it is the same', () => {
  const known = new Map<string, unknown>(Object.entries(whole))
  const other = Object.entries(base).filter(([name, value]) => known.get(name) !== value)
  assert.ok(Object.keys(base).length > 10)
  assert.deepEqual(
    other.map(([name]) => name),
    [],
  )
})
