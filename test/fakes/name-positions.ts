/** Names of Object.prototype, put in the place of each string of a JSON value, keys and values alike. */

export const PROTOTYPE_NAMES = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'isPrototypeOf',
]

/** One more text for each string of the document: that key, or that value, is the name. */
export function* replaced(root: unknown, name: string, seen: Set<string>): Generator {
  for (const { path, isKey } of positions(root, [])) {
    const place = `${isKey ? 'key' : 'value'} ${path
      .filter((step) => typeof step === 'string')
      .slice(-2)
      .join('/')} ${name}`
    if (seen.has(place)) continue
    seen.add(place)
    yield withName(root, path, isKey, name)
  }
}

type Path = readonly (string | number)[]

function* positions(value: unknown, path: Path): Generator<{ readonly path: Path; readonly isKey: boolean }> {
  if (typeof value === 'string') yield { path, isKey: false }
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* positions(item, [...path, index])
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      yield { path: [...path, key], isKey: true }
      yield* positions(item, [...path, key])
    }
}

function withName(value: unknown, path: Path, isKey: boolean, name: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return name
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? withName(item, rest, isKey, name) : item))
  const entries = Object.entries(Object(value)).map(([key, item]): [string, unknown] => {
    if (key !== step) return [key, item]
    return rest.length === 0 && isKey ? [name, item] : [key, withName(item, rest, isKey, name)]
  })
  // Object.fromEntries defines members, so `__proto__` is one.
  return Object.fromEntries(entries)
}
