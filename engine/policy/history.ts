/** Earlier decisions of the same scope, as plain CEL values. The caller passes them in; nothing here reads a store. */
import { DECISION_CLASSES, type Decision } from '../model/decision.ts'

/** Default seconds of the past that conditions read. */
export const DEFAULT_HISTORY_SECONDS = 86_400
/** Maximum earlier decisions that one decision reads: the newest. */
export const MAX_EARLIER_DECISIONS = 1000

/** One decision of the past, of the same tenant, operation, environment, place and set of artifacts. */
export interface EarlierDecision {
  readonly decision: Decision
  /** Seconds since the epoch. */
  readonly at: number
  /** It was about the very change set that is judged now: the same input asked again. */
  readonly isSameInput: boolean
}

/** Members of `history` in a condition, each with what it says (docs/policy.md). */
export const HISTORY_FIELDS = [
  'window',
  'decisions',
  'allow',
  'warn',
  'require_approval',
  'block',
  'flips',
  'same_input',
  'last',
  'last_age',
] as const

export type HistoryField = (typeof HISTORY_FIELDS)[number]
export type HistoryFacts = Readonly<Record<HistoryField, bigint | string | null>>

export interface Past {
  /** Seconds. */
  readonly window: number
  /** Newest first; what lies outside the window, or past the bound, does not count. */
  readonly decisions: readonly EarlierDecision[]
}

/** Those that lie in the window that ends now, newest first. */
export function countedDecisions({ window, decisions }: Past, now: number): readonly EarlierDecision[] {
  return decisions.filter(({ at }) => at > now - window && at <= now).slice(0, MAX_EARLIER_DECISIONS)
}

/** Counts over the window that ends now. */
export function historyFacts(past: Past, now: number): HistoryFacts {
  const { window } = past
  const seen = countedDecisions(past, now)
  const of = (wanted: Decision) => BigInt(seen.filter(({ decision }) => decision === wanted).length)
  const [last] = seen
  return {
    window: BigInt(window),
    decisions: BigInt(seen.length),
    allow: of('ALLOW'),
    warn: of('WARN'),
    require_approval: of('REQUIRE_APPROVAL'),
    block: of('BLOCK'),
    flips: BigInt(flips(seen)),
    same_input: BigInt(seen.filter(({ isSameInput }) => isSameInput).length),
    // Null where there is none: an age of 0 would read as "just now".
    last: last?.decision ?? null,
    last_age: last ? BigInt(now - last.at) : null,
  }
}

/** How often neighbours disagree on whether the agent may go on: a contract, or a policy, that is changed to and fro. */
function flips(seen: readonly EarlierDecision[]): number {
  const mayGoOn = seen.map(({ decision }) => DECISION_CLASSES[decision].safeForAgent)
  return mayGoOn.filter((value, index) => index > 0 && value !== mayGoOn[index - 1]).length
}
