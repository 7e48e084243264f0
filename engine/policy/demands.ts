/**
 * Requirements of a pack on every change set, without a condition. Contracts must raise their version as far as their
 * changes require. Breaking and dangerous changes must not reach certain consumers.
 */
import type { Decision } from '../model/decision.ts'
import type { FindingGroup } from '../model/finding.ts'
import { appliesTo } from './compiled-rule.ts'
import type { ChangeSetRuling, PolicyMode, PolicyOccasion } from './policy.ts'
import { requiredApproval } from './required-approval.ts'
import type { PolicyDocument } from './schema.ts'
import { bumpFault, releaseFault } from './version-bump.ts'

/** Names of demands in evidence. Rules and windows of a pack may not use them. */
export const DEMAND_IDS = ['minimum-bump', 'protected-consumers'] as const

/** One demand, evaluated once for each decision. Null: it is met. */
export type Demand = (occasion: PolicyOccasion) => ChangeSetRuling | null

/** Asked in this order; the mode is that of the pack. */
export function compileDemands(document: PolicyDocument & { readonly mode: PolicyMode }): readonly Demand[] {
  const { minimum_bump: bump, protected_consumers: consumers, mode } = document
  return [
    ...(bump ? [demandRule('minimum-bump', 'VERSION_BUMP_TOO_SMALL', { ...bump, mode }, bumpFaults)] : []),
    ...(consumers
      ? [
          demandRule('protected-consumers', 'PROTECTED_CONSUMER', { ...consumers, mode }, (occasion) =>
            protectedFaults(occasion, consumers.names),
          ),
        ]
      : []),
  ]
}

interface Terms {
  readonly then: Exclude<Decision, 'ALLOW'>
  readonly mode: PolicyMode
  readonly environments?: readonly string[]
  readonly operations?: readonly string[]
  readonly approvers?: readonly string[]
  readonly approvals?: number | string
  readonly runbook?: string
}

function demandRule(
  ruleId: (typeof DEMAND_IDS)[number],
  code: string,
  terms: Terms,
  faultsOf: (occasion: PolicyOccasion) => readonly string[],
): Demand {
  const { then, mode } = terms
  const approvers = requiredApproval(terms)
  const where = { environments: terms.environments ?? null, operations: terms.operations ?? null }
  const isHeld = mode === 'enforce' || then === 'WARN'
  return (occasion) => {
    if (!appliesTo(where, occasion)) return null
    const [first, ...others] = faultsOf(occasion)
    if (first === undefined) return null
    return {
      ruleId,
      decision: isHeld ? then : 'WARN',
      observed: isHeld ? null : then,
      reason: { code, message: others.length === 0 ? first : `${first} (and ${others.length} more)` },
      runbook: terms.runbook ?? null,
      approvers: isHeld && then === 'REQUIRE_APPROVAL' && approvers !== null ? [approvers] : [],
      failure: null,
    }
  }
}

function bumpFaults({ artifacts, changes, release }: PolicyOccasion): readonly string[] {
  const groups = new Map<string, FindingGroup[]>()
  for (const { artifact, group } of changes) {
    const known = groups.get(artifact)
    if (known) known.push(group)
    else groups.set(artifact, [group])
  }
  const published = releaseFault(
    release,
    changes.map(({ group }) => group),
  )
  return [
    ...(published === null ? [] : [published]),
    ...artifacts.flatMap((artifact) => bumpFault(artifact, groups.get(artifact.id) ?? []) ?? []),
  ]
}

function protectedFaults({ consumers }: PolicyOccasion, names: readonly string[]): readonly string[] {
  const reached = names.filter((name) => consumers.includes(name))
  return reached.map((name) => `the change reaches the protected consumer ${name}`)
}
