/** A policy pack after checking: what decides the effect of each finding. Compiled once, evaluated often. */
import type { Decision, DecisionContext } from '../decide/decision.ts'
import type { FindingGroup, Level, Occurrence } from '../finding.ts'
import type { Digest } from '../hash.ts'

export type PolicyMode = 'enforce' | 'observe'

export interface CompiledPolicy {
  /** metadata.name of the pack. */
  readonly name: string
  /** Of the pack; a rule may have its own. */
  readonly mode: PolicyMode
  /** JCS of the effective policy after defaults (wire.md §5). */
  readonly hash: Digest
  /** Decision when the analysis is not complete; never ALLOW. */
  readonly onIncomplete: Exclude<Decision, 'ALLOW'>
  /** Levels that the policy gives rules instead of their own; `off` drops the findings. */
  readonly levels: ReadonlyMap<string, Level | 'off'>
  /** Seconds that a decision of this operation is valid (interface.md, Limits). */
  ttlSeconds(operation: string | null): number
  /** The policy bound to one context and moment, to be asked finding by finding. `now` is seconds since the epoch: waivers expire. */
  evaluator(context: DecisionContext, now: number): PolicyEvaluator
}

/** Never throws: a condition that fails has the effect of `onIncomplete`, and says so. Equal questions are answered once. */
export type PolicyEvaluator = (group: FindingGroup, occurrence: Occurrence) => PolicyEffect

export interface Waiver {
  readonly id: string
  readonly reason: string
  readonly owner: string
  /** UTC calendar day `YYYY-MM-DD` or instant; void from then on. A day counts to its end. */
  readonly expires: string
}

/** `expires_soon`: within fourteen days. */
export type WaiverStanding = 'in_force' | 'expires_soon' | 'expired'

/** What one rule says of a finding. */
export interface PolicyRuling {
  readonly decision: Decision
  /** Id of the rule; `none` when no rule matched. */
  readonly ruleId: string
  /** From the rule, when it names one; null: the finding speaks for itself. */
  readonly reason: { readonly code: string; readonly message: string } | null
  /** Address of what to do when the rule fires. */
  readonly runbook: string | null
}

/** The ruling that counts, after waivers and with observing rules lowered to WARN. */
export interface PolicyEffect extends PolicyRuling {
  /** What an observing rule would have decided, when that is stricter than what counts. */
  readonly observed: PolicyRuling | null
  /** A waiver that fits the finding; `expired` ones have no effect. */
  readonly waiver: (Waiver & { readonly standing: WaiverStanding }) | null
  /** The condition could not be evaluated: the decision is degraded. */
  readonly degraded: { readonly code: string; readonly message: string } | null
}
