/** Reading parsed JSON and YAML in tests without believing its shape: a missing or odd member fails the test with its path. */
import assert from 'node:assert/strict'

/** The value at a path of member names and indices; undefined as soon as nothing is there. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null
        ? Object.entries(inner).find(([name]) => name === String(step))?.[1]
        : undefined,
    value,
  )
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found: unknown = at(value, ...path)
  assert.ok(Array.isArray(found), `a list is expected at ${path.join('.')} of ${JSON.stringify(value)?.slice(0, 500)}`)
  return found
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  assert.ok(typeof found === 'string', `a text is expected at ${path.join('.')}, found ${JSON.stringify(found)}`)
  return found
}

export function numberAt(value: unknown, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path)
  assert.ok(typeof found === 'number', `a number is expected at ${path.join('.')}, found ${JSON.stringify(found)}`)
  return found
}

/** The texts at the same place of each item, sorted. */
export function textsAt(items: readonly unknown[], ...path: readonly (string | number)[]): readonly string[] {
  return items.map((item) => textAt(item, ...path)).sort()
}
