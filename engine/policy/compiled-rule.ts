/** A compiled rule, and whether it counts for a change set. */
import type { Decision } from '../model/decision.ts'
import type { Condition } from './condition.ts'
import type { PolicyMode, PolicyOccasion, RequiredApproval } from './policy.ts'

export interface CompiledRule {
  readonly id: string
  readonly condition: Condition
  readonly decision: Decision
  readonly mode: PolicyMode
  readonly reason: { readonly code: string; readonly message: string } | null
  readonly runbook: string | null
  /** Where and for what it counts; null: everywhere, for everything. */
  readonly environments: readonly string[] | null
  readonly operations: readonly string[] | null
  /** Who may lift what it asks an approval for; null: any approver. */
  readonly approvers: RequiredApproval | null
}

/** Rules may be limited to environments and operations. Such a rule does not apply if none is stated. */
export function appliesTo(
  { environments, operations }: Pick<CompiledRule, 'environments' | 'operations'>,
  { context }: Pick<PolicyOccasion, 'context'>,
): boolean {
  return matchesNames(context.environment, environments) && matchesNames(context.operation, operations)
}

function matchesNames(name: string | null, names: readonly string[] | null): boolean {
  return names === null || (name !== null && names.includes(name))
}
