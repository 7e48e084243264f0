/** Number ranges and names that a message or enum reserves or leaves open to extensions. */
import type { Declared, NumberRange, Reserved } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import type { ProtoWalk } from './walk.ts'

/** Ranges in order, with adjacent ones joined, so that one lookup finds the only range that can contain a number. */
export class RangeSet {
  readonly #merged: readonly NumberRange[]

  constructor(ranges: readonly NumberRange[]) {
    this.#merged = mergeRanges(ranges)
  }

  /** Whether all numbers of a range are in the set. */
  holds([first, last]: NumberRange): boolean {
    let low = 0
    let high = this.#merged.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#merged[middle]?.[1] ?? 0) < first) low = middle + 1
      else high = middle
    }
    const found = this.#merged[low]
    return found !== undefined && found[0] <= first && last <= found[1]
  }
}

/** Reports each base range that the head ranges together no longer cover. */
export function compareRanges(
  before: readonly NumberRange[],
  after: readonly NumberRange[],
  reportRemoved: (range: string) => void,
): void {
  const kept = new RangeSet(after)
  for (const [first, last] of before)
    if (!kept.holds([first, last])) reportRemoved(first === last ? String(first) : `${first} to ${last}`)
}

/** Compares what a message or an enum reserves. */
export function compareReserved(
  before: Reserved,
  after: Reserved,
  reportRemoved: (what: 'range' | 'name', text: string) => void,
): void {
  compareRanges(before.ranges, after.ranges, (range) => reportRemoved('range', range))
  for (const name of before.names) if (!after.names.has(name)) reportRemoved('name', name)
}

/** Reports what an owner no longer reserves, at the owner. */
export function reportUnreserved(rule: ProtoRuleId, text: string, { at, fullName }: Declared, walk: ProtoWalk): void {
  const place = { side: 'head', location: at, reaches: fullName } as const
  walk.add({ ...place, rule, subject: `${fullName} ${text}`, name: fullName, before: text })
}

function mergeRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const merged: [number, number][] = []
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const previous = merged.at(-1)
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else merged.push([first, last])
  }
  return merged
}
