/**
 * The result of comparing two contracts: findings, grouped so that one change is computed and shown once
 * (docs/reference/api.md#post-apidiff).
 */
import { LIST, OBJECTS, requireArgument } from '../common/argument.ts'
import { byCodeUnit } from '../common/code-unit-order.ts'
import type { Json } from '../common/hash.ts'

export const LEVELS = ['breaking', 'dangerous', 'info'] as const
export type Level = (typeof LEVELS)[number]

/** Which side of an exchange a change touches: what callers send, what readers receive, or neither. */
export type Direction = 'request' | 'response' | 'none'

/** An API operation. Methods are upper case; `path` is the template as the contract writes it. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly operation_id: string | null
}

/** What an MCP server offers beside its tools, by name or address; of a template its text. */
export interface Offer {
  readonly list: 'prompts' | 'resources' | 'resourceTemplates'
  readonly name: string
}

/** A place that a change reaches: an API operation, an agent tool, an offer, or the contract as a whole (none of them). */
export interface Occurrence {
  readonly operation: Operation | null
  readonly tool: string | null
  readonly offer?: Offer
  /** The message for this place. */
  readonly message: string
  /** Stable identity of (rule, place, change): survives unrelated edits and reordering. */
  readonly fingerprint: string
  /** Extension members of the operation that the caller asked for, where it has any. */
  readonly attributes?: Readonly<Record<string, Json>>
}

/** One change and every place it reaches. */
export interface FindingGroup {
  readonly id: string
  /** Stable kebab-case rule id. */
  readonly rule: string
  /** The same id in upper snake case, usable as a reason code. */
  readonly code: string
  readonly level: Level
  readonly direction: Direction
  /** JSON Pointer into the head, or into the base when removed. */
  readonly location: string
  /** Which document `location`, `line` and `column` point into. */
  readonly side: 'base' | 'head'
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  /** Why it breaks, and for whom. */
  readonly explanation: string
  /** How to make the change without breaking. */
  readonly fix: string
  readonly before: Json
  readonly after: Json
  /** At least one. */
  readonly occurrences: readonly Occurrence[]
  /**
   * The number of places that are counted but not listed, for a change or rule with very many. Absent: every place is
   * listed.
   */
  readonly unlisted?: number
}

/** A group flattened to one place: the finding of the wire. */
export interface Finding {
  readonly rule: string
  readonly code: string
  readonly level: Level
  readonly direction: Direction
  readonly operation: Operation | null
  readonly tool: string | null
  readonly offer?: Offer
  readonly location: string
  readonly side: 'base' | 'head'
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  readonly explanation: string
  readonly fix: string
  readonly before: Json
  readonly after: Json
  readonly fingerprint: string
  readonly attributes?: Readonly<Record<string, Json>>
  /** Id of the group it belongs to. */
  readonly group: string
}

/** All findings of the groups, in group order; `limit` bounds how many are made. */
export function expandFindings(groups: readonly FindingGroup[], limit = Number.POSITIVE_INFINITY): readonly Finding[] {
  requireGroups('expandFindings', groups)
  const findings: Finding[] = []
  for (const { id, occurrences, message: _, unlisted: _unlisted, ...shared } of groups) {
    for (const occurrence of occurrences) {
      if (findings.length >= limit) return findings
      findings.push({ ...shared, ...occurrence, group: id })
    }
  }
  return findings
}

/** Findings of a level (all levels when left out): one for each place that a change reaches, listed or not. */
export function countFindings(groups: readonly FindingGroup[], level?: Level): number {
  requireGroups('countFindings', groups)
  return groups.reduce((sum, group) => (level && group.level !== level ? sum : sum + countPlaces(group)), 0)
}

function requireGroups(caller: string, groups: readonly FindingGroup[]): void {
  requireArgument(caller, 'groups', groups, OBJECTS)
  for (const [index, group] of groups.entries())
    requireArgument(caller, `groups[${index}].occurrences`, group.occurrences, LIST)
}

/** Places that a change reaches, listed or not: the findings of the group. */
export function countPlaces({ occurrences, unlisted = 0 }: FindingGroup): number {
  return occurrences.length + unlisted
}

/** What a place of a finding belongs to: an operation, a tool, or an entry of a list; empty: the document. */
export function occurrenceText({ operation, tool, offer }: Occurrence): string {
  if (operation !== null) return `${operation.method} ${operation.path}`
  if (tool !== null) return `tool ${tool}`
  return offer === undefined ? '' : `${offer.list} ${offer.name}`
}

/** Contract values were read as JSON (contracts/document.ts). An absent value becomes null. Members are sorted. */
export function toJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return value.map(toJson)
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b))
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}

/** Maximum length of a value in a finding, as JSON text. */
const QUOTED_LENGTH = 2000

/** A contract value as a finding quotes it: whole if short, else the start of its text. */
export function brief(value: unknown): Json {
  const json = toJson(value)
  const text = JSON.stringify(json)
  return text.length <= QUOTED_LENGTH ? json : `${text.slice(0, QUOTED_LENGTH).toWellFormed()}…`
}
