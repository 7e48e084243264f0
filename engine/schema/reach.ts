/**
 * Every change that can be reached from a pair of schemas, with the path to it. A recursive schema is entered once on each
 * path, and one pair is visited a bounded number of times for each use of its values. The bound never hides a use: a pair
 * that is read-only on some paths and not on others is visited as both. Edges are in one order (comparison.ts), so the
 * paths within the bound are the same for every order of keys.
 */
import type { SchemaDelta } from './delta.ts'
import type { SchemaEdge, SchemaPair } from './comparison.ts'

/** A change and the way that led to it. */
export interface Reached {
  readonly delta: SchemaDelta
  /** True for a delta that is the same object wherever it is reached; one of a long series is made anew each time. */
  readonly isHeld: boolean
  readonly pair: SchemaPair
  /** Steps from the start to the pair; empty for the start itself. */
  readonly path: readonly string[]
  /** Whether the property that the pair is of was required before the change; null when it is of none. */
  readonly isRequired: boolean | null
  /** True when the pair or one above it (below the start) is read-only, or write-only, after the change. */
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

interface Frame {
  readonly pair: SchemaPair
  /** The edge that is followed next. */
  next: number
  /** Steps of the way, last first. */
  readonly way: Way | null
  readonly isRequired: boolean | null
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

interface Way {
  readonly steps: readonly string[]
  readonly above: Way | null
}

/** Paths to one pair in one use that are visited from one start; further paths lead to the same change in the same use. */
export const MAX_WAYS = 512

/** Uses of one pair that rules tell apart: read-only, write-only, and optional, required or no property. */
const USES = 12

function useOf({ isRequired, isReadOnly, isWriteOnly }: Frame): number {
  const property = isRequired === null ? 0 : isRequired ? 1 : 2
  return property * 4 + (isReadOnly ? 2 : 0) + (isWriteOnly ? 1 : 0)
}

export function reachChanges(start: SchemaPair, visit: (reached: Reached) => void, maxWays = MAX_WAYS): void {
  if (!start.isLive) return
  const visits = new Map<SchemaPair, Uint16Array>()
  /** Pairs on the way to the one at hand. */
  const onWay = new Set<SchemaPair>()
  const stack: Frame[] = []
  const enter = (frame: Frame): void => {
    const { pair } = frame
    if (onWay.has(pair)) return
    const counts = visits.get(pair) ?? new Uint16Array(USES)
    const use = useOf(frame)
    const visited = counts[use] ?? 0
    if (visited >= maxWays) return
    counts[use] = visited + 1
    visits.set(pair, counts)
    onWay.add(pair)
    stack.push(frame)
    tell(frame, visit)
  }
  enter({ pair: start, next: 0, way: null, isRequired: null, isReadOnly: false, isWriteOnly: false })
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const edge = top.pair.edges[top.next]
    top.next += 1
    if (edge === undefined) {
      onWay.delete(top.pair)
      stack.pop()
    } else if (edge.to.isLive) enter(frameBelow(top, edge))
  }
}

function tell({ pair, way, isRequired, isReadOnly, isWriteOnly }: Frame, visit: (reached: Reached) => void): void {
  if (pair.deltas.length === 0) return
  const path = pathOf(way)
  const facts = { pair, path, isRequired, isReadOnly, isWriteOnly }
  for (const told of pair.deltas) {
    if (!('each' in told)) visit({ delta: told, isHeld: true, ...facts })
    else for (const delta of told.each()) visit({ delta, isHeld: false, ...facts })
  }
}

function frameBelow({ way, isRequired, isReadOnly, isWriteOnly }: Frame, { to, steps, ...edge }: SchemaEdge): Frame {
  const isSame = steps.length === 0
  const below = isSame ? way : { steps, above: way }
  const { readOnly, writeOnly } = to.after.value
  return {
    pair: to,
    next: 0,
    way: below,
    isRequired: isSame ? isRequired : edge.isRequired,
    isReadOnly: isReadOnly || (below !== null && readOnly === true),
    isWriteOnly: isWriteOnly || (below !== null && writeOnly === true),
  }
}

function pathOf(way: Way | null): readonly string[] {
  const parts: (readonly string[])[] = []
  for (let above = way; above !== null; above = above.above) parts.push(above.steps)
  return parts.reverse().flat()
}
