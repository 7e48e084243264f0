/** Whether two schemas, each on its side, are written the same, references followed: then they admit the same. */
import { isEqual, ValueSet } from '../equality.ts'
import { isCompared } from '../keywords.ts'
import { isRecord, stepInto, type Located } from '../located.ts'
import { bare, isAnnotation } from '../shape.ts'
import type { SchemaSource } from '../source.ts'

/** Keywords that hold values: what looks like a schema in them is none. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'discriminator'])
/** Lists whose order has no meaning. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type'])
/** Keywords that hold schemas by name: their names are no keywords. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
])
const USAGE: ReadonlySet<string> = new Set(['default', 'deprecated'])
const MAX_DEPTH = 400

export class Sameness {
  readonly #sources: { readonly before: SchemaSource; readonly after: SchemaSource }
  readonly #known = new WeakMap<object, Map<object, boolean>>()

  constructor(sources: { readonly before: SchemaSource; readonly after: SchemaSource }) {
    this.#sources = sources
  }

  isSame(before: Located, after: Located): boolean {
    if (this.#sources.before.dialect !== this.#sources.after.dialect) return false
    const assumed: (readonly [object, object])[] = []
    const isSame = this.#compare(before, after, assumed, 0)
    // Pairs that were taken for equal are, when all of them together held.
    for (const [old, now] of assumed) {
      const known = this.#known.get(old)
      if (isSame) known?.set(now, true)
      else if (known?.get(now) === true) known.delete(now)
    }
    return isSame
  }

  #compare(before: Located, after: Located, assumed: (readonly [object, object])[], depth: number): boolean {
    if (depth > MAX_DEPTH) return false
    if (!isRecord(before.value) || !isRecord(after.value)) return isEqual(before.value, after.value)
    const old = bare(before, this.#sources.before)
    const now = bare(after, this.#sources.after)
    if (old.value === now.value) return true
    const partners = this.#known.get(old.value) ?? new Map<object, boolean>()
    const known = partners.get(now.value)
    if (known !== undefined) return known
    this.#known.set(old.value, partners.set(now.value, true))
    assumed.push([old.value, now.value])
    const isSame = this.#members(old, now, false, assumed, depth + 1)
    if (!isSame) partners.set(now.value, false)
    return isSame
  }

  #members(
    old: Located,
    now: Located,
    isNamed: boolean,
    assumed: (readonly [object, object])[],
    depth: number,
  ): boolean {
    const [left, right] = [old.value, now.value]
    if (!isRecord(left) || !isRecord(right)) return isEqual(left, right)
    const isSilent = (name: string): boolean => !isNamed && !isCondition(name)
    for (const name in right) if (!isSilent(name) && !Object.hasOwn(left, name)) return false
    for (const name in left) {
      if (isSilent(name)) continue
      if (!Object.hasOwn(right, name)) return false
      const [one, other] = [within(old, name, left[name]), within(now, name, right[name])]
      if (!this.#member(name, one, other, isNamed, assumed, depth)) return false
    }
    return true
  }

  #member(
    name: string,
    old: Located,
    now: Located,
    isNamed: boolean,
    assumed: (readonly [object, object])[],
    depth: number,
  ): boolean {
    const [left, right] = [old.value, now.value]
    if (!isNamed && SETS.has(name)) return isSameSet(left, right)
    if (!isNamed && VALUES.has(name)) return isEqual(left, right)
    // Only lists of names are held by name.
    if (isNamed && Array.isArray(left)) return isSameSet(left, right)
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return false
      return left.every((item, index) =>
        this.#compare(within(old, String(index), item), within(now, String(index), right[index]), assumed, depth),
      )
    }
    if (!isNamed && NAMED.has(name)) return this.#members(old, now, true, assumed, depth + 1)
    return this.#compare(old, now, assumed, depth)
  }
}

/** Whether a keyword may have a part in which values are admitted. A reference may lead to what is no schema at all. */
function isCondition(name: string): boolean {
  if (isAnnotation(name) || USAGE.has(name)) return false
  return isCompared(name) || name.startsWith('$')
}

function isSameSet(left: unknown, right: unknown): boolean {
  const [was, is]: readonly (readonly unknown[])[] = [left, right].map((one) => (Array.isArray(one) ? one : [one]))
  if (was === undefined || is === undefined) return false
  const [old, now] = [new ValueSet(was), new ValueSet(is)]
  return old.size === now.size && was.every((value) => now.has(value))
}

function within(owner: Located, step: string, value: unknown): Located {
  return { value, at: stepInto(owner.at, step), document: owner.document }
}
