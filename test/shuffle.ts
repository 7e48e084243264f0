/** The same JSON value with the members of every object in another order; the same seed gives the same order. */

export function shuffledKeys(value: unknown, seed: number): unknown {
  const next = generator(seed)
  return shuffle(value, next)
}

function shuffle(value: unknown, next: () => number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => shuffle(item, next))
  const keyed = Object.entries(value).map(([name, member]) => ({ name, member: shuffle(member, next), key: next() }))
  keyed.sort((a, b) => a.key - b.key)
  return Object.fromEntries(keyed.map(({ name, member }) => [name, member]))
}

/** A linear congruential generator: reproducible, which is all that an order needs. */
export function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state
  }
}
