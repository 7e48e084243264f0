/**
 * Members of JSON whose names count, in letters of another case. Go's encoding/json takes `METHOD` for `method`, and others do not:
 * an object with such a member says one thing to one reader and another to the next.
 */

export interface CountingNames {
  readonly exact: ReadonlySet<string>
  readonly folded: ReadonlySet<string>
}

export function countingNames(names: readonly string[]): CountingNames {
  return { exact: new Set(names), folded: new Set(names.map(foldMember)) }
}

/** The first member that is one of the names in other letters; null: there is none. */
export function otherSpelling(object: Readonly<Record<string, unknown>>, names: CountingNames): string | null {
  for (const member in object)
    if (!names.exact.has(member) && names.folded.has(foldMember(member)) && Object.hasOwn(object, member)) return member
  return null
}

/** Two members of one object, at any depth, whose names differ in case only: `name and Name`; null: there are none. */
export function collidingNames(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const seen = new Map<string, string>()
  for (const [name, member] of Object.entries(value)) {
    const before = Array.isArray(value) ? undefined : seen.get(foldMember(name))
    if (before !== undefined) return `${before} and ${name}`
    seen.set(foldMember(name), name)
    const inside = collidingNames(member)
    if (inside !== null) return inside
  }
  return null
}

/** Go folds more than ASCII: the Kelvin sign is a k, which lower case tells, and the long s an s, which it does not. */
function foldMember(name: string): string {
  return name.replaceAll('\u017F', 's').toLowerCase()
}
