/** Malformed parts that differ between both sides of a contract. */
import type { MalformedPart } from '../contracts/malformed-parts.ts'
import { isEqual } from '../schema/equality.ts'
import type { Located } from '../schema/located.ts'

interface MalformedChange {
  readonly place: string
  /** What the part has to be. */
  readonly form: string
  readonly side: 'base' | 'head'
  readonly located: Located
  readonly before: unknown
  readonly after: unknown
}

/** What is malformed on both sides and equal is not changed. Any other is read as absent, so its change is in no other finding. */
export function compareMalformed(
  before: ReadonlyMap<string, MalformedPart>,
  after: ReadonlyMap<string, MalformedPart>,
  report: (change: MalformedChange) => void,
): void {
  for (const [place, { located, form }] of after) {
    const known = before.get(place)?.located.value
    if (known !== undefined && isEqual(known, located.value)) continue
    report({ place, form, side: 'head', located, before: known ?? null, after: located.value })
  }
  for (const [place, { located, form }] of before)
    if (!after.has(place)) report({ place, form, side: 'base', located, before: located.value, after: null })
}
