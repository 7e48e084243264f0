/**
 * Judged changes → finding groups, for every contract format: one change is one group, however many places it reaches.
 * Here and nowhere else levels are overridden, identities are made, values are cut to size and groups are put in order.
 */
import { byCodeUnit } from '../change-set.ts'
import type { Locate } from '../contracts/positions.ts'
import { LEVELS, type FindingGroup, type Level, type Occurrence, type Operation } from '../finding.ts'
import { canonicalJson, type Json, type Sha256 } from '../hash.ts'
import type { Advice } from './advice.ts'
import type { Rule } from './rule.ts'

/** One change of a contract with its verdict. */
export interface JudgedChange {
  readonly rule: Rule
  /**
   * What changed, in names that survive unrelated edits and reordering: a component and the way down from it, a tool and
   * its argument. Rule, subject, before and after are the identity of the change; positions and indices are not.
   */
  readonly subject: string
  readonly side: 'base' | 'head'
  /** JSON Pointer into the document of `side`. */
  readonly location: string
  readonly message: string
  readonly advice: Advice
  readonly before: unknown
  readonly after: unknown
}

/** A place that the change reaches; `message` says the change in the words of that place. */
export interface ReachedPlace {
  readonly operation: Operation | null
  readonly tool: string | null
  readonly message: string
  /** Tells apart places of one operation or tool: a response status and media type, a property path. */
  readonly detail: string
}

export interface GroupingOptions {
  readonly levels?: Readonly<Record<string, Level | 'off'>> | undefined
  readonly sha256: Sha256
  readonly locate: Readonly<Record<'base' | 'head', Locate>>
}

interface OpenGroup {
  readonly key: string
  change: JudgedChange
  readonly level: Level
  /** One place, or several by their key: of very many changes most reach one place only. */
  places: ReachedPlace | Map<string, ReachedPlace>
}

/** Gathers changes in any order; `finish` gives the groups in theirs. */
export class Grouping {
  readonly #options: GroupingOptions
  readonly #open = new Map<string, OpenGroup>()
  /** One change is added for every place that it reaches; its values may be large. */
  readonly #groups = new Map<JudgedChange, OpenGroup>()

  constructor(options: GroupingOptions) {
    this.#options = options
  }

  /** Whether findings of a rule are wanted at all: walkers may spare themselves the words of what is off. */
  isOff(rule: string): boolean {
    return this.#levelOf(rule, 'info') === 'off'
  }

  /** The same change at one more place joins its group. */
  add(change: JudgedChange, place: ReachedPlace): void {
    const level = this.#levelOf(change.rule.id, change.rule.level)
    if (level === 'off') return
    const group = this.#groups.get(change) ?? this.#open.get(keyOf(change))
    if (group === undefined) {
      this.#begin(change, level, place)
      return
    }
    if (change !== group.change) {
      this.#groups.set(change, group)
      if (isBefore(change, group.change)) group.change = change
    }
    join(group, place)
  }

  /** Breaking first, then by rule and subject: the same for every order of keys in the documents. */
  finish(): readonly FindingGroup[] {
    const open = [...this.#open.values()].sort(inOrder)
    this.#open.clear()
    this.#groups.clear()
    // What is closed is let go at once: of a hostile contract's changes not both forms are held together.
    const closed: FindingGroup[] = []
    open.reverse()
    for (let group = open.pop(); group !== undefined; group = open.pop()) closed.push(this.#close(group))
    return closed
  }

  #begin(change: JudgedChange, level: Level, places: ReachedPlace): void {
    const key = keyOf(change)
    const group: OpenGroup = { key, change, level, places }
    this.#open.set(key, group)
    this.#groups.set(change, group)
  }

  #levelOf(rule: string, level: Level): Level | 'off' {
    const { levels } = this.#options
    return (levels !== undefined && Object.hasOwn(levels, rule) ? levels[rule] : undefined) ?? level
  }

  #close({ key, change, level, places }: OpenGroup): FindingGroup {
    const { sha256, locate } = this.#options
    const position = locate[change.side](change.location)
    const occurrences = [...byKey(places)]
      .sort(([a], [b]) => byCodeUnit(a, b))
      .map(([place, { operation, tool, message }]): Occurrence => {
        return { operation, tool, message, fingerprint: sha256(`${key}\n${place}`) }
      })
    return {
      id: `${change.rule.id}-${sha256(key).slice(0, 16)}`,
      rule: change.rule.id,
      code: codeOf(change.rule.id),
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
    }
  }
}

/** The same place told twice is one; of its wordings the first in order stands. */
function join(group: OpenGroup, place: ReachedPlace): void {
  const places = byKey(group.places)
  group.places = places
  const key = placeKey(place)
  const known = places.get(key)
  if (known === undefined || byCodeUnit(place.message, known.message) < 0) places.set(key, place)
}

function byKey(places: OpenGroup['places']): Map<string, ReachedPlace> {
  return places instanceof Map ? places : new Map([[placeKey(places), places]])
}

function keyOf({ rule, side, subject, before, after }: JudgedChange): string {
  return canonicalJson([rule.id, side, subject, toJson(before), toJson(after)])
}

/** The reason code of a rule: its id in upper snake case (wire.md §3). */
export function codeOf(rule: string): string {
  return rule.toUpperCase().replaceAll('-', '_')
}

function placeKey({ operation, tool, detail }: ReachedPlace): string {
  return canonicalJson([operation?.method ?? null, operation?.path ?? null, tool, detail])
}

/** Which of two tellings of one change stands for it: not the one met first, since that follows the order of keys. */
function isBefore(a: JudgedChange, b: JudgedChange): boolean {
  return (byCodeUnit(a.location, b.location) || byCodeUnit(a.message, b.message)) < 0
}

function inOrder(a: OpenGroup, b: OpenGroup): number {
  return (
    LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
    byCodeUnit(a.change.rule.id, b.change.rule.id) ||
    byCodeUnit(a.change.subject, b.change.subject) ||
    byCodeUnit(a.key, b.key)
  )
}

/** Longest value that a finding quotes, as JSON text. */
const QUOTED_LENGTH = 2000

/** A value of a contract as a finding quotes it: whole when short, else the start of its text. */
export function brief(value: unknown): Json {
  const json = toJson(value)
  const text = JSON.stringify(json)
  return text.length <= QUOTED_LENGTH ? json : `${text.slice(0, QUOTED_LENGTH).toWellFormed()}…`
}

/** Values of a contract are JSON by reading (contracts/document.ts); what is absent is null. Members are put in order. */
function toJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return value.map(toJson)
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b))
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}
