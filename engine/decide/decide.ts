/** Findings + policy + context → verdict. Pure and total: every failure on the way ends in a reason and a decision that is not ALLOW. */
import type { ArtifactAnalysis } from '../compare.ts'
import type { Digest, Sha256 } from '../hash.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { DecisionContext } from './decision.ts'
import type { Verdict } from './verdict.ts'

/** Which findings decide: those that reach this tool or operation, and those of the contract as a whole. Null: all. */
export type DecisionScope = { readonly tool: string } | { readonly method: string; readonly path: string }

export interface DecideInput {
  /** One row an artifact of the change set; a failed or missing one makes the analysis incomplete. */
  readonly analyses: readonly ArtifactAnalysis[]
  readonly context: DecisionContext
  readonly policy: CompiledPolicy
  readonly scope: DecisionScope | null
  readonly inputFingerprint: Digest
  readonly artifactDigest: Digest
  /** JCS of `[id, level]` of every rule (wire.md §5). */
  readonly rulesetHash: Digest
  /** policy_hash that the operator expects; null when none is pinned. */
  readonly policyPin: string | null
  /** Seconds since the epoch, for the expiry of waivers. */
  readonly now: number
  readonly sha256: Sha256
}

export declare function decide(input: DecideInput): Verdict
