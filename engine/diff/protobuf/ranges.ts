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
  rule: ProtoRuleId,
  before: readonly NumberRange[],
  after: readonly NumberRange[],
  owner: Declared,
  walk: ProtoWalk,
): void {
  const kept = new RangeSet(after)
  for (const [first, last] of before) {
    if (kept.holds([first, last])) continue
    const text = first === last ? String(first) : `${first} to ${last}`
    reportOwner(rule, `${owner.fullName} ${text}`, text, owner, walk)
  }
}

export function compareReservedNames(
  rule: ProtoRuleId,
  before: Reserved,
  after: Reserved,
  owner: Declared,
  walk: ProtoWalk,
): void {
  for (const name of before.names) {
    if (!after.names.has(name)) reportOwner(rule, `${owner.fullName} ${name}`, name, owner, walk)
  }
}

function reportOwner(rule: ProtoRuleId, subject: string, before: string, owner: Declared, walk: ProtoWalk): void {
  const place = { side: 'head', location: owner.at, reaches: owner.fullName } as const
  walk.add({ ...place, rule, subject, name: owner.fullName, before })
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
