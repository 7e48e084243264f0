/** Equality of plain JSON values, whatever the order of members. */
import { isRecord } from './located.ts'

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  }
  if (!isRecord(a) || !isRecord(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
}

/** A text that two values share exactly when they are equal: for sets of enum values and other small things. */
export function valueKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueKey).join(',')}]`
  if (isRecord(value)) {
    const members = Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${valueKey(value[name])}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A set of JSON values by their equality. A scalar is held as it is: a contract may list a million of them. */
export class ValueSet {
  readonly #scalars = new Set<unknown>()
  readonly #keys = new Set<string>()

  constructor(values: readonly unknown[] = []) {
    for (const value of values) this.add(value)
  }

  get size(): number {
    return this.#scalars.size + this.#keys.size
  }

  has(value: unknown): boolean {
    return isScalar(value) ? this.#scalars.has(value) : this.#keys.has(valueKey(value))
  }

  /** True when the value was not there. */
  add(value: unknown): boolean {
    const { size } = this
    if (isScalar(value)) this.#scalars.add(value)
    else this.#keys.add(valueKey(value))
    return this.size > size
  }
}

/** Whether two lists hold the same values, whatever their order. */
export function isSameSet(before: readonly unknown[], after: readonly unknown[]): boolean {
  // Most lists are in one order.
  if (before.length === after.length && before.every((value, index) => value === after[index])) return true
  const [beforeSet, afterSet] = [new ValueSet(before), new ValueSet(after)]
  return beforeSet.size === afterSet.size && before.every((value) => afterSet.has(value))
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
