/**
 * Every change that can be reached from a pair of schemas, with the way down to it. A recursive schema is entered once on
 * each way, and one pair is told at most a bounded number of times from one start, so that the answer stays in proportion.
 */
import type { SchemaDelta } from './delta.ts'
import type { SchemaPair } from './comparison.ts'

/** A change and the way that led to it. */
export interface Reached {
  readonly delta: SchemaDelta
  readonly pair: SchemaPair
  /** Steps from the start to the pair; empty for the start itself. */
  readonly path: readonly string[]
  /** True when the pair is a property that is required after the change. */
  readonly isRequired: boolean
  /** True when the pair or one above it (below the start) is read-only, or write-only, after the change. */
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

interface Frame {
  readonly pair: SchemaPair
  readonly path: readonly string[]
  readonly above: Frame | null
  readonly isRequired: boolean
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

/** Ways to one pair from one start that are told; further ways lead to the same change. */
export const MAX_WAYS = 64

export function reachChanges(start: SchemaPair, visit: (reached: Reached) => void): void {
  if (!start.isLive) return
  const ways = new Map<SchemaPair, number>()
  const stack: Frame[] = [frameOf(start, [], null, false)]
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const told = ways.get(frame.pair) ?? 0
    if (told >= MAX_WAYS) continue
    ways.set(frame.pair, told + 1)
    const { pair, path, isRequired, isReadOnly, isWriteOnly } = frame
    for (const delta of pair.deltas) visit({ delta, pair, path, isRequired, isReadOnly, isWriteOnly })
    for (const edge of pair.edges) {
      if (!edge.to.isLive || isAbove(edge.to, frame)) continue
      const below = edge.steps.length === 0 ? path : [...path, ...edge.steps]
      stack.push(frameOf(edge.to, below, frame, edge.steps.length === 0 ? isRequired : edge.isRequired))
    }
  }
}

function frameOf(pair: SchemaPair, path: readonly string[], above: Frame | null, isRequired: boolean): Frame {
  const isBelow = path.length > 0
  return {
    pair,
    path,
    above,
    isRequired,
    isReadOnly: (above?.isReadOnly ?? false) || (isBelow && pair.after.value.readOnly === true),
    isWriteOnly: (above?.isWriteOnly ?? false) || (isBelow && pair.after.value.writeOnly === true),
  }
}

function isAbove(pair: SchemaPair, frame: Frame): boolean {
  for (let above: Frame | null = frame; above !== null; above = above.above) if (above.pair === pair) return true
  return false
}
