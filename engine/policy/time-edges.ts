/** When a condition on `time` may answer otherwise: a decision is not valid past that moment. Rather too early than too late. */

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Member of `time` → seconds in which it stays the same, counted from midnight UTC. Others (`unix`, computed keys) get a minute. */
const STEPS: ReadonlyMap<string, number> = new Map([
  ['date', DAY],
  ['weekday', DAY],
  ['hour', HOUR],
])

/**
 * @param fields members of `time` that conditions read; null: `time` as a whole, or by a computed key
 * @param now seconds since the epoch
 * @returns null when no condition reads the time
 */
export function timeEdge(fields: ReadonlySet<string | null>, now: number): number | null {
  if (fields.size === 0) return null
  const edges = [...fields].map((field) => {
    const step = STEPS.get(field ?? '') ?? MINUTE
    return (Math.floor(now / step) + 1) * step
  })
  return Math.min(...edges)
}
