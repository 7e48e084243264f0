/**
 * Every change that can be reached from a pair of schemas, with the path to it. A recursive schema is entered once on each
 * path, and one pair is visited a bounded number of times for each use of its values. The bound never hides a use: a pair
 * that is read-only on some paths and not on others is visited as both. Edges are in one order (comparison.ts), so the
 * paths within the bound are the same for every order of keys.
 */
import type { SchemaDelta } from '../delta.ts'
import type { RequiredNames } from '../required-names.ts'
import { isPartEdge, type SchemaEdge, type SchemaPair } from './comparison.ts'

/** A change and the way that led to it. */
export interface Reached {
  readonly delta: SchemaDelta
  /** True for a delta that is the same object wherever it is reached; one of a long series is made anew each time. */
  readonly isHeld: boolean
  readonly pair: SchemaPair
  /** Steps from the start to the pair; empty for the start itself. */
  readonly path: readonly string[]
  /** Whether the property that the pair is of was required before the change; null when it is of none. */
  readonly isRequired: boolean | null
  /** True when the pair or one above it (below the start) is read-only, or write-only, after the change. */
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
  /** What is proved of the pair or of one above it. */
  readonly proved: Proved
  /** The whole that the pair is a part of, as by `allOf`, or an alternative; null for a whole. */
  readonly whole: SchemaPair | null
  /** What leads to the pair; null for the start. */
  readonly from: PairOnWay | null
}

/** A pair on the way to a change. */
export interface PairOnWay {
  readonly pair: SchemaPair
  readonly from: PairOnWay | null
}

/** Proofs about all values of a schema: every value of before is admitted after, every value of after was before. */
export interface Proved {
  readonly keepsAll: boolean
  readonly addsNone: boolean
  /** Both sides admit nothing: that proves nothing of the members and items that a value would have. */
  readonly isEmpty: boolean
}

export const NOTHING_PROVED: Proved = { keepsAll: false, addsNone: false, isEmpty: false }

/** What is proved of a pair on a path, where something of the pairs above it is. */
export type Prove = (pair: SchemaPair, above: Proved, use: Pick<Reached, 'isReadOnly' | 'isWriteOnly'>) => Proved

interface Frame extends PairOnWay {
  /** The edge that is followed next. */
  next: number
  /** Steps of the way, last first. */
  readonly way: SchemaPath | null
  readonly isRequired: boolean | null
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
  readonly proved: Proved
  /** The pair is a part of another one, by `allOf`. */
  readonly isPart: boolean
  /** The frame of a schema of the same value that leads here, as by `allOf` or an alternative. */
  readonly holder: Frame | null
  /** Holders require names, which may be those of properties here. */
  readonly hasNeededNames: boolean
}

interface SchemaPath {
  readonly steps: readonly string[]
  readonly above: SchemaPath | null
}

/** Paths to one pair in one use that are visited from one start; further paths lead to the same change in the same use. */
export const MAX_WAYS = 512

/**
 * Uses of one pair that rules distinguish: what is proved, read-only, write-only, and optional, required or no property. Also
 * whether holders require names: many paths that need none hide no path that does.
 */
const USES = 96

function useOf({ isRequired, isReadOnly, isWriteOnly, proved, hasNeededNames }: Frame): number {
  const property = (isRequired === null ? 0 : isRequired ? 16 : 32) + (hasNeededNames ? 48 : 0)
  const flags = (isReadOnly ? 1 : 0) + (isWriteOnly ? 2 : 0)
  return property + flags + (proved.keepsAll ? 4 : 0) + (proved.addsNone ? 8 : 0)
}

/** More than there are visits of one pair in one use. */
const COUNTS = 2 ** 16

/** How often each pair was visited in each use. Most pairs have one use: that is held as one number with its count. */
class Visits {
  readonly #counts = new Map<SchemaPair, number | Uint16Array>()

  /** Counts a visit; false where there were so many already. */
  add(pair: SchemaPair, use: number, most: number): boolean {
    const known = this.#counts.get(pair) ?? use * COUNTS
    if (typeof known === 'number' && Math.floor(known / COUNTS) === use) {
      if (known % COUNTS >= most) return false
      this.#counts.set(pair, known + 1)
      return true
    }
    const counts = typeof known === 'number' ? this.#spread(pair, known) : known
    const visited = counts[use] ?? 0
    if (visited >= most) return false
    counts[use] = visited + 1
    return true
  }

  #spread(pair: SchemaPair, known: number): Uint16Array {
    const counts = new Uint16Array(USES)
    counts[Math.floor(known / COUNTS)] = known % COUNTS
    this.#counts.set(pair, counts)
    return counts
  }
}

export function reachChanges(
  start: SchemaPair,
  visit: (reached: Reached) => void,
  maxWays = MAX_WAYS,
  prove: Prove = (_, above) => above,
  required: RequiredNames | null = null,
): void {
  if (!start.isLive) return
  const visits = new Visits()
  /** Pairs on the way to the one at hand. */
  const onWay = new Set<SchemaPair>()
  const stack: Frame[] = []
  const enter = (frame: Frame): void => {
    const { pair } = frame
    if (onWay.has(pair) || !visits.add(pair, useOf(frame), maxWays)) return
    onWay.add(pair)
    stack.push(frame)
    visitDeltas(frame, visit)
  }
  const unused = { isReadOnly: false, isWriteOnly: false }
  const proved = prove(start, NOTHING_PROVED, unused)
  const alone = { from: null, holder: null, hasNeededNames: false }
  enter({ pair: start, next: 0, way: null, isRequired: null, ...unused, proved, isPart: false, ...alone })
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const edge = top.pair.edges[top.next]
    top.next += 1
    if (edge === undefined) {
      onWay.delete(top.pair)
      stack.pop()
    } else if (leadsToChange(top, edge)) enter(frameBelow(top, edge, prove, required))
  }
}

function leadsToChange({ isPart }: Frame, edge: SchemaEdge): boolean {
  const { to } = edge
  if (to.isSelection) return to.isLive && isFollowed(isPart, edge)
  return isPartEdge(edge) ? to.isLiveAsPart : to.isLive
}

/** Whether an edge of a pair concerns its values. A part selects nothing: the whole does. */
export function isFollowed(isPart: boolean, { to }: Pick<SchemaEdge, 'to'>): boolean {
  return !isPart || !to.isSelection
}

/** Whether an edge from a pair leads to a part, as by `allOf`. What is reached without a step stays what it was. */
export function leadsToPart(isPart: boolean, edge: SchemaEdge): boolean {
  return edge.steps.length === 0 ? isPart : isPartEdge(edge)
}

function visitDeltas(
  { pair, way, isRequired, isReadOnly, isWriteOnly, proved, holder, from }: Frame,
  visit: (reached: Reached) => void,
): void {
  if (pair.deltas.length === 0) return
  const path = stepsOnPath(way)
  const facts = { pair, path, isRequired, isReadOnly, isWriteOnly, proved, whole: wholeOf(holder), from }
  for (const entry of pair.deltas) {
    if (!('each' in entry)) visit({ delta: entry, isHeld: true, ...facts })
    else for (const delta of entry.each()) visit({ delta, isHeld: false, ...facts })
  }
}

function wholeOf(holder: Frame | null): SchemaPair | null {
  let whole = holder
  while (whole !== null && whole.holder !== null) whole = whole.holder
  return whole?.pair ?? null
}

function frameBelow(from: Frame, edge: SchemaEdge, prove: Prove, required: RequiredNames | null): Frame {
  const { to, steps } = edge
  const isSame = steps.length === 0
  const way = isSame ? from.way : { steps, above: from.way }
  const { readOnly, writeOnly } = to.after.value
  const isReadOnly = from.isReadOnly || (way !== null && readOnly === true)
  const isWriteOnly = from.isWriteOnly || (way !== null && writeOnly === true)
  const isRequired = isSame
    ? from.isRequired
    : edge.isRequired === false
      ? isNeeded(from, edge, required)
      : edge.isRequired
  const isUnproved = isProvedApart(from.pair, steps[0]) || (from.proved.isEmpty && !isInPlace(edge))
  const above = isUnproved ? NOTHING_PROVED : from.proved
  const proved = prove(to, above, { isReadOnly, isWriteOnly })
  const isPart = leadsToPart(from.isPart, edge)
  const holder = isSame || isInPlace(edge) ? from : null
  const hasNeededNames = holder !== null && (holder.hasNeededNames || (required?.of(holder.pair.before).size ?? 0) > 0)
  const facts = { isRequired, isReadOnly, isWriteOnly, proved, isPart }
  return { pair: to, from, next: 0, way, ...facts, holder, hasNeededNames }
}

/** Whether another schema of the same value requires a property that its own schema does not. */
function isNeeded(from: Frame, { steps: [name = ''] }: SchemaEdge, required: RequiredNames | null): boolean {
  if (required === null) return false
  for (let frame: Frame | null = from; frame !== null; frame = frame.holder)
    if (required.of(frame.pair.before).has(name)) return true
  return false
}

/**
 * Whether the proof about a schema says nothing about the one that this step of it leads to. The content of a text is no
 * part of the proof about the text, nor is a subtype one of that about its schema. Nor may one alternative stand in for
 * another where a discriminator chooses: each has to hold by itself.
 */
export function isProvedApart({ before, after, isSelection }: SchemaPair, step = ''): boolean {
  if (isSelection || step === 'contentSchema') return true
  return /^(?:anyOf|oneOf)\[/.test(step) && (isDiscriminated(before) || isDiscriminated(after))
}

/** Whether an edge leads to a schema of the same value, and not to one of its members or items. */
function isInPlace({ steps: [step = ''], isRequired }: SchemaEdge): boolean {
  return isRequired === null && /^(?:(?:allOf|anyOf|oneOf|dependentSchemas)\[|(?:then|else|)$)/.test(step)
}

function isDiscriminated({ value }: SchemaPair['before']): boolean {
  return value.discriminator !== undefined
}

function stepsOnPath(way: SchemaPath | null): readonly string[] {
  const path: string[] = []
  for (let above = way; above !== null; above = above.above)
    for (let index = above.steps.length - 1; index >= 0; index -= 1) path.push(above.steps[index] ?? '')
  return path.reverse()
}
