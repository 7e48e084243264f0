/**
 * Which changes of a flood are listed, and which are only counted. A small document can contain hundreds of thousands
 * of changes, and one small component can reach every operation of a contract. Numbers stay exact, and no verdict
 * depends on the limits.
 */
import type { FindingGroup, Level } from '../../model/finding.ts'
import type { Sha256 } from '../../common/hash.ts'
import type { LevelOverride } from '../catalog/levels.ts'
import { reasonCodeOf, placeKey, type JudgedChange, type OpenGroup, type ReachedPlace } from './judged-change.ts'
import { DigestSet } from './digest-set.ts'
import type { Rule } from '../rule.ts'
import type { Advice } from '../advice.ts'

/** Changes that are listed one by one. The largest rewrites of real contracts have a few thousand. */
export const MAX_CHANGES = 20_000
/** Listed places, over all changes. */
export const MAX_PLACES = 100_000

/** The places that each of several changes lists, if they have so many together. */
export function mostPlaces(changes: number, places: number): number {
  return places <= MAX_PLACES ? places : Math.floor(MAX_PLACES / Math.max(1, Math.min(changes, MAX_CHANGES)))
}

/** Changes of one rule that are only counted. */
interface Count {
  readonly rule: Rule
  readonly level: Level
  readonly advice: Advice
  places: number
}

export class Unlisted {
  readonly #sha256: Sha256
  readonly #counts = new Map<string, Count>()
  /** Digests of the reports for the current place. Null until a group was released. */
  #reported: DigestSet | null = null
  #isBeyond: ((group: OpenGroup) => boolean) | null = null

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  get isAny(): boolean {
    return this.#reported !== null
  }

  /** False if the same change was reported for the current place and released since. It then counts once. */
  isNew(key: string, place: ReachedPlace): boolean {
    if (this.#reported === null) return true
    return this.#reported.add(this.#digest(key, place))
  }

  remember(reported: Iterable<readonly [key: string, place: ReachedPlace]>): void {
    if (this.#reported !== null) return
    this.#reported = new DigestSet()
    for (const [key, place] of reported) this.#reported.add(this.#digest(key, place))
  }

  forget(): void {
    this.#reported?.clear()
  }

  /** Changes for which this is true are only counted from now on. */
  closeAfter(isBeyond: (group: OpenGroup) => boolean): void {
    this.#isBeyond = isBeyond
  }

  /** Counts a change that sorts after all listed ones. Returns false if it is to be listed. */
  takes(group: OpenGroup): boolean {
    if (this.#isBeyond?.(group) !== true) return false
    this.take(group)
    return true
  }

  take({ change, level, places, unlisted }: OpenGroup): void {
    this.count(change, level, (places instanceof Map ? places.size : 1) + unlisted)
  }

  /** Counts places of a change that is not listed. */
  count({ rule, advice }: Pick<JudgedChange, 'rule' | 'advice'>, level: LevelOverride, places: number): void {
    if (level === 'off') return
    const key = `${level} ${rule.id}`
    const count = this.#counts.get(key)
    if (count === undefined) this.#counts.set(key, { rule, level, advice, places })
    else count.places += places
  }

  /** One group for each rule. It belongs to the whole contract, because its places may be anywhere. */
  groups(): readonly FindingGroup[] {
    return [...this.#counts.values()].map(({ rule, level, advice, places }) => {
      const message = `${places} more findings of the rule \`${rule.id}\`, which are counted and not listed one by one`
      const fingerprint = this.#sha256(`unlisted ${rule.id} ${places}`)
      return {
        id: `${rule.id}-${fingerprint.slice(0, 16)}`,
        rule: rule.id,
        code: reasonCodeOf(rule.id),
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

  /** The digest is collision-resistant: with a weaker one an attacker could make two changes look like one. */
  #digest(key: string, place: ReachedPlace): string {
    return this.#sha256(`${key}\n${placeKey(place)}`)
  }
}
