/** A change with its verdict, the places that it reaches, and the identity of both. */
import { toJson, type Level, type Offer, type Operation } from '../../model/finding.ts'
import type { Mark } from '../../contracts/positions.ts'
import { canonicalJson } from '../../common/hash.ts'
import type { Advice } from '../advice.ts'
import type { Rule } from '../rule.ts'

/** One change of a contract with its verdict. */
export interface JudgedChange {
  readonly rule: Rule
  /** The level, if it differs from that of the rule: the schema is proved to admit all its values still. */
  readonly level?: Level
  /**
   * The changed element, by names that survive unrelated edits and reordering: a component and the path within it, a
   * tool and its argument. Rule, subject, before and after are the identity of the change; positions and indices are
   * not.
   */
  readonly subject: string
  readonly side: 'base' | 'head'
  /** JSON Pointer into the document of `side`. */
  readonly location: string
  readonly message: string
  readonly advice: Advice
  readonly before: unknown
  readonly after: unknown
  /** Its mark in the text, for contracts whose locations are not pointers into it. */
  readonly mark?: Mark | undefined
}

/** A place that the change reaches. `message` describes the change for that place. */
export interface ReachedPlace {
  readonly operation: Operation | null
  readonly tool: string | null
  /** Its name is part of the subject, so two offers are never places of one change. */
  readonly offer?: Offer
  readonly message: string
  /** Distinguishes places of one operation or tool: a response status and media type, a property path. */
  readonly detail: string
}

/**
 * A change as reports add it. It is a class, as are all objects made for each change of a flood. V8 allocates object
 * literals as long-lived once the first ones survived, and then garbage accumulates.
 */
export class ReportedChange implements JudgedChange {
  readonly rule: Rule
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly location: string
  readonly mark: Mark | undefined
  readonly message: string
  readonly advice: Advice
  readonly before: unknown
  readonly after: unknown

  constructor({ rule, subject, side, location, mark, message, advice, before, after }: JudgedChange) {
    this.rule = rule
    this.subject = subject
    this.side = side
    this.location = location
    this.mark = mark
    this.message = message
    this.advice = advice
    this.before = before
    this.after = after
  }
}

/** A place as reports add it. */
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
  /** One place, or several by key. In a flood most changes reach one place only. */
  places: ReachedPlace | Map<string, ReachedPlace>
  /** The number of further places. */
  unlisted = 0

  constructor(key: string, change: JudgedChange, level: Level, place: ReachedPlace) {
    this.key = key
    this.change = change
    this.level = level
    this.places = place
  }
}

/** The identity of a change. */
export function changeKey({ rule, level, side, subject, before, after }: JudgedChange): string {
  const change = [rule.id, side, subject, toJson(before), toJson(after)]
  return canonicalJson(level === undefined ? change : [...change, level])
}

/** The identity of a place. */
export function placeKey({ operation, tool, detail }: ReachedPlace): string {
  return canonicalJson([operation?.method ?? null, operation?.path ?? null, tool, detail])
}

/** The reason code of a rule: its id in upper snake case (docs/reference/envelope.md#reason). */
export function reasonCodeOf(rule: string): string {
  return rule.toUpperCase().replaceAll('-', '_')
}

/** Which of two reports of one change represents it. Not the first one, because that depends on key order. */
export function isBefore(a: JudgedChange, b: JudgedChange): boolean {
  return a.location === b.location ? isPlainer(a.message, b.message) : a.location < b.location
}

/** Which message represents a change that is reached in several ways: the shorter one. */
export function isPlainer(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}
