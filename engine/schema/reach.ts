/**
 * Every change that can be reached from a pair of schemas, with the way down to it. A recursive schema is entered once on
 * each way, and one pair is told at most a bounded number of times from one start, so that the answer stays in proportion.
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
  /** Edges that were not gone down yet. */
  left: number
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

/** Ways to one pair from one start that are told; further ways lead to the same change. */
export const MAX_WAYS = 512

export function reachChanges(start: SchemaPair, visit: (reached: Reached) => void, maxWays = MAX_WAYS): void {
  if (!start.isLive) return
  const ways = new Map<SchemaPair, number>()
  /** Pairs on the way to the one at hand. */
  const onWay = new Set<SchemaPair>()
  const stack: Frame[] = []
  const enter = (frame: Frame): void => {
    const { pair } = frame
    const told = ways.get(pair) ?? 0
    if (told >= maxWays || onWay.has(pair)) return
    ways.set(pair, told + 1)
    onWay.add(pair)
    stack.push(frame)
    tell(frame, visit)
  }
  enter({ pair: start, left: start.edges.length, way: null, isRequired: null, isReadOnly: false, isWriteOnly: false })
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    top.left -= 1
    const edge = top.pair.edges[top.left]
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
    left: to.edges.length,
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
