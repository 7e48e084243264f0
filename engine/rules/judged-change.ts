/** One change with its verdict, the places that it reaches, and by what either is known to be the same. */
import { byCodeUnit } from '../change-set.ts'
import type { Level, Offer, Operation } from '../finding.ts'
import type { Position } from '../contracts/positions.ts'
import { canonicalJson, type Json } from '../hash.ts'
import type { Advice } from './advice.ts'
import type { Rule } from './rule.ts'

/** One change of a contract with its verdict. */
export interface JudgedChange {
  readonly rule: Rule
  /** The level where it is not that of the rule: all values of the schema are proved to be admitted still. */
  readonly level?: Level
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
  /** Where it stands in the text, for contracts whose locations are no pointers into it; absent: by its location. */
  readonly position?: Position | null
}

/** A place that the change reaches; `message` says the change in the words of that place. */
export interface ReachedPlace {
  readonly operation: Operation | null
  readonly tool: string | null
  /** Its name is part of the subject, so that two offers are never places of one change. */
  readonly offer?: Offer
  readonly message: string
  /** Tells apart places of one operation or tool: a response status and media type, a property path. */
  readonly detail: string
}

/**
 * A change as reports hand it on. A class, as all that is made for each change of a flood: V8 takes the literals of a line
 * of which the first were kept for long-lived ones, and lets all later ones pile up where garbage is seldom collected.
 */
export class ReportedChange implements JudgedChange {
  readonly rule: Rule
  readonly level?: Level
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly location: string
  readonly message: string
  readonly advice: Advice
  readonly before: unknown
  readonly after: unknown

  constructor({ rule, level, subject, side, location, message, advice, before, after }: JudgedChange) {
    this.rule = rule
    if (level !== undefined) this.level = level
    this.subject = subject
    this.side = side
    this.location = location
    this.message = message
    this.advice = advice
    this.before = before
    this.after = after
  }
}

/** A place as reports hand it on. */
export class ReportedPlace implements ReachedPlace {
  readonly operation: Operation | null
  readonly tool: string | null
  readonly offer?: Offer
  readonly message: string
  readonly detail: string

  constructor({ operation, tool, offer, message, detail }: ReachedPlace) {
    this.operation = operation
    this.tool = tool
    if (offer !== undefined) this.offer = offer
    this.message = message
    this.detail = detail
  }
}

/** A change on its way to a finding group. */
export class OpenGroup {
  readonly key: string
  change: JudgedChange
  readonly level: Level
  /** One place, or several by their key: of very many changes most reach one place only. */
  places: ReachedPlace | Map<string, ReachedPlace>
  /** Places beyond those. */
  unlisted = 0

  constructor(key: string, change: JudgedChange, level: Level, place: ReachedPlace) {
    this.key = key
    this.change = change
    this.level = level
    this.places = place
  }
}

/** The identity of a change. */
export function keyOf({ rule, level, side, subject, before, after }: JudgedChange): string {
  const change = [rule.id, side, subject, toJson(before), toJson(after)]
  return canonicalJson(level === undefined ? change : [...change, level])
}

/** The identity of a place. */
export function placeKey({ operation, tool, detail }: ReachedPlace): string {
  return canonicalJson([operation?.method ?? null, operation?.path ?? null, tool, detail])
}

/** The reason code of a rule: its id in upper snake case (docs/reference/envelope.md#reason). */
export function codeOf(rule: string): string {
  return rule.toUpperCase().replaceAll('-', '_')
}

/** Which of two tellings of one change stands for it: not the one met first, since that follows the order of keys. */
export function isBefore(a: JudgedChange, b: JudgedChange): boolean {
  return a.location === b.location ? isPlainer(a.message, b.message) : a.location < b.location
}

/** Which wording stands for a change that is reached in many ways: the shorter one. */
export function isPlainer(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}

/** Values of a contract are JSON by reading (contracts/document.ts); what is absent is null. Members are put in order. */
export function toJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return value.map(toJson)
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b))
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}
