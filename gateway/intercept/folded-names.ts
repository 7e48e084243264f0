/**
 * Members of JSON whose names count, in letters of another case. Go's encoding/json takes `METHOD` for `method`, and others do not:
 * an object with such a member says one thing to one reader and another to the next.
 */

export interface CountingNames {
  readonly exact: ReadonlySet<string>
  readonly folded: ReadonlySet<string>
}

export function countingNames(names: readonly string[]): CountingNames {
  return { exact: new Set(names), folded: new Set(names.map(fold)) }
}

/** The first member that is one of the names in other letters; null: there is none. */
export function otherSpelling(object: Readonly<Record<string, unknown>>, names: CountingNames): string | null {
  for (const member in object)
    if (!names.exact.has(member) && names.folded.has(fold(member)) && Object.hasOwn(object, member)) return member
  return null
}

/** Go folds more than ASCII: the Kelvin sign is a k, which lower case tells, and the long s an s, which it does not. */
function fold(name: string): string {
  return name.replaceAll('\u017F', 's').toLowerCase()
}
