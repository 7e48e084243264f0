/** Parts of an AsyncAPI document that are compared by value: a reference in them stands for its target. */
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, locatedItems, memberOf, type Located } from '../../schema/located.ts'
import { keysOfBoth } from '../match.ts'
import type { AsyncWalk } from './walk.ts'

type Documents = Pick<AsyncWalk, 'base' | 'head'>

/** Whether both parts have the same content, wherever it is written. */
export function isSameContent(before: Located | null, after: Located | null, { base, head }: Documents): boolean {
  const seen = new Pairs<object, true>()
  const isSame = (one: Located | null, other: Located | null): boolean => {
    const held = one === null ? null : base.documents.follow(one)
    const kept = other === null ? null : head.documents.follow(other)
    // Two references without a target are equal if they are written alike.
    if (held === null || kept === null) return held === kept && isEqual(one?.value ?? null, other?.value ?? null)
    const [value, to] = [held.value, kept.value]
    if (typeof value !== 'object' || typeof to !== 'object' || value === null || to === null) return isEqual(value, to)
    if (seen.get(value, to) === true) return true
    seen.set(value, to, true)
    const [items, others] = [locatedItems(held), locatedItems(kept)]
    if (!isRecord(value) || !isRecord(to)) {
      const areLists = Array.isArray(value) && Array.isArray(to) && items.length === others.length
      return areLists && items.every((item, index) => isSame(item, others[index] ?? null))
    }
    const names = keysOfBoth(Object.keys(value), Object.keys(to))
    return names.every((name) => isSame(memberOf(held, name), memberOf(kept, name)))
  }
  return isSame(before, after)
}
