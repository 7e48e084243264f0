/**
 * Groups judged changes into findings for every contract format: one change is one group, whatever number of places it
 * reaches. Only this file overrides levels, makes identities, shortens values and sorts groups.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Mark, Position } from '../../contracts/positions.ts'
import { brief, LEVELS, type FindingGroup, type Level, type Occurrence } from '../../model/finding.ts'
import type { Sha256 } from '../../common/hash.ts'
import { textKey } from '../../common/text-key.ts'
import {
  reasonCodeOf,
  isBefore,
  changeKey,
  placeKey,
  type JudgedChange,
  OpenGroup,
  type ReachedPlace,
} from './judged-change.ts'
import { OWN_LEVELS, readLevels, type LevelOverride, type RuleLevels } from '../catalog/levels.ts'
import { MAX_CHANGES, MAX_PLACES, mostPlaces, Unlisted } from './listing.ts'

export interface GroupingOptions {
  /** By rule selectors that were validated. */
  readonly levels?: Readonly<Record<string, LevelOverride>> | undefined
  readonly sha256: Sha256
  readonly locate: Readonly<Record<'base' | 'head', (location: string, mark?: Mark) => Position | null>>
}

/** Collects changes in any order. `finish` returns the groups sorted. */
export class Grouping {
  readonly #options: GroupingOptions
  readonly #levels: RuleLevels
  /** By the text key of their identity. */
  readonly #open = new Map<string, OpenGroup>()
  /** One change is added for every place that it reaches. Its values may be large. */
  readonly #groups = new Map<JudgedChange, OpenGroup>()
  readonly #unlisted: Unlisted
  /** Places in the open groups. */
  #listed = 0

  constructor(options: GroupingOptions) {
    this.#options = options
    this.#levels = levelsOf(options)
    this.#unlisted = new Unlisted(options.sha256)
  }

  /** Whether findings of a rule are turned off. Walkers can then skip its message. */
  isOff(rule: string): boolean {
    return this.#levels.get(rule) === 'off'
  }

  /** The level in force for a change whose own level is `level`. */
  levelOf(rule: string, level: Level): LevelOverride {
    return this.#levels.get(rule) ?? level
  }

  /** Another place of the same change joins its group. */
  add(change: JudgedChange, place: ReachedPlace): void {
    const level = this.levelOf(change.rule.id, change.level ?? change.rule.level)
    if (level === 'off') return
    const known = this.#groups.get(change)
    const key = known?.key ?? changeKey(change)
    if (!this.#unlisted.isNew(key, place)) return
    const group = known ?? this.#openGroup(key)
    if (group === undefined) {
      const made = new OpenGroup(key, change, level, place)
      if (!this.#unlisted.takes(made)) this.#begin(made)
    } else this.#join(group, change, place)
    if (this.#open.size > 2 * MAX_CHANGES || this.#listed > 2 * MAX_PLACES) this.#shorten()
  }

  /** Further places of a change that was added. They are counted, and not listed. */
  addUnlisted(change: JudgedChange, places: number): void {
    const group = this.#groups.get(change) ?? this.#openGroup(changeKey(change))
    if (group !== undefined) group.unlisted += places
    else this.#unlisted.count(change, this.levelOf(change.rule.id, change.level ?? change.rule.level), places)
  }

  /** The places reported so far will not be reported again, so a flood of changes need not be remembered. */
  leavePlace(): void {
    this.#unlisted.forget()
  }

  /** Sorts by level, rule and subject, so that key order in the documents has no effect. */
  finish(): readonly FindingGroup[] {
    if (this.#open.size > MAX_CHANGES || this.#listed > MAX_PLACES || this.#unlisted.isAny) this.#shorten()
    const open = [...this.#open.values()].sort(compareGroups)
    this.#open.clear()
    this.#groups.clear()
    // Closed groups are released one by one, so that a hostile contract's changes are never held in both forms.
    const closed: FindingGroup[] = []
    open.reverse()
    for (let group = open.pop(); group !== undefined; group = open.pop()) closed.push(this.#close(group))
    const counted = this.#unlisted.groups()
    return counted.length === 0 ? closed : [...closed, ...counted].sort(byLevelAndRule)
  }

  #openGroup(key: string): OpenGroup | undefined {
    return this.#open.get(textKey(key, this.#options.sha256))
  }

  #begin(group: OpenGroup): void {
    this.#open.set(textKey(group.key, this.#options.sha256), group)
    this.#groups.set(group.change, group)
    this.#listed += 1
  }

  #join(group: OpenGroup, change: JudgedChange, place: ReachedPlace): void {
    if (change !== group.change) {
      this.#groups.set(change, group)
      if (isBefore(change, group.change)) group.change = change
    }
    if (join(group, place, this.#options.sha256)) this.#listed += 1
  }

  /**
   * Releases what exceeds the limits and keeps its count. The first groups in answer order are kept, whatever the
   * order of input.
   */
  #shorten(): void {
    this.#unlisted.remember(placesIn(this.#open.values()))
    this.#groups.clear()
    const open = [...this.#open.values()].sort(compareGroups)
    const last = open[MAX_CHANGES - 1]
    for (const group of open.slice(MAX_CHANGES)) {
      this.#open.delete(textKey(group.key, this.#options.sha256))
      this.#unlisted.take(group)
    }
    if (last !== undefined) this.#unlisted.closeAfter((group) => compareGroups(group, last) > 0)
    const most = mostPlaces(open.length, Number.POSITIVE_INFINITY)
    this.#listed = 0
    for (const group of this.#open.values()) this.#listed += shortenPlaces(group, most, this.#options.sha256)
  }

  #close({ key, change, level, places, unlisted }: OpenGroup): FindingGroup {
    const { sha256, locate } = this.#options
    const position = locate[change.side](change.location, change.mark)
    const occurrences = sortedPlaces(places).map(([place, { operation, tool, offer, message }]): Occurrence => {
      const fingerprint = sha256(`${key}\n${place}`)
      return { operation, tool, ...(offer && { offer }), message, fingerprint }
    })
    return {
      id: `${change.rule.id}-${sha256(key).slice(0, 16)}`,
      rule: change.rule.id,
      code: reasonCodeOf(change.rule.id),
      level,
      direction: change.rule.direction,
      location: change.location,
      side: change.side,
      line: position?.line ?? null,
      column: position?.column ?? null,
      message: change.message,
      explanation: change.advice.explanation,
      fix: change.advice.fix,
      before: brief(change.before),
      after: brief(change.after),
      occurrences,
      ...(unlisted > 0 && { unlisted }),
    }
  }
}

/** Selectors are validated at input. One that selects nothing here is a broken invariant. */
function levelsOf({ levels }: GroupingOptions): RuleLevels {
  if (levels === undefined) return OWN_LEVELS
  const read = readLevels(levels)
  if (!read.ok)
    throw new Error(`levels that were not checked: ${read.problem.map(({ message }) => message).join(', ')}`)
  return read.value
}

/** The same place reported twice counts once, with the message that sorts first. Returns true for a new place. */
function join(group: OpenGroup, place: ReachedPlace, sha256: Sha256): boolean {
  const places = byKey(group.places, sha256)
  group.places = places
  const key = textKey(placeKey(place), sha256)
  const known = places.get(key)
  if (known === undefined || byCodeUnit(place.message, known.message) < 0) places.set(key, place)
  return known === undefined
}

/** Keeps the first places in order. Returns how many remain. */
function shortenPlaces(group: OpenGroup, most: number, sha256: Sha256): number {
  if (!(group.places instanceof Map)) return 1
  if (group.places.size <= most) return group.places.size
  const further = sortedPlaces(group.places).slice(most)
  for (const [key] of further) group.places.delete(textKey(key, sha256))
  group.unlisted += further.length
  return most
}

function* placesIn(groups: Iterable<OpenGroup>): Generator<readonly [key: string, place: ReachedPlace]> {
  for (const { key, places } of groups)
    for (const place of places instanceof Map ? places.values() : [places]) yield [key, place]
}

/** By the text key of their identity. */
function byKey(places: OpenGroup['places'], sha256: Sha256): Map<string, ReachedPlace> {
  return places instanceof Map ? places : new Map([[textKey(placeKey(places), sha256), places]])
}

/** The places by their identity, in the order of that. An identity is a list in JSON, which no digest begins as. */
function sortedPlaces(places: OpenGroup['places']): readonly (readonly [key: string, place: ReachedPlace])[] {
  if (!(places instanceof Map)) return [[placeKey(places), places]]
  return [...places]
    .map(([key, place]) => [key.startsWith('[') ? key : placeKey(place), place] as const)
    .sort(([a], [b]) => byCodeUnit(a, b))
}

/** Listed groups keep their order within a rule. Groups that are only counted come last. */
function byLevelAndRule(a: FindingGroup, b: FindingGroup): number {
  return LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || byCodeUnit(a.rule, b.rule)
}

function compareGroups(a: OpenGroup, b: OpenGroup): number {
  return (
    LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
    byCodeUnit(a.change.rule.id, b.change.rule.id) ||
    byCodeUnit(a.change.subject, b.change.subject) ||
    byCodeUnit(a.key, b.key)
  )
}
