/**
 * Every single edit of a JSON document. Each member and item is removed, and each leaf gets other values. Each list and
 * object gains what others of its kind contain, and items change places.
 */

export interface Edit {
  /** What was edited, for messages: `removed /spec/versions/0`. */
  readonly what: string
  readonly document: unknown
}

type Step = string | number
type Path = readonly Step[]

/** A copy in which one place has another value; undefined: a member or item that is gone. */
export function withValueAt(value: unknown, [step, ...rest]: Path, changed: unknown): unknown {
  if (step === undefined) return changed
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value
    if (rest.length === 0 && changed === undefined) return list.filter((_, at) => at !== step)
    return list.map((item, at) => (at === step ? withValueAt(item, rest, changed) : item))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  if (rest.length === 0 && changed === undefined) return Object.fromEntries(entries.filter(([name]) => name !== step))
  const known: unknown = entries.find(([name]) => name === step)?.[1]
  return { ...value, [step]: withValueAt(known, rest, changed) }
}

/** What stands at places of one kind: members of one name, items of lists of one name. */
class Vocabulary {
  readonly #values = new Map<string, Map<string, unknown>>()
  readonly #names = new Map<string, Set<string>>()

  constructor(document: unknown) {
    this.#read('', document)
  }

  valuesOf(kind: string): readonly unknown[] {
    return [...(this.#values.get(kind)?.values() ?? [])]
  }

  namesOf(kind: string): readonly string[] {
    return [...(this.#names.get(kind) ?? [])]
  }

  #read(kind: string, value: unknown): void {
    const known = this.#values.get(kind) ?? new Map<string, unknown>()
    this.#values.set(kind, known.set(JSON.stringify(value), value))
    if (Array.isArray(value)) for (const item of value as readonly unknown[]) this.#read(`${kind}[]`, item)
    else if (typeof value === 'object' && value !== null) {
      const names = this.#names.get(kind) ?? new Set()
      this.#names.set(kind, names)
      for (const [name, member] of Object.entries(value)) {
        names.add(name)
        this.#read(name, member)
      }
    }
  }
}

function otherLeaves(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, value - 1, String(value)]
  if (typeof value === 'string') return [`${value}x`, 7]
  return value === null ? ['x'] : []
}

function* editsAt(
  value: unknown,
  kind: string,
  path: Path,
  words: Vocabulary,
): Generator<readonly [string, Path, unknown]> {
  if (path.length > 0) yield ['removed', path, undefined]
  const own = JSON.stringify(value)
  for (const other of [...otherLeaves(value), ...words.valuesOf(kind)]) {
    if (JSON.stringify(other) !== own) yield ['changed', path, other]
  }
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value
    for (const [at, item] of list.entries()) yield* editsAt(item, `${kind}[]`, [...path, at], words)
    for (const other of words.valuesOf(`${kind}[]`)) {
      if (!list.some((item) => JSON.stringify(item) === JSON.stringify(other))) yield ['added', path, [...list, other]]
    }
    if (list.length > 1) yield ['moved', path, [...list.slice(1), list[0]]]
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* editsAt(member, name, [...path, name], words)
    for (const name of words.namesOf(kind)) {
      if (Object.hasOwn(value, name)) continue
      for (const member of words.valuesOf(name)) yield ['added', [...path, name], member]
    }
    for (const name of Object.keys(value)) {
      const renamed = Object.entries(value).map(([key, member]: [string, unknown]) => [
        key === name ? `${key}X` : key,
        member,
      ])
      yield ['renamed', path, Object.fromEntries(renamed)]
    }
  }
}

/** All documents that differ from this one in one place. `more` adds values that members of a name may have. */
export function* everyEdit(document: unknown, more: unknown = null): Generator<Edit> {
  const words = new Vocabulary([document, more])
  for (const [what, path, changed] of editsAt(document, '[]', [], words)) {
    yield {
      what: `${what} /${path.join('/')}`,
      document: path.length === 0 ? changed : withValueAt(document, path, changed),
    }
  }
}
