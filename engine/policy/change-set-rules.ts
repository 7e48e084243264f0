/**
 * Rules about the whole change set, demands and freeze windows: evaluated once for each decision, even without
 * findings. No exception leads to ALLOW.
 */
import { DECISION_CLASSES, type Decision } from '../model/decision.ts'
import type { Problem } from '../common/result.ts'
import { appliesTo, type CompiledRule } from './compiled-rule.ts'
import type { Demand } from './demands.ts'
import type { OccasionFacts } from './condition.ts'
import { occasionFacts } from './occasion.ts'
import type { Approvers, ChangeSetRuling, PolicyOccasion, RequiredApproval } from './policy.ts'
import { requiredApproval } from './required-approval.ts'
import type { PolicyDocument } from './schema.ts'

/** A rule with its message, because there is no finding to report. */
export interface ChangeSetRule extends CompiledRule {
  readonly description: string | null
}

interface CompiledFreeze {
  readonly id: string
  /** Seconds since the epoch. */
  readonly from: number
  readonly until: number
  readonly environments: readonly string[] | null
  readonly operations: readonly string[] | null
  readonly decision: Decision
  readonly reason: string
  readonly untilText: string
  readonly approvers: RequiredApproval | null
}

type FreezeEntry = NonNullable<PolicyDocument['freezes']>[number]

export function compileFreezes(
  entries: readonly FreezeEntry[],
  code: string,
): { readonly freezes: readonly CompiledFreeze[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const freezes = entries.map((entry, index) => {
    const { id, environments = null, operations, then = 'BLOCK', reason } = entry
    const [from, until] = [instantIn(entry.from), instantIn(entry.until)]
    const report = (member: string, message: string) =>
      problems.push({ code, message: `freeze ${id}: ${message}`, pointer: `/freezes/${index}/${member}` })
    if (from === null) report('from', `${entry.from} is not an instant of the calendar`)
    if (until === null) report('until', `${entry.until} is not an instant of the calendar`)
    if (from !== null && until !== null && until <= from) report('until', 'the window ends before it begins')
    return {
      id,
      from: from ?? 0,
      until: until ?? 0,
      environments,
      operations,
      decision: then,
      reason,
      untilText: entry.until,
      approvers: requiredApproval(entry),
    }
  })
  return { freezes, problems }
}

export function changeSetRulings(
  rules: readonly ChangeSetRule[],
  freezes: readonly CompiledFreeze[],
  demands: readonly Demand[],
  onIncomplete: Exclude<Decision, 'ALLOW'>,
): (occasion: PolicyOccasion) => readonly ChangeSetRuling[] {
  if (rules.length === 0 && freezes.length === 0 && demands.length === 0) return () => []
  const conditions = rules.map(({ condition }) => condition)
  return (occasion) => {
    const facts = occasionFacts(occasion, conditions)
    const rulings = [
      ...demands.map((demand) => demand(occasion)),
      ...rules.filter((rule) => appliesTo(rule, occasion)).map((rule) => ruleOn(rule, facts, onIncomplete)),
    ]
    const open = freezes.filter((freeze) => isFreezeInForce(freeze, occasion)).map(frozen)
    return [...open, ...rulings.filter((ruling) => ruling !== null)].toSorted(
      (a, b) => DECISION_CLASSES[b.decision].strictness - DECISION_CLASSES[a.decision].strictness,
    )
  }
}

/** A decision is about one side of such a moment, so it is not valid past it. */
export function freezeEdge(
  freezes: readonly CompiledFreeze[],
): (occasion: Pick<PolicyOccasion, 'context' | 'now'>) => number | null {
  return (occasion) => {
    const edges = freezes
      .filter((freeze) => appliesTo(freeze, occasion))
      .flatMap(({ from, until }) => [from, until])
      .filter((edge) => edge > occasion.now)
    return edges.length === 0 ? null : Math.min(...edges)
  }
}

function isFreezeInForce(freeze: CompiledFreeze, occasion: PolicyOccasion): boolean {
  return freeze.from <= occasion.now && occasion.now < freeze.until && appliesTo(freeze, occasion)
}

function frozen({ id, decision, reason, untilText, approvers }: CompiledFreeze): ChangeSetRuling {
  const message = `${reason} (freeze ${id}, until ${untilText})`
  return {
    ruleId: id,
    decision,
    observed: null,
    reason: { code: 'FREEZE_WINDOW', message },
    runbook: null,
    approvers: approversFor(decision, approvers),
    failure: null,
  }
}

function approversFor(decision: Decision, required: RequiredApproval | null): Approvers {
  return decision === 'REQUIRE_APPROVAL' && required !== null ? [required] : []
}

/** Null if the rule does not apply. */
function ruleOn(rule: ChangeSetRule, facts: OccasionFacts, onIncomplete: Decision): ChangeSetRuling | null {
  const { id: ruleId, condition, decision, mode, runbook } = rule
  const reason = rule.reason ?? { code: 'CHANGE_SET_RULE', message: rule.description ?? `rule ${ruleId}` }
  const answer = condition.test(facts)
  // A condition that cannot be evaluated is enforced even in an observing rule, because its result is unknown.
  if (!answer.ok)
    return {
      ruleId,
      decision: onIncomplete,
      observed: null,
      reason,
      runbook,
      approvers: approversFor(onIncomplete, rule.approvers),
      failure: `rule ${ruleId}: ${answer.problem}`,
    }
  if (!answer.value || decision === 'ALLOW') return null
  const shared = { ruleId, reason, runbook, failure: null }
  if (mode === 'enforce')
    return { ...shared, decision, observed: null, approvers: approversFor(decision, rule.approvers) }
  return { ...shared, decision: 'WARN', observed: decision, approvers: [] }
}

/** Null if the text names no existing instant: Date would silently change 31 February. */
function instantIn(text: string): number | null {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime()) || !moment.toISOString().startsWith(text.replace('Z', ''))) return null
  return moment.getTime() / 1000
}
