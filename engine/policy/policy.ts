/** A policy pack after checking: what decides the effect of each finding. Compiled once, evaluated often. */
import type { Decision, DecisionContext } from '../decide/decision.ts'
import type { Finding } from '../finding.ts'
import type { Digest } from '../hash.ts'

export interface CompiledPolicy {
  /** metadata.name of the pack. */
  readonly name: string
  /** JCS of the effective policy after defaults (wire.md §5). */
  readonly hash: Digest
  /** Decision when the analysis is not complete; never ALLOW. */
  readonly onIncomplete: Exclude<Decision, 'ALLOW'>
  /** Seconds that a decision of this operation is valid (interface.md, Limits). */
  ttlSeconds(operation: string | null): number
  /** The effect of one finding in a context, with the rule that gave it and why. Never throws: a failing condition is an effect of `onIncomplete`. */
  evaluate(finding: Finding, context: DecisionContext): PolicyEffect
}

export interface PolicyEffect {
  readonly decision: Decision
  /** Id of the policy rule that decided. */
  readonly ruleId: string
  readonly reason: { readonly code: string; readonly message: string }
  readonly mode: 'enforce' | 'observe'
  /** Set when a waiver lowered the effect. */
  readonly waiver?: { readonly id: string; readonly reason: string; readonly owner: string; readonly expires: string }
  /** The condition could not be evaluated: the decision is degraded. */
  readonly degraded?: { readonly code: string; readonly message: string }
}
