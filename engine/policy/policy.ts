/** A checked policy pack, which decides the effect of each finding. It is compiled once and evaluated often. */
import type { Decision, DecisionContext } from '../model/decision.ts'
import type { FindingGroup, Occurrence } from '../model/finding.ts'
import type { Digest } from '../common/hash.ts'
import type { RuleLevels } from '../rules/catalog/levels.ts'
import type { Past } from './history.ts'
import type { PolicyDocument } from './schema.ts'

/** People who have to approve: so many, each in one of the groups. Without groups: any approvers. */
export interface RequiredApproval {
  readonly count: number
  readonly groups: readonly string[]
}

/** One for each rule that asks for an approval and names groups or a number; empty: any one approver. */
export type Approvers = readonly RequiredApproval[]

export type PolicyMode = 'enforce' | 'observe'

/** A pack with every default written out. */
export interface EffectivePolicy extends PolicyDocument {
  readonly mode: PolicyMode
  readonly on_incomplete: Exclude<Decision, 'ALLOW'>
  readonly rules: (PolicyDocument['rules'][number] & { readonly mode: PolicyMode })[]
  readonly levels: NonNullable<PolicyDocument['levels']>
  readonly waivers: NonNullable<PolicyDocument['waivers']>
  readonly ttl: { readonly default: number; readonly operations: Record<string, number> }
}

export interface CompiledPolicy {
  /** metadata.name of the pack. */
  readonly name: string
  /** Of the pack; a rule may have its own. */
  readonly mode: PolicyMode
  /** JCS of the effective policy after defaults (docs/reference/hashes.md#policy_hash). */
  readonly hash: Digest
  /** What it was compiled from. */
  readonly document: EffectivePolicy
  /** Decision when the analysis is not complete; never ALLOW. */
  readonly onIncomplete: Exclude<Decision, 'ALLOW'>
  /** Levels that the policy gives rules instead of their own; `off` drops the findings. */
  readonly levels: RuleLevels
  /** Seconds that a decision of this operation is valid (docs/reference/envelope.md#validity). */
  ttlSeconds(operation: string | null): number
  /** A receipt for this operation holds only for an attempt that states what it acts on. */
  expectsFingerprint(operation: string | null): boolean
  /** Days that a deprecation has to last; the comparison judges them. */
  readonly deprecation: { readonly stableDays: number; readonly betaDays: number }
  /** A condition reads the route, so the verdict depends on it. */
  readonly readsRoute: boolean
  /** The same for the reached consumers that are declared. */
  readonly readsConsumers: boolean
  /** The same for the version step of the publication. */
  readonly readsRelease: boolean
  /** Seconds of the past that conditions read. Null if none does, so no lookup is needed. */
  readonly historyWindow: number | null
  /** A rule, or the pack, observes: its unenforced decision is counted. */
  readonly observes: boolean
  /** The policy bound to one occasion, evaluated finding by finding. */
  evaluator(occasion: PolicyOccasion): PolicyEvaluator
  /** Every rule's result for one finding, in the order of the pack, from which `evaluator` decides. */
  trace(occasion: PolicyOccasion): (group: FindingGroup, occurrence: Occurrence) => readonly RuleAnswer[]
  /** The rulings of rules about the whole change set, and of freeze windows. Those that do not apply are left out. */
  changeSetRulings(occasion: PolicyOccasion): readonly ChangeSetRuling[]
  /** When the result may change because of time alone, seconds since the epoch. Null: never. */
  nextEdge(occasion: ClockOccasion): number | null
}

/** A change within the change set that is judged. */
export interface FoundChange {
  readonly artifact: string
  readonly group: FindingGroup
}

/** The input of a decision that a policy may read. */
export interface OccasionArtifact {
  readonly id: string
  readonly type: string
  readonly isAnalysed: boolean
  /** There is a contract before and after. */
  readonly isTwoSided: boolean
  /** The comparison compared a sunset day with today: tomorrow its findings may differ. */
  readonly readsDay: boolean
  /** The version that the contract states. Null if its format has none. */
  readonly versions: { readonly base: string | null; readonly head: string | null } | null
}

/** A publication that carries contracts, and the version step that it takes as a whole. */
export interface Release {
  /** What is published: `npm:pets`, `mcp:example/pets`. */
  readonly name: string
  /** The version that it follows; null: it is the first. */
  readonly base: string | null
  readonly head: string
}

export interface PolicyOccasion {
  readonly context: DecisionContext
  /** Null: nothing is published under a version. */
  readonly release: Release | null
  /** Name of the route of an intercepted call. */
  readonly route: string | null
  readonly artifacts: readonly OccasionArtifact[]
  /** Names of the declared consumers that breaking or dangerous changes reach. */
  readonly consumers: readonly string[]
  /** Those that decide. */
  readonly changes: readonly FoundChange[]
  readonly history: Past
  /** Seconds since the epoch: waivers expire, windows open and close. */
  readonly now: number
}

/** The parts of an occasion that depend on the clock. */
type ClockOccasion = Pick<PolicyOccasion, 'context' | 'now' | 'history' | 'artifacts'>

/** `elsewhere`: the rule is for other environments or operations. */
export interface RuleAnswer {
  readonly ruleId: string
  readonly decision: Decision
  readonly mode: PolicyMode
  readonly answer: 'matches' | 'silent' | 'failed' | 'elsewhere'
  /** Why the condition failed; null when it did not. */
  readonly failure: string | null
}

/** The ruling of one rule or window on the whole change set. */
export interface ChangeSetRuling {
  readonly ruleId: string
  /** The decision that counts. An observing rule counts as WARN at most. */
  readonly decision: Decision
  /** What an observing rule would have decided; null when it is enforced. */
  readonly observed: Decision | null
  readonly reason: { readonly code: string; readonly message: string }
  readonly runbook: string | null
  readonly approvers: Approvers
  /** The condition could not be evaluated: the decision is degraded. */
  readonly failure: string | null
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

/** The ruling of one rule on a finding. */
export interface PolicyRuling {
  readonly decision: Decision
  /** Id of the rule; `none` when no rule matched. */
  readonly ruleId: string
  /** From the rule, if it names one. Null: the reason of the finding is used. */
  readonly reason: { readonly code: string; readonly message: string } | null
  /** Address of what to do when the rule fires. */
  readonly runbook: string | null
  readonly approvers: Approvers
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
