/** Compares rows with a table of test/pins/. A failing pin says which lines to add, and shows no others. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

export function pinned(name: string): readonly string[] {
  return readFileSync(new URL(`pins/${name}.tsv`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
}

/** Order does not matter. A difference is shown line by line, new rows as they are to be added. */
export function assertPinned(rows: readonly string[], name: string): void {
  const pins = new Set(pinned(name))
  const known = new Set(rows)
  const missing = rows.filter((row) => !pins.has(row))
  const gone = [...pins].filter((pin) => !known.has(pin))
  const differences = [
    ...(missing.length === 0 ? [] : [`Add to test/pins/${name}.tsv, where its order has them:`, ...missing]),
    ...(gone.length === 0 ? [] : [`Keep what users match on (law 6); gone from test/pins/${name}.tsv:`, ...gone]),
  ]
  assert.ok(differences.length === 0, differences.join('\n'))
}

/** The same where order matters too. */
export function assertPinnedOrder(rows: readonly string[], name: string): void {
  assertPinned(rows, name)
  const pins = pinned(name)
  const misplaced = rows.find((row, index) => row !== pins[index])
  assert.ok(misplaced === undefined, `test/pins/${name}.tsv has another order; the first difference is:\n${misplaced}`)
}

/** The pins of a sorted table whose first line names the columns. */
export function assertTable(columns: string, rows: readonly (readonly string[])[], name: string): void {
  assertPinned([columns, ...rows.map((row) => row.join('\t'))], name)
  const [, ...pins] = pinned(name)
  const misplaced = pins.filter((pin, index) => pin < (pins[index - 1] ?? ''))
  assert.ok(misplaced.length === 0, `not in alphabetical order in test/pins/${name}.tsv:\n${misplaced.join('\n')}`)
}
