/**
 * Evaluates the rules for one finding: the strictest wins, observing rules are kept apart, waivers lower. No exception
 * leads to ALLOW.
 */
import { DECISION_CLASSES, type Decision } from '../model/decision.ts'
import type { FindingGroup, Occurrence } from '../model/finding.ts'
import { appliesTo, type CompiledRule } from './compiled-rule.ts'
import { conditionFacts, conditionKey, type ConditionFacts } from './condition.ts'
import { occasionFacts } from './occasion.ts'
import type {
  PolicyEffect,
  PolicyEvaluator,
  PolicyOccasion,
  PolicyRuling,
  RequiredApproval,
  RuleAnswer,
} from './policy.ts'
import { waiverFor, waiverStanding, type CompiledWaiver } from './waiver.ts'

/** The result of the rules before waivers: one ruling of the enforced ones, one of the observing ones. */
interface Rulings {
  readonly enforced: PolicyRuling
  readonly observed: PolicyRuling
  readonly failure: string | null
}

const NO_RULE: PolicyRuling = { decision: 'ALLOW', ruleId: 'none', reason: null, runbook: null, approvers: [] }

export function policyEvaluator(
  rules: readonly CompiledRule[],
  waivers: readonly CompiledWaiver[],
  onIncomplete: Exclude<Decision, 'ALLOW'>,
): (occasion: PolicyOccasion) => PolicyEvaluator {
  const reads = new Set(rules.flatMap((rule) => [...rule.condition.reads]))
  const conditions = rules.map(({ condition }) => condition)
  return (occasion) => {
    const facts = occasionFacts(occasion, conditions)
    const applying = rules.filter((rule) => appliesTo(rule, occasion))
    const rounds = applying.reduce((sum, { condition }) => sum + condition.writtenRounds, 0)
    let looked = 0
    // One change of a shared component reaches thousands of operations. A condition that does not read the differing
    // parts is evaluated once.
    const answered = new Map<string, Rulings>()
    return (group, occurrence) => {
      const key = conditionKey(reads, group, occurrence)
      let rulings = answered.get(key)
      if (!rulings) {
        looked += facts.findings.length + rounds
        rulings =
          looked > MAX_LOOKS
            ? tooMuch(onIncomplete)
            : rule(applying, conditionFacts(facts, group, occurrence), onIncomplete)
        answered.set(key, rulings)
      }
      const waiver = waivers.length === 0 ? null : waiverFor(waivers, group, occurrence)
      return standingEffect(rulings, waiver, occasion.now)
    }
  }
}

/** The results of all rules for one finding, for explanations. */
export function policyTrace(
  rules: readonly CompiledRule[],
): (occasion: PolicyOccasion) => (group: FindingGroup, occurrence: Occurrence) => readonly RuleAnswer[] {
  const conditions = rules.map(({ condition }) => condition)
  return (occasion) => {
    const facts = occasionFacts(occasion, conditions)
    return (group, occurrence) =>
      rules.map((rule) => {
        const { id: ruleId, decision, mode } = rule
        if (!appliesTo(rule, occasion)) return { ruleId, decision, mode, answer: 'elsewhere', failure: null }
        const answer = rule.condition.test(conditionFacts(facts, group, occurrence))
        if (!answer.ok) return { ruleId, decision, mode, answer: 'failed', failure: answer.problem }
        return { ruleId, decision, mode, answer: answer.value ? 'matches' : 'silent', failure: null }
      })
  }
}

/**
 * Findings that conditions on `findings` may look at in one decision, over all that they are asked for, and values that
 * their loops go over.
 */
const MAX_LOOKS = 1_000_000

function tooMuch(onIncomplete: Decision): Rulings {
  const failure = `conditions with loops, or on findings, would look at more than ${MAX_LOOKS} findings and values; use a rule for the change_set`
  return { enforced: { ...NO_RULE, decision: onIncomplete }, observed: NO_RULE, failure }
}

function rule(rules: readonly CompiledRule[], facts: ConditionFacts, onIncomplete: Decision): Rulings {
  let enforced = NO_RULE
  let observed = NO_RULE
  let failure: string | null = null
  const approvers: RequiredApproval[] = []
  for (const { id, condition, decision, mode, reason, runbook, approvers: groups } of rules) {
    const answer = condition.test(facts)
    if (answer.ok && !answer.value) continue
    if (!answer.ok) failure ??= `rule ${id}: ${answer.problem}`
    // A condition that cannot be evaluated is enforced even in an observing rule, because its result is unknown.
    const ruling = answer.ok
      ? { decision, ruleId: id, reason, runbook, approvers: [] }
      : { decision: onIncomplete, ruleId: id, reason: null, runbook, approvers: [] }
    if (answer.ok && mode === 'observe') observed = stricterRuling(observed, ruling)
    else {
      enforced = stricterRuling(enforced, ruling)
      if (groups !== null && ruling.decision === 'REQUIRE_APPROVAL') approvers.push(groups)
    }
  }
  // One ruling counts, but every rule that requires an approval adds its approver groups.
  return { enforced: { ...enforced, approvers: isRequested(enforced) ? approvers : [] }, observed, failure }
}

function standingEffect(
  { enforced, observed, failure }: Rulings,
  waiver: CompiledWaiver | null,
  now: number,
): PolicyEffect {
  const degraded = failure === null ? null : { code: 'POLICY_CONDITION_FAILED', message: failure }
  const standing = waiver && isHeldUp(stricterRuling(enforced, observed)) ? waiverStanding(waiver, now) : null
  const applied = waiver && standing ? { ...waiverFields(waiver), standing } : null
  const isWaived = standing !== null && standing !== 'expired' && degraded === null
  if (isWaived)
    return { ...loweredRuling(stricterRuling(enforced, observed)), observed: null, waiver: applied, degraded }
  const isObserved = DECISION_CLASSES[observed.decision].strictness > DECISION_CLASSES[enforced.decision].strictness
  if (!isObserved) return { ...enforced, observed: null, waiver: applied, degraded }
  return { ...stricterRuling(enforced, loweredRuling(observed)), observed, waiver: applied, degraded }
}

function stricterRuling(a: PolicyRuling, b: PolicyRuling): PolicyRuling {
  return DECISION_CLASSES[b.decision].strictness > DECISION_CLASSES[a.decision].strictness ? b : a
}

function isRequested({ decision }: PolicyRuling): boolean {
  return decision === 'REQUIRE_APPROVAL'
}

function isHeldUp({ decision }: PolicyRuling): boolean {
  return !DECISION_CLASSES[decision].safeForAgent
}

/** At most WARN. */
function loweredRuling(ruling: PolicyRuling): PolicyRuling {
  return isHeldUp(ruling) ? { ...ruling, decision: 'WARN', approvers: [] } : ruling
}

function waiverFields({ id, reason, owner, expires }: CompiledWaiver) {
  return { id, reason, owner, expires }
}
