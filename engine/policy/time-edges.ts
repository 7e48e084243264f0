/**
 * When a condition on `time` or `history`, a waiver or a sunset day may change its result. A decision is not valid
 * past that moment. The moment may be too early, never too late.
 */
import type { EarlierDecision, HistoryField, Past } from './history.ts'
import { countedDecisions } from './history.ts'

const SECOND = 1
const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Member of `time` → seconds in which it stays the same, counted from midnight UTC. Any other use, computed keys among them, may read `unix`. */
const STEPS: ReadonlyMap<string, number> = new Map([
  ['date', DAY],
  ['weekday', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
])

/** What of a policy depends on the time. */
export interface TimeReads {
  /** Members of `time` that conditions read; null: `time` as a whole, or by a computed key. */
  readonly fields: ReadonlySet<string | null>
  /** Seconds since the epoch at which an answer may change: what `time.unix` is compared with, ends of waivers. */
  readonly moments: Iterable<number>
}

/**
 * @param now seconds since the epoch
 * @returns null when nothing depends on the time
 */
export function timeEdge({ fields, moments }: TimeReads, now: number): number | null {
  let edge = momentEdge(moments, now)
  for (const field of fields) {
    const step = STEPS.get(field ?? '') ?? SECOND
    edge = Math.min(edge, (Math.floor(now / step) + 1) * step)
  }
  return finite(edge)
}

/** What of a policy depends on the age of earlier decisions. */
export interface HistoryReads {
  /** Members of `history` that conditions read; null: `history` as a whole, or by a computed key. */
  readonly fields: ReadonlySet<string | null>
  /** Seconds that `history.last_age` is compared with. */
  readonly ages: Iterable<number>
}

/** Which earlier decisions a member depends on, by their age alone. */
type Ageing = 'none' | 'newest' | ((decision: EarlierDecision) => boolean)

/** Members of `history` that are not listed change every second. */
const AGEING: ReadonlyMap<string, Ageing> = new Map<HistoryField, Ageing>([
  ['window', 'none'],
  ['decisions', () => true],
  ['allow', ({ decision }) => decision === 'ALLOW'],
  ['warn', ({ decision }) => decision === 'WARN'],
  ['require_approval', ({ decision }) => decision === 'REQUIRE_APPROVAL'],
  ['block', ({ decision }) => decision === 'BLOCK'],
  ['flips', () => true],
  ['same_input', ({ isSameInput }) => isSameInput],
  ['last', 'newest'],
])

/**
 * An earlier decision counts until it leaves the window, and grows older until then. What later decisions add is not known here.
 *
 * @param now seconds since the epoch
 * @returns null when nothing depends on the age of a decision
 */
export function historyEdge({ fields, ages }: HistoryReads, past: Past, now: number): number | null {
  const counted = countedDecisions(past, now)
  const [newest] = counted
  if (newest === undefined) return null
  const compared = [...ages]
  let edge = momentEdge(
    compared.map((age) => newest.at + age),
    now,
  )
  const leaves = ({ at }: EarlierDecision): number => at + past.window
  if (compared.length > 0) edge = Math.min(edge, leaves(newest))
  for (const field of fields) {
    const ageing = AGEING.get(field ?? '') ?? 'every second'
    if (ageing === 'every second') edge = Math.min(edge, now + SECOND)
    else if (ageing === 'newest') edge = Math.min(edge, leaves(newest))
    else if (ageing !== 'none') edge = Math.min(edge, ...counted.filter(ageing).map(leaves))
  }
  return finite(edge)
}

/** `<` and `>=` change at the moment, `<=`, `>` and `==` one second later. */
function momentEdge(moments: Iterable<number>, now: number): number {
  let edge = Number.POSITIVE_INFINITY
  for (const moment of moments)
    for (const change of [moment, moment + SECOND]) if (change > now) edge = Math.min(edge, change)
  return edge
}

function finite(edge: number): number | null {
  return edge === Number.POSITIVE_INFINITY ? null : edge
}
