/**
 * How much of a flood of changes is listed, and what is only counted: a small document can hold changes by the hundred
 * thousand, and one small component can reach every operation of a contract. Numbers stay exact; no verdict rests on more.
 */
import type { FindingGroup, Level } from '../finding.ts'
import type { Sha256 } from '../hash.ts'
import { codeOf, placeKey, type OpenGroup, type ReachedPlace } from './judged-change.ts'
import { DigestSet } from './digest-set.ts'
import type { Rule } from './rule.ts'
import type { Advice } from './advice.ts'

/** Changes that are listed one by one: the largest of real contracts that were rewritten have a few thousand. */
export const MAX_CHANGES = 20_000
/** Places listed, of all changes together. */
export const MAX_PLACES = 100_000

/** Changes of one rule that are counted only. */
interface Count {
  readonly rule: Rule
  readonly level: Level
  readonly advice: Advice
  places: number
}

export class Unlisted {
  readonly #sha256: Sha256
  readonly #counts = new Map<string, Count>()
  /** Digests of what was told of the place at hand; null until something was let go. */
  #told: DigestSet | null = null
  #isBeyond: ((group: OpenGroup) => boolean) | null = null

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  get isAny(): boolean {
    return this.#told !== null
  }

  /** False for what was told of the place at hand before and let go since, which counts once. */
  isNew(key: string, place: ReachedPlace): boolean {
    if (this.#told === null) return true
    return this.#told.add(this.#digest(key, place))
  }

  remember(reported: Iterable<readonly [key: string, place: ReachedPlace]>): void {
    if (this.#told !== null) return
    this.#told = new DigestSet()
    for (const [key, place] of reported) this.#told.add(this.#digest(key, place))
  }

  forget(): void {
    this.#told?.clear()
  }

  /** From now on a change for which this holds is counted only. */
  closeAfter(isBeyond: (group: OpenGroup) => boolean): void {
    this.#isBeyond = isBeyond
  }

  /** Counts a change that comes after all that are listed; false when it is to be listed. */
  takes(group: OpenGroup): boolean {
    if (this.#isBeyond?.(group) !== true) return false
    this.take(group)
    return true
  }

  take({ change: { rule, advice }, level, places, unlisted }: OpenGroup): void {
    const listed = places instanceof Map ? places.size : 1
    const key = `${level} ${rule.id}`
    const count = this.#counts.get(key)
    if (count === undefined) this.#counts.set(key, { rule, level, advice, places: listed + unlisted })
    else count.places += listed + unlisted
  }

  /** One group for each rule. It is of the contract as a whole, since its places may be anywhere. */
  groups(): readonly FindingGroup[] {
    return [...this.#counts.values()].map(({ rule, level, advice, places }) => {
      const message = `${places} more findings of the rule \`${rule.id}\`, which are counted and not listed one by one`
      const fingerprint = this.#sha256(`unlisted ${rule.id} ${places}`)
      return {
        id: `${rule.id}-${fingerprint.slice(0, 16)}`,
        rule: rule.id,
        code: codeOf(rule.id),
        level,
        direction: rule.direction,
        location: '',
        side: 'head',
        line: null,
        column: null,
        message,
        explanation: advice.explanation,
        fix: advice.fix,
        before: null,
        after: null,
        occurrences: [{ operation: null, tool: null, message, fingerprint }],
        ...(places > 1 && { unlisted: places - 1 }),
      }
    })
  }

  /** A digest that nobody can aim at: of a weaker one somebody could make two changes look like one. */
  #digest(key: string, place: ReachedPlace): string {
    return this.#sha256(`${key}\n${placeKey(place)}`)
  }
}
