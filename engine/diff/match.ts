/** Matches two lists by key into added, removed and kept items, in one pass over each. */
import { byCodeUnit } from '../common/code-unit-order.ts'

export interface Matched<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly kept: readonly (readonly [before: T, after: T])[]
}

/** Items with equal keys are matched in order. Each item is matched once. */
export function matchByKey<T>(before: readonly T[], after: readonly T[], keyOf: (item: T) => string): Matched<T> {
  const kept: (readonly [T, T])[] = []
  // Most lists have the same keys in the same order, at least up to what changed.
  before.every((item, index) => {
    const partner = after[index]
    return partner !== undefined && keyOf(item) === keyOf(partner) && kept.push([item, partner]) > 0
  })
  const baseRest = before.slice(kept.length)
  const headRest = after.slice(kept.length)
  if (baseRest.length === 0 || headRest.length === 0) return { added: headRest, removed: baseRest, kept }
  const groups = Map.groupBy(headRest, keyOf)
  const waiting = new Map([...groups].map(([key, group]) => [key, group.values()]))
  const removed: T[] = []
  const taken = new Set<T>()
  for (const item of baseRest) {
    const partner = waiting.get(keyOf(item))?.next().value
    if (partner === undefined) removed.push(item)
    else {
      kept.push([item, partner])
      taken.add(partner)
    }
  }
  return { added: headRest.filter((item) => !taken.has(item)), removed, kept }
}

/** Matches the remaining items by another key. */
export function matchRest<T>(first: Matched<T>, keyOf: (item: T) => string): Matched<T> {
  if (first.removed.length === 0 || first.added.length === 0) return first
  const second = matchByKey(first.removed, first.added, keyOf)
  return { ...second, kept: [...first.kept, ...second.kept] }
}

/** Items of which there are several alike, with their numbers. */
export interface MatchedCounts<T> {
  readonly added: ReadonlyMap<T, number>
  readonly removed: ReadonlyMap<T, number>
  /** Each pair once. */
  readonly kept: readonly (readonly [before: T, after: T])[]
}

/** As `matchByKey` for lists that hold items several times: as many of them as there are on both sides are matched. */
export function matchCounts<T>(
  before: ReadonlyMap<T, number>,
  after: ReadonlyMap<T, number>,
  keyOf: (item: T) => string,
): MatchedCounts<T> {
  const [removed, added] = [new Map(before), new Map(after)]
  const kept: (readonly [T, T])[] = []
  if (before.size === 0 || after.size === 0) return { added, removed, kept }
  const waiting = Map.groupBy(after.keys(), keyOf)
  for (const [key, base] of Map.groupBy(before.keys(), keyOf)) {
    const head = waiting.get(key) ?? []
    // Lists grow in the loop: an item of which some are left goes to their end.
    for (let index = 0; index < Math.min(base.length, head.length); index += 1) {
      const [one, other] = [base[index], head[index]]
      if (one === undefined || other === undefined) continue
      const both = Math.min(removed.get(one) ?? 0, added.get(other) ?? 0)
      kept.push([one, other])
      if (leaves(removed, one, both)) base.push(one)
      if (leaves(added, other, both)) head.push(other)
    }
  }
  return { added, removed, kept }
}

/** Takes so many of an item. Returns whether some are left. */
function leaves<T>(counts: Map<T, number>, item: T, taken: number): boolean {
  const left = (counts.get(item) ?? 0) - taken
  if (left > 0) counts.set(item, left)
  else counts.delete(item)
  return left > 0
}

/** The keys of both sides, each once, in code unit order. */
export function keysOfBoth(base: Iterable<string>, head: Iterable<string>): readonly string[] {
  return [...new Set([...base, ...head])].sort(byCodeUnit)
}

const NO_TEXTS = { added: [], removed: [] }

/** Added and removed texts, each once. */
export function changedTexts(
  before: readonly string[],
  after: readonly string[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  if (before.length === after.length && before.every((text, index) => text === after[index])) return NO_TEXTS
  const base = new Set(before)
  const head = new Set(after)
  return { added: [...head].filter((text) => !base.has(text)), removed: [...base].filter((text) => !head.has(text)) }
}
